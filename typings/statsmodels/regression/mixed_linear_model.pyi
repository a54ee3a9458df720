import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

class MixedLMResults:
    params: pd.Series[float]
    bse: pd.Series[float]
    pvalues: pd.Series[float]
    cov_re: pd.DataFrame
    scale: float
    converged: bool

class MixedLM:
    def __init__(self, endog: ArrayLike, exog: NDArray[np.float64], groups: ArrayLike) -> None: ...
    def fit(self, *, reml: bool = True) -> MixedLMResults: ...
