"""Agreement of raters beyond chance: Cohen's and Fleiss's kappa, for many weightings at once.

A rater assigns each item to one of a few categories. Items may be weighted; where weights are the
counts of a bootstrap, one matrix product gives the kappa of every resample. Shapes: ratings
(items,) or (items, raters), integers from 0; weights (resamples, items).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_NO_SPREAD = 1e-12


def cohen_kappa(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Compute Cohen's kappa (1960) of two raters: (p_o - p_e) / (1 - p_e).

    p_o: the share of items on which they agree; p_e = sum_k p_k q_k: that expected from their
    shares of each category.

    Parameters
    ----------
    x, y : array of shape (items,)
        Ratings, integers from 0.
    weights : array of shape (resamples, items), optional
        Weights of the items.

    Returns
    -------
    array of shape (resamples,)
        In [-1, 1], one value without ``weights``. 1: full agreement; 0: as by chance; NaN where
        both raters give all items one category.

    Examples
    --------
    >>> cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1])
    array([0.5])
    """
    first, second, times = _ratings(x), _ratings(y), _weights(weights, len(np.asarray(x)))
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"two raters rate the same items, not {first.shape} and {second.shape}")
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    cells = np.eye(size * size)[first * size + second]
    joint = (times @ cells).reshape(-1, size, size) / times.sum(axis=1)[:, None, None]
    observed = np.trace(joint, axis1=1, axis2=2)
    expected = (joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1)
    return _beyond_chance(observed, expected)


def fleiss_kappa(ratings: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Compute Fleiss's kappa (1971) of several raters: (P - P_e) / (1 - P_e).

    P: the mean over items of the share of pairs of raters that agree; P_e = sum_k p_k^2 of the
    shares p_k of each category in all ratings.

    Parameters
    ----------
    ratings : array of shape (items, raters)
        Ratings, integers from 0.
    weights : array of shape (resamples, items), optional
        Weights of the items.

    Returns
    -------
    array of shape (resamples,)
        Range and NaN as for ``cohen_kappa``.
    """
    table, times = _ratings(ratings), _weights(weights, len(np.asarray(ratings)))
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(f"Fleiss's kappa takes at least two raters, not a table {table.shape}")
    raters = table.shape[1]
    votes: Floats = np.eye(int(table.max(initial=0)) + 1)[table].sum(axis=1)
    agreeing: Floats = ((votes**2).sum(axis=1) - raters) / (raters**2 - raters)
    sums = times.sum(axis=1)
    shares: Floats = times @ (votes / raters) / sums[:, None]
    return _beyond_chance(times @ agreeing / sums, (shares**2).sum(axis=1))


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    disagreement = 1 - expected
    safe = np.where(disagreement > _NO_SPREAD, disagreement, 1)
    return np.where(disagreement > _NO_SPREAD, (observed - expected) / safe, np.nan)


def _ratings(values: ArrayLike) -> NDArray[np.intp]:
    return np.asarray(values, dtype=np.intp)


def _weights(weights: ArrayLike | None, items: int) -> Floats:
    if not items:
        raise InputError("there are no rated items; kappa needs at least one")
    return np.ones((1, items)) if weights is None else np.asarray(weights, dtype=np.float64)
