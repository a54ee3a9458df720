"""Iterative nullspace projection: what linear classifiers use is projected out, one by one."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc

from debias.examples import GROUPS, Examples
from debias.linear import LinearEraser
from files import choice
from files.choice import Count
from files.eraser import Eraser

NOTHING_LEFT = 1e-10  # length of the weights of a classifier that finds nothing


@choice
class Inlp(LinearEraser):
    r"""INLP (Ravfogel et al., 2020): f(x) = x - x B' B, B an orthonormal basis of the weights of
    ``rounds`` linear support vector machines, each fitted on what the rounds before left of the
    vectors. It stops before where one finds nothing.
    """

    rounds: Annotated[Count, doc("at most; each takes a dimension")] = 8

    name: ClassVar[str] = "inlp"
    asks: ClassVar[tuple[str, ...]] = GROUPS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm 1, rank at most ``rounds``."""
        from sklearn.svm import SVC

        rows, labels = found.rows, 1 - found.labels
        basis = np.empty((0, rows.shape[1]))
        for _ in range(self.rounds):
            left = rows - (rows @ basis.T) @ basis
            [weights] = SVC(kernel="linear").fit(left, labels).coef_
            weights = weights - (weights @ basis.T) @ basis
            length = float(np.linalg.norm(weights))
            if not length > NOTHING_LEFT:
                break
            basis = np.vstack([basis, weights / length])
        return Eraser.removing(basis)
