"""What conditions do to a gap: each modified model against the unmodified one of the same parent.

    d_pc   = y_pc - y_p0                          parent p, condition c, 0 the unmodified model
    d_c    = mean over corpora of the mean over the corpus's parents
    se_c^2 = s^2 + max(0, w - o)
    s^2    = sum_k var_k(d_pc) / m_k / K^2        K corpora, m_k parents of corpus k
    w      = variance of d_c over resamples of the items, drawn alike for all models
    o      = what s^2 already holds of it: sum_k mean_p var_b(d_pc) / m_k / K^2
    bound  = max_c (|d_c| + t(.95, df_c) se_c)    df_c: Satterthwaite's, of s^2

Each condition has variances of its own. Items that models share cancel in d, but for w. The largest
change of any condition is below ``bound`` in .95 of studies (an intersection-union test).

Where corpora have one parent each, or are synthetic worlds, they are the units in place of parents.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from biasbridge.analysis.correlation import ROUNDING, factorize, group_means, usable_resamples
from biasbridge.analysis.naming import CONTROL
from biasbridge.analysis.observations import WORLD
from biasbridge.analysis.tables import group_indices
from biasbridge.stats.intervals import ALPHA, Estimate, holm, t_interval

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.stats.arrays import Floats, Ints, Labels

MIN_UNITS = 3
PARENTS = "parents"
_EQUAL_SCORE = 0.05  # share of the range of the score within which two scores count as equal


class MeanChange(NamedTuple):
    """A mean over units with its standard error; NaN below three units, and where every unit has
    the same change but for rounding, for no spread is no certainty. No change at all is certain.

    ``parts``, ``degrees``: what every corpus adds to the squared error, and its degrees of freedom.
    """

    value: float = nan
    error: float = nan
    df: float = nan
    n: int = 0
    parts: tuple[float, ...] = ()
    degrees: tuple[float, ...] = ()

    @property
    def interval(self) -> Estimate:
        """Return the 95% interval."""
        return t_interval(self.value, self.error, self.df)

    @property
    def bound(self) -> float:
        """Return |d| + t(.95, df) se: the change is smaller in .95 of studies."""
        return abs(self.value) + float(scipy.special.stdtrit(self.df, 1 - ALPHA)) * self.error

    def p(self, most_df: float) -> float:
        """Return the two-sided p of no change, by at most so many degrees of freedom."""
        if self.error == 0:
            return 1.0
        df = min(self.df, most_df)
        return 2 * float(scipy.special.stdtr(df, -abs(self.value) / self.error))


def adjust_changes(changes: Sequence[MeanChange]) -> list[float]:
    """Return p of each change, adjusted over all of them (Holm).

    None has more degrees of freedom than their mean error. Where one corpus is noisier than
    another, a change whose error is small there by chance would have too many of its own.
    """
    by_degrees: dict[tuple[float, ...], list[tuple[float, ...]]] = {}
    for change in changes:
        by_degrees.setdefault(change.degrees, []).append(change.parts)
    most_df = {
        degrees: float(satterthwaite(np.mean(parts, axis=0)[:, None], np.array(degrees))[0])
        if degrees
        else inf
        for degrees, parts in by_degrees.items()
    }
    return holm([change.p(most_df[change.degrees]) for change in changes])


def satterthwaite(parts: Floats, degrees: Floats) -> Floats:
    """Return the degrees of freedom of sums of variances: (strata, n) and (strata,) to (n,)."""
    spread = (parts**2 / degrees[:, None]).sum(axis=0)
    summed = parts.sum(axis=0) ** 2
    return np.where(spread > 0, summed / np.where(spread > 0, spread, 1), inf)


def mean_change(
    changes: Floats, stratum: Ints | None = None, resampled: Floats | None = None
) -> MeanChange:
    """Average the changes of units over their strata.

    Parameters
    ----------
    changes : array of shape (n,)
        Change of each unit.
    stratum : array of shape (n,), optional
        Number of the corpus of each unit, from 0; by default all share one.
    resampled : array of shape (n, resamples), optional
        The same over resamples of items, drawn alike for all.

    Returns
    -------
    MeanChange

    Examples
    --------
    >>> mean = mean_change(np.array([0.01, 0.02, 0.03]))
    >>> round(mean.value, 3), round(mean.error, 4), mean.df
    (0.02, 0.0058, 2.0)
    """
    group = factorize(np.zeros(len(changes)) if stratum is None else stratum)
    size = np.bincount(group)
    if len(changes) < MIN_UNITS or size.max() < 2:
        return MeanChange(float(group_means(changes, group).mean()) if len(size) else nan)
    means, parts, degrees = _trained(changes[:, None], group)
    error2, df = float(parts.sum()), float(satterthwaite(parts, degrees)[0])
    usable = usable_resamples(resampled)
    if usable is not None:
        together = float(group_means(usable, group).mean(axis=0).var(ddof=1))
        own = group_means(usable.var(axis=1, ddof=1), group) / size / len(size) ** 2
        error2 += max(0.0, together - float(own.sum()))
    is_rounding = not error2 > (ROUNDING * float(np.abs(changes).max())) ** 2
    error = (nan if changes.any() else 0.0) if is_rounding else sqrt(error2)
    by_corpus = tuple(parts[:, 0].tolist()), tuple(degrees.tolist())
    return MeanChange(float(means[0]), error, df, len(changes), *by_corpus)


def _trained(changes: Floats, group: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the means of changes over strata, what every stratum adds to their variances by
    training, and its degrees of freedom; a unit alone in its stratum has the variance of the
    others. Shapes: (units, changes) to (changes,), (strata, changes), (strata,).
    """
    size = np.bincount(group)[:, None]
    means = group_means(changes, group)
    squares = group_means(np.square(changes - means[group]), group) * size
    variances = squares[size[:, 0] > 1] / (size[size > 1] - 1)[:, None]
    each = np.tile(variances.mean(axis=0), (len(size), 1))
    each[size[:, 0] > 1] = variances
    return means.mean(axis=0), each / size / len(size) ** 2, np.maximum(size[:, 0] - 1.0, 1)


