"""Slices of a table: every combination, against a loop; those of the small experiment by hand."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate, correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.figures import draw_figures
from biasbridge.analysis.joined import join_points, observations_of
from biasbridge.analysis.scopes import DOSES, RUNS
from biasbridge.analysis.slices import (
    SliceResult,
    correlation_table,
    measure_slice,
    scope_table,
    slices,
    without_repeats,
)
from biasbridge.files.columns import as_float
from biasbridge.stats.formatting import format_number
from tests.analysis.conftest import make_rows, make_sweep

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.analysis.tables import Tables


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
    actual = [
        (tuple(names.values()), rows.tolist()) for names, rows in slices(table, KINDS, POOLED)
    ]
    assert len(dict(actual)) == len(actual)
    assert dict(actual) == expected


def test_of_nothing_pooled_kinds_are_the_slices() -> None:
    table = pd.DataFrame({"a": ["x", "y", "x"], "method": ["none", "balance", "balance"]})
    actual = [(names, rows.tolist()) for names, rows in slices(table, ["a"])]
    assert actual == [({"a": "x"}, [0, 2]), ({"a": "y"}, [1])]
    assert [rows.tolist() for _, rows in slices(table, [])] == [[0, 1, 2]]


def test_slices_of_the_same_rows_are_given_once(findings: list[SliceResult]) -> None:
    """Two embeddings, methods and queries: all stay. Of one embedding the slice of all stands."""
    assert without_repeats(findings) == findings
    declared = Declaration(embeddings=("word2vec",))
    joined = join_points(make_sweep())
    for item in (declared, Declaration()):
        actual = correlate_slices(joined, item)
        selected = without_repeats(actual)
        assert {id(one) for one in actual if one.confirmatory} <= {*map(id, selected)}
        explored = [one for one in selected if not one.confirmatory]
        assert {one.names["embedding"] for one in explored} == {"all"}
        assert {one.names["query"] for one in selected} == {"weat7", "weat8", "all"}


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
    (actual,) = (item for item in findings if wanted.items() <= item.names.items())
    assert actual.n == n
    assert actual.within.r == pytest.approx(r, abs=1e-12, nan_ok=True)


def test_slices_of_a_sweep_say_what_is_lost_and_where_they_differ(
    findings: list[SliceResult],
) -> None:
    """(2 embeddings + all) x (2 queries + all) x 2 gaps x (2 methods + all)."""
    assert len({tuple(item.names.values()) for item in findings}) == len(findings) == 3 * 3 * 2 * 3

    def note(**names: str) -> str:
        wanted = {"query": "weat7", "method": "all"} | names
        (actual,) = (item for item in findings if wanted.items() <= item.names.items())
        return actual.note

    constant = "the gap does not vary within parents; lost: 1 of 2 balance"
    assert note(embedding="fasttext", measure="precision") == constant
    opposite = "lost: 1 of 5 balance; heterogeneous: r_rm of word2vec 1.00, but of fasttext -1.00"
    assert note(embedding="all", measure="recall").startswith(opposite)


def test_slices_of_the_same_rows_have_the_same_numbers(tmp_path: Path) -> None:
    """Of one embedding its slice, exploratory, and that of all, confirmatory; and their panel."""
    joined = join_points(make_sweep(0, 0.5, classifier=["cnn"]))
    actual = correlate_slices(joined, Declaration(confirmatory=("recall",)))
    of = {(item.names["embedding"], item.names["query"]): item for item in actual}
    for query in ("weat7", "weat8"):
        alone, whole = of["word2vec", query], of["all", query]
        assert (alone.verdict, whole.confirmatory) == ("", True)
        assert alone.within == whole.within._replace(null=None)
    draw_figures(joined, tmp_path, results=actual, suffixes=[])
    drawn = pd.read_csv(tmp_path / "figure3_t_weat.csv")
    assert set(drawn["panel_low"]) == {of["all", query].within.low for query in ("weat7", "weat8")}


# What is found of a slice, and the table of it.


def test_a_finding_counts_and_names_its_models() -> None:
    """Four parents of one corpus each but the last two, in five conditions; one model is lost."""
    parent, condition = np.array(list(product("abcd", "uvwxy"))).T
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    y[3] = np.nan
    rows = make_rows(
        *(x, y),
        parent=parent,
        condition=condition,
        cluster=np.where(parent > "b", "cd", parent),
        model=np.char.add(parent, condition),
        method=np.where(condition == "u", "none", "balance"),
    )
    actual = measure_slice(rows, {"slice": "s"}, full=True, permutations=99)
    counts = (actual.n, actual.n_parents, actual.n_conditions, actual.n_clusters)
    assert counts == (19, 4, 5, 3)
    assert (actual.n_lost, actual.n_planned, actual.lost_models) == (1, 20, "1 of 16 balance")
    assert actual.within.n == 4 + 5 + 5, "the seeds of a corpus averaged"
    doses = actual.scopes[DOSES]
    assert (doses.n, doses.reason, math.isnan(doses.r)) == (5, "5 of 10", True)
    names = ["slice", "r_rm", "p", "r_pearson", "n_lost"]
    (row,) = correlation_table([actual], names).to_numpy()
    selected = np.isfinite(y)
    r = np.corrcoef(x[selected], y[selected])[0, 1]  # over points, parents aside
    assert row.tolist() == ["s", actual.within.r, actual.within.p, pytest.approx(r), 1]
    explored = measure_slice(rows, {}, full=False)
    assert explored.within.r == actual.within.r
    assert explored.scopes.keys() == {RUNS}


def test_the_change_is_over_the_range_of_the_means_of_conditions() -> None:
    """Two parents of three models, by hand; the means of conditions are -1, 0 and 3 from the
    unmodified ones, whose scores are 1 and 3 and gaps .1 and .3.
    """
    rows = make_rows(
        *([1, 0, 4, 3, 2, 6], [0.1, 0.05, 0.25, 0.3, 0.25, 0.45]),
        parent=[*"aaabbb"],
        condition=["none", "balance -1", "balance 1"] * 2,
        method=["none", "balance", "balance"] * 2,
    )
    actual = measure_slice(rows, {}, full=True, permutations=19)
    assert (actual.score_low, actual.score_high) == pytest.approx((1, 5))
    assert actual.gap_unmodified == pytest.approx(0.2)
    assert actual.change.value == pytest.approx(0.05 * 4)


def test_the_tables_have_the_changes_of_models_and_of_means_of_conditions() -> None:
    """With 12 conditions of 3 parents."""
    parent, condition = np.repeat([*"abc"], 12), np.tile([*"defghijklmno"], 3)
    x, noise = np.random.default_rng(0).normal(size=(2, 36))
    y = 0.03 * x + 0.02 * noise
    rows = make_rows(x, y, parent=parent, condition=condition, method=["balance"] * 36)
    actual = measure_slice(rows, {}, full=True, permutations=99)._replace(confirmatory=True)
    changes = scope_table([actual]).set_index("scope")
    u, v = (side - side.reshape(3, 12).mean(axis=1).repeat(12) for side in (x, y))
    means_u, means_v = (side.reshape(3, 12).mean(axis=0) for side in (u, v))
    span = np.ptp(means_u)
    these, others = (changes.loc[scope, "change"] for scope in (RUNS, DOSES))
    assert (
        these == pytest.approx(span * (u @ v) / (u @ u)) == pytest.approx(span * actual.line.slope)
    )
    assert others == pytest.approx(span * (means_u @ means_v) / (means_u @ means_u))
    assert (changes["change_low"] < changes["change"])[:2].all()
    assert (changes["change_high"] > changes["change"])[:2].all()
    (row,) = correlation_table([actual]).to_dict("records")
    ends = ["change", "change_low", "change_high"]
    (doses,) = changes.loc[[DOSES], ends].to_numpy().tolist()
    assert [row[name] for name in ends] == doses


def test_the_most_influential_model_is_named_with_r_without_it() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    x[7], y[7] = 9, 9
    rows = make_rows(x, y, model=[f"model {i}" for i in range(12)])
    actual = measure_slice(rows, {}, full=True, permutations=99)
    without = np.corrcoef(np.delete(x, 7), np.delete(y, 7))[0, 1]
    r_without = format_number(without)
    assert actual.note == f"without the most influential model (model 7) r_rm is {r_without}"
    assert actual.saturated.startswith("one model (model 7) carries")


def test_reliability_is_at_least_the_square_of_r() -> None:
    """Noise proper to models cannot make two sides agree. The corrected slope takes no less."""
    x = np.tile(np.random.default_rng(0).normal(size=40), 3)
    y = x + 0.1 * np.random.default_rng(1).normal(size=120)
    rows = make_rows(x, y, parent=np.repeat([*"abc"], 40))
    noise = np.random.default_rng(2).normal(size=(120, 60))
    words, items = (side[:, None] + noise for side in (x, y))
    rows = rows._replace(x_resampled=words, y_resampled=items)
    actual = measure_slice(rows, {}, full=True, permutations=19)
    assert actual.reliability_y == pytest.approx(actual.within.r**2)
    slope = actual.within.slope.value / actual.within.r**2
    assert actual.slope_without_noise.value == pytest.approx(slope)


def test_noise_of_scores_is_taken_from_the_slope_of_condition_means() -> None:
    """Noise that halves the slope of models, of means of three takes a quarter: 1 of 1 + 1 / 3."""
    rng = np.random.default_rng(0)
    score = np.tile(rng.normal(size=400), 3)
    x = score + rng.normal(size=1200)
    rows = make_rows(
        *(x, score + 0.1 * rng.normal(size=1200)),
        parent=np.repeat([*"abc"], 400),
        condition=np.tile(np.arange(400), 3),
        method=["balance"] * 1200,
    )
    words = x[:, None] + rng.normal(size=(1200, 60))
    actual = measure_slice(rows._replace(x_resampled=words), {}, full=True, permutations=19)
    assert actual.scopes[DOSES].slope.value == pytest.approx(0.75, abs=0.05)
    assert actual.slope_without_noise.value == pytest.approx(1, abs=0.06)


def test_conditions_of_one_score_are_named_with_the_scores_as_measured() -> None:
    """In pairs of one score, 5 in the unmodified models; each condition has a gap of its own."""
    rng = np.random.default_rng(0)
    score = 5 + np.append(np.repeat(np.linspace(-2, 2, 6), 2), 0)
    gap = np.append(np.tile([0.1, -0.1], 6), 0) + 0.01 * rng.normal(size=(4, 13))
    rows = make_rows(
        *(np.tile(score, 4), gap.ravel()),
        parent=np.repeat([*"abcd"], 13),
        condition=np.tile([*"ABCDEFGHIJKL", "none"], 4),
        method=np.tile([*"m" * 12, "none"], 4),
    )
    actual = measure_slice(rows, {}, full=True, permutations=19)
    assert len(actual.equal_scores) == 6  # and of no score two others
    p = [pair.p_holm for pair in actual.equal_scores]
    assert p == sorted(p)
    assert p[-1] < 0.05
    for pair in actual.equal_scores:
        for name, value in zip(pair.conditions, pair.scores, strict=True):
            assert value == pytest.approx(score["ABCDEFGHIJKL".index(name)])
        assert abs(pair.change.value) == pytest.approx(0.2, abs=0.02)


# Scores of which less is more biased, and scores of no bias at all.


@pytest.fixture
def sides() -> tuple[Tables, Tables]:
    """A score whose unbiased value is its upper end, and its opposite; the gap follows the bias."""
    tables = make_sweep(0, 0.4)
    bias = as_float(tables.intrinsic, "value") ** 3
    scores = [
        tables.intrinsic.assign(value=-bias, unbiased=1.0, scale_min=-9.0, scale_max=1.0),
        tables.intrinsic.assign(value=bias, unbiased=-1.0, scale_min=-1.0, scale_max=np.inf),
    ]
    return tables._replace(intrinsic=scores[0]), tables._replace(intrinsic=scores[1])


def test_a_score_and_the_same_reversed_get_the_same_answer(sides: tuple[Tables, Tables]) -> None:
    reverse, plain = (correlate_slices(join_points(tables)) for tables in sides)
    ours, theirs = (
        correlation_table(actual).drop(columns=["note", "why"]) for actual in (reverse, plain)
    )
    ends = ["score_low", "score_high"]
    pd.testing.assert_frame_equal(ours.drop(columns=ends), theirs.drop(columns=ends))
    spans = [table["score_high"] - table["score_low"] for table in (ours, theirs)]
    assert spans[0].to_numpy() == pytest.approx(spans[1].to_numpy(), nan_ok=True)
    assert (spans[0].dropna() > 0).all()  # of the score as it was measured
    (first,) = (
        item
        for item in reverse
        if (item.names["query"], item.names["embedding"], item.names["method"])
        == ("weat7", "all", "all")
    )
    assert first.within.r > 0.5
    assert first.change.value > 0
    assert first.note.startswith("reverse-scored: a lower score means more bias")
    assert not any("reverse" in item.note for item in plain)
    joined = join_points(sides[0])
    (sliced,) = correlate(joined[joined["query"] == "weat7"], x="x", y="y")
    assert (sliced.within.r, sliced.reverse_scored) == (first.within.r, True)
    assert sliced.change == first.change
    assert first.line.slope == pytest.approx(-first.within.slope.value)


def test_resamples_are_reversed_with_their_score(sides: tuple[Tables, Tables]) -> None:
    scores = sides[0].intrinsic
    drawn = pd.Series(list(as_float(scores, "value")[:, None] + np.arange(3)), index=scores.index)
    rows = observations_of(join_points(sides[0]._replace(intrinsic=scores.assign(resampled=drawn))))
    assert rows.x_resampled == pytest.approx(rows.x[:, None] - np.arange(3))


def test_a_measure_of_utility_is_no_confirmatory_slice() -> None:
    tables = make_sweep()
    utility = tables.intrinsic.assign(metric="similarity", unbiased=np.nan)
    both = tables._replace(intrinsic=pd.concat([tables.intrinsic, utility]))
    actual = correlate_slices(join_points(both))
    of = {
        name: [item for item in actual if item.names["metric"] == name]
        for name in ("weat", "similarity")
    }
    assert {item.verdict for item in of["similarity"]} == {""}
    confirmatory = [item for item in of["weat"] if item.confirmatory]
    assert [item.tests for item in confirmatory] == [2, 2]
