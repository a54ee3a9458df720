"""Random-effects combination of effect sizes (DerSimonian and Laird, 1986)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


class CombinedEffect(NamedTuple):
    """A combined effect (...): value, standard error, variance between effects, Cochran's Q, and
    the weights (N, ...).
    """

    value: Floats
    error: Floats
    between: Floats
    q: Floats
    weights: Floats


def combine_effects(effects: Floats, variances: Floats) -> CombinedEffect:
    r"""Combine N effects e with variances v along the first axis (DerSimonian and Laird, 1986).

    w = 1 / v,  Q = sum w (e - e_w)^2  with e_w = sum w e / sum w,
    tau^2 = max(0, (Q - (N - 1)) / (sum w - sum w^2 / sum w)),
    value = sum w* e / sum w*,  error = (sum w*)^-1/2  with w* = 1 / (v + tau^2)

    Parameters
    ----------
    effects, variances : array of shape (N, ...)
        Effects and their variances, above 0.

    Returns
    -------
    CombinedEffect
        Value and error in the units of the effects, shape (...).
    """
    w = 1 / variances
    total: Floats = w.sum(axis=0)
    q: Floats = (w * (effects - (w * effects).sum(axis=0) / total) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of a single effect
        excess = (q - (len(effects) - 1)) / (total - (w**2).sum(axis=0) / total)
    between: Floats = np.where(excess > 0, excess, 0.0)
    w = 1 / (variances + between)
    total = w.sum(axis=0)
    return CombinedEffect((w * effects).sum(axis=0) / total, total**-0.5, between, q, w)
