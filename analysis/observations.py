"""The observations behind the rows of a slice: one per model, made from a parent, in one condition;
parents that share a cluster are averaged for each condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.analysis.correlation import PERMUTATIONS, Correlation, correlation
from biasbridge.analysis.reliability import training_noise
from biasbridge.analysis.residuals import demeaned, factorize, group_means, residuals
from biasbridge.analysis.rows import Rows, row_weights
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.analysis.residuals import Residuals
    from biasbridge.stats.arrays import Floats, Ints, Labels


LABELS = (*("model", "parent", "cluster", "condition", "method", "family", "word_list", "pattern"),)


class Line(NamedTuple):
    """The slope that all parents share, and the means of x and y on the line."""

    slope: float = nan
    x: float = nan
    y: float = nan

    def of_sign(self, signs: Floats) -> Line:
        """Return the line for x with its sign as measured; undefined where signs differ."""
        sign = float(signs[0])
        return Line(sign * self.slope, sign * self.x, self.y) if (signs == sign).all() else Line()


class Observations(NamedTuple):
    """One row per model, all with a score and a gap. Shapes: x, y, utility (n,), labels (n,),
    x_resampled, y_resampled (n, resamples); ``noise`` (n,): the variance of y by training.
    """

    x: Floats
    y: Floats
    model: Labels
    parent: Labels
    cluster: Labels
    condition: Labels
    method: Labels
    family: Labels
    word_list: Labels
    pattern: Labels
    utility: Floats
    x_resampled: Floats
    y_resampled: Floats
    noise: Floats

    def at(self, indices: Ints) -> Observations:
        """Select observations."""
        return Observations._make(column[indices] for column in self)

    @property
    def stratum(self) -> Labels:
        """Return what models are compared within: their parent, and the kinds behind their means
        where these differ between its models.
        """
        return np.char.add(np.char.add(self.parent, "\n"), self.pattern)

    def with_siblings(self) -> Observations:
        """Return the observations that have another of their stratum."""
        stratum = factorize(self.stratum)
        return self.at(np.flatnonzero(np.bincount(stratum, minlength=1)[stratum] > 1))

    def cells(self) -> Ints | None:
        """Return for each model the number of its cluster and condition, over which it is averaged;
        None where no parents share a cluster, or all share one.
        """
        clusters = len(set(self.cluster.tolist()))
        if not 1 < clusters < len(set(self.parent.tolist())):
            return None
        return factorize(np.char.add(np.char.add(self.cluster, "\n"), self.condition))

    def average_over_clusters(self) -> Observations:
        """Average the parents that share a cluster for each condition: a corpus moves a condition
        in all its seeds. The clusters become the parents. Where all parents share one cluster they
        stay, and results hold for that cluster.
        """
        models = self.with_siblings()
        cell = models.cells()
        if cell is None:
            return self
        stratum = factorize(models.stratum)
        first_index = np.unique(cell, return_index=True)[1]
        resampled = models.x_resampled, models.y_resampled
        x, y, utility, x_resampled, y_resampled = (
            group_means(demeaned(values, stratum), cell)
            for values in (models.x, models.y, models.utility, *resampled)
        )
        members = np.bincount(cell)
        cells_by_pattern = len(set(zip(cell.tolist(), models.pattern.tolist(), strict=True)))
        # Where a mean is over models of several kinds it has none
        pattern = np.where(cells_by_pattern == len(members), models.pattern, "")
        names = [
            models.model[index]
            if members[group] == 1
            else f"{models.cluster[index]} {models.condition[index]}".strip()
            for group, index in enumerate(first_index)
        ]
        return Observations(
            x=x,
            y=y,
            model=np.array(names, dtype=str),
            parent=models.cluster[first_index],
            cluster=models.cluster[first_index],
            condition=models.condition[first_index],
            method=models.method[first_index],
            family=models.family[first_index],
            word_list=models.word_list[first_index],
            pattern=pattern[first_index],
            utility=utility,
            x_resampled=x_resampled,
            y_resampled=y_resampled,
            noise=group_means(models.noise, cell) / members,
        )

    def within_models(self, permutations: int = PERMUTATIONS) -> Correlation:
        """Compute r_rm of models within parents: for these conditions of these parents."""
        return self._correlation(permutations)

    def condition_means(self) -> Observations:
        """Return the mean of each condition over parents, as observations of one parent."""
        models = self.with_siblings()
        stratum, condition = factorize(models.stratum), factorize(models.condition)
        x, y, utility, x_resampled, y_resampled = (
            group_means(demeaned(values, stratum), condition)
            for values in (
                *(models.x, models.y, models.utility),
                *(models.x_resampled, models.y_resampled),
            )
        )
        first_index = np.unique(condition, return_index=True)[1]
        return models.at(first_index)._replace(
            x=x,
            y=y,
            model=models.condition[first_index],
            parent=np.full(len(x), ""),
            cluster=np.full(len(x), ""),
            pattern=np.full(len(x), ""),
            utility=utility,
            x_resampled=x_resampled,
            y_resampled=y_resampled,
            noise=group_means(models.noise, condition) / np.bincount(condition),
        )

    def residuals(self) -> Residuals:
        """Return scores and gaps less the means of their parents."""
        return residuals(self.x, self.y, factorize(self.stratum))

    def line(self) -> Line:
        """Return the line of r_rm: its slope within parents, through the means of all models."""
        models = self.with_siblings()
        slope = models.average_over_clusters().residuals().slope if len(models.x) else nan
        return (
            Line(slope, float(models.x.mean()), float(models.y.mean()))
            if isfinite(slope)
            else Line()
        )

    def given_utility(self, permutations: int = PERMUTATIONS) -> Correlation:
        """Compute r_rm given the task's utility."""
        if not np.isfinite(self.utility).all():
            return Correlation(reason="the task's utility is unknown for some models")
        return self._correlation(permutations, self.utility)

    def _correlation(self, permutations: int, given: Floats | None = None) -> Correlation:
        return correlation(
            self.x,
            self.y,
            self.stratum,
            given=given,
            x_resampled=self.x_resampled,
            y_resampled=self.y_resampled,
            permutations=permutations,
        )


