"""Logistic regression on the mean vector of a post, a fast baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.crossval import read_posts
from biasbridge.extrinsic.encode import Encoded, encode
from biasbridge.extrinsic.linear_head import LinearHead

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors


class Linear(LinearHead):
    """Logistic regression on mean vectors: see ``LinearHead``."""

    name: ClassVar[str] = "linear"
    version: ClassVar[int] = 4
    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/linear",)

    def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``."""
        table = read_posts(posts)
        features = mean_vectors(encode(table["text"], vectors))
        return self.predict_rows(table, features, seed=seed)


def mean_vectors(encoded: Encoded) -> NDArray[np.float64]:
    """Compute the mean of each post's word vectors, (n, dim); zeros if no word has one."""
    from scipy.sparse import csr_array  # slow to import

    has_vector = (encoded.tokens > 0).astype(np.float32)
    shape = (len(encoded.lengths), len(encoded.matrix))
    counts = csr_array((has_vector, encoded.tokens, encoded.offsets), shape=shape)
    return (counts @ encoded.matrix) / np.maximum(counts.sum(axis=1), 1)[:, None]
