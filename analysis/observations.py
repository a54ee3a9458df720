"""The observations behind the rows of a slice: one a model, made from a parent, in one condition;
parents that share a cluster are averaged for each condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.correlation import PERMUTATIONS, Correlation, correlation
from analysis.reliability import training_noise
from analysis.residuals import codes, demeaned, group_means, indicators, residuals
from analysis.rows import Rows, weights_of
from files import InputError

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints, Labels
    from analysis.residuals import Residuals


class Line(NamedTuple):
    """The slope that all parents share, and the means of x and y that the line goes through; NaN
    where there is none.
    """

    slope: float = nan
    x: float = nan
    y: float = nan

    def of_sign(self, signs: Floats) -> Line:
        """The same of x with its sign as it was measured; none where signs differ."""
        sign = float(signs[0])
        return Line(sign * self.slope, sign * self.x, self.y) if (signs == sign).all() else Line()


class Observations(NamedTuple):
    """One row a model, all with a score and a gap. Shapes: x, y, utility (n,), labels (n,),
    x_resampled, y_resampled (n, resamples); ``noise`` (n,): the variance of y by training.
    """

    x: Floats
    y: Floats
    model: Labels
    parent: Labels
    cluster: Labels
    condition: Labels
    utility: Floats
    x_resampled: Floats
    y_resampled: Floats
    noise: Floats

    def at(self, places: Ints) -> Observations:
        """Some of them."""
        return Observations._make(column[places] for column in self)

    def with_parents(self) -> Observations:
        """Those that have another of their parent: all that says anything within parents."""
        own = codes(self.parent)
        return self.at(np.flatnonzero(np.bincount(own, minlength=1)[own] > 1))

    def cells(self) -> Ints | None:
        """For each model the cluster and condition that it is averaged with, as a number; None
        where no parents share a cluster, or all share one.
        """
        clusters = len(set(self.cluster.tolist()))
        if not 1 < clusters < len(set(self.parent.tolist())):
            return None
        return codes(np.char.add(np.char.add(self.cluster, "\n"), self.condition))

    def independent(self) -> Observations:
        """With the parents that share a cluster averaged for each condition: what a corpus does to
        a condition moves all its seeds. The clusters are the parents then. Where all parents share
        one cluster they stay, and what is found holds for that cluster.
        """
        of = self.with_parents()
        cell = of.cells()
        if cell is None:
            return self
        parent = codes(of.parent)
        first = np.unique(cell, return_index=True)[1]
        x, y, utility, x_resampled, y_resampled = (
            group_means(demeaned(each, parent), cell)
            for each in (of.x, of.y, of.utility, of.x_resampled, of.y_resampled)
        )
        members = np.bincount(cell)
        names = [
            of.model[at] if members[place] == 1 else f"{of.cluster[at]} {of.condition[at]}".strip()
            for place, at in enumerate(first)
        ]
        return Observations(
            x=x,
            y=y,
            model=np.array(names, dtype=str),
            parent=of.cluster[first],
            cluster=of.cluster[first],
            condition=of.condition[first],
            utility=utility,
            x_resampled=x_resampled,
            y_resampled=y_resampled,
            noise=group_means(of.noise, cell) / members,
        )

    def within(self, permutations: int = PERMUTATIONS) -> Correlation:
        """r_rm within parents: for these conditions."""
        return self._correlation(self.parent, permutations)

    def over_conditions(self, permutations: int = PERMUTATIONS) -> Correlation:
        """r of the means of each condition over parents: for other conditions too."""
        of = self.with_parents()
        parent, condition = codes(of.parent), codes(of.condition)
        x, y, x_resampled, y_resampled = (
            group_means(demeaned(each, parent), condition)
            for each in (of.x, of.y, of.x_resampled, of.y_resampled)
        )
        return correlation(
            x, y, x_resampled=x_resampled, y_resampled=y_resampled, permutations=permutations
        )

    def given_condition(self, permutations: int = PERMUTATIONS) -> Correlation:
        """r_rm beyond what parent and condition do to both sides."""
        further = indicators(codes(self.condition))
        return self._correlation(self.parent, permutations, further)

    def residuals(self) -> Residuals:
        """Scores and gaps less the means of their parents."""
        return residuals(self.x, self.y, codes(self.parent))

    def line(self) -> Line:
        """The line of r_rm: its slope within parents, through the means of all models."""
        of = self.with_parents()
        slope = of.independent().residuals().slope if len(of.x) else nan
        return Line(slope, float(of.x.mean()), float(of.y.mean())) if isfinite(slope) else Line()

    def given_utility(self, permutations: int = PERMUTATIONS) -> Correlation:
        """r_rm with the task's utility partialled out."""
        if not np.isfinite(self.utility).all():
            return Correlation(reason="how well the task is done is not known of every model")
        return self._correlation(self.parent, permutations, self.utility)

    def _correlation(
        self, parent: Labels, permutations: int, given: Floats | None = None
    ) -> Correlation:
        return correlation(
            self.x,
            self.y,
            parent,
            given=given,
            x_resampled=self.x_resampled,
            y_resampled=self.y_resampled,
            permutations=permutations,
        )


def observations(rows: Rows, *, trained: bool = False) -> Observations:
    """One row a model, in order of appearance: means over the kinds of its rows, of several of a
    kind (trainings) their mean. ``rows`` are ``comparable``; ``trained``: with their ``noise``.
    """
    own = codes(rows.model)
    order = np.argsort(own, kind="stable")
    counts = np.bincount(own, minlength=1)[: len(set(own.tolist()))]
    first = np.cumsum(counts) - counts
    noise = training_noise(rows) if trained else np.zeros(int(own.max(initial=-1)) + 1)
    rows = rows.at(order)
    weights = weights_of(own[order], rows.kind)
    x, y, utility, x_resampled, y_resampled = (
        np.add.reduceat((each.T * weights).T, first, axis=0) if len(first) else each
        for each in (
            rows.x,
            rows.y,
            rows.utility,
            rows.x_resampled.rows(),
            rows.y_resampled.rows(),
        )
    )
    labels = (rows.model, rows.parent, rows.cluster, rows.condition)
    model, parent, cluster, condition = (each[first] for each in labels)
    return Observations(
        x, y, model, parent, cluster, condition, utility, x_resampled, y_resampled, noise
    )


def widest(levels: Mapping[str, Sequence[str]], parent: Sequence[str]) -> Labels:
    """The cluster of each row: the widest of the named levels above parents that has several
    values, else the widest. Raises ``InputError`` where the levels do not nest.
    """
    by_size = sorted(levels, key=lambda name: -len(set(levels[name])))
    chain = [("parent", list(parent)), *((name, list(levels[name])) for name in by_size)]
    for (lower, inner), (upper, outer) in pairwise(chain):
        of: dict[str, str] = {}
        for one, other in zip(inner, outer, strict=True):
            if of.setdefault(one, other) != other:
                raise InputError(
                    f"levels do not nest: {lower} {one!r} lies in {upper} {of[one]!r} and in"
                    f" {other!r}; name columns of which each is made of whole groups of the one"
                    " before"
                )
    several = [name for name in by_size if len(set(levels[name])) > 1]
    chosen = levels[(several or by_size)[-1]] if by_size else [""] * len(parent)
    return np.array(chosen, dtype=str)
