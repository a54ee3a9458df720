"""A fitted eraser with a dose: its file, and its use on vectors and in a running language model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from biasbridge.stats.arrays import Floats

F = TypeVar("F", np.float32, np.float64)
ERASER = "eraser.safetensors"  # in the folder of a language model
MERGED = "merged_eraser.safetensors"  # in that of a model whose weights contain it
MAX_NORM = 100.0  # above it directions of little variance are stretched over all others
ROWS = 16_384  # in memory at a time
_TENSORS = ("left", "right", "mean", "shift")
_ERASED = "passes_through_eraser"  # attribute of a hooked model


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return "\n".join(self.facts()[:3])

    def facts(self) -> list[str]:
        """Return how it was fitted, its norm and rank, and what else the fit says."""
        fitted = dict(self.fitted)
        return [
            f"{fitted.pop('method', 'eraser')} fitted on {fitted.pop('on', 'nothing')}",
            f"largest stretch of a vector (operator norm) {self.norm:.3f}",
            f"dimensions changed (rank) {self.rank}",
            *(f"{name}: {value}" for name, value in fitted.items()),
        ]

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

    def on_states(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the dose as a function of hidden states, in their precision."""
        import torch

        from biasbridge.files.eraser_hook import eraser_of

        left, right, mean, shift = (torch.tensor(getattr(self, name)) for name in _TENSORS)
        erase: Callable[[torch.Tensor], torch.Tensor]
        erase = eraser_of(left, right, mean, shift, self.dose)
        return erase

    def save(self, path: Path) -> None:
        """Write a safetensors file with layer, dose and description in its header."""
        from safetensors.numpy import save

        header = {"layer": self.layer, "dose": self.dose, "fitted": dict(self.fitted)}
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in _TENSORS}
        # Not by save_file, whose files only their owner may read
        path.write_bytes(save(tensors, metadata={"eraser": json.dumps(header)}))

    @classmethod
    def load(cls, path: Path) -> Eraser:
        """Read what ``save`` wrote. Raises ``InputError`` for a damaged or different file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="np") as file:
                header: Any = json.loads((file.metadata() or {})["eraser"])
                left, right, mean, shift = (
                    file.get_tensor(name).astype(np.float64) for name in _TENSORS
                )
            layer, dose = int(header["layer"]), float(header["dose"])
            fitted = dict(header["fitted"])
            dim, k = left.shape
            if right.shape != (k, dim) or mean.shape != (dim,) or shift.shape != (dim,):
                raise ValueError("its matrices do not fit together")
            if not -1 <= dose <= 1:
                raise ValueError(f"dose {dose:g} is outside [-1, 1]")
        except (SafetensorError, OSError, LookupError, ValueError, TypeError) as error:
            remedy = "give one that biasbridge debias wrote"
            raise InputError(f"{path} is not an eraser ({error}); {remedy}") from error
        return cls(left, right, mean, shift, layer, dose, fitted)


def hook_eraser(base: PreTrainedModel, eraser: Eraser) -> Callable[[], None]:
    """Hook an eraser to the hidden states of its layer, which all later layers use; return the
    function that removes it.

    ``base``: the model without its head. Raises ``InputError`` for another dimension or a missing
    layer, and if the resulting states differ from the eraser's.
    """
    import torch

    from biasbridge.files.eraser_hook import blocks_of, hook_states

    dim, layers = int(base.config.hidden_size), int(base.config.num_hidden_layers)
    if eraser.dim != dim:
        raise InputError(f"the eraser has {eraser.dim} dimensions, the model {dim}; fit it on this")
    if not -layers <= eraser.layer + 1 <= layers + 1:
        raise InputError(f"the eraser is for layer {eraser.layer}, and the model has {layers}")
    if getattr(base, _ERASED, False):
        raise InputError("the model has an eraser already; give it as it was before")
    if not eraser.dose:
        return lambda: None
    layer = eraser.layer % (layers + 1)
    if layer < layers and blocks_of(base) is None:
        raise InputError(f"{type(base).__name__} has no list of layers; erase the last one, -1")
    erase = eraser.on_states()
    before = _states(base, layer)
    hook = hook_states(base, layer, erase)
    after = _states(base, layer)
    if not torch.allclose(after, erase(before), atol=1e-4) or torch.equal(before, after):
        hook.remove()
        raise InputError(
            f"{type(base).__name__} does not let layer {eraser.layer} be erased: its states do not"
            " change as the eraser demands; choose another layer, such as -1"
        )
    setattr(base, _ERASED, True)

    def undo() -> None:
        hook.remove()
        delattr(base, _ERASED)

    return undo


def merge_eraser(model: PreTrainedModel, eraser: Eraser) -> PreTrainedModel | None:
    """Return a copy of a model whose embeddings contain the eraser of layer 0; ``None`` where
    weights cannot contain it.

    In GPT-2, Llama and the like layer 0 is the row of a token, or a sum with that of a position.
    Every other layer, and BERT's layer 0, follows a normalisation or a residual sum, of which no
    weight is a matrix. The copy shares its other weights with the model.
    """
    import torch
    from torch.nn import Embedding, Parameter

    from biasbridge.files.eraser_hook import base_of

    base = base_of(model)
    layers = int(base.config.num_hidden_layers)
    if eraser.layer % (layers + 1) or model.config.is_encoder_decoder or not eraser.dose:
        return None
    merged = deepcopy(model, {id(tensor): tensor for tensor in model.parameters()})
    zero = np.zeros(eraser.dim)
    without_constant = replace(eraser, mean=zero, shift=zero)  # it is added once
    for table in base_of(merged).children():
        if isinstance(table, Embedding) and table.embedding_dim == eraser.dim:
            part = eraser if table is merged.get_input_embeddings() else without_constant
            rows = torch.tensor(part.apply(table.weight.detach().double().cpu().numpy()))
            table.weight = Parameter(rows.to(table.weight), requires_grad=False)
    config: Any = merged.config
    config.tie_word_embeddings = False  # the head keeps the rows as they were
    undo = hook_eraser(base, eraser)
    wanted = [_states(base, layer) for layer in (0, layers)]
    undo()
    merged_states = [_states(base_of(merged), layer) for layer in (0, layers)]
    is_equal = map(partial(torch.allclose, rtol=1e-4, atol=1e-4), merged_states, wanted)
    return merged if all(is_equal) else None


def _states(base: PreTrainedModel, layer: int) -> torch.Tensor:
    """Compute the hidden states of a layer for a few tokens, (1, tokens, dim)."""
    import torch

    from biasbridge.files.eraser_hook import states_of

    tokens = torch.arange(4, device=next(base.parameters()).device)[None]
    with torch.inference_mode():
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        out: Any = base(**inputs, output_hidden_states=True)
        states: torch.Tensor = states_of(out, layer, base.config.num_hidden_layers)
    return states
