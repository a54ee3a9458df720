"""What stands beside a correlation, against values worked by hand, literal loops and
statsmodels.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from analysis.clusters import Estimate, Pairs, resample
from analysis.coefficients import Coefficients
from analysis.correlate import adjust, correlate
from analysis.evidence import Evidence, corrected, evidence, pairwise_accuracy
from analysis.pooling import meta_analysis, mixed_model, reversal, z_error
from analysis.verdict import RULES, judged
from files.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analysis.findings import Finding


def test_adjusted_p_values_by_hand() -> None:
    # In order .005 .01 .03 .04 .5: Holm 5 x .005, 4 x .01, 3 x .03, at least that, .5; Benjamini
    # and Hochberg 5/1 x .005, 5/2 x .01, 5/3 x .03, 5/4 x .04, .5.
    holm, bh = adjust([0.01, 0.04, math.nan, 0.03, 0.005, 0.5])
    assert holm == pytest.approx([0.04, 0.09, math.nan, 0.09, 0.025, 0.5], nan_ok=True)
    assert bh == pytest.approx([0.025, 0.05, math.nan, 0.05, 0.025, 0.5], nan_ok=True)
    assert np.isnan(adjust([math.nan])).all()


def test_pairwise_accuracy_is_a_loop_over_pairs_of_units() -> None:
    rng = np.random.default_rng(0)
    x, y, unit = rng.normal(size=12), rng.normal(size=12), np.repeat(np.arange(6), 2)
    bias = [(np.mean(np.abs(x[unit == u] - 0.5)), np.mean(np.abs(y[unit == u]))) for u in range(6)]
    right = [((a[0] < b[0]) == (a[1] < b[1])) for a, b in itertools.combinations(bias, 2)]
    found = pairwise_accuracy(Pairs(x, y, unit), resample(6, 400, 0), unbiased=0.5)
    assert found.value == pytest.approx(np.mean(right))
    assert found.low <= found.value <= found.high


def test_a_tie_is_no_help() -> None:
    units = np.arange(3)
    assert pairwise_accuracy(
        Pairs(np.array([1.0, 1, 2]), np.array([1.0, 2, 3]), units), np.ones((2, 3))
    ).value == pytest.approx(2.5 / 3)
    assert (
        pairwise_accuracy(
            Pairs(np.array([-3.0, 2, 1]), np.array([0.3, -0.2, 0.1]), units), np.ones((2, 3))
        ).value
        == 1
    )


def test_the_correction_for_attenuation_by_hand() -> None:
    # var(x) = 2 and var(y) = 8; errors of variance 0.5 and 2 leave reliabilities of 3/4 each.
    x, y = (
        np.tile([-2.0, -1, 1, 2], 10) * math.sqrt(0.8),
        np.tile([-2.0, 1, -1, 2], 10) * math.sqrt(3.2),
    )
    assert (x.var(), y.var()) == pytest.approx((2, 8))
    pairs = Pairs(x, y, np.arange(40))
    found = corrected(
        pairs, np.full(40, math.sqrt(0.5)), np.full(40, math.sqrt(2.0)), resample(40, 50, 0)
    )
    assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1] / 0.75)


def test_the_corrected_correlation_is_that_without_noise() -> None:
    rng = np.random.default_rng(1)
    true = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=4_000)
    noisy = true + rng.normal(size=true.shape) * [0.8, 0.5]
    row = evidence(
        *noisy.T,
        units=range(4_000),
        errors=(np.full(4_000, 0.8), np.full(4_000, 0.5)),
        resamples=60,
    )
    assert row.r_corrected == pytest.approx(0.6, abs=0.05)
    assert row.r_corrected_low < row.r_corrected < row.r_corrected_high


def test_noise_without_signal_has_no_correction() -> None:
    rng = np.random.default_rng(0)
    row = evidence(
        rng.normal(size=9),
        rng.normal(size=9),
        units=range(9),
        errors=(np.full(9, 3.0), np.full(9, 0.1)),
        resamples=50,
    )
    assert math.isnan(row.r_corrected)


def test_meta_analysis_is_that_of_statsmodels() -> None:
    r, errors = np.array([0.5, 0.1, -0.2, 0.4, 0.6]), np.array([0.2, 0.15, 0.25, 0.1, 0.3])
    found = meta_analysis(r, errors)
    expected = combine_effects(np.arctanh(r), errors**2, method_re="iterated")
    assert found.tau2 == pytest.approx(expected.tau2, abs=1e-6)
    assert found.i2 == pytest.approx(expected.i2, abs=1e-9)
    assert found.q == pytest.approx(expected.q, abs=1e-9)
    assert math.atanh(found.r) == pytest.approx(expected.mean_effect_re, abs=1e-6)
    # t of 4 degrees of freedom, after Hartung, Knapp, Sidik and Jonkman
    reach = 2.7764451051977987 * expected.sd_eff_w_re_hksj
    assert math.atanh(found.high) == pytest.approx(expected.mean_effect_re + reach, abs=1e-5)


def test_meta_analysis_of_like_slices_has_no_heterogeneity() -> None:
    found = meta_analysis([0.3, 0.3, 0.3], [0.2, 0.1, 0.3])
    assert (found.r, found.tau2, found.i2) == pytest.approx((0.3, 0, 0))
    assert (
        meta_analysis([0.3, 1.0, math.nan], [0.2, 0.1, 0.3]).reason
        == "1 slices with an error, fewer than 2"
    )


def test_the_mixed_model_finds_the_slope_within_groups() -> None:
    # Within every group y falls with x; the groups' means rise: the paradox of Simpson.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), 12)
    inner = rng.normal(size=96)
    x, y = inner + 3 * groups, -inner + 3 * groups + 0.3 * rng.normal(size=96)
    found = mixed_model(x, y, groups)
    assert np.corrcoef(x, y)[0, 1] > 0.9
    assert found.high < 0
    # Both sides are standardised, so the slope within is -1 times the ratio of their spreads.
    assert found.slope == pytest.approx(-x.std() / y.std(), abs=0.1)
    assert found.group_share > 0.9
    assert "too few" in mixed_model(x[:3], y[:3], groups[:3]).reason


def test_z_error_is_the_jackknifes() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 8))
    z = [math.atanh(np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1]) for i in range(8)]
    r, error = z_error(x, y, range(8))
    assert r == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert error == pytest.approx(math.sqrt(7 / 8 * sum((each - np.mean(z)) ** 2 for each in z)))
    assert math.isnan(z_error(x[:3], y[:3], range(3))[1])


@pytest.mark.parametrize(
    ("pooled", "parts", "says"),
    [
        (
            (0.4, 0.1, 0.6),
            [(-0.3, -0.6, 0.1), (-0.2, -0.5, 0.2)],
            "reversed: every part has the other sign than the whole",
        ),
        ((0.1, -0.2, 0.4), [(-0.3, -0.6, 0.1), (-0.2, -0.5, 0.2)], "reversed within the noise"),
        (
            (0.1, -0.1, 0.3),
            [(-0.5, -0.7, -0.2), (0.5, 0.2, 0.7)],
            "parts disagree: 1 above 0, 1 below",
        ),
        (
            (0.4, 0.1, 0.6),
            [(-0.3, -0.6, 0.1), (0.1, -0.2, 0.4)],
            "not within the parts: on average they have the other sign",
        ),
        ((0.4, 0.1, 0.6), [(0.3, 0.1, 0.5), (0.2, -0.1, 0.5)], ""),
        ((0.4, 0.1, 0.6), [(-0.3, -0.6, 0.1)], ""),
    ],
)
def test_reversals(pooled: tuple[float, ...], parts: list[tuple[float, ...]], says: str) -> None:
    assert reversal(Estimate(*pooled), [Estimate(*part) for part in parts]) == says


SUPPORTED = Evidence(
    n_units=20,
    r_low=0.2,
    r_high=0.7,
    influence_low=0.3,
    influence_high=0.6,
    influential="u",
    detectable=0.59,
)


@pytest.mark.parametrize(
    ("found", "p_holm", "verdict", "why"),
    [
        (SUPPORTED, 0.01, "supports", "r > 0"),
        (
            SUPPORTED._replace(r_low=-0.7, r_high=-0.2, influence_low=-0.6, influence_high=-0.3),
            0.01,
            "contradicts",
            "r < 0",
        ),
        (SUPPORTED._replace(r_low=-0.1, r_high=0.2), 0.01, "contradicts", "|r| is below 0.3"),
        (
            SUPPORTED._replace(r_low=-0.1),
            0.01,
            "cannot tell",
            "the interval holds 0; 20 units detect |r| of 0.59 or more",
        ),
        (
            SUPPORTED,
            0.2,
            "cannot tell",
            "not beyond chance among the slices shown (Holm's p 0.2)",
        ),
        (
            SUPPORTED,
            math.nan,
            "cannot tell",
            "not beyond chance among the slices shown (Holm's p nan)",
        ),
        (
            SUPPORTED._replace(influence_low=-0.1),
            0.01,
            "cannot tell",
            "one unit decides the sign (u)",
        ),
        (
            SUPPORTED._replace(r_low_bases=-0.5, r_high_bases=-0.1),
            0.01,
            "cannot tell",
            "the interval over base embeddings has the other sign",
        ),
    ],
)
def test_the_rules_of_the_verdict(found: Evidence, p_holm: float, verdict: str, why: str) -> None:
    judgement = judged(Coefficients(20, 0), found, p_holm, math.nan)
    assert (judgement.verdict, judgement.why) == (verdict, why)
    assert verdict in RULES


def test_without_an_interval_the_verdict_says_what_stood_in_the_way() -> None:
    few = Coefficients(2, 0, reason="n = 2, fewer than 3 pairs")
    judgement = judged(few, Evidence(2), 0.01, math.nan)
    assert (judgement.verdict, judgement.why) == ("cannot tell", "n = 2, fewer than 3 pairs")


def test_every_statistic_is_found() -> None:
    rng = np.random.default_rng(0)
    row = evidence(
        rng.normal(size=24),
        rng.normal(size=24),
        units=np.repeat(np.arange(12), 2),
        bases=np.repeat(np.arange(6), 4),
        resamples=200,
    )
    undefined = {name for name, value in row._asdict().items() if value != value}
    assert undefined == {"r_corrected", "r_corrected_low", "r_corrected_high"}
    assert (row.n_units, row.n_bases) == (12, 6)
    assert row.r_low < row.r_high
    assert row.r_low_bases < row.r_high_bases


@pytest.mark.parametrize(
    ("x", "y", "units", "n_units", "says"),
    [
        ([1, 2], [2, 1], [0, 1], 2, "2 units, fewer than 3"),
        ([1, 2, 3, 4], [2, 1, 4, 3], [0, 0, 0, 0], 1, "1 units, fewer than 3"),
        ([1, 1, 1, 1], [2, 1, 4, 3], range(4), 4, "a side is constant"),
        ([1, 2, 3, 4], [7, 7, 7, 7], range(4), 4, "a side is constant"),
        ([1, 2, 3, 4], [math.nan] * 4, range(4), 0, "0 units, fewer than 3"),
        ([1, 2, math.nan, 4], [1, math.nan, 3, 4], range(4), 2, "2 units, fewer than 3"),
    ],
)
def test_what_cannot_be_told_is_said(
    x: list[float], y: list[float], units: Sequence[int], n_units: int, says: str
) -> None:
    row = evidence(np.array(x, dtype=float), np.array(y, dtype=float), units=units)
    nothing = Evidence(n_units, caution=says)
    assert repr(row) == repr(nothing), "everything else is undefined"


def clustered(table: pd.DataFrame) -> Finding:
    (found,) = correlate(table, x="x", y="y", cluster=["name"])
    return found


def test_rows_written_twice_are_no_evidence_once_they_are_clustered() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"x": rng.normal(size=10), "y": rng.normal(size=10), "name": list("abcdefghij")}
    )
    table["y"] += 0.6 * table["x"]
    once, fourfold = clustered(table), clustered(pd.concat([table] * 4))
    bounds = (fourfold.evidence.r_low, fourfold.evidence.r_high)
    assert bounds == pytest.approx((once.evidence.r_low, once.evidence.r_high))
    assert fourfold.evidence.n_units == 10
    of_rows = fourfold.statistics.pearson_high - fourfold.statistics.pearson_low
    assert of_rows < 0.6 * (bounds[1] - bounds[0])


def test_many_rows_of_two_units_have_no_correlation() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"x": rng.normal(size=20), "y": rng.normal(size=20), "name": ["a", "b"] * 10}
    )
    found = clustered(table)
    nothing = Coefficients(20, 0, reason="2 units, fewer than 3")
    assert repr(found.statistics) == repr(nothing)
    assert math.isnan(found.evidence.r_low)
    assert math.isnan(found.evidence.r_p)
    assert found.judgement.verdict == "cannot tell"
    assert found.judgement.why == "2 units, fewer than 3"


def test_rows_that_repeat_others_are_pointed_out() -> None:
    table = pd.DataFrame(
        {"x": [1.0, 2, 3, 4, 4, 4], "y": [2.0, 1, 4, 3, 3, 3], "name": list("abcddd")}
    )
    told = "2 rows repeat another one; if they are of one unit, name it with --cluster"
    (alone,) = correlate(table, x="x", y="y")
    assert alone.evidence.caution == told
    assert clustered(table).evidence.caution != told


@pytest.mark.realdata
def test_the_studys_own_table_without_and_with_clusters(realdata: Path) -> None:
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    gap = "Performance Gap"
    (rows,) = correlate(table, x="WEAT", y=gap)
    (units,) = correlate(table, x="WEAT", y=gap, cluster=[gap])
    pearson = (rows.statistics.pearson, rows.statistics.pearson_p)
    assert pearson == pytest.approx((0.278192, 0.010399), abs=1e-6)
    assert (rows.evidence.n_units, units.evidence.n_units) == (84, 28)
    assert (rows.judgement.verdict, rows.judgement.why) == ("supports", "r > 0")
    width = units.evidence.r_high - units.evidence.r_low
    assert width > 1.2 * (rows.evidence.r_high - rows.evidence.r_low)
    by = correlate(table, x="WEAT", y=gap, by=["Metric", "Embedding"], cluster=[gap])
    assert [each.evidence.n_units for each in by] == [7] * 4
    assert {each.judgement.verdict for each in by} == {"cannot tell"}
