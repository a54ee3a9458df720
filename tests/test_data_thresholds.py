"""Thresholds by which one's own data are recognised and measured: what lies on either side."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.naming import SMALLEST_CHANGE
from biasbridge.commands.gaps import main
from biasbridge.data_checks import _check_coverage
from biasbridge.files.language import GRAMMAR
from biasbridge.files.vectors import keyed
from biasbridge.train.engine.steps import DataReport
from biasbridge.user_data import Data, DataOptions, guess_languages, guess_text, read_data


@pytest.mark.parametrize(
    ("cells", "is_text"),
    [
        (["a b", "c d", "e f", "g"], True),
        (["a b", "c d", "e", "g"], False),  # half of the cells hold spaces
        (["a b", "a b", "c d", "e f"], True),
        (["a b", "a b", "c d", "c d"], False),  # half as many different ones as posts
    ],
)
def test_texts_have_spaces_and_differ_in_more_than_half_of_the_posts(
    cells: list[str], is_text: bool
) -> None:
    assert guess_text(pd.DataFrame({"what": cells})) == ("what" if is_text else "")


@pytest.mark.parametrize(("lines", "whole"), [(20_000, True), (20_001, False)])
def test_20000_lines_of_a_corpus_are_looked_at(lines: int, whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("he does it\n" * lines, encoding="utf-8")
    data = read_data([path], DataOptions())
    assert (data.is_sample_complete, len(data.sample)) == (whole, 20_000)


@pytest.mark.parametrize(("behind", "language"), [(0, {"vectors": "en"}), (1, {})])
def test_the_language_of_vectors_is_that_of_their_first_200_words(
    behind: int, language: dict[str, str]
) -> None:
    """Their last 16, the share that a language takes, are of English grammar."""
    others = [f"zq{i}" for i in range(400)]
    words = others[: 184 + behind] + GRAMMAR["en"].split()[:16] + others[200:]
    data = Data(vectors=keyed(words, np.ones((len(words), 1), dtype=np.float32)))
    assert guess_languages(data) == language


@pytest.mark.parametrize(("text", "warned"), [("a b c d x", False), ("a b c x", True)])
def test_check_warns_where_fewer_than_80_of_100_tokens_have_a_vector(
    text: str, warned: bool
) -> None:
    posts = pd.DataFrame({"text": [text]})
    found = DataReport()
    vectors = keyed([*"abcd"], np.ones((4, 1), dtype=np.float32))
    _check_coverage(Data(posts=posts, columns={"text": "text"}), vectors, found)
    assert bool(found.warnings) == warned


@pytest.mark.parametrize(("items", "known"), [(9, False), (10, True)])
def test_a_group_has_a_value_from_ten_items_on(items: int, known: bool, tmp_path: Path) -> None:
    """By the function and by the command, where nothing else is asked for."""
    groups = ["a"] * 20 + ["b"] * items
    table = pd.DataFrame({"label": 1, "prediction": [1, 0] * 10 + [1] * items, "group": groups})
    table.to_csv(tmp_path / "p.csv", index=False)
    assert main([str(tmp_path / "p.csv"), "--csv", str(tmp_path / "gaps.csv")]) == 0
    for found in (biasbridge.gaps(table), pd.read_csv(tmp_path / "gaps.csv")):
        recall = found[(found["measure"] == "recall") & (found["group"] == "b")]
        assert isnan(recall["value"].item()) != known


def test_the_function_takes_the_smallest_change_of_interest_of_studies() -> None:
    assert Declaration().smallest_change == SMALLEST_CHANGE == 0.02
