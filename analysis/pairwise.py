"""Sums over all pairs of rows in n log n steps and n numbers, where a matrix of pairs has n^2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analysis.arrays import Floats

FEW = 200  # rows up to which a matrix of pairs is quicker


def concordance(x: Floats, y: Floats) -> Floats:
    """For each row how many others are concordant with it, less those that are discordant: sum_j
    sign(x_i - x_j) sign(y_i - y_j). Shapes: (n,), (n,) -> (n,).
    """
    if len(x) <= FEW:
        pairs: Floats = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
        return pairs @ np.ones(len(x))
    concordant = _less_and_greater(x, -y) + _less_and_greater(-x, y)
    return concordant - _less_and_greater(x, y) - _less_and_greater(-x, -y)


def signs(values: Floats, among: Floats) -> Floats:
    """sum_j sign(value_i - among_j), the centred ranks doubled. Shapes: (n,), (m,) -> (n,)."""
    ordered = np.sort(among)
    left, right = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return (left + right - len(among)).astype(float)


def ties(values: Floats) -> Floats:
    """How many rows have each row's value, itself one of them. Shape (n,)."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[place].astype(float)


def distances(x: Floats) -> Floats:
    """sum_j |x_i - x_j|. Shape (n,)."""
    n, order = len(x), np.argsort(x)
    ordered = x[order]
    below = np.cumsum(ordered)
    found = np.empty(n)
    found[order] = (2 * np.arange(1, n + 1) - n) * ordered + below[-1] - 2 * below
    return found


def distance_products(x: Floats, y: Floats) -> float:
    """sum_ij |x_i - x_j| |y_i - y_j| (Huo & Székely, 2016). Shapes: (n,), (n,)."""
    order = np.argsort(x)
    a, b = x[order] - float(x.mean()), y[order] - float(y.mean())
    # Of x in order, the sum of (x_j - x_i) (y_j - y_i) over i < j less twice that where y falls
    whole = len(a) * float(a @ b) - float(a.sum()) * float(b.sum())
    n, of_a, of_b, of_ab = greater_before(b, np.stack([np.ones_like(a), a, b, a * b], axis=1)).T
    falling = float((a * b * n - a * of_b - b * of_a + of_ab).sum())
    return 2 * (whole - 2 * falling)


def greater_before(values: Floats, weights: Floats) -> Floats:
    """For each row the sums of the weights of earlier rows with a greater value. Shapes: (n,), (n,
    m) -> (n, m).

    As merge sort goes: in blocks of twice the width, the rows of the right half are told what lies
    above them in the left one.
    """
    n, m = weights.shape
    size = 1 << max(1, (n - 1).bit_length())
    padded, told = np.full(size, -np.inf), np.zeros((size, m))
    padded[:n], told[:n] = values, weights
    found, width = np.zeros((size, m)), 1
    while width < size:
        order = np.argsort(padded.reshape(-1, 2 * width), axis=1, kind="stable")
        left = order < width
        place = order + 2 * width * np.arange(len(order))[:, None]
        up_to: Floats = np.where(left[..., None], told[place], 0).cumsum(axis=1)
        found[place[~left]] += (up_to[:, -1:] - up_to)[~left]
        width *= 2
    return found[:n]


def _less_and_greater(x: Floats, y: Floats) -> Floats:
    """For each row how many have a smaller x and a greater y. Shapes: (n,), (n,) -> (n,)."""
    order = np.lexsort((y, x))
    found = np.empty(len(x))
    found[order] = greater_before(y[order], np.ones((len(x), 1)))[:, 0]
    return found
