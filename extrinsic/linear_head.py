"""Logistic regression on one feature row per post."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from annotated_types import doc

from biasbridge.extrinsic.crossval import Fold, Folds, cross_predict
from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless, Positive

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


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
                C=self.C,
                max_iter=self.max_iter,
                class_weight="balanced" if self.balanced else None,
            )
            model = make_pipeline(StandardScaler(), regression)
            model.fit(features[fold.train], labels[fold.train])
            return model.predict_proba(features[fold.test])[:, 1]

        return cross_predict(table, score, folds=self.folds, seed=seed)
