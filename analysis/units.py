"""The rows of a slice and the units, the embeddings, that they are rows of: what each descends
from, and which are no witnesses of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from analysis.coefficients import both_finite

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints, Labels


@dataclass(frozen=True)
class Resampled:
    """For each row numbers over resamples; many rows have the same ones, which are kept once.
    Shapes: values (different rows, resamples), place (n,).
    """

    values: Floats
    place: Ints

    @classmethod
    def of(cls, values: Floats) -> Resampled:
        """Each row with its own. Shape (n, resamples)."""
        return cls(values, np.arange(len(values)))

    def __getitem__(self, places: Ints) -> Resampled:
        """Those of some of the rows."""
        return Resampled(self.values, self.place[places])

    def times(self, factor: Floats) -> Resampled:
        """Those of each row times a number, the same for rows that share theirs. Shape (n,)."""
        of_values = np.ones(len(self.values))
        of_values[self.place] = factor
        return Resampled(self.values * of_values[:, None], self.place)

    def told(self) -> Floats:
        """The numbers of every row. Shape (n, resamples)."""
        return self.values[self.place]


class Rows(NamedTuple):
    """The rows of a slice. Shapes: x, y (n,); labels (n,): the unit, the ``base`` it descends from,
    the ``cluster`` that is independent of others, the ``stratum`` that association is looked for
    within, the ``arm`` (method), the ``setting`` (classifier and what it learned from) and the
    ``training`` in it that a gap comes of; a ``dose`` that is negative where bias was pushed down;
    ``x_resampled``, ``y_resampled``, the same numbers over words and posts drawn alike for all
    rows, NaN where not known.
    """

    x: Floats
    y: Floats
    unit: Labels
    base: Labels
    cluster: Labels
    stratum: Labels
    arm: Labels
    setting: Labels
    training: Labels
    dose: Floats
    x_resampled: Resampled
    y_resampled: Resampled

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, units: ArrayLike, bases: ArrayLike = ()) -> Rows:
        """Rows of which no more is known than their units, and maybe the bases of these: without
        them every unit is one.
        """
        first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        unit, told = (np.asarray(each).astype(str) for each in (units, bases))
        base = told if len(told) else unit
        n, none = len(first), np.full(len(first), "")
        stratum, nothing = strata(unit, base, none), Resampled.of(np.zeros((n, 0)))
        return cls(
            *(first, second, unit, base, base, stratum, none, none, none),
            *(np.zeros(n), nothing, nothing),
        )

    def known(self) -> Rows:
        """The rows with a score and a gap."""
        return self.at(np.flatnonzero(both_finite(self.x, self.y)))

    def at(self, places: Ints) -> Rows:
        """Some of the rows."""
        return Rows._make(column[places] for column in self)


def strata(unit: Labels, *candidates: Labels) -> Labels:
    """What association is looked for within: the first of the candidates, from the narrowest on, of
    which one has two units; else the last.
    """
    for labels in candidates[:-1]:
        units = set(zip(unit.tolist(), labels.tolist(), strict=True))
        if len(units) > len(set(labels.tolist())):
            return labels
    return candidates[-1]


def dependent(stratum: Ints, cluster: Ints) -> bool:
    """Whether units of one cluster would be taken as independent: they stand in strata that reach
    over clusters. Shapes: (units,), (units,).
    """
    found = set(zip(stratum.tolist(), cluster.tolist(), strict=True))
    clusters = len(set(cluster.tolist()))
    return clusters < len(cluster) and len(set(stratum.tolist())) < len(found)


def codes(names: Labels) -> Ints:
    """Labels as numbers from 0 on."""
    return np.unique(names, return_inverse=True)[1]


def one_a_unit(rows: Rows, unit: Ints) -> Rows:
    """One row a unit, in the order of their numbers from 0 on: means over its rows, and what it
    descends from. Shape of unit: (n,).
    """
    order = np.argsort(unit, kind="stable")
    counts = np.bincount(unit)
    first = np.cumsum(counts) - counts
    rows = rows.at(order)
    x, y, *resampled = (
        (np.add.reduceat(each, first, axis=0).T / counts).T
        for each in (rows.x, rows.y, rows.x_resampled.told(), rows.y_resampled.told())
    )
    x_resampled, y_resampled = map(Resampled.of, resampled)
    return rows.at(first)._replace(x=x, y=y, x_resampled=x_resampled, y_resampled=y_resampled)
