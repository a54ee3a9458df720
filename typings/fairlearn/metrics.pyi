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
    def difference(self) -> float: ...
    def ratio(self) -> float: ...

def demographic_parity_difference(
    *, y_true: pd.Series, y_pred: pd.Series, sensitive_features: pd.Series
) -> float: ...
def demographic_parity_ratio(
    *, y_true: pd.Series, y_pred: pd.Series, sensitive_features: pd.Series
) -> float: ...
def equalized_odds_difference(
    *, y_true: pd.Series, y_pred: pd.Series, sensitive_features: pd.Series
) -> float: ...
def equalized_odds_ratio(
    *, y_true: pd.Series, y_pred: pd.Series, sensitive_features: pd.Series
) -> float: ...
def selection_rate(y_true: np.ndarray, y_pred: np.ndarray) -> float: ...
