"""Observations of a slice: the rows of its table, their means by model, each made from a parent, in
one condition, and those of parents that share a cluster for each condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasbridge.analysis.correlation import (
    PERMUTATIONS,
    Correlation,
    correlation,
    demeaned,
    factorize,
    group_means,
    residuals,
    usable_resamples,
)
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.analysis.correlation import Residuals
    from biasbridge.stats.arrays import Floats, Ints, Labels, Truths


_LABELS = (
    *("model", "parent", "cluster", "condition", "method", "family", "word_list", "direction"),
    *("setting", "training", "score_gap", "pattern"),
)
_NUMBERS = {"dose": nan, "utility": nan, "n_words": inf, "n_items": inf, "noise": 0.0}
_AVERAGED = ("x", "y", "utility", "x_resampled", "y_resampled")
WORLD = " seed "  # before the seed of a synthetic world: no name of a user starts with a space
_MAX_MISSING = 0.2  # share of models: a kind of row that more of them lack is left out for all


class SlopeLine(NamedTuple):
    """The slope that all parents share, and the means of x and y on the line."""

    slope: float = nan
    x: float = nan
    y: float = nan

    @classmethod
    def through(cls, x: Floats, y: Floats, slope: float) -> SlopeLine:
        """Return the line through the means; undefined where its slope is."""
        return cls(slope, float(x.mean()), float(y.mean())) if isfinite(slope) else cls()

    def of_sign(self, signs: Floats) -> SlopeLine:
        """Return the line for x with its sign as measured; undefined where signs differ."""
        sign = float(signs[0])
        is_common = bool((signs == sign).all())
        return SlopeLine(sign * self.slope, sign * self.x, self.y) if is_common else SlopeLine()


class Observations(NamedTuple):
    """Scores and gaps: of a table one for each training, score and gap, then one for each model.

    Shapes: x, y, utility (n,); labels (n,): the ``model`` (an embedding or language model), its
    ``parent`` and the ``cluster`` of that (corpus, seed or language: the independent unit), its
    ``condition`` (method, words, options, direction and dose), its ``method``, the ``family`` of
    that, its ``word_list`` and ``direction``, empty where unmodified, and ``dose``; the ``setting``
    (classifier and training data), the ``training`` behind a gap, ``score_gap`` (names), and the
    ``pattern`` of settings and names behind a mean; ``x_resampled``, ``y_resampled`` (n,
    resamples): over words and items drawn alike for all, from ``n_words`` and ``n_items`` (n,),
    infinite where unknown; ``noise`` (n,): the variance of y by training.
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
    direction: Labels
    setting: Labels
    training: Labels
    score_gap: Labels
    pattern: Labels
    dose: Floats
    utility: Floats
    x_resampled: Floats
    y_resampled: Floats
    n_words: Floats
    n_items: Floats
    noise: Floats

    @classmethod
    def make(cls, x: Floats, y: Floats, **columns: Any) -> Observations:
        """Return observations with these columns; others are empty or unknown."""
        filled = {name: np.full(len(x), value) for name, value in _NUMBERS.items()}
        labels = dict.fromkeys(_LABELS, np.full(len(x), ""))
        resampled = dict.fromkeys(("x_resampled", "y_resampled"), np.zeros((len(x), 0)))
        return cls(**{"x": x, "y": y, **labels, **filled, **resampled, **columns})

    def select(self, rows: Ints | Truths) -> Observations:
        """Return the observations of these numbers, or those where ``rows`` is true."""
        return Observations._make(column[rows] for column in self)

    @property
    def is_complete(self) -> Truths:
        """Return which have a score and a gap."""
        return both_finite(self.x, self.y)

    @property
    def kind(self) -> Ints:
        """Return a number from 0 for each setting, score and gap."""
        return factorize(_as_one(self.setting, self.score_gap))

    def comparable(self) -> Observations:
        """Return those with a score and a gap that the means of models are taken over, so that all
        are means of the same kinds, see ``_select_comparable``; where no kind was planned for all
        models, models are compared with those of the same ``pattern`` of kinds.
        """
        is_used, pattern = _select_comparable(factorize(self.model), self.kind, self.is_complete)
        parent = factorize(self.parent)
        patterns = np.bincount(np.unique(np.stack([parent, pattern]), axis=1)[0], minlength=1)
        names = np.where(patterns[parent] > 1, np.char.mod("%d", pattern), "")
        return self._replace(pattern=names).select(is_used)

    def models(self, *, trained: bool = False) -> Observations:
        """Return one per model, in order of appearance, of those that are ``comparable``: means
        over their kinds, each the mean of its trainings; ``trained``: with their ``noise``.
        """
        model = factorize(self.model)
        order = np.argsort(model, kind="stable")
        first = np.unique(model[order], return_index=True)[1]
        rows = self.select(order)
        weights = _row_weights(model[order], rows.kind)
        means: dict[str, Any] = {
            name: np.add.reduceat((getattr(rows, name).T * weights).T, first, axis=0)
            for name in _AVERAGED
            if len(first)
        }
        noise = _training_noise(self) if trained else np.zeros(len(first))
        return rows.select(first)._replace(**means, noise=noise)

    @property
    def stratum(self) -> Labels:
        """Return what models are compared within: their parent, and the kinds behind their means
        where these differ between its models.
        """
        return _as_one(self.parent, self.pattern)

    def with_siblings(self) -> Observations:
        """Return the observations that have another of their stratum."""
        stratum = factorize(self.stratum)
        return self.select(np.bincount(stratum, minlength=1)[stratum] > 1)

    def average_over_clusters(self) -> Observations:
        """Average the parents that share a cluster for each condition: a corpus moves a condition
        in all its seeds. The clusters become the parents. Where all parents share one cluster they
        stay, and results hold for that cluster.
        """
        models = self.with_siblings()
        if not 1 < len({*models.cluster.tolist()}) < len({*models.parent.tolist()}):
            return self
        cell = factorize(_as_one(models.cluster, models.condition))
        first_index = np.unique(cell, return_index=True)[1]
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
        return models.means_over(cell)._replace(
            model=np.array(names, dtype=str),
            parent=models.cluster[first_index],
            pattern=pattern[first_index],
        )

    def condition_means(self) -> Observations:
        """Return the mean of each condition over parents, as observations of one parent."""
        models = self.with_siblings()
        means = models.means_over(factorize(models.condition))
        blank = np.full(len(means.x), "")
        return means._replace(model=means.condition, parent=blank, cluster=blank, pattern=blank)

    def means_over(self, group: Ints) -> Observations:
        """Return the means of groups less those of their strata, with the labels of the first."""
        stratum = factorize(self.stratum)
        means: dict[str, Any] = {
            name: group_means(demeaned(getattr(self, name), stratum), group) for name in _AVERAGED
        }
        noise = group_means(self.noise, group) / np.bincount(group)
        first = np.unique(group, return_index=True)[1]
        return self.select(first)._replace(**means, noise=noise)

    def within_models(
        self, permutations: int = PERMUTATIONS, given: Floats | None = None
    ) -> Correlation:
        """Compute r_rm of models within parents: for these conditions of these parents."""
        return correlation(
            self.x,
            self.y,
            self.stratum,
            given=given,
            x_resampled=self.x_resampled,
            y_resampled=self.y_resampled,
            permutations=permutations,
        )

    def residuals(self) -> Residuals:
        """Return scores and gaps less the means of their parents."""
        return residuals(self.x, self.y, factorize(self.stratum))

    def line(self) -> SlopeLine:
        """Return the line of r_rm: its slope within parents, through the means of all models."""
        models = self.with_siblings()
        slope = models.average_over_clusters().residuals().slope if len(models.x) else nan
        return SlopeLine.through(models.x, models.y, slope)

    def given_utility(self, permutations: int = PERMUTATIONS) -> Correlation:
        """Compute r_rm given the task's utility."""
        if not np.isfinite(self.utility).all():
            return Correlation(reason="the task's utility is unknown for some models")
        return self.within_models(permutations, self.utility)


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
                    f" {outer_of[inner_label]!r} and in {outer_label!r}. Name columns so that each"
                    " value lies in one value of the next column"
                )
    varying = [name for name in by_size if len(set(levels[name])) > 1]
    chosen = levels[(varying or by_size)[-1]] if by_size else [""] * len(parent)
    return np.array(chosen, dtype=str)


