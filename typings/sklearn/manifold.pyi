from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

class TSNE(BaseEstimator):
    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        max_iter: int = 1000,
        init: Literal["random", "pca"] = "pca",
        random_state: int | None = None,
    ) -> None: ...
    def fit_transform(self, X: ArrayLike) -> NDArray[np.float32]: ...
