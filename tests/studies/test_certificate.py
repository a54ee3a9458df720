"""Scores whose readings are made up, so that what a certificate must say of them is known."""

from __future__ import annotations

import io
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from rich.console import Console

from analysis.results import Tables
from stats.intervals import proportion_estimate
from studies.certificate.measures import (
    BY_INTERVAL,
    BY_P,
    FalseAlarms,
    correlation,
    false_alarms,
    measure,
    slope,
    smallest_strength,
)
from studies.certificate.strength_scores import (
    SETTINGS,
    StrengthScores,
    default_setting,
    read_scores,
)
from studies.certificate.study import Certificate
from studies.certificate.table import certify
from studies.certificate.verdict import (
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    FALSE_ALARMS,
    UNKNOWN,
    judge,
)

STRENGTHS = np.array([0.0, 0.1, 0.2, 0.4, 0.8])
RANDOM = FalseAlarms()


def readings(by: float, noise: float = 1.0, *, seeds: int = 400, seed: int = 1) -> StrengthScores:
    """Scores by * strength + noise * N(0, 1), unbiased at 0, without p or interval."""
    drawn = np.random.default_rng(seed).normal(size=(seeds, len(STRENGTHS)))
    none = np.full_like(drawn, nan)
    names = dict.fromkeys(("metric", "convention", "subject", "query"), "made up")
    values = by * STRENGTHS + noise * drawn
    setting = dict.fromkeys(SETTINGS, "")
    return StrengthScores(
        names, setting, STRENGTHS, np.arange(float(seeds)), values, none, none, 0.0
    )


def make_tables(seeds: int = 6) -> Tables:
    """Of two sizes of corpus, where the larger one has all strengths: a good score, one of noise
    that claims a bias always, one that reads the reverse end of its scale, and a gap that follows
    label bias; the good score reads 1 more, everywhere, on the small corpus.
    """
    rng = np.random.default_rng(1)
    points, intrinsic, extrinsic = [], [], []
    for sentences, strengths in ((1_000, (0.0, 0.8)), (2_000, STRENGTHS.tolist())):
        for seed, strength in ((seed, each) for seed in range(seeds) for each in strengths):
            key = f"{sentences} {seed} {strength}"
            points.append(
                {"point": key, "status": "done", "embedding": "word2vec", "seed": seed}
                | {"stereotype": strength, "label_bias": strength, "sentences": sentences}
            )
            good = 10 * strength + 0.1 * rng.normal() + (sentences == 1_000)
            for metric, value in (("good", good), ("noise", rng.normal()), ("reverse", 1 - good)):
                score: dict[str, object] = {
                    "point": key,
                    "metric": metric,
                    "convention": "default",
                    "query": "q",
                }
                score |= {"part": "", "language": "en", "p_method": "exact"}
                score |= {"unbiased": float(metric == "reverse"), "most": 1.0, "value": value}
                p = {"p_value": 0.01 if metric == "noise" else 0.5}
                intrinsic.append({**score, **p, "low": value - 0.1, "high": value + 0.1})
            gap = {"point": key, "kind": "gap", "measure": "recall", "low": -1.0, "high": 1.0}
            extrinsic.append({**gap, "value": strength + 0.01 * rng.normal()})
    return Tables(*map(pd.DataFrame, (points, intrinsic, extrinsic)))


def test_the_smallest_strength_is_where_normal_readings_reach_80_percent_power() -> None:
    by = 10.0
    found = smallest_strength(readings(by, seeds=20_000).scores, STRENGTHS)
    # Told from none beyond 1.96 sd: 80% power where the mean lies 1.96 + 0.84 sd off
    truth = (scipy.special.ndtri(0.975) + scipy.special.ndtri(0.8)) / by
    assert found == pytest.approx(truth, abs=0.01)


def test_a_power_that_is_lost_again_counts_from_where_it_stays() -> None:
    zero = np.random.default_rng(0).normal(size=200)
    values = np.column_stack([zero, zero + 100, zero, zero + 100])
    assert 2 < smallest_strength(values, np.array([0.0, 1.0, 2.0, 3.0])) < 3


@pytest.mark.parametrize("by", [0.0, 0.5])
def test_what_is_not_found_at_any_strength_has_no_smallest_one(by: float) -> None:
    assert smallest_strength(readings(by).scores, STRENGTHS) == inf


