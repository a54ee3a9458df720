r"""Intervals by bootstrap over units: cases that differ in the pronoun alone are drawn together.

A percentile interval over what was observed says that there is no error where none was observed.
So two invented units are among those drawn from: one resolved perfectly in the first group and
wholly wrong in the second, and one the other way round, as Agresti and Caffo (2000) add two right
and two wrong answers to two proportions. No interval has zero width then; where nothing differs
between n units, that of a gap is about -+ 3 / n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.coreference.challenge.measures import Floats, extremes
from extrinsic.intervals import Estimate
from intrinsic.resampling import times_drawn

DRAWS = 2_000

Statistic = Callable[[Floats], Floats]
"""A number of the sums of tallies of the groups: (..., groups, WIDTH) to (...,)."""


@dataclass(frozen=True)
class Units:
    """Units by name and the tallies of their cases by group, (units, groups, WIDTH): one group or
    two. A unit may be empty in one of two groups. ``widened``: with the invented units; long
    documents, none of which is wholly right or wrong, do without.
    """

    names: Sequence[str]
    tallies: Floats
    widened: bool = True

    @cached_property
    def total(self) -> Floats:
        """The sums over units, (groups, WIDTH)."""
        total: Floats = np.sum(self.tallies, axis=0)
        return total

    def estimate(self, statistic: Statistic, level: float) -> Estimate:
        """The statistic and its percentile interval, which is made to hold it."""
        value = float(statistic(self.total))
        if np.isnan(value):
            return Estimate(value, value, value)
        tail = (1 - level) / 2
        low, high = np.nanquantile(statistic(self._drawn), [tail, 1 - tail]).tolist()
        return Estimate(value, min(low, value), max(high, value))

    def resampled(self, statistic: Statistic) -> list[float]:
        """The statistic over 200 resamples of the units (see ``intrinsic.resampling``): the same
        for all who resolve the same units, by their names.
        """
        values: list[float] = statistic(self._alike).tolist()
        return values

    @cached_property
    def _drawn(self) -> Floats:
        """Sums over resamples, (DRAWS, groups, WIDTH)."""
        tallies = np.concatenate([self.tallies, self._invented()]) if self.widened else self.tallies
        n = len(tallies)
        times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
        return _sums(np.asarray(times, dtype=np.float64), tallies)

    def _invented(self) -> Floats:
        """The two units, (2, groups, WIDTH)."""
        flat = self.tallies.reshape(-1, self.tallies.shape[-1])
        right, wrong = extremes(flat[np.any(flat, axis=-1)])
        return np.stack([[right, wrong], [wrong, right]])[:, : self.tallies.shape[1]]

    @cached_property
    def _alike(self) -> Floats:
        """Sums over the resamples that all share, (200, groups, WIDTH)."""
        return _sums(times_drawn(self.names).T.astype(np.float64), self.tallies)


def _sums(times: Floats, tallies: Floats) -> Floats:
    """(samples, units) and (units, groups, WIDTH) to (samples, groups, WIDTH)."""
    flat: Floats = times @ tallies.reshape(len(tallies), -1)
    return flat.reshape(len(times), *tallies.shape[1:])
