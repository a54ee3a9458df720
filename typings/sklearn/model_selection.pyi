import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import Classifier

class LeaveOneOut: ...

def cross_val_score(
    estimator: Classifier, X: ArrayLike, y: ArrayLike, *, cv: LeaveOneOut | int | None = None
) -> NDArray[np.float64]: ...