def observations(rows: Rows, *, trained: bool = False) -> Observations:
    """Return one row per model, in order of appearance: means over the kinds of its rows, each the
    mean of its trainings. ``rows`` are ``comparable``; ``trained``: with their ``noise``.
    """
    model_index = factorize(rows.model)
    order = np.argsort(model_index, kind="stable")
    counts = np.bincount(model_index, minlength=1)[: len(set(model_index.tolist()))]
    first = np.cumsum(counts) - counts
    noise = training_noise(rows) if trained else np.zeros(int(model_index.max(initial=-1)) + 1)
    rows = rows.at(order)
    weights = row_weights(model_index[order], rows.kind)
    x, y, utility, x_resampled, y_resampled = (
        np.add.reduceat((values.T * weights).T, first, axis=0) if len(first) else values
        for values in (
            rows.x,
            rows.y,
            rows.utility,
            rows.x_resampled.rows(),
            rows.y_resampled.rows(),
        )
    )
    labels = [getattr(rows, name)[first] for name in LABELS]
    model, parent, cluster, condition, method, family, word_list, pattern = labels
    return Observations(
        *(x, y, model, parent, cluster, condition, method, family, word_list, pattern),
        *(utility, x_resampled, y_resampled, noise),
    )


def widest(levels: Mapping[str, Sequence[str]], parent: Sequence[str]) -> Labels:
    """Return the cluster of each row: the widest of the named levels above parents that has several
    values, else the widest. Raise ``InputError`` where the levels do not nest.
    """
    by_size = sorted(levels, key=lambda name: -len(set(levels[name])))
    chain = [("parent", list(parent)), *((name, list(levels[name])) for name in by_size)]
    for (lower, inner), (upper, outer) in pairwise(chain):
        outer_of: dict[str, str] = {}
        for inner_label, outer_label in zip(inner, outer, strict=True):
            if outer_of.setdefault(inner_label, outer_label) != outer_label:
                raise InputError(
                    f"levels do not nest: {lower} {inner_label!r} is in {upper}"
                    f" {outer_of[inner_label]!r} and in {outer_label!r}; name columns of which each"
                    " consists of whole groups of the one before"
                )
    varying = [name for name in by_size if len(set(levels[name])) > 1]
    chosen = levels[(varying or by_size)[-1]] if by_size else [""] * len(parent)
    return np.array(chosen, dtype=str)
