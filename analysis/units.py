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
    from analysis.arrays import Floats, Ints, Labels, Truths

MOST_LACKING = 0.2  # of the units: a kind of row that more of them lack is left out for all


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
    the ``cluster`` that is independent of others, the ``corpus`` that the base was trained on and
    the ``algorithm`` that trained it, the ``stratum`` that association is looked for within, the
    ``arm`` (method), the ``modification`` (method, words, options, direction and dose), the
    ``setting`` (classifier and what it learned from), the ``training`` in it that a gap comes of
    and what was ``asked`` (the score and the gap); ``x_resampled``, ``y_resampled``, the same
    numbers over words and posts drawn alike for all rows, NaN where not known.
    """

    x: Floats
    y: Floats
    unit: Labels
    base: Labels
    cluster: Labels
    corpus: Labels
    algorithm: Labels
    stratum: Labels
    arm: Labels
    modification: Labels
    setting: Labels
    training: Labels
    asked: Labels
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
            *(first, second, unit, base, base, base, none, stratum),
            *(none, none, none, none, none),
            *(nothing, nothing),
        )

    def known(self) -> Rows:
        """The rows with a score and a gap."""
        return self.at(np.flatnonzero(both_finite(self.x, self.y)))

    @property
    def kind(self) -> Ints:
        """A number for each setting and question, from 0 on."""
        return codes(np.char.add(np.char.add(self.setting, "\n"), self.asked))

    def comparable(self) -> Rows:
        """The rows with a score and a gap that the means of units are taken over, so that all are
        means of the same things, see ``agreed``; where no kind was meant for all, units are
        compared with those that have the same.
        """
        rows = self.by_corpus()
        kept, pattern = agreed(codes(rows.unit), rows.kind, both_finite(rows.x, rows.y))
        if len(set(pattern.tolist())) > 1:
            rows = rows._replace(stratum=np.char.add(rows.stratum, np.char.mod(" %d", pattern)))
        return rows.at(np.flatnonzero(kept))

    def by_corpus(self) -> Rows:
        """With corpora as units where embeddings of one corpus would be taken as independent
        (``share_corpora``), within clusters that have several: what chance made of a corpus moves
        score and gap of all that were trained on it. Its values are means over algorithms.
        """
        if not share_corpora(self.unit, self.stratum, self.corpus):
            return self
        none = np.full(len(self.unit), "")
        setting = np.char.add(np.char.add(self.algorithm, " "), self.setting)
        stratum = strata(self.corpus, self.cluster, none)
        named = self._replace(unit=self.corpus, base=self.corpus, setting=setting)
        return named._replace(stratum=stratum)

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


def share_corpora(unit: Labels | Ints, stratum: Labels | Ints, corpus: Labels | Ints) -> bool:
    """Whether units of several corpora are compared with one another, some of which are of one
    corpus. Shapes: (n,) each.
    """
    units = dict(zip(unit.tolist(), corpus.tolist(), strict=True))
    compared = set(zip(stratum.tolist(), corpus.tolist(), strict=True))
    return len(set(units.values())) < len(units) and len(compared) > len(set(stratum.tolist()))


def dependent(stratum: Ints, cluster: Ints) -> bool:
    """Whether units of one cluster would be taken as independent: they stand in strata that reach
    over clusters. Shapes: (units,), (units,).
    """
    found = set(zip(stratum.tolist(), cluster.tolist(), strict=True))
    clusters = len(set(cluster.tolist()))
    return clusters < len(cluster) and len(set(stratum.tolist())) < len(found)


def agreed(
    unit: Ints, kind: Ints, known: Truths, most: float = MOST_LACKING
) -> tuple[Truths, Ints]:
    """Which rows the means of units are taken over, and for each row a number that differs between
    units whose means are of different kinds. Shapes: (n,) each -> (n,), (n,).

    Units have rows of several kinds (classifiers, doses of labels, queries), each with a level of
    its own, so that a mean over whatever is known would say what is missing. A kind that not all
    units were meant to have (it has no row, not even an unknown one) is left out for all, and so is
    one that a share above ``most`` of the units lack while they have another: the worst first, and
    never the last. A unit that lacks one of the rest is left out. Rows of one kind (trainings) may
    be fewer. Where no kind was meant for all units each has to have those that it was meant to.
    """
    shape = int(unit.max(initial=-1)) + 1, int(kind.max(initial=-1)) + 1
    planned, has = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    planned[unit, kind], has[unit[known], kind[known]] = True, True
    planned &= has.any(axis=0)  # what nobody has tells nobody apart
    asked = planned[planned.any(axis=1)]  # units meant for none of these say nothing of them
    kept: Truths = np.logical_and.reduce(asked)
    if not len(asked) or not kept.any():
        whole: Truths = np.logical_and.reduce(has == planned, axis=1)
        return known & whole[unit], np.unique(planned, axis=0, return_inverse=True)[1][unit]
    while kept.sum() > 1:
        some = has[has[:, kept].any(axis=1)]
        lacking = np.where(kept, (~some).mean(axis=0), 0)
        if lacking.max() <= most:
            break
        kept[lacking.argmax()] = False
    whole = np.logical_and.reduce(has[:, kept], axis=1)
    return known & kept[kind] & whole[unit], np.zeros_like(unit)


def codes(names: Labels | Ints) -> Ints:
    """Labels, or other numbers, as numbers from 0 on."""
    return np.unique(names, return_inverse=True)[1]


def one_a_unit(rows: Rows, unit: Ints) -> Rows:
    """One row a unit, in the order of their numbers from 0 on: means over the kinds of its rows, of
    several of a kind (trainings) their mean, and what it descends from. Shape of unit: (n,).
    """
    order = np.argsort(unit, kind="stable")
    counts = np.bincount(unit)
    first = np.cumsum(counts) - counts
    rows = rows.at(order)
    weights = weights_of(unit[order], rows.kind)
    x, y, *resampled = (
        np.add.reduceat((each.T * weights).T, first, axis=0)
        for each in (rows.x, rows.y, rows.x_resampled.told(), rows.y_resampled.told())
    )
    x_resampled, y_resampled = map(Resampled.of, resampled)
    return rows.at(first)._replace(x=x, y=y, x_resampled=x_resampled, y_resampled=y_resampled)


def weights_of(unit: Ints, kind: Ints) -> Floats:
    """What each row counts for in the mean of its unit, in which all kinds count alike. Shapes:
    (n,), (n,) -> (n,).
    """
    kinds = int(kind.max(initial=-1)) + 1
    own = np.unique(unit * kinds + kind, return_inverse=True)[1]
    alike = 1 / np.bincount(own)[own]
    weights: Floats = alike / np.bincount(unit, alike)[unit]
    return weights
