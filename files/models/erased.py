"""A language model whose hidden states pass through an eraser while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel

    from biasbridge.files.eraser import Eraser

ERASED = "passes_through_eraser"  # attribute of a hooked model


def hook_eraser(base: PreTrainedModel, eraser: Eraser) -> Callable[[], None]:
    """Hook an eraser to the hidden states of its layer, which all later layers use; return the
    function that removes it.

    ``base``: the model without its head. Raises ``InputError`` for another dimension or a missing
    layer, and if the resulting states differ from the eraser's.
    """
    import torch

    dim, layers = int(base.config.hidden_size), int(base.config.num_hidden_layers)
    if eraser.dim != dim:
        raise InputError(f"the eraser has {eraser.dim} dimensions, the model {dim}; fit it on this")
    if not -layers <= eraser.layer + 1 <= layers + 1:
        raise InputError(f"the eraser is for layer {eraser.layer}, and the model has {layers}")
    if getattr(base, ERASED, False):
        raise InputError("the model has an eraser already; give it as it was before")
    if not eraser.dose:
        return lambda: None
    layer = eraser.layer % (layers + 1)
    weights = next(base.parameters())
    left, right, mean, shift = (
        torch.tensor(matrix, dtype=weights.dtype, device=weights.device)
        for matrix in (eraser.left, eraser.right, eraser.mean, eraser.shift)
    )

    def erase(states: torch.Tensor) -> torch.Tensor:
        device = states.device  # a copy of the model may be on another one
        projected = (states - mean.to(device)) @ left.to(device) @ right.to(device)
        return states - eraser.dose * (projected + shift.to(device))

    before = _states(base, layer)
    if layer == layers:
        hook = base.register_forward_hook(lambda _, __, out: _last_erased(out, erase))
    elif layer:  # before the library's own hooks, which collect the states
        hook = blocks(base)[layer - 1].register_forward_hook(
            lambda _, __, out: _first_erased(out, erase), prepend=True
        )
    else:
        first = blocks(base)[0]
        hook = first.register_forward_pre_hook(lambda _, inputs: _first_erased(inputs, erase))
    after = _states(base, layer)
    if not torch.allclose(after, erase(before), atol=1e-4) or torch.equal(before, after):
        hook.remove()
        raise InputError(
            f"{type(base).__name__} does not let layer {eraser.layer} be erased: its states do not"
            " change as the eraser demands; choose another layer, such as -1"
        )
    setattr(base, ERASED, True)

    def undo() -> None:
        hook.remove()
        delattr(base, ERASED)

    return undo


def blocks(base: PreTrainedModel) -> nn.ModuleList:
    """Return the layers of a model in order. Raises ``InputError`` if they are no list."""
    from torch import nn

    size = base.config.num_hidden_layers
    lists = [module for module in base.modules() if isinstance(module, nn.ModuleList)]
    layer_lists = [layers for layers in lists if len(layers) == size]
    if not layer_lists:
        raise InputError(f"{type(base).__name__} has no list of layers; erase the last one, -1")
    return layer_lists[0]


def _states(base: PreTrainedModel, layer: int) -> torch.Tensor:
    """Compute the hidden states of a layer for a few tokens, (1, tokens, dim)."""
    import torch

    tokens = torch.arange(4, device=next(base.parameters()).device)[None]
    with torch.inference_mode():
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        states: torch.Tensor = base(**inputs, output_hidden_states=True).hidden_states[layer]
    return states


def _first_erased(out: Any, erase: Any) -> Any:
    """Erase the states in the input or output of a layer, where they are alone or come first."""
    return (erase(out[0]), *out[1:]) if isinstance(out, tuple) else erase(out)


def _last_erased(out: Any, erase: Any) -> Any:
    out.last_hidden_state = erase(out.last_hidden_state)
    if out.hidden_states is not None:
        out.hidden_states = (*out.hidden_states[:-1], out.last_hidden_state)
    return out
