"""Thresholds of the studies: what lies just on one side of each, and what just on the other.

The rules are those of docs/studies/certificate.md, docs/results.md and of the docstrings.
"""

from __future__ import annotations

from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.slice_results import SliceResult
from files.vectors import keyed
from intrinsic.wordsets import load_query
from stats.intervals import Estimate
from studies.atlas.protocol import _r_over_rows
from studies.base_pairs.estimate import Bootstrap, empty_estimate, jackknife, with_word_interval
from studies.base_pairs.probe_results import PairScoreTable
from studies.base_pairs.table import _cosine_correlations
from studies.certificate.measures import (
    FalseAlarms,
    MetricProperties,
    correlation,
    false_alarms,
    mean_interval,
    measure,
    proportion,
    slope,
    smallest_strength,
)
from studies.certificate.table import _choice_effects, _half_learned_at
from studies.certificate.verdict import (
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    FALSE_ALARMS,
    judge,
)
from studies.score_properties.attribute_groups import AttributeGroups
from studies.score_properties.table import score_table, selections
from studies.silhouettes.pairs import read_model_pairs
from tests.studies.test_certificate import readings
from tests.studies.test_score_properties_table import associations, searched
from tests.studies.test_silhouettes_scores import make_tables as silhouettes

ZERO = [-1.0, 0.0, 1.0]


def measured(
    moves: tuple[float, float] = (2.0, 1.0), smallest: float = 0.3, claims: int = 0
) -> MetricProperties:
    """A score whose slope has a value and a lower end, and that claims a bias of so many of 20."""
    value, low = moves
    of = FalseAlarms(proportion(np.arange(20) < claims, np.ones(20, dtype=bool)), "p")
    return MetricProperties(Estimate(value, low, 9.0), Estimate(), Estimate(smallest), 0, 1, 0, of)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (measured((0.2, 0.001)), DETECTS_HALF),
        (measured((0.199, 0.001)), DOES_NOT_DETECT),
        (measured((2.0, 0.0)), DOES_NOT_DETECT),
        (measured(smallest=0.5), DETECTS_HALF),
        (measured(smallest=0.501), DETECTS_PART),
        (measured(claims=2), DETECTS_HALF),  # of 2 in 20 the interval begins at .03, of 3 at .052
        (measured(claims=3), FALSE_ALARMS),
    ],
)
def test_a_certificate_changes_where_its_rule_says(found: MetricProperties, verdict: str) -> None:
    assert judge(found, FalseAlarms())[0] == verdict
    assert judge(found._replace(alarms=FalseAlarms()), found.alarms)[0] == verdict, "random"


@pytest.mark.parametrize(("low", "verdict"), [(0.05, DETECTS_HALF), (0.0501, FALSE_ALARMS)])
def test_alarms_are_false_above_5_of_100(low: float, verdict: str) -> None:
    assert judge(measured(), FalseAlarms(Estimate(0.2, low, 0.5), "p"))[0] == verdict


def test_a_bias_is_claimed_below_p_05() -> None:
    assert false_alarms(np.array([0.0499, 0.05]), np.full(2, nan)).share.value == 0.5


@pytest.mark.parametrize(("seeds", "known"), [(2, False), (3, True)])
def test_what_a_certificate_says_takes_three_seeds(seeds: int, known: bool) -> None:
    one = readings(10.0, seeds=seeds)
    found = measure(one, 20)
    for value in (found.slope.value, found.offset, found.r.low, found.smallest.value):
        assert isnan(value) != known
    assert isfinite(mean_interval(one.scores[:, 0]).low) == known
    assert isfinite(slope(one.scores, one.strengths).value) == known
    assert isfinite(correlation(one.scores[:seeds, :1], np.zeros(1))) == known


@pytest.mark.parametrize(("outside", "found"), [(3, inf), (4, 1.0)])
def test_a_strength_is_told_from_none_by_four_of_five_readings(outside: int, found: float) -> None:
    values = np.array(
        [[zero, 100.0 if i < outside else 0.0] for i, zero in enumerate([*ZERO, 1, -1])]
    )
    assert smallest_strength(values, np.array([0.0, 1.0])) == pytest.approx(found)


@pytest.mark.parametrize(("reading", "told"), [(4.96, False), (4.98, True)])
def test_a_reading_is_told_from_none_outside_the_prediction_interval(
    reading: float, told: bool
) -> None:
    """Of readings -1, 0, 1: t(.975, 2) sqrt(1 + 1 / 3) = 4.3027 x 1.1547 = 4.968."""
    values = np.column_stack([ZERO, [reading] * 3])
    assert isfinite(smallest_strength(values, np.array([0.0, 1.0]))) == told


@pytest.mark.parametrize(
    ("scores", "steps"),
    [
        ([0.0, 0.5, 0.9, 1.0], 100.0),
        ([0.0, 0.49, 0.9, 1.0], 200.0),
        ([0.0, 0.49, 0.49, 1.0], nan),
        ([0.0, 0.5, 1.0], 100.0),
        ([0.0, 1.0], nan),
    ],
)
def test_half_of_the_way_is_half(scores: list[float], steps: float) -> None:
    """At random weights, after 100 and 200 steps, and at the end of training."""
    rows: list[dict[str, object]] = [
        {"score": score, "steps": 100 * place} for place, score in enumerate(scores)
    ]
    assert _half_learned_at(rows) == pytest.approx(steps, nan_ok=True)


