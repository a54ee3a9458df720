"""The share of noise of words, items and trainings in scores and gaps."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.analysis.residuals import demeaned, factorize, group_means
from biasbridge.analysis.rows import row_weights
from biasbridge.analysis.sampling import MIN_RESAMPLES

if TYPE_CHECKING:
    from biasbridge.analysis.residuals import Residuals
    from biasbridge.analysis.rows import Rows
    from biasbridge.stats.arrays import Floats, Ints, Labels


class NoiseShares(NamedTuple):
    """Shares of the variance within parents that are noise: ``proper`` to each model (its training,
    and words or items as they move it alone), and ``shared``, words or items as they move several
    models together. NaN: unknown.
    """

    proper: float = nan
    shared: float = nan

    @property
    def reliability(self) -> float:
        """Return the share that is not noise proper to a model, in [0, 1]."""
        return max(0.0, 1 - self.proper) if isfinite(self.proper) else nan

    @property
    def stable(self) -> float:
        """Return the share that would be the same on other words or items, in [0, 1]."""
        noise = self.proper + self.shared
        return max(0.0, 1 - noise) if isfinite(noise) else nan


def noise_shares(
    residual: Residuals, side: Floats, resampled: Floats, size: float, trained: Floats
) -> NoiseShares:
    """Return how much of the variance within parents is noise, proper and shared.

        proper + shared = sum_i (var_b(c_ib) + (1 - h_i) trained_i) / sum_i c_i^2

    c_i: the value of model i less what its parent explains, c_ib: in resample b of the words or
    items, drawn alike for all models from ``size`` of them; ``trained``: its error by the chance of
    training. NaN below 50 resamples in which every model has a value. Shapes: (all,), (all,
    resamples), (all,).
    """
    usable = resampled[:, np.isfinite(resampled[residual.indices]).all(axis=0)]
    variance = float(np.square(residual.residual(side)).sum())
    if usable.shape[1] < MIN_RESAMPLES or variance == 0:
        return NoiseShares()
    deviations = residual.residual(usable - usable.mean(axis=1, keepdims=True))
    noise = float(np.square(deviations).sum()) / (usable.shape[1] - 1)
    proper = min(noise, _proper_variance(residual, deviations, size))
    trained_sum = float((trained[residual.indices] * (1 - residual.h)).sum())
    return NoiseShares((proper + trained_sum) / variance, (noise - proper) / variance)


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


def training_noise(rows: Rows) -> Floats:
    """Return the variance of each model's mean gap by the chance of training, in order of
    appearance; 0 where nothing was trained twice. Shape (models,).

    From models on which one classifier was trained T times on the same items:

    s^2 = var_t(y_t) - mean_b var_t(y_tb - y_t), noise = sum over settings of w^2 s^2 / T

    y_t: the gap after training t, less what that training does to all models of a parent; y_tb: in
    resample b of the items, for what items do to one training and not to another is noise of
    theirs; w: the weight of the setting in the mean. A model in which nothing was trained twice has
    the mean noise of the others.
    """
    model, classifier = factorize(rows.model), _factorize_rows(rows.model, rows.setting)
    training = _factorize_rows(rows.model, rows.setting, rows.training)
    first_row = np.unique(training, return_index=True)[1]
    n_trainings = np.bincount(classifier[first_row], minlength=1)
    if n_trainings.max() < 2:
        return np.zeros(int(model.max(initial=-1)) + 1)
    shared = _factorize_rows(rows.parent, rows.setting, rows.training)[first_row]
    deviations = rows.y_resampled.rows() - rows.y[:, None]
    variance, item_variance = (
        _spread(group_means(values, training), shared, classifier[first_row])
        for values in (rows.y, deviations)
    )
    usable = np.isfinite(item_variance)
    s2 = variance - np.where(usable, item_variance, 0).sum(axis=1) / np.maximum(
        usable.sum(axis=1), 1
    )
    weight = np.bincount(classifier, row_weights(model, rows.kind))
    owner = model[np.unique(classifier, return_index=True)[1]]
    noise = np.bincount(owner, np.where(n_trainings > 1, weight**2 * s2 / n_trainings, 0))
    trained_twice = np.bincount(owner, n_trainings > 1) > 0
    return np.where(trained_twice, noise, noise[trained_twice].mean())


def _factorize_rows(*labels: Labels) -> Ints:
    return factorize(np.array(["\n".join(row) for row in zip(*labels, strict=True)], dtype=str))


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
