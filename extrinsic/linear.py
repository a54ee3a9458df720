"""Logistic regression on the mean vector of a post: the fast baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from extrinsic.crossval import Fold, Folds, cross_predict, read_posts
from extrinsic.encode import Encoded, encode
from files import choice
from files.choice import Count, Fileless, Positive

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors


@choice
class Linear(Fileless):
    """L2-regularised logistic regression on standardised mean vectors; ``C``: inverse strength.

    Standardising makes the result blind to the scale of the vectors, which debiasing may change.
    The dev items stay unused, so that this and the CNN learn from the same posts.
    """

    C: Positive = 1.0
    folds: Folds = 5
    max_iter: Count = 1000

    name: ClassVar[str] = "linear"
    version: ClassVar[int] = 2
    needs: ClassVar[str] = "vectors"

    def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predictions for the test posts, or for all by cross-validation; see ``cross_predict``."""
        from sklearn.linear_model import LogisticRegression  # slow to import
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        table = read_posts(posts)
        features, labels = (
            mean_vectors(encode(table["text"], vectors)),
            table["train_label"].to_numpy(),
        )

        def score(fold: Fold) -> NDArray[np.float64]:
            regression = LogisticRegression(C=self.C, max_iter=self.max_iter)
            model = make_pipeline(StandardScaler(), regression)
            model.fit(features[fold.train], labels[fold.train])
            return model.predict_proba(features[fold.test])[:, 1]

        return cross_predict(table, score, folds=self.folds, seed=seed)


def mean_vectors(encoded: Encoded) -> NDArray[np.float64]:
    """The mean vector of each post's tokens that have one, (n, dim); zeros where none has."""
    from scipy.sparse import csr_array  # slow to import

    found = (encoded.tokens > 0).astype(np.float32)
    shape = (len(encoded.lengths), len(encoded.matrix))
    counts = csr_array((found, encoded.tokens, encoded.offsets), shape=shape)
    return (counts @ encoded.matrix) / np.maximum(counts.sum(axis=1), 1)[:, None]