@pytest.mark.parametrize(("models", "rows"), [(2, 0), (3, 1)])
def test_a_choice_moves_a_score_of_three_models(models: int, rows: int) -> None:
    one = readings(10.0, seeds=5)
    moved = one.scores + 1
    moved[np.arange(moved.size).reshape(moved.shape) >= models] = nan
    names = dict(one.names) | {"query": "another"}
    other = type(one)(**{**one.__dict__, "names": names, "scores": moved})
    assert len(list(_choice_effects(one, [other], 10.0))) == rows


@pytest.mark.parametrize(("words", "known"), [(9, False), (10, True)])
def test_a_kappa_takes_ten_words(words: int, known: bool) -> None:
    row = empty_estimate("fleiss", "m", "", (words, 5))
    found = with_word_interval(row, np.linspace(0, 1, 1_002), Bootstrap())
    assert isfinite(found.value) == known
    assert bool(found.reason) != known


def test_an_interval_over_words_has_25_of_1000_resamples_on_either_side() -> None:
    row = empty_estimate("fleiss", "m", "", (20, 5))
    values = np.array([500.0, *range(1_001)])
    assert with_word_interval(row, values, Bootstrap())[5:7] == pytest.approx((25, 975))


@pytest.mark.parametrize(("defined", "known"), [(9, True), (8, False)])
def test_an_interval_over_words_takes_nine_tenths_of_the_resamples(
    defined: int, known: bool
) -> None:
    values = np.array([0.5, *[0.4] * defined, *[nan] * (10 - defined)])
    found = with_word_interval(empty_estimate("fleiss", "m", "", (20, 5)), values, Bootstrap())
    assert isfinite(found.low) == known
    assert found.value == 0.5


def test_over_pairs_a_jackknife_takes_three_and_an_r_of_cosines_four() -> None:
    for pairs, known in ((2, False), (3, True)):
        assert isfinite(jackknife(lambda kept: float(sum(kept)), pairs)[0]) == known
    for pairs, known in ((3, False), (4, True)):
        names, some = tuple("abcd"[:pairs]), np.random.default_rng(0).normal(size=(pairs, pairs))
        table = PairScoreTable(tuple("uvw"), names, np.zeros((3, pairs)), np.zeros(3))
        rows = _cosine_correlations("m", table, some, np.stack([some] * 3), Bootstrap())
        assert bool(list(rows)) == known


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("unbiased", 0.9e-6, ("yes", "no", "yes")),
        ("unbiased", 1.1e-6, ("yes", "yes", "yes")),
        ("fair", 0.9e-6, ("yes", "yes", "yes")),
        ("fair", 1.1e-6, ("yes", "yes", "no")),
        ("most", 1.921, ("yes", "yes", "yes")),  # 2% of a scale of 4 are .08
        ("most", 1.919, ("no", "yes", "yes")),
    ],
)
def test_a_property_holds_up_to_its_tolerance(
    name: str, value: float, verdict: tuple[str, str, str]
) -> None:
    changed: dict[str, Any] = {name: (2.0, value) if name == "most" else value}
    probes = searched(**changed)
    (row,) = score_table(probes).to_dict("records")
    assert (row["comparable"], row["trustworthy"], row["fair"]) == verdict


@pytest.mark.parametrize(("largest", "verdict"), [(99.0, "no"), (101.0, "unbounded")])
def test_a_score_beyond_100_has_no_bound_where_none_is_declared(
    largest: float, verdict: str
) -> None:
    rows = searched((largest, 1.0), (-1.0, -1.0))
    assert score_table(rows.assign(most=inf))["comparable"].tolist() == [verdict]
    assert score_table(rows)["comparable"].tolist() == ["no"]


@pytest.mark.parametrize(("words", "found"), [(3, 1), (4, 2)])
def test_a_selection_has_four_words_on_either_side(words: int, found: int) -> None:
    x, y = (
        {f"{name}{i}": sign + i / 10 for i in range(words)} for name, sign in (("x", 1), ("y", -1))
    )
    assert len(selections(associations(x, y))) == found


@pytest.mark.parametrize(("pairs", "few"), [(3, True), (4, False)])
def test_attribute_groups_need_four_base_pairs(pairs: int, few: bool) -> None:
    query = load_query("gender_topics")
    words = [word for role in "XYAB" for word in query[role].words]
    of_pairs = query["pairs"].words[: 2 * pairs]
    words = [word for word in words if word not in query["pairs"].words]
    words = list(dict.fromkeys([*words, *of_pairs]))
    rng = np.random.default_rng(0)
    vectors = keyed(words, rng.normal(size=(len(words), 6)).astype(np.float32))
    table = AttributeGroups(queries=("gender_topics",), halves=1).rows(vectors, None, seed=0)
    assert ("needs at least 4" in table["reason"][0]) == few, table["reason"][0]


@pytest.mark.parametrize(("sizes", "said"), [(1, True), (2, False)])
def test_a_silhouette_has_two_sizes(sizes: int, said: bool) -> None:
    tables = silhouettes(1)
    values = tables.probes["values"].tolist()
    for at in range(3 - sizes):
        values[at] = [nan, *values[at][1:]]
    pair = read_model_pairs(tables._replace(probes=tables.probes.assign(values=values)), {})[0]
    assert ("fewer than two sizes" in pair.reason) == said


@pytest.mark.parametrize(("rows", "known"), [(2, False), (3, True)])
def test_a_published_r_takes_three_rows(rows: int, known: bool) -> None:
    table = pd.DataFrame({"x": range(rows), "y": [1, 5, 2][:rows]})
    n, r = _r_over_rows(table, "x", "y", SliceResult({}))
    assert (n, isfinite(r)) == (rows, known)
