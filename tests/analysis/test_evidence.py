"""What stands beside a correlation, against values worked by hand and literal loops."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from analysis.coefficients import Coefficients
from analysis.correlate import correlate
from analysis.evidence import Evidence, evidence, within_interval
from analysis.joined import rows_of
from analysis.reliability import trainings
from analysis.units import Resampled, Rows
from analysis.within import indicators, residuals, z_error, z_interval
from tests.analysis.designs import measured, studies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.findings import Finding

Floats = NDArray[np.float64]


def plain(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> Rows:
    """Rows that are units of their own."""
    return Rows.of(np.array(x, dtype=float), np.array(y, dtype=float), np.arange(len(x)))


def with_resamples(rows: Rows, x: Floats, y: Floats) -> Rows:
    return rows._replace(x_resampled=Resampled.of(x), y_resampled=Resampled.of(y))


def accuracy(x: Sequence[float], y: Sequence[float], unbiased: float = 0.0) -> float:
    return evidence(plain(x, y), unbiased=unbiased, resamples=9).accuracy


def test_right_picks_are_a_loop_over_pairs_of_units() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9)).tolist()
    right = [
        (abs(x[i] - 0.5) < abs(x[j] - 0.5)) == (abs(y[i]) < abs(y[j]))
        for i, j in itertools.combinations(range(9), 2)
    ]
    assert accuracy(x, y, 0.5) == pytest.approx(np.mean(right))
    found = evidence(plain(x, y), resamples=9)
    assert found.accuracy_low < found.accuracy < found.accuracy_high


def test_a_tie_is_no_help_and_rounding_makes_no_order() -> None:
    assert accuracy([1.0, 1, 2], [1.0, 2, 3]) == pytest.approx(2.5 / 3)
    assert accuracy([0.1 + 0.2, 0.3, 2], [1.0, 2, 3]) == pytest.approx(2.5 / 3)
    assert accuracy([-3.0, 2, 1], [0.3, -0.2, 0.1]) == 1


def test_bases_are_no_evidence() -> None:
    """18 units of two bases that differ in x and y: r over rows says .9 and p <.0001, and nothing
    happens within them.
    """
    of = studies("normal", 2, 9, 0.0, 1, seed=1)
    x, y = (side[0, 0] + 6 * of.base for side in (of.x, of.y))
    found = evidence(Rows.of(x, y, np.arange(18), of.base))
    over_rows = stats.pearsonr(x, y)
    assert over_rows.statistic > 0.7
    assert over_rows.pvalue < 0.001
    assert found.within_p > 0.05
    assert found.within_low < 0 < found.within_high
    assert math.isnan(found.r_low), "two bases say nothing about a third"
    assert (found.n_units, found.n_bases, found.free) == (18, 2, 15)


def test_where_nothing_was_modified_algorithms_are_no_evidence() -> None:
    """24 unmodified embeddings of two algorithms that differ in x and y."""
    rng = np.random.default_rng(0)
    name = np.repeat(["word2vec", "fasttext"], 12)
    shift = np.repeat([0.0, 5.0], 12)
    table = pd.DataFrame({"x": rng.normal(size=24) + shift, "y": rng.normal(size=24) + shift})
    keys = [f"{one}{i}" for i, one in enumerate(name)]
    table = table.assign(embedding=name, unit=keys, base=keys, cluster=keys, method="none")
    found = evidence(rows_of(table))
    freed = table.groupby("embedding")[["x", "y"]].transform(lambda side: side - side.mean())
    assert found.within == pytest.approx(np.corrcoef(freed["x"], freed["y"])[0, 1])
    assert found.within_p > 0.05
    assert (found.n_bases, found.free) == (24, 21)
    # Once an embedding is modified, what descends from it is what it is compared with
    modified = pd.concat([table, table[:1].assign(unit="w", x=2.0, y=1.0)])
    assert evidence(rows_of(modified)).n_units == 25
    assert evidence(rows_of(modified)).free == 0


def test_rows_of_a_unit_count_once_whatever_their_number() -> None:
    """12 units of one to four rows whose means lie near a line: of a million orders of the means of
    y one in some thousands has a correlation as large.
    """
    rng = np.random.default_rng(2)
    sizes = np.array([1, 2, 3, 4] * 3)
    unit = np.repeat(np.arange(12), sizes)
    level = rng.normal(size=12)
    x = level[unit] + 0.5 * rng.normal(size=len(unit))
    y = (level + 0.5 * rng.normal(size=12))[unit]
    found = evidence(Rows.of(x, y, unit))
    means = np.bincount(unit, x) / sizes, np.bincount(unit, y) / sizes
    a, b = (side - side.mean() for side in means)
    orders = rng.permuted(np.tile(b, (200_000, 1)), axis=1) @ a
    exact = float(np.mean(np.abs(orders) >= abs(a @ b)))
    assert found.within == pytest.approx(np.corrcoef(*means)[0, 1])
    assert exact < 0.01
    assert found.within_p == pytest.approx(exact, abs=0.005)


def test_queries_that_share_a_gap_are_one_unit() -> None:
    of = studies("ladder of doses", 2, 9, 0.5, 1)
    once = Rows.of(of.x[0].mean(axis=0), of.y[0, 0], np.arange(18), of.base)
    rows = Rows.of(
        of.x[0].ravel(), np.tile(of.y[0, 0], 3), np.tile(np.arange(18), 3), np.tile(of.base, 3)
    )
    one, three = evidence(once), evidence(rows)
    for name in (
        "n_units",
        "free",
        "within",
        "within_low",
        "within_high",
        "within_p",
        "distance_p",
    ):
        assert three._asdict()[name] == pytest.approx(one._asdict()[name]), name


def test_the_u_shape_is_seen() -> None:
    """A gap that opens with bias of either sign has no r and a clear association."""
    rng = np.random.default_rng(0)
    x = np.tile(np.linspace(-2, 2, 9), 4)
    y = x**2 / 2 + 0.3 * rng.normal(size=36)
    found = evidence(Rows.of(x, y, np.arange(36), np.repeat(np.arange(4), 9)))
    assert found.within_p > 0.05
    assert found.absolute_low > 0.5
    assert found.distance_p < 0.01


def test_the_distance_correlation_is_its_equation() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 7))
    y = y + 3 * x
    of = residuals(x, y, np.zeros(7, dtype=np.intp))
    found = evidence(plain(x, y), resamples=9)

    def centred(values: Floats) -> Floats:
        n, a = len(values), np.abs(values[:, None] - values)
        out = np.zeros((n, n))
        for i, j in itertools.permutations(range(n), 2):
            sums = a[i].sum() / (n - 2) + a[j].sum() / (n - 2)
            out[i, j] = a[i, j] - sums + a.sum() / ((n - 1) * (n - 2))
        return out

    a, b = centred(of.u), centred(of.v)
    c = (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())
    assert found.distance == pytest.approx(math.sqrt(c))
    assert found.distance_p == pytest.approx(stats.chi2.sf(5 * c + 1, 1))


def test_the_partial_correlation_is_free_of_each_modification() -> None:
    """Score and gap both follow a dose that saturates and nothing else: r is near 1, the partial
    one is not.
    """
    rng = np.random.default_rng(0)
    arm, base = np.tile(np.arange(9), 3), np.repeat(np.arange(3), 9)
    dose = np.tanh(4 * np.linspace(-1, 1, 9))[arm]
    x, y = dose + 0.1 * rng.normal(size=(2, 27))
    rows = Rows.of(x, y, np.arange(27), base)
    found = evidence(rows._replace(modification=arm.astype(str)))
    design = np.column_stack([indicators(base), indicators(arm)])
    freed = [side - design @ np.linalg.lstsq(design, side, rcond=None)[0] for side in (x, y)]
    assert found.within > 0.95
    assert found.partial == pytest.approx(np.corrcoef(*freed)[0, 1])
    assert found.partial_low < 0 < found.partial_high
    few = evidence(rows.at(np.arange(18))._replace(modification=arm[:18].astype(str)))
    assert math.isnan(few.partial), "7 degrees of freedom are left"


def test_the_interval_across_modifications_leaves_each_of_them_out() -> None:
    rng = np.random.default_rng(4)
    arm, base = np.tile(np.arange(9), 3), np.repeat(np.arange(3), 9)
    arm[:2] = 2, 2  # a base without the first two, and with another trained three times
    x, y = rng.normal(size=(2, 27)) + base
    rows = Rows.of(x, y, np.arange(27), base)._replace(modification=arm.astype(str))
    found = evidence(rows)
    left_out = []
    for each in range(9):
        kept = arm != each
        u, v = (
            side[kept] - np.array([side[kept & (base == b)].mean() for b in base[kept]])
            for side in (x, y)
        )
        left_out.append(float(np.corrcoef(u, v)[0, 1]))
    expected = z_interval(found.within, z_error(np.array(left_out), 7))
    assert found.n_arms == 9
    assert (found.arms_low, found.arms_high) == pytest.approx(expected[1:])
    fewer = evidence(rows._replace(modification=(arm % 8).astype(str)))
    assert fewer.n_arms == 8
    assert math.isnan(fewer.arms_low)


def test_the_correction_for_noise_by_hand() -> None:
    # Variances 2 and 8 of units; resamples that vary by 0.5 and 2 leave reliabilities of 3/4 each.
    x, y = (
        np.tile([-2.0, -1, 1, 2], 10) * math.sqrt(0.8),
        np.tile([-2.0, 1, -1, 2], 10) * math.sqrt(3.2),
    )
    assert (x.var(), y.var()) == pytest.approx((2, 8))
    rng = np.random.default_rng(0)

    def resampled(side: Floats, variance: float) -> Floats:
        own = rng.normal(size=(40, 100))
        own -= own.mean(axis=0)
        own /= own.std(axis=1, ddof=1, keepdims=True)
        own -= own.mean(axis=0)
        # What all units share, however large, is no noise of a correlation.
        found: Floats = side[:, None] + math.sqrt(variance) * own + 9 * rng.normal(size=100)
        return found

    rows = plain(x, y)._replace(
        x_resampled=Resampled.of(resampled(x, 0.5)), y_resampled=Resampled.of(resampled(y, 2))
    )
    found = evidence(rows, resamples=9)
    reliability = (found.reliability_x, found.reliability_y, found.ceiling)
    assert reliability == pytest.approx((0.75, 0.75, 0.75), abs=0.005)
    assert found.corrected == pytest.approx(np.corrcoef(x, y)[0, 1] / found.ceiling)
    assert found.corrected_low < found.corrected < found.corrected_high


def test_the_corrected_correlation_is_the_true_one_where_units_share_errors() -> None:
    """True .57; half of every error is shared. The errors taken as of each unit alone would make it
    .75.
    """
    found = evidence(measured(20, 100, 0.57, (0.5, 0.5), seed=0), resamples=9)
    assert found.within == pytest.approx(0.38, abs=0.05)
    assert found.corrected == pytest.approx(0.57, abs=0.05)
    assert found.corrected_low < 0.57 < found.corrected_high


def replicated(seed: int, replicates: int, interaction: float = 0.6) -> Rows:
    """30 units of 3 bases, whose true scores and gaps have correlation .6: a training moves a gap
    by .8 standard deviations, test posts all gaps by 2 and those of each training by .6.
    """
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(3), 10)
    x, true = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=30).T
    true = true + rng.normal(0, 3, size=3)[base]
    unit = np.repeat(np.arange(30), replicates)
    n = len(unit)
    y = true[unit] + rng.normal(0, 0.8, n) + rng.normal(0, interaction, n) + rng.normal(0, 2)
    again = y[:, None] + rng.normal(0, interaction, (n, 100)) + rng.normal(0, 2, 100)
    rows = Rows.of(x[unit], y, unit, base[unit])
    of_words = x[unit][:, None] + np.tile(0.01 * rng.normal(size=(30, 100)), (1, 1))[unit]
    training = np.tile(np.arange(replicates), 30).astype(str)
    return rows._replace(
        training=training, x_resampled=Resampled.of(of_words), y_resampled=Resampled.of(again)
    )


@pytest.mark.parametrize("replicates", [2, 3])
def test_noise_of_trainings_is_told_from_that_of_posts(replicates: int) -> None:
    """Means over 60 studies. Of variance 1 + (.64 + .36) / T the first is true, .64 / T of
    trainings.
    """
    found = [evidence(replicated(seed, replicates), resamples=9) for seed in range(60)]
    whole = 1 + (0.64 + 0.36) / replicates
    variances = [each.training_sd**2 for each in found]
    assert np.mean(variances) == pytest.approx(0.64, abs=0.06)
    assert np.median([each.spread_y for each in found]) == pytest.approx(math.sqrt(whole), abs=0.1)
    shares = [each.training_share for each in found]
    assert np.median(shares) == pytest.approx(0.64 / replicates / whole, abs=0.05)
    assert np.median([each.reliability_y for each in found]) == pytest.approx(1 / whole, abs=0.06)
    assert np.nanmean([each.corrected for each in found]) == pytest.approx(0.6, abs=0.06)


def test_the_noise_of_trainings_by_hand() -> None:
    """Two settings; queries repeat a gap; a unit without a second training has the mean error."""
    unit = np.array([0, 0, 0, 0, 0, 1, 1, 2, 2])
    y = np.array([1.0, 1, 3, 5, 6, 2, 4, 7, 7])
    rows = Rows.of(np.arange(9), y, unit)._replace(
        setting=np.array([*"aaabb", *"aa", *"aa"]), training=np.array([*"00101", *"01", *"00"])
    )
    found = trainings(rows, unit)
    first = (1 / 2) ** 2 * 2 / 2 + (1 / 2) ** 2 * 0.5 / 2
    assert found.error == pytest.approx([first, 1, (first + 1) / 2])
    assert found.sd == pytest.approx(math.sqrt((2 + 0.5 + 2) / 3))
    none = trainings(rows._replace(training=np.full(9, "")), unit)
    assert none.error == pytest.approx([0, 0, 0])
    assert math.isnan(none.sd)


def test_noise_without_signal_has_no_correction() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9))
    again = x[:, None] + 3 * rng.normal(size=(9, 200)), y[:, None] + 0.1 * rng.normal(size=(9, 200))
    found = evidence(
        plain(x, y)._replace(x_resampled=Resampled.of(again[0]), y_resampled=Resampled.of(again[1]))
    )
    assert found.reliability_x < 0.5 < found.reliability_y
    assert math.isnan(found.corrected)
    unknown = np.full((9, 200), np.nan)
    found = evidence(
        plain(x, y)._replace(x_resampled=Resampled.of(again[1]), y_resampled=Resampled.of(unknown))
    )
    assert math.isnan(found.reliability_y)
    assert math.isnan(found.ceiling)


def test_every_statistic_is_found() -> None:
    rng = np.random.default_rng(0)
    x, y = np.repeat(rng.normal(size=(2, 54)), 2, axis=1) + 0.3 * rng.normal(size=(2, 108))
    again = (
        x[:, None] + 0.3 * rng.normal(size=(108, 60)),
        y[:, None] + 0.3 * rng.normal(size=(108, 60)),
    )
    rows = Rows.of(x, y, np.repeat(np.arange(54), 2), np.repeat(np.arange(6), 18))
    rows = rows._replace(training=np.tile(["0", "1"], 54))
    rows = rows._replace(modification=np.tile(np.repeat(np.arange(9), 2), 6).astype(str))
    x_again, y_again = map(Resampled.of, again)
    rows = rows._replace(x_resampled=x_again, y_resampled=y_again)
    found = evidence(rows, resamples=200)
    assert not [name for name, value in found._asdict().items() if value != value]
    assert (found.n_units, found.n_bases, found.n_clusters, found.free) == (54, 6, 6, 47)
    bounds: dict[str, float] = found._asdict()
    for name in ("within", "partial", "absolute", "rho", "tau", "accuracy", "corrected", "r"):
        assert bounds[f"{name}_low"] < bounds[f"{name}_high"], name
    r, units = within_interval(rows)
    assert (*r, units) == (found.within, found.within_low, found.within_high, found.n_units)


@pytest.mark.parametrize(
    ("x", "y", "units", "n_units", "says"),
    [
        ([1, 2], [2, 1], [0, 1], 2, "2 units, fewer than 3"),
        ([1, 2, 3, 4], [2, 1, 4, 3], [0, 0, 0, 0], 1, "1 unit, fewer than 3"),
        ([1, 1, 1, 1], [2, 1, 4, 3], range(4), 4, "a side is constant"),
        ([1, 2, 3, 4], [7, 7, 7, 7], range(4), 4, "a side is constant"),
        ([1, 2, 3, 4], [math.nan] * 4, range(4), 0, "0 units, fewer than 3"),
        ([1, 2, math.nan, 4], [1, math.nan, 3, 4], range(4), 2, "2 units, fewer than 3"),
    ],
)
def test_what_cannot_be_told_is_said(
    x: list[float], y: list[float], units: Sequence[int], n_units: int, says: str
) -> None:
    found = evidence(Rows.of(x, y, list(units)))
    nothing = Evidence(n_units, n_units, n_units, caution=says)
    assert repr(found) == repr(nothing), "everything else is undefined"


def test_where_bases_say_nothing_it_is_said() -> None:
    found = evidence(Rows.of([1, 1, 5, 5.0], [1, 2, 7, 9.0], range(4), ["a", "a", "b", "b"]))
    assert found.caution == "within bases a side is constant, or nothing is left to tell"
    assert math.isnan(found.within)


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
    for name in ("r_low", "r_high", "within_low", "within_high", "within_p", "n_units"):
        ours, theirs = (each.evidence._asdict()[name] for each in (once, fourfold))
        assert ours == pytest.approx(theirs), name
    of_rows = fourfold.statistics.pearson_high - fourfold.statistics.pearson_low
    assert of_rows < 0.6 * (fourfold.evidence.r_high - fourfold.evidence.r_low)


def test_many_rows_of_two_units_have_no_correlation() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"x": rng.normal(size=20), "y": rng.normal(size=20), "name": ["a", "b"] * 10}
    )
    found = clustered(table)
    nothing = Coefficients(20, 0, reason="2 units, fewer than 3")
    assert repr(found.statistics) == repr(nothing)
    assert math.isnan(found.evidence.within_low)
    assert math.isnan(found.evidence.within_p)
    assert found.judgement.verdict == "cannot tell"
    assert found.judgement.why == "2 units, fewer than 3"


def test_the_interval_across_bases_leaves_each_of_them_out() -> None:
    rng = np.random.default_rng(3)
    base = np.repeat(np.arange(6), 4)
    x, y = rng.normal(size=(2, 24))
    found = evidence(Rows.of(x, y, np.arange(24), base))
    u, v = (side - np.array([side[base == b].mean() for b in base]) for side in (x, y))
    left_out = [float(np.corrcoef(u[base != b], v[base != b])[0, 1]) for b in range(6)]
    expected = z_interval(found.within, z_error(np.array(left_out), 5))
    assert (found.across_low, found.across_high) == pytest.approx(expected[1:])
    few = evidence(Rows.of(x, y, np.arange(24), np.repeat(np.arange(4), 6)))
    assert math.isnan(few.across_low), "four bases are too few"
