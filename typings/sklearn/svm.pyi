from typing import Literal

from sklearn.base import Classifier

class SVC(Classifier):
    def __init__(
        self,
        *,
        C: float = 1.0,
        gamma: float | Literal["scale"] = "scale",
        class_weight: Literal["balanced"] | None = None,
    ) -> None: ...
