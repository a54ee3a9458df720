"""A fitted eraser of vectors or hidden states, with a dose, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

F = TypeVar("F", np.float32, np.float64)

ERASER = "eraser.safetensors"  # in the folder of a language model
MAX_NORM = 100.0  # above it directions of little variance are stretched over all others
ROWS = 16_384  # in memory at a time
TENSORS = ("left", "right", "mean", "shift")


@dataclass(frozen=True)
class Eraser:
    """An affine map f of vectors and the dose by which it is applied,

        f(x) = x - (x - mean) left right - shift,    x -> x - dose (x - f(x)),    dose in [-1, 1]

    Shapes: left (dim, k), right (k, dim), mean and shift (dim,). ``layer``: of the hidden states of
    a model, 0 the embeddings, -1 the last. ``fitted``: a description of the fit.

    Raises ``InputError`` if f stretches a vector more than ``MAX_NORM`` times.
    """

    left: Floats
    right: Floats
    mean: Floats
    shift: Floats
    layer: int = -1
    dose: float = 1.0
    fitted: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.norm <= MAX_NORM:
            raise InputError(
                f"the eraser stretches vectors up to {self.norm:.3g} times, allowed are"
                f" {MAX_NORM:g}; fit it on more words or texts"
            )

    @classmethod
    def removing(cls, directions: Floats, mean: Floats | None = None) -> Eraser:
        """Build the orthogonal projection along ``directions``, orthonormal rows (k, dim)."""
        zero = np.zeros(directions.shape[1])
        return cls(directions.T, directions, zero if mean is None else mean, zero)

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return len(self.mean)

    @property
    def norm(self) -> float:
        """Operator norm of f: the largest stretch of the difference of two vectors."""
        changed = self._changed()
        if not np.isfinite(changed).all():
            return np.inf
        sizes = np.linalg.svd(np.eye(len(changed)) - changed, compute_uv=False)
        return float(sizes.max(initial=1.0 if len(changed) < self.dim else 0.0))

    @property
    def rank(self) -> int:
        """Number of dimensions that f changes."""
        changed = self._changed()
        return int(np.linalg.matrix_rank(changed)) if changed.size else 0

    def _changed(self) -> Floats:
        """Compute left right in an orthonormal basis of the at most 2 k dimensions it changes."""
        basis = np.linalg.qr(np.hstack([self.left, self.right.T]))[0]
        return np.asarray((basis.T @ self.left) @ (self.right @ basis))

    def at(self, dose: float) -> Eraser:
        """Return the eraser at another dose."""
        return replace(self, dose=dose)

    def apply(self, rows: NDArray[F]) -> NDArray[F]:
        """Apply the dose to rows (n, dim), in their precision; dose 0 changes no bit."""
        changed = np.array(rows)
        for start in range(0, len(changed) if self.dose else 0, ROWS):
            block = changed[start : start + ROWS].astype(np.float64)
            block -= self.dose * (((block - self.mean) @ self.left) @ self.right + self.shift)
            changed[start : start + ROWS] = block
        return changed

    def save(self, path: Path) -> None:
        """Write a safetensors file with layer, dose and description in its header."""
        from safetensors.numpy import save_file

        header = {"layer": self.layer, "dose": self.dose, "fitted": dict(self.fitted)}
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in TENSORS}
        save_file(tensors, path, metadata={"eraser": json.dumps(header)})

    @classmethod
    def load(cls, path: Path) -> Eraser:
        """Read what ``save`` wrote. Raises ``InputError`` for a damaged or different file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="np") as file:
                header: Any = json.loads((file.metadata() or {})["eraser"])
                left, right, mean, shift = (
                    file.get_tensor(name).astype(np.float64) for name in TENSORS
                )
            layer, dose = int(header["layer"]), float(header["dose"])
            fitted = dict(header["fitted"])
            _check(left, right, mean, shift, dose)
        except (SafetensorError, OSError, LookupError, ValueError, TypeError) as error:
            remedy = "give one that biasbridge debias wrote"
            raise InputError(f"{path} is no eraser ({error}); {remedy}") from error
        return cls(left, right, mean, shift, layer, dose, fitted)


def _check(left: Floats, right: Floats, mean: Floats, shift: Floats, dose: float) -> None:
    dim, k = left.shape
    if right.shape != (k, dim) or mean.shape != (dim,) or shift.shape != (dim,):
        raise ValueError("its matrices do not fit together")
    if not -1 <= dose <= 1:
        raise ValueError(f"dose {dose:g} is outside [-1, 1]")