class Cells(NamedTuple):
    """Gaps of units (parents, or worlds) under conditions; NaN where there is no model.

    Shapes: y (units, conditions), resampled (units, conditions, resamples), stratum (units,), the
    number of the corpus; condition, method, direction, dose (conditions,). ``unit``: what they are.
    """

    y: Floats
    resampled: Floats
    stratum: Ints
    condition: Labels
    method: Labels
    direction: Labels
    dose: Floats
    unit: str = PARENTS

    @classmethod
    def of(cls, models: Observations) -> Cells:
        """Arrange models, parents that are no units averaged."""
        unit, stratum, name = units_of(models.stratum, models.cluster)
        condition = factorize(models.condition)
        shape = int(unit.max(initial=-1)) + 1, int(condition.max(initial=-1)) + 1
        place = unit * shape[1] + condition
        filled, cell = np.unique(place, return_inverse=True)
        y = np.full(shape[0] * shape[1], nan)
        y[filled] = group_means(models.y, cell)
        resampled = np.full((len(y), models.y_resampled.shape[1]), nan)
        resampled[filled] = group_means(models.y_resampled, cell)
        first_unit, first = (np.unique(x, return_index=True)[1] for x in (unit, condition))
        return cls(
            y.reshape(shape),
            resampled.reshape(*shape, -1),
            stratum[first_unit],
            models.condition[first],
            models.method[first],
            models.direction[first],
            models.dose[first],
            name,
        )

    @property
    def modified(self) -> Ints:
        """Return the numbers of the conditions that modify."""
        return np.flatnonzero(self.method != CONTROL)

    def change(self, minuend: Ints | Sequence[int], subtrahend: Ints | Sequence[int]) -> MeanChange:
        """Average the differences of two means of conditions over the units that have all."""
        units = np.isfinite(self.y[:, [*minuend, *subtrahend]]).all(axis=1)
        first, second = (
            (self.y[units][:, places].mean(axis=1), self.resampled[units][:, places].mean(axis=1))
            for places in (np.asarray(minuend), np.asarray(subtrahend))
        )
        return mean_change(first[0] - second[0], self.stratum[units], first[1] - second[1])


def units_of(parent: Labels, cluster: Labels) -> tuple[Ints, Ints, str]:
    """Return for each model, by its parent and the cluster of that, the numbers of its unit and of
    the stratum of that, shapes (n,), and what units are: ``parents``, ``corpora`` or ``worlds``.
    """
    unit, corpus = factorize(parent), factorize(cluster)
    one: Ints = np.zeros_like(unit)
    if len(set(corpus.tolist())) < 2:
        return unit, one, PARENTS
    parents = np.bincount(corpus[np.unique(unit, return_index=True)[1]])
    is_world = np.char.startswith(cluster, WORLD).all()
    if not is_world and parents.min() > 1:
        return unit, corpus, PARENTS
    name = "corpora" if parents.max() > 1 else PARENTS
    return corpus, one, "worlds" if is_world else name


class ConditionEffect(NamedTuple):
    """A condition, or a method and direction at its full dose, and what it does to the gap;
    ``p_holm``: p adjusted over the conditions.
    """

    condition: str
    method: str
    direction: str
    change: MeanChange
    p_holm: float = nan


class GapEffects(NamedTuple):
    """What every condition does to a gap, and every method at its full dose, over its word lists;
    ``n_units``: number of the units, as ``units_of`` has them.
    """

    conditions: tuple[ConditionEffect, ...] = ()
    full: tuple[ConditionEffect, ...] = ()
    n_units: int = 0
    unit: str = PARENTS

    @property
    def bound(self) -> float:
        """Return how large the change by any condition is at most; NaN where one is unknown."""
        bounds = [effect.change.bound for effect in self.conditions]
        return float(np.max(bounds)) if bounds else nan

    @property
    def named(self) -> ConditionEffect | None:
        """Return the condition that moved the gap furthest, else that of the largest bound."""
        known = [effect for effect in self.conditions if isfinite(effect.change.bound)]
        moved = [effect for effect in known if effect.p_holm < ALPHA]
        if moved:
            return max(moved, key=lambda effect: abs(effect.change.value))
        return max(known, key=lambda effect: effect.change.bound, default=None)


