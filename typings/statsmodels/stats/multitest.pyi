from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

def multipletests(
    pvals: ArrayLike, alpha: float = 0.05, method: Literal["holm", "fdr_bh"] = ...
) -> tuple[NDArray[np.bool_], NDArray[np.float64], float, float]: ...
