"""How far a correlation is off because all embeddings are measured on the same words and posts."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.reliability import FEWEST_RESAMPLES

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints
    from analysis.within import Residuals


class SharedError(NamedTuple):
    """Standard errors of r / sqrt(1 - r^2) from the choice of the words behind scores and of the
    test items behind gaps, beyond what units show of themselves; NaN where not known.
    """

    words: float = nan
    items: float = nan

    @property
    def whole(self) -> float:
        """Both together, for words and items are drawn apart. What is not known counts as 0."""
        return sqrt(sum(each**2 for each in self if isfinite(each)))

    @property
    def not_known(self) -> str:
        """Whose choice is not known to put r off, as a reader is told; empty where both are."""
        names = ("words", "test items")
        return " and ".join(
            name for name, each in zip(names, self, strict=True) if not isfinite(each)
        )


class Side(NamedTuple):
    """Scores, or gaps, and what they are over other words, or items: shapes (all units,), (all
    units, resamples).
    """

    values: Floats
    resampled: Floats


def shared_error(of: Residuals, x: Side, y: Side, group: Ints | None = None) -> SharedError:
    """The part of the error of r that more embeddings do not take away.

    A post that embeddings get wrong the more, the more biased they are, makes all gaps follow all
    scores: r is off, and leaving out units does not show it. Of the slope in units of what it
    leaves, q = r / sqrt(1 - r^2), whose error does not depend on how steep it is,

    items^2 = max(0, var_b(sum_i g_i e_ib) - sum_i g_i^2 var_b(e_ib) / (1 - h_i))
    g_i = dq / dy_i = (u_i / |u| - r v_i / |v|) / (|v| (1 - r^2)^(3/2))

    with e_ib what resample b of the items, drawn alike for all units, does to unit i,
    and likewise for words with x and y changed over. The second term is what a resample does to
    each unit for itself, which the interval over units has already (as Owen, 2007, for data that
    are crossed). ``group``: for intervals that leave out groups of units, the group of each told
    unit; what it does to a group is what they have. NaN below 50 resamples in which every unit has
    a value, and where r is undefined or 1.
    """
    if not of.defined or not abs(of.r) < 1:
        return SharedError()
    scale = (1 - of.r**2) ** 1.5
    return SharedError(
        together(moved_by_words(of, x), of.leverage, group) / scale,
        together(moved_by_items(of, y), of.leverage, group) / scale,
    )


def moved_by_words(of: Residuals, x: Side) -> Floats:
    """How far what a resample of the words does to each unit moves r. Shape (n, resamples)."""
    return _moved(of, _unit(of.v), x)


def moved_by_items(of: Residuals, y: Side) -> Floats:
    """The same of the test items."""
    return _moved(of, _unit(of.u), y)


def _moved(of: Residuals, other: Floats, side: Side) -> Floats:
    own = of.freed(side.values)
    slope = (other - of.r * _unit(own)) / sqrt(float(own @ own))
    moved: Floats = of.freed(side.resampled) * slope[:, None]
    return moved


def shifts(of: Residuals, x: Side, y: Side) -> Floats:
    """By how much each resample of the words, then of the items, moves q = r / sqrt(1 - r^2) off
    its mean over these, divided by sqrt(resamples - 1). Shape (resamples of words + of items,).

    dq_b = sum_i u_i e_ib / (|u| |v| sqrt(1 - r^2)) for items; for words with v for u

    This is what they do to the slope; what they do to the spread is left out, for it is none where
    r is 0. The product of those of two slices is the covariance of their q by the choice of words
    and items. 0 where a resample is of no use, and for all below 50 that are.
    """
    sides = ((_unit(of.v), x), (_unit(of.u), y))
    return np.concatenate([_shifts(of, other, side) for other, side in sides])


def _shifts(of: Residuals, other: Floats, side: Side) -> Floats:
    own = of.freed(side.values)
    # ``other`` has nothing of the design, so that what is moved need not be freed of it
    moved = other @ side.resampled[of.told] / sqrt(float(own @ own) * (1 - of.r**2))
    usable = np.isfinite(moved)
    number = int(usable.sum())
    if number < FEWEST_RESAMPLES:
        return np.zeros(len(moved))
    found: Floats = np.where(usable, moved - moved[usable].mean(), 0) / sqrt(number - 1)
    return found


def together(moved: Floats, leverage: Floats, group: Ints | None = None) -> float:
    """The standard error of what units move together, without what each of them, or each group,
    moves by itself. Shapes: (n, resamples), (n,), (n,); NaN below 50 resamples that are finite.
    """
    usable = moved[:, np.isfinite(moved).all(axis=0)]
    if usable.shape[1] < FEWEST_RESAMPLES:
        return nan
    if group is None:
        alone = float((usable.var(axis=1, ddof=1) / (1 - leverage)).sum())
    else:
        sums = np.zeros((int(group.max()) + 1, usable.shape[1]))
        np.add.at(sums, group, usable)
        alone = float(sums.var(axis=1, ddof=1).sum())
    return sqrt(max(0.0, float(usable.sum(axis=0).var(ddof=1)) - alone))


def _unit(values: Floats) -> Floats:
    unit: Floats = values / sqrt(float(values @ values))
    return unit
