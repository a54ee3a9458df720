"""The file of Founta et al. as their authors send it, made up: no line of names, tabs, votes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from biasbridge.corpora.founta import Founta
from biasbridge.files import InputError

if TYPE_CHECKING:
    import pandas as pd

ROWS = [
    "what a lovely morning\tnormal\t4",
    "you are a rotten liar\tabusive\t3",
    '"two lines\nof ""quoted"" text"\thateful\t5',
    "win a free phone now\tspam\t4",
    'a lone " mark within\tnormal\t2',
]


def written(folder: Path, rows: list[str]) -> str:
    path = folder / "hatespeech_text_label_vote.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def labels_of(posts: pd.DataFrame) -> dict[str, int]:
    return dict(zip(posts["raw"], posts["label"], strict=True))


def test_abusive_and_hateful_are_1(tmp_path: Path) -> None:
    source = Founta(written(tmp_path, ROWS))
    assert labels_of(source.load(seed=0)) == {
        "what a lovely morning": 0,
        "you are a rotten liar": 1,
        'two lines\nof "quoted" text': 1,
        "win a free phone now": 0,
        'a lone " mark within': 0,
    }
    assert source.positive_class == "abusive or hateful"
    assert (source.name, source.cross_validated) == ("founta", True)


def test_the_positive_labels_are_chosen(tmp_path: Path) -> None:
    posts = Founta(written(tmp_path, ROWS), positive=("spam",)).load(seed=0)
    assert sum(labels_of(posts).values()) == labels_of(posts)["win a free phone now"] == 1


def test_marks_may_be_text(tmp_path: Path) -> None:
    rows = ['"so it begins\tnormal\t3', "rotten liar\tabusive\t3", "no idiots here\thateful\t3"]
    path = written(tmp_path, rows)
    with pytest.raises(InputError, match=r"line 1 is not delimited text .* source\.quoted=false"):
        Founta(path).load(seed=0)
    assert '"so it begins' in labels_of(Founta(path, quoted=False).load(seed=0))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("text\tlabel\tvotes", r"line 1 has the label 'label', .*; remove a header line"),
        ("123456\tnormal", r"line 1 has 2 cells, not text, label and votes"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Founta(written(tmp_path, [row, *ROWS])).load(seed=0)
