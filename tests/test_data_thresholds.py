"""Thresholds by which one's own data are recognised and measured: what lies on either side."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd

import biasbridge
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.naming import SMALLEST_CHANGE
from biasbridge.commands.gaps import main
from biasbridge.data_checks import _check_coverage
from biasbridge.files.language import GRAMMAR
from biasbridge.files.vectors import keyed
from biasbridge.train.engine.steps import DataReport
from biasbridge.user_data import Data, DataOptions, guess_languages, guess_text, read_data
from tests.thresholds import decides


@decides(
    (["a b", "c d", "e f", "g"], "what"),
    (["a b", "c d", "e", "g"], ""),  # half of the cells hold spaces
    (["a b", "a b", "c d", "e f"], "what"),
    (["a b", "a b", "c d", "c d"], ""),  # half as many different ones as posts
)
def test_texts_have_spaces_and_differ_in_more_than_half_of_the_posts(cells: list[str]) -> object:
    return guess_text(pd.DataFrame({"what": cells}))


@decides((20_000, (True, 20_000)), (20_001, (False, 20_000)))
def test_20000_lines_of_a_corpus_are_looked_at(lines: int, tmp_path: Path) -> object:
    path = tmp_path / "corpus.txt"
    path.write_text("he does it\n" * lines, encoding="utf-8")
    data = read_data(DataOptions([path]))
    return data.is_sample_complete, len(data.sample)


@decides((0, {"vectors": "en"}), (1, {}))
def test_the_language_of_vectors_is_that_of_their_first_200_words(behind: int) -> object:
    """Their last 16, the share that a language takes, are of English grammar."""
    others = [f"zq{i}" for i in range(400)]
    words = others[: 184 + behind] + GRAMMAR["en"].split()[:16] + others[200:]
    return guess_languages(Data(vectors=keyed(words, np.ones((len(words), 1), dtype=np.float32))))


@decides(("a b c d x", False), ("a b c x", True))
def test_check_warns_where_fewer_than_80_of_100_tokens_have_a_vector(text: str) -> object:
    found = DataReport()
    vectors = keyed([*"abcd"], np.ones((4, 1), dtype=np.float32))
    data = Data(posts=pd.DataFrame({"text": [text]}), columns={"text": "text"})
    _check_coverage(data, vectors, found)
    return bool(found.warnings)


@decides((9, [False, False]), (10, [True, True]))
def test_a_group_has_a_value_from_ten_items_on(items: int, tmp_path: Path) -> object:
    """By the function and by the command, where nothing else is asked for."""
    groups = ["a"] * 20 + ["b"] * items
    table = pd.DataFrame({"label": 1, "prediction": [1, 0] * 10 + [1] * items, "group": groups})
    table.to_csv(tmp_path / "p.csv", index=False)
    assert main([str(tmp_path / "p.csv"), "--csv", str(tmp_path / "gaps.csv")]) == 0
    tables = biasbridge.gaps(table), pd.read_csv(tmp_path / "gaps.csv")
    recalls = [found[found["measure"].eq("recall") & found["group"].eq("b")] for found in tables]
    return [not isnan(recall["value"].item()) for recall in recalls]


def test_the_function_takes_the_smallest_change_of_interest_of_studies() -> None:
    assert Declaration().smallest_change == SMALLEST_CHANGE == 0.02