def _select_comparable(model: Ints, kind: Ints, is_complete: Truths) -> tuple[Truths, Ints]:
    """Return which rows the means of models are taken over, and for each row a number that differs
    between models whose means are of different kinds. Shapes: (n,) each -> (n,), (n,).

    Models have rows of several kinds (classifiers, doses of labels, queries), each with its own
    level, so that a mean over the available kinds would reflect which ones are missing. A kind that
    was not planned for all models (it has no row, not even an unknown one) is left out for all, and
    so is one that more than a fifth of the models lack while they have another: the worst
    first, and never the last. A model that lacks one of the other kinds is left out. Rows of one
    kind (trainings) may be fewer. Where no kind was planned for all models, each must have those
    planned for it.
    """
    shape = int(model.max(initial=-1)) + 1, int(kind.max(initial=-1)) + 1
    planned, measured = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    planned[model, kind], measured[model[is_complete], kind[is_complete]] = True, True
    planned &= measured.any(axis=0)  # kinds that no model has do not count
    planned_models = planned[planned.any(axis=1)]  # models without planned kinds do not count
    used_kinds: Truths = np.logical_and.reduce(planned_models)
    if not len(planned_models) or not used_kinds.any():
        has_all: Truths = np.logical_and.reduce(measured == planned, axis=1)
        pattern = np.unique(planned, axis=0, return_inverse=True)[1]
        return is_complete & has_all[model], pattern[model]
    while used_kinds.sum() > 1:
        partial = measured[measured[:, used_kinds].any(axis=1)]
        share_missing = np.where(used_kinds, (~partial).mean(axis=0), 0)
        if share_missing.max() <= _MAX_MISSING:
            break
        used_kinds[share_missing.argmax()] = False
    has_all = np.logical_and.reduce(measured[:, used_kinds], axis=1)
    return is_complete & used_kinds[kind] & has_all[model], np.zeros_like(model)


