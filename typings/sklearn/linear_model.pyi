from typing import Literal

from sklearn.base import Classifier

class LogisticRegression(Classifier):
    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        solver: Literal["lbfgs", "liblinear"] = "lbfgs",
        max_iter: int = 100,
        class_weight: Literal["balanced"] | None = None,
    ) -> None: ...
