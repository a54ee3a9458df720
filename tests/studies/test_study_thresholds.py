"""Thresholds of the studies: what lies just on one side of each, and what just on the other.

The rules are those of docs/studies/certificate.md, docs/results.md and of the docstrings.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import pytest

from biasbridge.files.vectors import keyed
from biasbridge.intrinsic.words import load_query
from biasbridge.stats.intervals import Estimate
from biasbridge.studies.base_pair_estimates import (
    Bootstrap,
    PairEstimate,
    _cosine_correlations,
    _jackknife_interval,
    _with_word_interval,
)
from biasbridge.studies.base_pair_tables import PairScoreTable
from biasbridge.studies.certificate_scores import (
    DoseStep,
    FalseAlarms,
    MetricProperties,
    _false_alarms,
    _smallest_strength,
    _strength_correlation,
    mean_interval,
    measure_properties,
)
from biasbridge.studies.certificate_tables import _choice_effects
from biasbridge.studies.certificate_verdicts import (
    CANNOT_TELL,
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    FALSE_ALARMS,
    NOT_ESTIMATED,
    NOT_GRADED,
    OFF_TARGET,
    OFFSET,
    SIGN_TURNED,
    judge_score,
)
from biasbridge.studies.score_properties import AttributeGroups
from biasbridge.studies.score_property_tables import _selections, score_table
from biasbridge.studies.silhouette_results import read_model_pairs
from tests.studies.simulated_scores import Response, scores_of
from tests.studies.test_score_properties import associations, searched
from tests.studies.test_silhouettes import make_tables as silhouettes
from tests.thresholds import decides

ZERO = [-1.0, 0.0, 1.0]


def estimate(value: float, margin: float = 0.1) -> Estimate:
    return Estimate(value, value - margin, value + margin)


DETECTED = MetricProperties(
    *(estimate(10), Estimate(), estimate(0.3)), offset=estimate(0), off_target=estimate(0)
)


@decides(
    ({"smallest": estimate(0.4)}, DETECTS_HALF),
    ({"smallest": estimate(0.401)}, DETECTS_PART),
    ({"smallest": Estimate(0.3, 0.2, inf)}, CANNOT_TELL),
    ({"slope": estimate(2.70), "smallest": Estimate(inf)}, DOES_NOT_DETECT),  # below 2.8016
    ({"slope": estimate(2.71), "smallest": Estimate(inf)}, CANNOT_TELL),
    ({"slope": estimate(-2.70), "smallest": Estimate(inf)}, DOES_NOT_DETECT),
    ({"slope": estimate(0.11)}, DETECTS_HALF),
    ({"slope": estimate(0.10)}, CANNOT_TELL),
    ({"slope": estimate(-0.10)}, CANNOT_TELL),
    ({"slope": estimate(-0.11)}, SIGN_TURNED),
    ({"alarms": FalseAlarms(0, 15)}, DETECTS_HALF),  # .85^15 = .087 at 15%
    ({"alarms": FalseAlarms(0, 14)}, CANNOT_TELL),  # .103
    ({"alarms": FalseAlarms(3, 20)}, CANNOT_TELL),  # p .075
    ({"alarms": FalseAlarms(4, 20)}, FALSE_ALARMS),  # p .016
    ({"random_alarms": FalseAlarms(4, 20)}, FALSE_ALARMS),
    ({"alarms": FalseAlarms(1, 20), "random_alarms": FalseAlarms(1, 20)}, DETECTS_HALF),
    ({"alarms": FalseAlarms(1, 20), "random_alarms": FalseAlarms(2, 20)}, CANNOT_TELL),
    ({"alarms": FalseAlarms(2, 20), "random_alarms": FalseAlarms(2, 20)}, CANNOT_TELL),
    ({"alarms": FalseAlarms(3, 20), "random_alarms": FalseAlarms(2, 20)}, FALSE_ALARMS),
    ({"alarms": FalseAlarms(2, 20), "random_alarms": FalseAlarms(3, 40)}, DETECTS_HALF),
    ({"offset": estimate(0.89)}, DETECTS_HALF),
    ({"offset": estimate(0.91)}, CANNOT_TELL),
    ({"offset": estimate(-0.91)}, CANNOT_TELL),
    ({"offset": estimate(1.1)}, CANNOT_TELL),
    ({"offset": estimate(1.11)}, OFFSET),
    ({"offset": estimate(-1.11)}, OFFSET),
    ({"off_target": estimate(0.89)}, DETECTS_HALF),
    ({"off_target": estimate(0.91)}, CANNOT_TELL),
    ({"off_target": estimate(-0.91)}, CANNOT_TELL),
    ({"off_target": estimate(1.1)}, CANNOT_TELL),
    ({"off_target": estimate(1.11)}, OFF_TARGET),
    ({"off_target": Estimate()}, CANNOT_TELL),
    ({"steps": (DoseStep(0.4, 0.8, estimate(0.71), True),)}, DETECTS_HALF),  # a line rises by 4 sd
    ({"steps": (DoseStep(0.4, 0.8, estimate(0.69), True),)}, NOT_GRADED),
    ({"steps": (DoseStep(0.0, 0.4, estimate(-0.1), False),)}, DETECTS_HALF),
    ({"steps": (DoseStep(0.0, 0.4, estimate(-0.11), False),)}, NOT_GRADED),
    ({"steps": (DoseStep(0.4, 0.8, estimate(0.9, 0.91), True),)}, CANNOT_TELL),
    ({"slope": Estimate()}, NOT_ESTIMATED),
)
def test_a_certificate_changes_where_its_rule_says(changed: dict[str, Any]) -> object:
    return judge_score(DETECTED._replace(**changed))[0]


@decides(
    ({"alarms": FalseAlarms(4, 20)}, DETECTS_HALF),
    ({"offset": estimate(1.11)}, DETECTS_HALF),
    ({"offset": Estimate()}, DETECTS_HALF),
    ({"off_target": estimate(0.91)}, CANNOT_TELL),
    ({"off_target": estimate(1.11)}, OFF_TARGET),
    ({"slope": estimate(-0.10), "offset": estimate(1.11)}, CANNOT_TELL),
)
def test_the_change_alone_needs_no_models_without_a_bias(changed: dict[str, Any]) -> object:
    return judge_score(DETECTED._replace(**changed), change_alone=True)[0]


@decides((0.0499, 1), (0.05, 0))
def test_a_bias_is_claimed_below_p_05(p: float) -> object:
    return _false_alarms(np.array([p]), np.full(1, nan)).n_claims


@decides((2, {False}), (3, {True}))
def test_what_a_certificate_says_takes_three_seeds(seeds: int) -> object:
    scores = scores_of(Response(lambda s: 10 * s, off_target=1.0), seeds=seeds)
    found = measure_properties(scores, None, 20)
    numbers = [found.slope.value, found.offset.value, found.smallest.value, found.off_target.value]
    numbers += [mean_interval(scores.scores[:, 0]).low]
    numbers += [float(_strength_correlation(scores.scores[:seeds, :1], np.zeros(1)).item())]
    return {bool(found.steps), *(not isnan(number) for number in numbers)}


@decides((3, inf), (4, 1.0))
def test_a_strength_is_told_from_none_by_four_of_five_readings(outside: int) -> object:
    values = [[zero, 100.0 if i < outside else 0.0] for i, zero in enumerate([*ZERO, 1, -1])]
    return _smallest_strength(np.array(values), np.array([0.0, 1.0]))


@decides((4.96, False), (4.98, True))
def test_a_reading_is_told_from_none_outside_the_prediction_interval(reading: float) -> object:
    """Of readings -1, 0, 1: t(.975, 2) sqrt(1 + 1 / 3) = 4.3027 x 1.1547 = 4.968."""
    values = np.column_stack([ZERO, [reading] * 3])
    return isfinite(_smallest_strength(values, np.array([0.0, 1.0])))


@decides((2, 0), (3, 1))
def test_a_choice_moves_a_score_of_three_models(models: int) -> object:
    one = scores_of(Response(lambda s: 10 * s), seeds=5)
    moved = one.scores + 1
    moved[np.arange(moved.size).reshape(moved.shape) >= models] = nan
    other = replace(one, names=dict(one.names) | {"query": "another"}, scores=moved)
    return len(list(_choice_effects(one, [other], 10.0)))


@decides((9, (False, True)), (10, (True, False)))
def test_a_kappa_takes_ten_words(words: int) -> object:
    row = PairEstimate("fleiss", "m", words=words, pairs=5)
    result = _with_word_interval(row, np.linspace(0, 1, 1_002), Bootstrap())
    return isfinite(result.value), bool(result.reason)


def test_an_interval_over_words_has_25_of_1000_resamples_on_either_side() -> None:
    values = np.array([500.0, *range(1_001)])
    row = PairEstimate("fleiss", "m", words=20, pairs=5)
    assert _with_word_interval(row, values, Bootstrap())[5:7] == pytest.approx((25, 975))


@decides((9, (True, 0.5)), (8, (False, 0.5)))
def test_an_interval_over_words_takes_nine_tenths_of_the_resamples(defined: int) -> object:
    values = np.array([0.5, *[0.4] * defined, *[nan] * (10 - defined)])
    row = PairEstimate("fleiss", "m", words=20, pairs=5)
    result = _with_word_interval(row, values, Bootstrap())
    return isfinite(result.low), result.value


@decides((2, False), (3, True))
def test_a_jackknife_over_pairs_takes_three(pairs: int) -> object:
    return isfinite(_jackknife_interval(lambda kept: float(sum(kept)), pairs)[0])


@decides((3, False), (4, True))
def test_an_r_of_cosines_takes_four_pairs(pairs: int) -> object:
    names, some = tuple("abcd"[:pairs]), np.random.default_rng(0).normal(size=(pairs, pairs))
    table = PairScoreTable(tuple("uvw"), names, np.zeros((3, pairs)), np.zeros(3))
    return bool(list(_cosine_correlations("m", table, some, np.stack([some] * 3), Bootstrap())))


@decides(
    ({"unbiased": 0.9e-6}, ["yes", "no", "yes"]),
    ({"unbiased": 1.1e-6}, ["yes", "yes", "yes"]),
    ({"fair": 0.9e-6}, ["yes", "yes", "yes"]),
    ({"fair": 1.1e-6}, ["yes", "yes", "no"]),
    ({"high": (2.0, 1.921)}, ["yes", "yes", "yes"]),  # 2% of a scale of 4 are .08
    ({"high": (2.0, 1.919)}, ["no", "yes", "yes"]),
)
def test_a_property_holds_up_to_its_tolerance(changed: dict[str, Any]) -> object:
    (row,) = score_table(searched(**changed)).to_dict("records")
    return [row[name] for name in ("comparable", "trustworthy", "fair")]


@decides((99.0, ("no", "no")), (101.0, ("unbounded", "no")))
def test_a_score_beyond_100_has_no_bound_where_none_is_declared(largest: float) -> object:
    rows = searched((largest, 1.0), (-1.0, -1.0))
    tables = score_table(rows.assign(scale_max=inf)), score_table(rows)
    return tuple(table["comparable"].item() for table in tables)


@decides((3, 1), (4, 2))
def test_a_selection_has_four_words_on_either_side(words: int) -> object:
    x, y = (
        {f"{name}{i}": sign + i / 10 for i in range(words)} for name, sign in (("x", 1), ("y", -1))
    )
    return len(_selections(associations(x, y)))


@decides((3, True), (4, False))
def test_attribute_groups_need_four_base_pairs(pairs: int) -> object:
    query = load_query("gender_topics")
    words = [word for role in "XYAB" for word in query[role].words]
    words = [word for word in words if word not in query["pairs"].words]
    words = list(dict.fromkeys([*words, *query["pairs"].words[: 2 * pairs]]))
    rng = np.random.default_rng(0)
    vectors = keyed(words, rng.normal(size=(len(words), 6)).astype(np.float32))
    table = AttributeGroups(queries=("gender_topics",), halves=1).rows(vectors, None, seed=0)
    return "needs at least 4" in table["reason"][0]


@decides((1, (True, 2)), (2, (False, 1)))
def test_a_silhouette_has_two_sizes(sizes: int) -> object:
    tables = silhouettes(1)
    values = tables.probes["values"].tolist()
    for at in range(3 - sizes):
        values[at] = [nan, *values[at][1:]]
    pair = read_model_pairs(tables._replace(probes=tables.probes.assign(values=values)), {})[0]
    return "fewer than two sizes" in pair.reason, pair.n_left_out
