"""Logistic regression on the mean vector of a post: the fast baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from extrinsic.crossval import Fold, cross_predict, read_posts
from extrinsic.encode import Encoded, encode
from files import InputError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset
    from gensim.models import KeyedVectors


@dataclass(frozen=True)
class Linear:
    """L2-regularised logistic regression on standardised mean vectors; ``C`` is the inverse
    strength of the regularisation.

    Standardising makes the result blind to the scale of the vectors, which debiasing may change.
    The dev items stay unused, so that this and the CNN learn from the same posts.
    """

    C: float = 1.0
    folds: int = 5
    max_iter: int = 1000
    name: ClassVar[str] = "linear"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.C > 0 or self.folds < 2 or self.max_iter < 1:
            raise InputError(
                f"C={self.C} must be positive, folds={self.folds} at least 2 and"
                f" max_iter={self.max_iter} at least 1"
            )

    def predict(self, posts: Dataset, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predictions for the test posts, or for all of them by cross-validation (see
        ``crossval.cross_predict``).
        """
        table = read_posts(posts)
        features, labels = mean_vectors(encode(table["text"], vectors)), table["label"].to_numpy()

        def score(fold: Fold) -> np.ndarray:
            model = make_pipeline(
                StandardScaler(), LogisticRegression(C=self.C, max_iter=self.max_iter)
            )
            return model.fit(features[fold.train], labels[fold.train]).predict_proba(
                features[fold.test]
            )[:, 1]

        return cross_predict(table, score, folds=self.folds, seed=seed)


def mean_vectors(encoded: Encoded) -> np.ndarray:
    """The mean over the tokens of each post that have a vector, shape (n, dim); zeros for a post
    without any.
    """
    found = (encoded.tokens > 0).astype(np.float32)
    counts = csr_array(
        (found, encoded.tokens, encoded.offsets), shape=(len(encoded.lengths), len(encoded.matrix))
    )
    return (counts @ encoded.matrix) / np.maximum(counts.sum(axis=1), 1)[:, None]
