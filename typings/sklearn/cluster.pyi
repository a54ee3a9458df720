from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

class KMeans(BaseEstimator):
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int | Literal["auto"] = "auto",
        random_state: int | None = None,
    ) -> None: ...
    def fit_predict(self, X: ArrayLike) -> NDArray[np.int32]: ...
