r"""Intervals by bootstrap over units: documents that differ in the pronoun alone go together.

A percentile interval over what was observed says that there is no error where none was observed.
So two invented units are among those drawn from: one resolved perfectly in the first group and
wholly wrong in the second, and one the other way round, as Agresti and Caffo (2000) add two right
and two wrong answers to two proportions. No interval has zero width then; where nothing differs
between n units it is about -+ 2.8 / n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from extrinsic.coreference.challenge.tallies import Floats, extremes
from extrinsic.measures import Estimate
from intrinsic.resampling import times_drawn

DRAWS = 2_000

Statistic = Callable[[Floats], Floats]
"""A number of the sums of tallies of the groups: (..., groups, WIDTH) to (...,)."""


def estimate(units: Floats, statistic: Statistic, level: float, *, seed: int = 0) -> Estimate:
    """The statistic and its percentile interval over resamples of the units.

    ``units``: (units, groups, WIDTH), one group or two; a unit may be empty in a group.
    """
    value = float(statistic(units.sum(axis=0)))
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan)
    widened = np.concatenate([units, _invented(units)])
    n = len(widened)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    samples = statistic(_sums(drawn.astype(np.float64), widened))
    tail = (1 - level) / 2
    low, high = np.nanquantile(samples, [tail, 1 - tail]).tolist()
    return Estimate(value, min(low, value), max(high, value))


def resampled(units: Floats, names: Sequence[str], statistic: Statistic) -> list[float]:
    """The statistic over 200 resamples of the units (see ``intrinsic.resampling``): the same for
    all who resolve the same units, by their names.
    """
    values: list[float] = statistic(_sums(times_drawn(names).T.astype(np.float64), units)).tolist()
    return values


def _invented(units: Floats) -> Floats:
    """The two units, shape (2, groups, WIDTH)."""
    tallies = units.reshape(-1, units.shape[-1])
    right, wrong = extremes(tallies[tallies.any(axis=-1)])
    return np.stack([[right, wrong], [wrong, right]])[:, : units.shape[1]]


def _sums(weights: Floats, units: Floats) -> Floats:
    """(samples, units) and (units, groups, WIDTH) to (samples, groups, WIDTH)."""
    flat: Floats = weights @ units.reshape(len(units), -1)
    return flat.reshape(len(weights), *units.shape[1:])
