from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

class PCA:
    components_: NDArray[np.float64]
    def __init__(self, n_components: int | None = None) -> None: ...
    def fit(self, X: ArrayLike) -> Self: ...
