r"""Intervals by bootstrap over units: cases that differ only in the pronoun are drawn together.

A percentile interval of observed units has zero width if no error was observed. Therefore two
pseudo-units are added: one resolved perfectly in the first group and entirely wrong in the second,
and the reverse, as Agresti and Caffo (2000) add two right and two wrong answers to two proportions.
Then no interval has zero width; if n units do not differ, that of a gap is about -+ 3 / n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biasbridge.extrinsic.coreference.challenge.measures import extremes
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.stats.arrays import Floats
from biasbridge.stats.intervals import Estimate

N_DRAWS = 2_000

Statistic = Callable[[Floats], Floats]
"""Statistic of the summed tallies of groups: (..., groups, WIDTH) to (...,)."""


@dataclass(frozen=True)
class Units:
    """Units by name, with tallies of their cases by group, (units, groups, WIDTH): one group or
    two.

    A unit may be empty in one of two groups. ``widened``: with pseudo-units; not needed for long
    documents, which are never entirely right or wrong.
    """

    names: Sequence[str]
    tallies: Floats
    widened: bool = True

    @cached_property
    def total(self) -> Floats:
        """Sums over units, (groups, WIDTH)."""
        total: Floats = np.sum(self.tallies, axis=0)
        return total

    def estimate(self, statistic: Statistic, level: float) -> Estimate:
        """Compute a statistic with its percentile interval, widened to include it."""
        value = float(statistic(self.total))
        if np.isnan(value):
            return Estimate(value, value, value)
        tail = (1 - level) / 2
        low, high = np.nanquantile(statistic(self._drawn), [tail, 1 - tail]).tolist()
        return Estimate(value, min(low, value), max(high, value))

    def resampled(self, statistic: Statistic) -> list[float]:
        """Compute a statistic over 200 resamples of the units
        (``biasbridge.intrinsic.resampling``), the same for all resolvers of units of the same
        names.
        """
        values: list[float] = statistic(self._shared_resamples).tolist()
        return values

    @cached_property
    def _drawn(self) -> Floats:
        """Sums over resamples, (N_DRAWS, groups, WIDTH)."""
        tallies = (
            np.concatenate([self.tallies, self._pseudo_units()]) if self.widened else self.tallies
        )
        n = len(tallies)
        times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_DRAWS)
        return _sums(np.asarray(times, dtype=np.float64), tallies)

    def _pseudo_units(self) -> Floats:
        flat = self.tallies.reshape(-1, self.tallies.shape[-1])
        perfect, wrong = extremes(flat[np.any(flat, axis=-1)])
        return np.stack([[perfect, wrong], [wrong, perfect]])[:, : self.tallies.shape[1]]

    @cached_property
    def _shared_resamples(self) -> Floats:
        """Sums over resamples that all resolvers share, (200, groups, WIDTH)."""
        return _sums(times_drawn(self.names).T.astype(np.float64), self.tallies)


def _sums(times: Floats, tallies: Floats) -> Floats:
    """Sum (units, groups, WIDTH) by (samples, units) weights to (samples, groups, WIDTH)."""
    flat: Floats = times @ tallies.reshape(len(tallies), -1)
    return flat.reshape(len(times), *tallies.shape[1:])
