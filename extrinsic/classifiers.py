"""Classifiers of posts: logistic regression on mean word vectors or on a frozen encoder's vectors,
Kim's (2014) convolutional network, and a fine-tuned language model.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.extrinsic.crossval import Fold, Folds, cross_predict, read_posts, texts_as_written
from biasbridge.extrinsic.encode import Encoded, encode
from biasbridge.extrinsic.network_settings import CNNSettings, FinetunedSettings
from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless, Positive

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.files.models.encoder import Encodes
    from biasbridge.files.models.language_model import LanguageModel


@choice
class LinearHead(Fileless):
    """L2-regularised logistic regression on standardised features; ``C``: inverse strength;
    ``balanced``: both classes have equal weight in training.

    Standardising makes the result independent of the scale of the vectors, which debiasing may
    change. The dev items stay unused, so that this and the CNN train on the same posts.
    """

    C: Positive = 1.0
    balanced: Annotated[bool, doc("true: both classes have equal weight in training")] = False
    folds: Folds = 5
    max_iter: Count = 1000

    def predict_rows(
        self, table: pd.DataFrame, features: NDArray[np.floating], *, seed: int
    ) -> pd.DataFrame:
        """Predict from ``features`` (posts, dim); see ``cross_predict``."""
        from sklearn.linear_model import LogisticRegression  # slow to import
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        labels = table["train_label"].to_numpy()

        def score(fold: Fold) -> NDArray[np.float64]:
            regression = LogisticRegression(
                C=self.C, max_iter=self.max_iter, class_weight="balanced" if self.balanced else None
            )
            model = make_pipeline(StandardScaler(), regression)
            model.fit(features[fold.train], labels[fold.train])
            probabilities: NDArray[np.float64] = model.predict_proba(features[fold.test])
            return probabilities[:, 1]

        return cross_predict(table, score, folds=self.folds, seed=seed)


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


class EncoderClassifier(LinearHead):
    """Linear head on a frozen encoder of the posts as published; see ``LinearHead``."""

    name: ClassVar[str] = "encoder"
    version: ClassVar[int] = 3
    needs: ClassVar[str] = "encoder"
    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/encoder",)

    def predict(self, posts: pd.DataFrame, encoder: Encodes, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``."""
        table = read_posts(posts)
        return self.predict_rows(table, encoder.encode(texts_as_written(table)), seed=seed)


class CNN(CNNSettings):
    """CNN-static (Kim, 2014, EMNLP): see ``CNNSettings``."""

    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/cnn",)
    configuration: ClassVar[Mapping[str, object]] = {"device": "${device}"}

    def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``.

        Raises ``InputError`` for invalid posts or vectors, and ``FloatingPointError`` if a loss
        is not finite.
        """
        from biasbridge.extrinsic.networks import predict_cnn  # torch is slow to import

        table = read_posts(posts)
        encoded, labels = encode(table["text"], vectors), table["train_label"].to_numpy()
        score = partial(predict_cnn, self, encoded, labels)
        return cross_predict(table, score, folds=self.folds, seed=seed)


class Finetuned(FinetunedSettings):
    """Fine-tuned language model with a linear layer: see ``FinetunedSettings``."""

    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/finetuned",)
    configuration: ClassVar[Mapping[str, object]] = {"device": "${device}"}

    def predict(self, posts: pd.DataFrame, model: LanguageModel, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``.

        Raises ``FloatingPointError`` if a loss is not finite.
        """
        from biasbridge.extrinsic.networks import predict_finetuned, tokenise

        table = read_posts(posts)
        tokens = tokenise(texts_as_written(table), model, self.max_tokens)
        labels = table["train_label"].to_numpy()
        score = partial(predict_finetuned, self, model, tokens, labels)
        return cross_predict(table, score, folds=self.folds, seed=seed)