def test_slope_and_r_are_those_of_least_squares() -> None:
    one = readings(3.0, 2.0, seeds=4_000)
    found = slope(one.scores, STRENGTHS)
    assert found.low < 1.5 < found.high
    assert found.value == pytest.approx(1.5, abs=0.05), "3 per strength, over a noise of 2"
    line = scipy.stats.linregress(np.tile(STRENGTHS, 4_000), one.scores.ravel())
    assert correlation(one.scores, STRENGTHS) == pytest.approx(line.rvalue)
    assert found.value == pytest.approx(line.slope / 2, rel=0.02)


def test_the_interval_of_the_slope_holds_it_in_95_of_100_studies() -> None:
    held = [
        found.low < 3.0 < found.high
        for seed in range(400)
        for found in [slope(readings(3.0, seeds=20, seed=seed).scores, STRENGTHS)]
    ]
    assert 0.91 < np.mean(held) < 0.99


def test_seeds_may_lack_strengths() -> None:
    one = readings(10.0, 0.1, seeds=40)
    one.scores[:20, 1:4] = nan
    assert slope(one.scores, STRENGTHS).value == pytest.approx(100, rel=0.2)
    assert measure(one, 20).r.value > 0.99


@pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 20), (20, 20)])
def test_wilsons_interval_is_that_of_scipy(k: int, n: int) -> None:
    bounds = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
    assert proportion_estimate(k, n) == pytest.approx((k / n, bounds.low, bounds.high))


def test_false_alarms_are_counted_by_p_and_only_without_one_by_the_interval() -> None:
    p, outside, none = np.array([0.01, 0.5, nan]), np.array([1.0, 1.0, 0.0]), np.full(3, nan)
    assert (false_alarms(p, outside).share.value, false_alarms(p, outside).criterion) == (0.5, BY_P)
    assert false_alarms(none, outside).share.value == pytest.approx(2 / 3)
    assert false_alarms(none, outside).criterion == BY_INTERVAL
    assert np.isnan(false_alarms(none, none).share.value)


@pytest.mark.parametrize(
    ("by", "noise", "verdict"),
    [
        (10.0, 1.0, DETECTS_HALF),
        (4.0, 1.0, DETECTS_PART),
        (1.5, 1.0, DETECTS_PART),
        (0.0, 1.0, DOES_NOT_DETECT),
        (-10.0, 1.0, DOES_NOT_DETECT),
    ],
)
def test_verdicts(by: float, noise: float, verdict: str) -> None:
    said, why = judge(measure(readings(by, noise, seeds=200), 50), RANDOM)
    assert said == verdict
    assert why


def test_a_score_that_claims_a_bias_where_there_is_none_gives_false_alarms() -> None:
    one = readings(10.0)
    one.p[:, 0] = np.where(np.arange(400) < 40, 0.01, 0.5)
    assert judge(measure(one, 20), RANDOM)[0] == FALSE_ALARMS
    claims = false_alarms(np.full(20, 0.01), np.full(20, nan))
    assert judge(measure(readings(10.0), 20), claims)[0] == FALSE_ALARMS
    assert judge(measure(readings(10.0, seeds=2), 20), RANDOM)[0] == UNKNOWN


def test_the_usual_setting_is_that_of_most_models_and_the_other_is_a_choice() -> None:
    every = read_scores(make_tables(), "stereotype")
    assert [one.setting["sentences"] for one in default_setting(every)] == ["2000"] * 3
    found = certify(every, 20)
    table = found.certificate.set_index("metric")
    assert table.loc["good", "verdict"] == DETECTS_HALF
    assert table.loc["noise", "verdict"] == DOES_NOT_DETECT
    assert table.loc["noise", "false_alarms"] == 1.0
    assert table.loc["good", "false_alarms"] == 0.0
    assert float(str(table.loc["good", "smallest_strength"])) < 0.1
    # It reads 1 more on the small corpus, an eighth of the full effect
    sway = found.choices.set_index("metric").loc["good"]
    assert (sway["usual"], sway["others"], sway["models"]) == ("2000", "1000", 12)
    assert sway["share"] == pytest.approx(0.125, abs=0.03)


