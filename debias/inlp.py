"""Iterative nullspace projection: the directions of linear classifiers are projected out."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc

from biasbridge.debias.examples import GROUPS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import choice
from biasbridge.files.choice import Count
from biasbridge.files.eraser import Eraser

MIN_WEIGHT_NORM = 1e-10  # largest weight norm of a classifier that finds no direction


@choice
class Inlp(LinearEraser):
    r"""INLP (Ravfogel et al., 2020): f(x) = x - x B' B, B an orthonormal basis of the weights of
    ``rounds`` linear support vector machines, each fitted after the
    projections of the rounds before it. It stops early if a classifier finds no direction.
    """

    rounds: Annotated[Count, doc("at most; each removes a dimension")] = 8

    name: ClassVar[str] = "inlp"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank at most ``rounds``."""
        from sklearn.svm import SVC

        rows, labels = examples.rows, 1 - examples.labels
        basis = np.empty((0, rows.shape[1]))
        for _ in range(self.rounds):
            projected = rows - (rows @ basis.T) @ basis
            [weights] = SVC(kernel="linear").fit(projected, labels).coef_
            weights = weights - (weights @ basis.T) @ basis
            length = float(np.linalg.norm(weights))
            if not length > MIN_WEIGHT_NORM:
                break
            basis = np.vstack([basis, weights / length])
        return Eraser.removing(basis)
