"""The search finds the theorems of Schröder et al. (2024), and its counterexamples hold by the
literal equations.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from biasbridge.files import InputError, choice
from biasbridge.files.vectors import keyed
from biasbridge.intrinsic.metric import Metric, MetricInfo
from biasbridge.intrinsic.metrics.vector_metrics import METRICS
from biasbridge.intrinsic.score import MetricResult
from biasbridge.studies.score_properties.probe import COLUMNS, ScoreProperties
from biasbridge.studies.score_properties.search import lowest
from biasbridge.studies.score_properties.synthetic_words import (
    SyntheticWords,
    attribute_sets,
    target_starts,
    unit,
)
from biasbridge.studies.score_properties.table import score_table

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.intrinsic.resolved_query import ResolvedQuery
    from biasbridge.stats.arrays import Floats

NO_VECTORS = keyed(["none"], np.ones((1, 1), dtype=np.float32))
PROBE = ScoreProperties(items=(1, 3), attributes=2, dim=3, sets=4, evaluations=60)


def examine(name: str, probe: ScoreProperties = PROBE, **settings: Any) -> pd.DataFrame:
    rows = probe.rows(NO_VECTORS, METRICS[name].by_convention(**settings), seed=0)
    return rows.assign(probe="score_properties")


def verdicts(rows: pd.DataFrame) -> dict[int, tuple[str, str, str]]:
    table = score_table(rows)
    return {
        int(row["items"]): (row["comparable"], row["trustworthy"], row["fair"])
        for row in table.to_dict("records")
    }


def counterexample(rows: pd.DataFrame, search: str, items: int) -> tuple[float, dict[str, Floats]]:
    """The value of a search and its vectors by role, the last of several."""
    found = rows[(rows["search"] == search) & (rows["items"] == items)].iloc[-1]
    vectors = json.loads(str(found["counterexample"]))
    return float(found["value"]), {role: np.array(each) for role, each in vectors.items()}


def cos(u: Floats, v: Floats) -> float:
    return float(sum(u * v) / math.sqrt(sum(u * u) * sum(v * v)))


def s(word: Floats, first: Floats, second: Floats) -> float:
    one, other = ([cos(word, a) for a in rows] for rows in (first, second))
    return sum(one) / len(one) - sum(other) / len(other)


def test_weat_of_a_word_is_trustworthy_and_not_comparable() -> None:
    """Theorems 1 and 2: its extremes are +-|mean(A) - mean(B)|, and it is 0 for no biased word."""
    rows = examine("association")
    assert verdicts(rows)[1] == ("no", "yes", "yes")
    singles = rows[(rows["items"] == 1) & rows["search"].isin(["max", "min"])]
    assert len(singles) == 2 * PROBE.sets
    reaches = []
    for row in singles.to_dict("records"):
        found = {
            role: np.array(each) for role, each in json.loads(str(row["counterexample"])).items()
        }
        [word], groups = found["words"], (found["A"], found["B"])
        between = [sum(a / math.sqrt(sum(a * a)) for a in rows) / len(rows) for rows in groups]
        reach = math.sqrt(sum((between[0] - between[1]) ** 2))
        reaches.append(reach)
        assert row["value"] == pytest.approx(s(word, *groups), abs=1e-12)
        assert abs(row["value"]) == pytest.approx(reach, rel=1e-6)
    assert max(reaches) > 5 * min(reaches)
    # The mean of several words is 0 where they cancel
    assert verdicts(rows)[3] == ("no", "no", "yes")


def test_the_effect_size_is_comparable_and_not_trustworthy() -> None:
    """Theorems 3 and 4; and where no word is biased it is 0 / 0."""
    rows = examine("weat", p_value=False)
    assert verdicts(rows)[3] == ("yes", "no", "undefined")
    value, found = counterexample(rows, "unbiased", 3)
    of_x, of_y = ([s(word, found["A"], found["B"]) for word in found[role]] for role in "XY")
    spread = float(np.std([*of_x, *of_y]))
    assert value == pytest.approx((np.mean(of_x) - np.mean(of_y)) / spread, abs=1e-12)
    assert abs(value) < 1e-6
    assert max(map(abs, [*of_x, *of_y])) > 0.1
    for search, extreme in (("max", 2), ("min", -2)):
        values = rows.loc[rows["search"] == search, "value"]
        assert values.to_numpy() == pytest.approx(np.full(len(values), extreme), abs=1e-9)


def test_direct_bias_is_comparable_and_not_trustworthy() -> None:
    """Theorems 5 and 6, both ways: a biased word reads 0 and an unbiased one up to 1."""
    rows = examine("direct_bias")
    assert verdicts(rows) == dict.fromkeys((1, 3), ("yes", "no", "no"))
    for search, biased in (("unbiased", True), ("fair", False)):
        value, found = counterexample(rows, search, 1)
        first, second = found["pairs"][0::2], found["pairs"][1::2]
        halves = (first - second) / 2
        _, axes = np.linalg.eigh(sum(np.outer(half, half) for half in halves))
        [word] = found["words"]
        assert value == pytest.approx(abs(cos(word, axes[:, -1])), abs=1e-9)
        assert (abs(s(word, first, second)) > 0.1) == biased
        assert (value < 1e-6) == biased
        if not biased:
            assert abs(s(word, first, second)) < 1e-9
            assert value > 0.9


@pytest.mark.slow
def test_same_is_comparable_trustworthy_and_fair() -> None:
    assert verdicts(examine("same")) == dict.fromkeys((1, 3), ("yes", "yes", "yes"))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rnd", {}),
        ("ect", {}),
        ("sembias", {}),
        ("indirect_bias", {}),
        ("projection", {}),
        ("gipe", {"neighbours": 3}),
        ("factual_association", {}),
    ],
)
def test_every_kind_of_metric_is_searched(name: str, settings: dict[str, Any]) -> None:
    rows = examine(name, ScoreProperties(items=(1,), sets=4, evaluations=3), **settings)
    assert set(rows["reason"]) == {""}
    parts = rows.groupby("part")["search"].value_counts()
    assert set(parts) == {1, 4}
    biased = rows[(rows["search"] == "unbiased") & rows["value"].notna()]
    assert (biased["bias"] >= PROBE.margin).all()
    fair = rows[(rows["search"] == "fair") & rows["value"].notna()]
    assert (fair["bias"] < 1e-9).all()


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("analogies", {}, "does not measure bias"),
        ("ibt", {}, "compares no words with groups of attributes"),
        ("nbm", {"neighbours": 400}, "no score on any synthetic words"),
    ],
)
def test_where_properties_are_not_defined_the_row_says_why(
    name: str, settings: dict[str, Any], reason: str
) -> None:
    rows = examine(name, **settings)
    assert len(rows) == len(PROBE.items)
    assert all(reason in str(each) for each in rows["reason"])
    assert rows.columns.tolist() == [*COLUMNS, "probe"]
    assert score_table(rows)["reason"].tolist() == rows["reason"].tolist()


@choice
class Undeclared(Metric):
    """A metric that does not say how large it can be."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="undeclared",
        title="",
        formula="",
        sign="",
        range=(math.nan, math.nan),
        source="",
        roles={"words": "words", "A": "attributes", "B": "attributes"},
        asks=("occupations",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        return MetricResult(0.0)


def test_a_metric_without_a_declared_range_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"undeclared does not declare its range.*give MetricInfo\.range"
    ):
        PROBE.rows(NO_VECTORS, Undeclared(), seed=0)


