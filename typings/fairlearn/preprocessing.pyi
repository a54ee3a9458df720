import numpy as np
import pandas as pd
from numpy.typing import NDArray

class CorrelationRemover:
    def __init__(self, *, sensitive_feature_ids: list[str]) -> None: ...
    def fit_transform(self, X: pd.DataFrame) -> NDArray[np.float64]: ...
