"""Kim's (2014) convolutional network as a classifier of posts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from biasbridge.extrinsic.cnn_settings import CNNSettings
from biasbridge.extrinsic.crossval import cross_predict, read_posts
from biasbridge.extrinsic.encode import encode

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors


class CNN(CNNSettings):
    """CNN-static (Kim, 2014, EMNLP): see ``CNNSettings``."""

    chosen_as: ClassVar[tuple[str, ...]] = ("classifier/cnn",)
    configuration: ClassVar[Mapping[str, object]] = {"device": "${device}"}

    def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predict the test posts, or all by cross-validation; see ``cross_predict``.

        Raises ``InputError`` for invalid posts or vectors, and ``FloatingPointError`` if a loss
        is not finite.
        """
        from biasbridge.extrinsic.cnn_network import (
            predict_probabilities,  # torch is slow to import
        )

        table = read_posts(posts)
        encoded, labels = encode(table["text"], vectors), table["train_label"].to_numpy()
        score = partial(predict_probabilities, self, encoded, labels)
        return cross_predict(table, score, folds=self.folds, seed=seed)
