from collections.abc import Callable

import numpy as np
import pandas as pd

class MetricFrame:
    by_group: pd.Series[float]
    overall: float
    def __init__(
        self,
        *,
        metrics: Callable[[np.ndarray, np.ndarray], float],
        y_true: pd.Series,
        y_pred: pd.Series,
        sensitive_features: pd.Series,
    ) -> None: ...
