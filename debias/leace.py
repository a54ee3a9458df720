"""LEACE: the smallest affine change after which no linear classifier separates two groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc

from biasbridge.debias.examples import GROUPS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import InputError, choice
from biasbridge.files.eraser import Eraser

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


@choice
class Leace(LinearEraser):
    r"""Least-squares concept erasure (Belrose et al., 2023) of two groups, z in {0, 1}:

        f(x) = x - W^+ u u' W (x - mean),    u = unit(W cov(x, z)),    W = cov(x)^(-1/2)

    cov(f(x), z) = 0 on the training vectors. W uses eigenvalues above dim * eps * largest. cov(x)
    is first shrunk towards a multiple of the identity (Bodnar, Gupta & Parolya, 2014); without
    shrinkage an f fitted on few texts stretches vectors without limit.
    """

    shrinkage: Annotated[bool, doc("shrink cov(x)")] = True

    name: ClassVar[str] = "leace"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of rank 1 and norm at least 1 (not orthogonal). Raises ``InputError`` if
        the groups have the same mean.
        """
        rows, labels = examples.rows, examples.labels
        mean = rows.mean(axis=0)
        centred = rows - mean
        label_products = centred.T @ (labels - labels.mean())
        covariance = centred.T @ centred / len(rows)
        if self.shrinkage:
            covariance = shrunk(covariance, len(rows))
        values, vectors = np.linalg.eigh(covariance)
        is_positive = values > values[-1] * len(values) * np.finfo(np.float64).eps
        values, vectors = values[is_positive], vectors[:, is_positive]
        whitened = (vectors.T @ label_products) / np.sqrt(values)
        length = float(np.linalg.norm(whitened))
        if not length > 0:
            raise InputError("the two groups have the same mean; no direction separates them")
        whitened /= length
        left = vectors @ (whitened / np.sqrt(values))  # W u
        right = vectors @ (whitened * np.sqrt(values))  # W^+ u
        return Eraser(left[:, None], right[None], mean, np.zeros(len(mean)))


def shrunk(covariance: Floats, n: int) -> Floats:
    r"""Shrink a covariance S of n rows and p dimensions to a S + (1 - a) tr(S)/p I, with

    a = 1 - (tr(S)^2 t / n) / (|S|^2 t - (tr(S)^2 / p)^2),    t = tr(S)^2 / p
    """
    p = len(covariance)
    trace = float(np.trace(covariance))
    target = trace**2 / p  # the squared norm of tr(S)/p I, and its product with S
    spread = float((covariance**2).sum()) * target - target**2
    if not spread > 0:
        return covariance
    weight = 1 - trace**2 * target / n / spread
    shrunken: Floats = weight * covariance + (1 - weight) * trace / p * np.eye(p)
    return shrunken
