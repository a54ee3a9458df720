"""What sampling words and items adds to the error of r, and takes from reliability: against literal
loops with slopes by finite differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from biasbridge.analysis.correlation import correlation
from biasbridge.analysis.reliability import NoiseShares, noise_shares, training_noise
from biasbridge.analysis.residuals import residuals
from biasbridge.analysis.rows import Resampled
from biasbridge.analysis.sampling import (
    errors_of_z,
    sampling_error,
    slope_sampling_error,
)
from tests.analysis.conftest import make_rows

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

PARENT = np.repeat(np.arange(4), (6, 5, 7, 6))
N = len(PARENT)


def measured(seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Scores, gaps, and what 400 resamples do to gaps: along scores, across, to models alone."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N) + 3.0 * PARENT
    noise: Floats = rng.normal(size=N)
    y = 0.6 * x + noise - 2.0 * PARENT
    moves: Floats = 0.2 * np.outer(x, rng.normal(size=400)) + 0.2 * rng.normal(size=(N, 400))
    moves += 0.3 * np.outer(noise, rng.normal(size=400))
    return x, y, moves


def demeaned(side: Floats) -> Floats:
    means: Floats = np.array([side[parent == PARENT].mean(axis=0) for parent in PARENT])
    return side - means


def lengths(x: Floats, y: Floats) -> tuple[float, float]:
    """Of the gaps along the scores and across them."""
    u, v = demeaned(x), demeaned(y)
    along = float(u @ v / np.sqrt(u @ u))
    return along, float(np.linalg.norm(v - along * u / np.sqrt(u @ u)))


def gradients(x: Floats, y: Floats) -> Floats:
    """What each gap does to both lengths, in units of the length of all gaps. Shape (n, 2)."""
    rows = []
    for step in 1e-5 * np.eye(N):
        ends = np.array([lengths(x, y + step), lengths(x, y - step)])
        rows.append((ends[0] - ends[1]) / 2e-5 / np.linalg.norm(demeaned(y)))
    return np.array(rows)


def literal(x: Floats, y: Floats, moves: Floats) -> Floats:
    """Shared covariance of both lengths, term by term."""
    slopes, moves = gradients(x, y), demeaned(moves)
    together = np.array([sum(slopes[i] * move[i] for i in range(N)) for move in moves.T])
    shared = np.cov(together.T)
    for i in range(N):
        h = 1 / np.bincount(PARENT)[PARENT[i]]
        shared -= np.outer(slopes[i], slopes[i]) * float(np.var(moves[i], ddof=1)) / (1 - h)
    return shared


def drawn(r: float, covariance: Floats) -> tuple[float, float]:
    """Distances of z to its quantiles of .16 and .84, from random moves of both lengths."""
    rng = np.random.default_rng(0)
    moved = rng.multivariate_normal([r, math.sqrt(1 - r * r)], covariance, 400_000, tol=1e-6)
    low, high = np.quantile(np.arcsinh(moved[:, 0] / np.abs(moved[:, 1])), stats.norm.cdf([-1, 1]))
    return math.atanh(r) - float(low), float(high) - math.atanh(r)


def test_it_is_what_resamples_do_to_all_models_together_less_what_to_each() -> None:
    x, y, moves = measured()
    moves[3, 7], moves[5, 9] = np.nan, np.inf
    resampled = y[:, None] + moves
    items = sampling_error(residuals(x, y, PARENT), None, resampled)
    along, across = np.divide(lengths(x, y), np.linalg.norm(demeaned(y))).tolist()
    expected = errors_of_z(along, across, literal(x, y, np.delete(moves, [7, 9], axis=1)))
    assert items[1:] == pytest.approx(expected, rel=1e-6)
    assert math.isnan(items.words)
    assert items.error == items.items
    swapped = sampling_error(residuals(y, x, PARENT), resampled, None)
    mirrored = sampling_error(residuals(x, -y, PARENT), None, -resampled)
    assert (swapped.words, swapped.outward) == pytest.approx(expected, rel=1e-6)
    assert mirrored[1:] == pytest.approx(expected, rel=1e-6)
    of_words = x[:, None] + 0.2 * np.outer(y, np.random.default_rng(1).normal(size=60))
    both = sampling_error(residuals(x, y, PARENT), of_words, resampled)
    words = sampling_error(residuals(x, y, PARENT), of_words, None)
    assert both[:2] == (words.words, items.items)
    assert both.error == pytest.approx(math.hypot(words.words, items.items))
    assert both.outward == pytest.approx(math.hypot(words.outward, items.outward))


@pytest.mark.parametrize("r", [0.0, 0.6, 0.99])
def test_the_errors_of_z_are_those_of_random_moves(r: float) -> None:
    for own, covariance in ((0.04, -0.01), (0.01, 0.005), (1e-8, 5e-9)):
        moves = np.array([[own, covariance], [covariance, own]])
        errors = errors_of_z(r, math.sqrt(1 - r * r), moves)
        assert errors == pytest.approx(drawn(r, moves), rel=0.02)
        if own < 1e-4:
            gradient = np.array([1, -r / math.sqrt(1 - r * r)])
            assert errors == pytest.approx([math.sqrt(gradient @ moves @ gradient)] * 2, rel=0.01)


def test_what_scales_all_gaps_moves_no_z() -> None:
    for r in (0.3, 0.9):
        along, across = r, math.sqrt(1 - r * r)
        scaling = 0.05 * np.outer([along, across], [along, across])
        assert errors_of_z(along, across, scaling) == pytest.approx((math.nan, 0), nan_ok=True)


def test_the_slope_moves_with_words_and_items_by_finite_differences() -> None:
    x, y, moves = measured()
    of_words = 0.2 * np.outer(y, np.random.default_rng(1).normal(size=400))
    found = {
        "words": slope_sampling_error(residuals(x, y, PARENT), x[:, None] + of_words, None).words,
        "items": slope_sampling_error(residuals(x, y, PARENT), None, y[:, None] + moves).items,
    }
    step = 1e-5
    for side, error in found.items():
        gradient = [
            (slope(*moved(x, y, i, step, side)) - slope(*moved(x, y, i, -step, side))) / (2 * step)
            for i in range(N)
        ]
        effects = np.array(gradient)[:, None] * demeaned(of_words if side == "words" else moves)
        h = 1 / np.bincount(PARENT)[PARENT]
        each = effects.var(axis=1, ddof=1) / (1 - h)
        expected = effects.sum(axis=0).var(ddof=1) - each.sum()
        assert error**2 == pytest.approx(expected, rel=1e-5)


def slope(x: Floats, y: Floats) -> float:
    """b per standard deviation of the score, in the unit of the score as measured."""
    u, v, measured_u = demeaned(x), demeaned(y), demeaned(measured()[0])
    return float(u @ v / np.sqrt(u @ u) / np.sqrt(measured_u @ measured_u))


def moved(x: Floats, y: Floats, i: int, step: float, side: str) -> tuple[Floats, Floats]:
    change = np.where(np.arange(N) == i, step, 0)
    return (x + change, y) if side == "words" else (x, y + change)


def test_what_moves_no_model_against_another_is_not_estimated() -> None:
    """A shift of all models of a parent, and moves of each model that cancel in z."""
    x, y, moves = measured()
    of, rng = residuals(x, y, PARENT), np.random.default_rng(1)
    shift: Floats = rng.normal(size=(4, 400))[PARENT]
    slopes = gradients(x, y) @ [1, -of.r / math.sqrt(1 - of.r**2)]
    cancel = moves - np.outer(slopes, slopes @ moves) / (slopes @ slopes)
    for each in (shift, cancel):
        found = sampling_error(of, x[:, None] + shift, y[:, None] + each)
        assert np.isnan([found.words, found.items, found.error]).all(), "and never 0"
        assert found.variance == 0


def test_it_is_not_estimated_from_few_resamples_nor_of_a_line() -> None:
    x, y, moves = measured()
    few = y[:, None] + moves[:, :49]
    of, line = residuals(x, y, PARENT), residuals(x, 2 * x, PARENT)
    for found in (
        sampling_error(of, None, None),
        sampling_error(of, few, few),
        sampling_error(line, x[:, None] + moves, 2 * x[:, None] + moves),
    ):
        assert np.isnan([found.words, found.items, found.error]).all()


def test_it_widens_the_interval_and_p_but_not_the_jackknife() -> None:
    x, y, moves = measured()
    fixed = correlation(x, y, PARENT)
    found = correlation(x, y, PARENT, y_resampled=y[:, None] + moves)
    z, towards, outward = math.atanh(fixed.r), found.sampling.items, found.sampling.outward
    assert (found.r, found.s) == (fixed.r, fixed.s)
    q = (z - math.atanh(fixed.low)) / fixed.s
    ends = z - q * math.hypot(fixed.s, towards), z + q * math.hypot(fixed.s, outward)
    assert (found.low, found.high) == pytest.approx(np.tanh(ends), rel=1e-6)
    assert found.p > fixed.p


def test_noise_by_hand() -> None:
    """Variance 2 of models, resamples that vary by .5, trainings by .25: .25, and .375."""
    x = np.tile([-2.0, -1, 1, 2], 10) * math.sqrt(0.8)
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 100))
    own -= own.mean(axis=0)
    own /= own.std(axis=1, ddof=1, keepdims=True)
    own -= own.mean(axis=0)
    # What all models share, however large, is no noise of a correlation.
    again: Floats = x[:, None] + math.sqrt(0.5) * own + 9 * rng.normal(size=100)
    of = residuals(x, rng.normal(size=40), np.zeros(40, dtype=np.intp))
    trained = np.full(40, 0.25 / (1 - 1 / 40))
    assert noise_shares(of, x, again, math.inf, 0 * trained) == pytest.approx((0.25, 0), abs=0.005)
    assert noise_shares(of, x, again, math.inf, trained).reliability == pytest.approx(
        0.625, abs=0.005
    )
    far = x[:, None] + 9 * (again - x[:, None])
    assert noise_shares(of, x, far, math.inf, trained).reliability == 0
    assert np.isnan(noise_shares(of, x, again[:, :49], math.inf, trained)).all()
    assert np.isnan([NoiseShares().reliability, NoiseShares().stable]).all()


@pytest.mark.parametrize("shared", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("reliability", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize(("parents", "conditions", "items"), [(4, 7, 400), (8, 12, 32)])
def test_reliability_is_what_noise_proper_to_models_leaves(
    parents: int, conditions: int, items: int, reliability: float, shared: float
) -> None:
    """True gaps of variance 1, of each item an error that follows two traits of the models
    (``shared`` in variance) and one of each model for itself; the truth is taken from the latter.
    Posts, and words that are fewer than the models.
    """
    rng = np.random.default_rng(0)
    n, parent = parents * conditions, np.repeat(np.arange(parents), conditions)
    own_variance, errors = (1 - reliability) / reliability, []
    for _ in range(6):
        traits: Floats = rng.normal(size=(n, 2)) * math.sqrt(shared / 2)
        own: Floats = math.sqrt(own_variance * items) * rng.normal(size=(n, items))
        moved: Floats = traits @ rng.normal(size=(2, items)) * math.sqrt(items) + own
        of_items = rng.normal(size=n)[:, None] + moved + 5 * rng.normal(size=items)
        draws = rng.multinomial(items, np.full(items, 1 / items), size=200) / items
        y, again = of_items.mean(axis=1), of_items @ draws.T
        of = residuals(y, y, parent)
        truth = 1 - own_variance * (n - parents) / float(of.v @ of.v)
        noise = noise_shares(of, y, again, items, np.zeros(n))
        errors.append(noise.reliability - truth)
        assert noise.stable <= noise.reliability
    assert np.mean(errors) == pytest.approx(0, abs=0.06)
    assert np.std(errors) < 0.12


def test_the_noise_of_trainings_by_hand() -> None:
    """Two settings; queries repeat a gap; a model without a second training has the mean noise.
    Each is of a parent of its own, so that no training moves several.
    """
    rows = make_rows(
        *(np.arange(9), [1, 1, 3, 5, 6, 2, 4, 7, 7]),
        model=[*"000001122"],
        parent=[*"000001122"],
        setting=[*"aaabbaaaa"],
        training=[*"001010100"],
    )
    first = (1 / 2) ** 2 * 2 / 2 + (1 / 2) ** 2 * 0.5 / 2
    assert training_noise(rows) == pytest.approx([first, 1, (first + 1) / 2])
    once = rows._replace(training=np.full(9, ""))
    assert training_noise(once).tolist() == [0, 0, 0]


@pytest.mark.parametrize("shared", [0, 5])
def test_noise_of_trainings_is_kept_from_that_of_items(shared: float) -> None:
    """A training moves a gap by .8 standard deviations, and all models of a parent by ``shared``,
    test items all gaps by 2 and those of each training by .6: the variance of a mean of two is
    .64 / 2, whatever moves all models alike.
    """
    rng = np.random.default_rng(0)
    model, found = np.repeat(np.arange(30), 2), []
    for _ in range(60):
        y = 0.8 * rng.normal(size=60) + 0.6 * rng.normal(size=60)
        y += np.repeat(shared * rng.normal(size=(2, 2)), 15, axis=0).ravel()
        again = y[:, None] + 0.6 * rng.normal(size=(60, 100)) + 2 * rng.normal(size=100)
        rows = make_rows(y, y, model=model, parent=model // 15, training=np.tile([0, 1], 30))
        rows = rows._replace(y_resampled=Resampled.of(again))
        found.append(training_noise(rows).mean())
    assert np.mean(found) == pytest.approx(0.64 / 2, abs=0.04)