def test_what_stands_before_a_text_is_a_choice_and_no_convention() -> None:
    tables = make_tables()
    other = tables.intrinsic.assign(
        convention="default,case=lower,first_token=none", value=tables.intrinsic["value"] + 2
    )
    both = pd.concat([tables.intrinsic, other])
    found = certify(read_scores(tables._replace(intrinsic=both), "stereotype"), 20)
    assert set(found.certificate["convention"]) == {"default"}
    choices = found.choices[found.choices["choice"] == "first token"]
    sway = choices.set_index("metric").loc["good"]
    assert (sway["usual"], sway["others"]) == ("own", "none")
    assert sway["moved"] == pytest.approx(2)


def test_a_score_whose_unbiased_end_is_the_upper_one_is_turned() -> None:
    table = certify(read_scores(make_tables(), "stereotype"), 20).certificate.set_index("metric")
    assert table.loc["reverse", "verdict"] == DETECTS_HALF
    assert table.loc["reverse", "slope"] == pytest.approx(table.loc["good", "slope"])


def test_models_stopped_in_training_say_when_the_bias_is_seen() -> None:
    tables, rng = make_tables(4), np.random.default_rng(0)
    points, scores = [], []
    for steps, value in ((0, 0.0), (100, 1.0), (200, 7.0), (400, 7.9)):
        for seed in range(4):
            key = f"{steps} {seed}"
            own = {"point": key, "seed": seed, "stereotype": 0.8, "training_steps": steps}
            points.append(dict(tables.points.iloc[-1]) | own)
            score = dict(tables.intrinsic.iloc[0]) | {"point": key}
            scores.append({**score, "value": value + 0.01 * rng.normal(), "p_value": 0.01})
    stopped = tables._replace(
        points=pd.concat([tables.points, pd.DataFrame(points)]),
        intrinsic=pd.concat([tables.intrinsic, pd.DataFrame(scores)]),
    )
    found = certify(read_scores(stopped, "stereotype"), 20)
    assert found.training["steps"].tolist()[:4] == [0, 100, 200, 400]
    good = found.certificate.set_index("metric").loc["good"]
    assert good["learned_at"] == 200
    assert good["random_alarms"] == 1.0
    assert good["verdict"] == FALSE_ALARMS


def test_random_vectors_alone_say_nothing_of_training() -> None:
    tables = make_tables()
    points = tables.points[tables.points["stereotype"] == 0].assign(training_steps=0)
    points = points.assign(point="random " + points["point"])
    rows = tables.intrinsic.assign(point="random " + tables.intrinsic["point"], p_value=0.01)
    intrinsic = rows[rows["point"].isin(points["point"])]
    both = tables._replace(
        points=pd.concat([tables.points, points]),
        intrinsic=pd.concat([tables.intrinsic, intrinsic]),
    )
    found = certify(read_scores(both, "stereotype"), 20)
    assert found.training.empty
    assert found.certificate.set_index("metric").loc["good", "random_alarms"] == 1.0


def test_gaps_are_read_where_label_bias_is_planted() -> None:
    table = certify(read_scores(make_tables(), "label_bias"), 20).certificate
    assert table["metric"].tolist() == ["recall gap"]
    assert table["r"].item() > 0.99


@pytest.mark.parametrize("planted", ["posts", "sentences"])
def test_tables_without_a_level_of_nothing_planted_are_refused_in_words(
    planted: str, tmp_path: Path
) -> None:
    printed = io.StringIO()
    console = Console(file=printed, width=150)
    assert Certificate(planted=planted).conclude(make_tables(), tmp_path, console) == []
    assert "no certificate" in printed.getvalue()


def test_a_metric_that_falls_by_its_documented_sign_is_turned_too() -> None:
    tables = make_tables()
    good = tables.intrinsic[tables.intrinsic["metric"] == "good"]
    turned = good.assign(value=-good["value"])
    rows = [
        turned.assign(metric="rnd"),
        turned.assign(metric="mac"),
        good.assign(metric="mac", convention="sweater"),
    ]
    found = certify(
        read_scores(tables._replace(intrinsic=pd.concat(rows)), "stereotype"), 20
    ).certificate
    assert found["verdict"].tolist() == [DETECTS_HALF] * 3