def _row_weights(model: Ints, kind: Ints) -> Floats:
    """Return weights of rows in the mean of their model, all kinds equal. Shape (n,)."""
    kinds = int(kind.max(initial=-1)) + 1
    pair = np.unique(model * kinds + kind, return_inverse=True)[1]
    share = 1 / np.bincount(pair)[pair]
    weights: Floats = share / np.bincount(model, share)[model]
    return weights


def both_finite(x: Floats, y: Floats) -> Truths:
    """Return which pairs are finite on both sides. Shapes: (n,), (n,) -> (n,)."""
    complete: Truths = np.isfinite(x) & np.isfinite(y)
    return complete


# The share of noise of words, items and trainings in scores and gaps.


def reliability(
    residual: Residuals, side: Floats, resampled: Floats, size: float, trained: Floats
) -> float:
    """Return the share of the variance within parents that is not noise proper to a model: of its
    training, and of words or items as they move it alone. In [0, 1].

        all noise = sum_i (var_b(c_ib) + (1 - h_i) trained_i) / sum_i c_i^2

    c_i: the value of model i less what its parent explains, c_ib: in resample b of the words or
    items, drawn alike for all models from ``size`` of them; ``trained``: its error by the chance of
    training. NaN below 50 resamples in which every model has a value. Shapes: (all,), (all,
    resamples), (all,).
    """
    usable = usable_resamples(resampled, residual.indices)
    variance = float(np.square(residual.residual(side)).sum())
    if usable is None or variance == 0:
        return nan
    deviations = residual.residual(usable - usable.mean(axis=1, keepdims=True))
    noise = float(np.square(deviations).sum()) / (usable.shape[1] - 1)
    proper = min(noise, _proper_variance(residual, deviations, size))
    trained_sum = float((trained[residual.indices] * (1 - residual.h)).sum())
    share = 1 - (proper + trained_sum) / variance
    return min(1.0, max(0.0, share)) if isfinite(share) else nan