def gap_effects(cells: Cells) -> GapEffects:
    """Estimate what every condition does to a gap; empty without unmodified models, or where
    nothing is modified.
    """
    controls = np.flatnonzero(cells.method == CONTROL)
    if len(controls) != 1 or not len(cells.modified):
        return GapEffects()
    changes = [cells.change([place], controls) for place in cells.modified]
    labels = (x[cells.modified].tolist() for x in (cells.condition, cells.method, cells.direction))
    columns = (*labels, changes, adjust_changes(changes))
    conditions = list(map(ConditionEffect, *columns))
    return GapEffects(
        tuple(conditions),
        tuple(_full_doses(cells, controls, conditions)),
        int(np.isfinite(cells.y[:, controls[0]]).sum()),
        cells.unit,
    )


def _full_doses(
    cells: Cells, controls: Ints, conditions: Sequence[ConditionEffect]
) -> list[ConditionEffect]:
    """Return each method and direction at its largest dose, over its word lists."""
    modified, full = cells.modified, []
    keys = zip(cells.method[modified].tolist(), cells.direction[modified].tolist(), strict=True)
    for (method, direction), members in group_indices(keys).items():
        doses = cells.dose[modified[members]]
        largest = float(np.max(doses[np.isfinite(doses)], initial=-inf))
        chosen = members[(doses == largest) | (largest == -inf)].tolist()
        change = conditions[chosen[0]].change
        if len(chosen) > 1:
            change = cells.change(modified[chosen], controls)
        smallest_p = float(np.min([conditions[place].p_holm for place in chosen]))
        label = f"{largest:g}" if isfinite(largest) else ""
        full.append(ConditionEffect(label, method, direction, change, smallest_p))
    return full


class EqualScores(NamedTuple):
    """Two conditions of nearly one mean score, and the difference of their gaps; p adjusted over
    all ``n_pairs`` of this kind (Holm).
    """

    conditions: tuple[str, str]
    scores: tuple[float, float]
    change: MeanChange
    p_holm: float
    n_pairs: int


def equal_scores(cells: Cells, condition: Labels, score: Floats) -> list[EqualScores]:
    """Return, of all conditions whose mean scores differ by at most 5% of the range of the score,
    the pairs whose gaps surely differ, the surest first; the surest pair alone where none does.
    Shapes: condition, score (conditions,).
    """
    place = (condition[:, None] == cells.condition).argmax(axis=1)
    apart = np.abs(score[:, None] - score[None])
    pairs = np.argwhere(np.triu(apart <= _EQUAL_SCORE * float(np.ptp(score)), 1))
    complete = pairs[np.isfinite(cells.y[:, place[pairs]]).all(axis=(0, 2))]
    if len(cells.y) < MIN_UNITS or not len(complete):
        return []
    apart_by = cells.y[:, place[complete[:, 0]]] - cells.y[:, place[complete[:, 1]]]
    mean, parts, degrees = _trained(apart_by, factorize(cells.stratum))
    most_df = float(satterthwaite(parts.mean(axis=1, keepdims=True), degrees)[0])
    df, variance = np.minimum(satterthwaite(parts, degrees), most_df), parts.sum(axis=0)
    t = np.abs(mean) / np.sqrt(np.where(variance > 0, variance, inf))
    p = scipy.special.stdtr(df, -t)  # without the error of items
    found: list[EqualScores] = []
    p_holm = 0.0
    for step, index in enumerate(p.argsort(kind="stable").tolist()):
        first, second = complete[index].tolist()
        change = cells.change(place[[first]], place[[second]])
        p_holm = min(1.0, max(p_holm, change.p(most_df) * (len(complete) - step)))
        if found and not p_holm < ALPHA:
            break
        names = (str(condition[first]), str(condition[second]))
        scores = (float(score[first]), float(score[second]))
        found.append(EqualScores(names, scores, change, p_holm, len(complete)))
    return found


def share_explained(cells: Cells, condition: Labels, u: Floats, v: Floats) -> float:
    """Estimate what share of the effects of conditions on the gap the score explains.

        (b^2 sum u^2 - e) / (sum v^2 - sum e_c)

    u, v: mean score and gap of each condition, less their means; b: slope; e_c: the squared error
    of v_c, e: its mean. In [0, 1]; NaN where the gaps vary no more than their errors. Shapes
    (conditions,).
    """
    every = np.arange(len(cells.condition))
    place = {name: index for index, name in enumerate(cells.condition.tolist())}
    errors = [cells.change([place[name]], every).error ** 2 for name in condition.tolist()]
    true = float(v @ v) - float(np.sum(errors))
    if not true > 0:
        return nan
    explained = float(u @ v) ** 2 / float(u @ u) - float(np.mean(errors))
    return min(1.0, max(0.0, explained / true))
