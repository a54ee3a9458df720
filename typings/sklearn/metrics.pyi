from typing import Literal

from numpy.typing import ArrayLike

def cohen_kappa_score(y1: ArrayLike, y2: ArrayLike) -> float: ...
def f1_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    average: Literal["binary", "macro"] = "binary",
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
def precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    average: Literal["binary", "macro"] = "binary",
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
def recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    average: Literal["binary", "macro"] = "binary",
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
def accuracy_score(y_true: ArrayLike, y_pred: ArrayLike) -> float: ...
def roc_auc_score(y_true: ArrayLike, y_score: ArrayLike) -> float: ...
def log_loss(y_true: ArrayLike, y_pred: ArrayLike) -> float: ...
def v_measure_score(labels_true: ArrayLike, labels_pred: ArrayLike) -> float: ...
