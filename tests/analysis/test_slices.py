"""Slices of a table: every combination, against a loop; those of the small experiment by hand."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.figures import draw_figures
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.slices import slices, without_repeats
from tests.analysis.conftest import make_sweep

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.analysis.slice_results import SliceResult

KINDS, POOLED = ("task", "measure"), ("embedding", "query", "method")


def test_every_combination_that_has_rows_is_a_slice() -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.choice([*"abc"], 25) for name in (*KINDS, "embedding", "query")}
    table = pd.DataFrame(values | {"method": rng.choice(["none", "balance", "repel"], 25)})
    every = table.to_dict("records")

    def holds(names: dict[str, str], row: dict[Hashable, str]) -> bool:
        """A method's slice holds the controls too."""
        alike = all(names[name] in ("all", row[name]) for name in names if name != "method")
        return alike and (names["method"] in ("all", row["method"]) or row["method"] == "none")

    expected = {}
    letters, pooled = [*"abc"], [*"abc", "all"]
    methods = ["balance", "repel", "all"]
    for chosen in product(letters, letters, pooled, pooled, methods):
        names = dict(zip((*KINDS, *POOLED), chosen, strict=True))
        block = [row for row in every if all(row[name] == names[name] for name in KINDS)]
        rows = [place for place, row in enumerate(every) if holds(names, row)]
        if rows and names["method"] in {"all", *(row["method"] for row in block)}:
            expected[chosen] = rows
    found = [(tuple(names.values()), rows.tolist()) for names, rows in slices(table, KINDS, POOLED)]
    assert len(dict(found)) == len(found)
    assert dict(found) == expected


def test_of_nothing_pooled_kinds_are_the_slices() -> None:
    table = pd.DataFrame({"a": ["x", "y", "x"], "method": ["none", "balance", "balance"]})
    found = [(names, rows.tolist()) for names, rows in slices(table, ["a"])]
    assert found == [({"a": "x"}, [0, 2]), ({"a": "y"}, [1])]
    assert [rows.tolist() for _, rows in slices(table, [])] == [[0, 1, 2]]


def test_slices_of_the_same_rows_are_given_once(findings: list[SliceResult]) -> None:
    """Two embeddings, methods and queries: all stay. Of one embedding the slice of all stands."""
    assert without_repeats(findings) == findings
    declared = Declaration(embeddings=("word2vec",))
    joined = join_points(make_sweep())
    for each in (declared, Declaration()):
        found = correlate_slices(joined, each)
        kept = without_repeats(found)
        assert {id(one) for one in found if one.confirmatory} <= {*map(id, kept)}
        explored = [one for one in kept if not one.confirmatory]
        assert {one.names["embedding"] for one in explored} == {"all"}
        assert {one.names["query"] for one in kept} == {"weat7", "weat8", "all"}


@pytest.mark.parametrize(
    ("embedding", "query", "method", "n", "r"),
    [
        ("word2vec", "weat7", "all", 5, 1),
        ("word2vec", "weat8", "all", 5, -1),
        ("fasttext", "weat7", "all", 5, -1),
        ("all", "weat7", "all", 10, 0),
        ("word2vec", "all", "all", 5, np.nan),  # the mean of WEAT 7 and 8 is 0
        ("word2vec", "weat7", "balance", 3, 1),  # two balanced and the unmodified one
        ("fasttext", "weat7", "attract_repel", 3, -1),
    ],
)
def test_recall_slices_by_hand(
    findings: list[SliceResult], embedding: str, query: str, method: str, n: int, r: float
) -> None:
    wanted = {"embedding": embedding, "query": query, "measure": "recall", "method": method}
    (found,) = (each for each in findings if wanted.items() <= each.names.items())
    assert found.n == n
    assert found.within.r == pytest.approx(r, abs=1e-12, nan_ok=True)


def test_slices_of_a_sweep_say_what_is_lost_and_where_they_differ(
    findings: list[SliceResult],
) -> None:
    """(2 embeddings + all) x (2 queries + all) x 2 gaps x (2 methods + all)."""
    assert len({tuple(each.names.values()) for each in findings}) == len(findings) == 3 * 3 * 2 * 3

    def note(**names: str) -> str:
        wanted = {"query": "weat7", "method": "all"} | names
        (found,) = (each for each in findings if wanted.items() <= each.names.items())
        return found.note

    constant = "the gap does not vary within parents; lost: 1 of 2 balance"
    assert note(embedding="fasttext", measure="precision") == constant
    opposite = "lost: 1 of 5 balance; heterogeneous: r_rm of word2vec 1.00, but of fasttext -1.00"
    assert note(embedding="all", measure="recall").startswith(opposite)


def test_slices_of_the_same_rows_have_the_same_numbers(tmp_path: Path) -> None:
    """Of one embedding its slice, exploratory, and that of all, confirmatory; and their panel."""
    joined = join_points(make_sweep(0, 0.5, classifier=["cnn"]))
    found = correlate_slices(joined, Declaration(confirmatory=("recall",)))
    of = {(each.names["embedding"], each.names["query"]): each for each in found}
    for query in ("weat7", "weat8"):
        alone, whole = of["word2vec", query], of["all", query]
        assert (alone.verdict, whole.confirmatory) == ("", True)
        assert alone.within == whole.within._replace(null=None)
    draw_figures(joined, tmp_path, results=found, suffixes=[])
    drawn = pd.read_csv(tmp_path / "figure3_t_weat.csv")
    assert set(drawn["panel_low"]) == {of["all", query].within.low for query in ("weat7", "weat8")}
