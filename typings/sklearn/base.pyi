from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

class BaseEstimator:
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self: ...

class Classifier(BaseEstimator):
    """Not in scikit-learn: what its classifiers and pipelines that end in one have in common."""

    def predict(self, X: ArrayLike) -> NDArray[np.generic]: ...
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def score(self, X: ArrayLike, y: ArrayLike) -> float: ...
