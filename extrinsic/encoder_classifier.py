"""Logistic regression on a frozen encoder's vector of each post."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from biasbridge.extrinsic.crossval import read_posts, texts_as_written
from biasbridge.extrinsic.linear_head import LinearHead

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.models.encodes import Encodes


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