def _proper_variance(residual: Residuals, deviations: Floats, size: float) -> float:
    """Return the variance by resamples that no common factor of the models explains.

    A principal component of the models is a factor as long as it is longer than independent rows of
    these variances allow, E|X| <= max_i s_i sqrt(d) + sqrt(sum_i s_i^2) (Chevet, 1978; parallel
    analysis after Dobriban & Owen, 2019). d: independent draws, of the resamples and of the
    ``size`` words or items. What k factors leave is scaled by the degrees of freedom they took.
    """
    rows, resamples = residual.df + 1, deviations.shape[1] - 1
    draws = 1 / (1 / resamples + 1 / size)
    loadings, lengths, _ = np.linalg.svd(deviations, full_matrices=False)
    k = np.arange(max(1, int(min(rows, draws))))
    unexplained = np.square(loadings * lengths)[:, ::-1].cumsum(axis=1)[:, ::-1][:, k]
    largest = np.sqrt((unexplained / (1 - residual.h)[:, None]).max(axis=0))
    longest = largest + np.sqrt(unexplained.sum(axis=0) / (draws - k))
    factors = int(np.append(np.flatnonzero(lengths[k] <= longest), k[-1])[0])
    scale = draws / (draws - factors) * rows / (rows - factors)
    return float(unexplained[:, factors].sum() / resamples * scale)


def _training_noise(rows: Observations) -> Floats:
    """Return the variance of each model's mean gap by the chance of training, in order of
    appearance; 0 where nothing was trained twice. Shape (models,).

    From models on which one classifier was trained T times on the same items:

    s^2 = var_t(y_t) - mean_b var_t(y_tb - y_t), noise = sum over settings of w^2 s^2 / T

    y_t: the gap after training t, less what that training does to all models of a parent; y_tb: in
    resample b of the items, for what items do to one training and not to another is noise of
    theirs; w: the weight of the setting in the mean. A model in which nothing was trained twice has
    the mean noise of the others.
    """
    model, classifier = factorize(rows.model), factorize(_as_one(rows.model, rows.setting))
    training = factorize(_as_one(rows.model, rows.setting, rows.training))
    first_row = np.unique(training, return_index=True)[1]
    n_trainings = np.bincount(classifier[first_row], minlength=1)
    if n_trainings.max() < 2:
        return np.zeros(int(model.max(initial=-1)) + 1)
    shared = factorize(_as_one(rows.parent, rows.setting, rows.training))[first_row]
    deviations = rows.y_resampled - rows.y[:, None]
    variance, item_variance = (
        _spread(group_means(values, training), shared, classifier[first_row])
        for values in (rows.y, deviations)
    )
    usable = np.isfinite(item_variance)
    s2 = variance - np.where(usable, item_variance, 0).sum(axis=1) / np.maximum(
        usable.sum(axis=1), 1
    )
    weight = np.bincount(classifier, _row_weights(model, rows.kind))
    owner = model[np.unique(classifier, return_index=True)[1]]
    noise = np.bincount(owner, np.where(n_trainings > 1, weight**2 * s2 / n_trainings, 0))
    trained_twice = np.bincount(owner, n_trainings > 1) > 0
    return np.where(trained_twice, noise, noise[trained_twice].mean())


def _as_one(*labels: Labels) -> Labels:
    """Return the labels of each row as one."""
    return np.array(["\n".join(row) for row in zip(*labels, strict=True)], dtype=str)


def _spread(values: Floats, shared: Ints, classifier: Ints) -> Floats:
    """Return the variance over the trainings of a classifier, less what is ``shared`` by the models
    of a parent. Shapes: (trainings, ...) -> (classifiers, ...).
    """
    for group in (shared, classifier):
        size = np.bincount(group)[group].reshape(-1, *[1] * (values.ndim - 1))
        scaled = demeaned(values, group) * np.sqrt(size / np.maximum(size - 1, 1))
        values = scaled if group is classifier else np.where(size > 1, scaled, values)
    variances: Floats = group_means(np.square(values), classifier)
    return variances
