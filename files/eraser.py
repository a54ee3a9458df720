"""A fitted eraser: what it takes from vectors or hidden states, by any dose, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from files.errors import InputError

Floats = NDArray[np.float64]
F = TypeVar("F", np.float32, np.float64)

ERASER = "eraser.safetensors"  # in the folder of a language model
MOST_NORM = 100.0  # beyond it directions that hardly vary are blown up until they drown the others
ROWS = 16_384  # in memory at a time
TENSORS = ("left", "right", "mean", "shift")


@dataclass(frozen=True)
class Eraser:
    """An affine map f of vectors and the dose by which it is applied,

        f(x) = x - (x - mean) left right - shift,    x -> x - dose (x - f(x)),    dose in [-1, 1]

    Shapes: left (dim, k), right (k, dim), mean and shift (dim,). ``layer``: of the hidden states of
    a model, 0 the embeddings, -1 the last. ``fitted``: how, in words.

    Raises ``InputError`` where f stretches a vector more than ``MOST_NORM`` times.
    """

    left: Floats
    right: Floats
    mean: Floats
    shift: Floats
    layer: int = -1
    dose: float = 1.0
    fitted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.norm <= MOST_NORM:
            raise InputError(
                f"the eraser stretches vectors up to {self.norm:.3g} times, at most {MOST_NORM:g}"
                " is taken; fit it on more words or texts"
            )

    @classmethod
    def removing(cls, directions: Floats, mean: Floats | None = None) -> Eraser:
        """The orthogonal projection along ``directions``, orthonormal rows (k, dim)."""
        none = np.zeros(directions.shape[1])
        return cls(directions.T, directions, none if mean is None else mean, none)

    @property
    def dim(self) -> int:
        """Of the vectors."""
        return len(self.mean)

    @property
    def norm(self) -> float:
        """The operator norm of f: how much longer it can make the difference of two vectors."""
        matrix = np.eye(self.dim) - self.left @ self.right
        return float(np.linalg.norm(matrix, 2)) if np.isfinite(matrix).all() else np.inf

    @property
    def rank(self) -> int:
        """How many dimensions f changes."""
        return int(np.linalg.matrix_rank(self.left @ self.right))

    def at(self, dose: float) -> Eraser:
        """The same by another dose."""
        return replace(self, dose=dose)

    def apply(self, rows: NDArray[F]) -> NDArray[F]:
        """The rows (n, dim) after the dose, in their own precision; dose 0 changes no bit."""
        changed = np.array(rows)
        for start in range(0, len(changed) if self.dose else 0, ROWS):
            block = changed[start : start + ROWS].astype(np.float64)
            block -= self.dose * (((block - self.mean) @ self.left) @ self.right + self.shift)
            changed[start : start + ROWS] = block
        return changed

    def save(self, path: Path) -> None:
        """Write ``path``, a safetensors file with layer, dose and how it was fitted in its head."""
        from safetensors.numpy import save_file

        about = {"layer": self.layer, "dose": self.dose, "fitted": dict(self.fitted)}
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in TENSORS}
        save_file(tensors, path, metadata={"eraser": json.dumps(about)})

    @classmethod
    def load(cls, path: Path) -> Eraser:
        """What ``save`` wrote. Raises ``InputError`` for a file that is damaged, or another."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="np") as file:
                about: Any = json.loads((file.metadata() or {})["eraser"])
                left, right, mean, shift = (
                    file.get_tensor(name).astype(np.float64) for name in TENSORS
                )
            layer, dose, fitted = int(about["layer"]), float(about["dose"]), dict(about["fitted"])
            _check(left, right, mean, shift, dose)
        except (SafetensorError, OSError, LookupError, ValueError, TypeError) as error:
            remedy = "take one that biasbridge debias wrote"
            raise InputError(f"{path} is no eraser ({error}); {remedy}") from error
        return cls(left, right, mean, shift, layer, dose, fitted)


def _check(left: Floats, right: Floats, mean: Floats, shift: Floats, dose: float) -> None:
    dim, k = left.shape
    if right.shape != (k, dim) or mean.shape != (dim,) or shift.shape != (dim,):
        raise ValueError("its matrices do not fit together")
    if not -1 <= dose <= 1:
        raise ValueError(f"dose {dose:g} is outside [-1, 1]")
