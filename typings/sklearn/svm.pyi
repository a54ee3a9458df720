from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import Classifier

class SVC(Classifier):
    def __init__(
        self,
        *,
        C: float = 1.0,
        gamma: float | Literal["scale"] = "scale",
        kernel: Literal["rbf", "linear"] = "rbf",
        class_weight: Literal["balanced"] | None = None,
    ) -> None: ...
    @property
    def coef_(self) -> NDArray[np.float64]: ...
