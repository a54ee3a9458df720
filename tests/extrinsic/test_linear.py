"""The linear baseline against gensim's means and scikit-learn's regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression

from biasbridge.extrinsic.encode import encode
from biasbridge.extrinsic.linear import Linear, mean_vectors

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors


def test_mean_vectors_are_gensims(vectors: KeyedVectors) -> None:
    texts = ["word1 word2 word2", "zog0 unheard word3", "", "unheard of"]
    means = mean_vectors(encode(texts, vectors))
    theirs = [vectors.get_mean_vector(text.split(), pre_normalize=False) for text in texts[:2]]
    np.testing.assert_allclose(means[:2], theirs, atol=1e-6)
    assert not means[2:].any()


def test_scores_are_those_of_a_regression_on_the_training_posts(
    divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    means = np.array(
        [vectors.get_mean_vector(text.split(), pre_normalize=False) for text in divided["text"]]
    )
    labels, splits = np.array(divided["label"]), np.array(divided["split"])
    train, test = means[splits == "train"], means[splits == "test"]
    scaled = [(part - train.mean(0)) / train.std(0) for part in (train, test)]
    expected = (
        LogisticRegression(C=0.5)
        .fit(scaled[0], labels[splits == "train"])
        .predict_proba(scaled[1])[:, 1]
    )
    predictions = Linear(C=0.5).predict(divided, vectors, seed=0)
    np.testing.assert_allclose(predictions["score"], expected, atol=1e-3)