def test_made_up_words_have_the_bias_that_the_paper_defines() -> None:
    rng = np.random.default_rng(0)
    for name in ("weat", "direct_bias", "sembias"):
        made_up = SyntheticWords(METRICS[name].by_convention(), 2, 3, 5)
        for matrix in attribute_sets(made_up, 4, 5, rng):
            first, second = (matrix[places] for places in made_up.grouped)
            expected = [s(word, first, second) for word in matrix[made_up.neutral]]
            np.testing.assert_allclose(made_up.biases(matrix), expected, atol=1e-12)
            for start in target_starts(made_up, matrix):
                unbiased = made_up.without_bias(start)
                assert np.abs(made_up.biases(unbiased)).max() < 1e-12
                for places in made_up.grouped:
                    assert np.array_equal(unbiased[places], start[places])


def test_the_search_finds_a_known_lowest_point() -> None:
    goal = unit(np.array([[1.0, 2, 3], [3.0, -2, 1]]))

    def loss(matrix: Floats) -> float:
        return float(np.linalg.norm(matrix - goal))

    start = unit(np.ones((2, 3)))
    rng = np.random.default_rng(0)
    found = lowest(loss, [start], np.arange(2), 600, enough=1e-6, rng=rng)
    assert found.loss == loss(found.matrix) <= 1e-6
    assert found.evaluations < 600
    np.testing.assert_allclose(np.linalg.norm(found.matrix, axis=1), 1)
    fixed = lowest(loss, [start], np.array([1]), 600, rng=rng)
    assert np.array_equal(fixed.matrix[0], start[0])
