"""A language model whose hidden states pass through an eraser while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from files.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel

    from files.eraser import Eraser

ERASED = "passes_through_eraser"  # of a model, as long as it does


def hook_eraser(base: PreTrainedModel, eraser: Eraser) -> Callable[[], None]:
    """Let the hidden states of the eraser's layer pass through it, for all layers after it too;
    what is returned undoes it.

    ``base``: the model without its head. Raises ``InputError`` for another dimension or a layer
    that the model has not, and where the states do not come out as the eraser says.
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
        torch.tensor(each, dtype=weights.dtype, device=weights.device)
        for each in (eraser.left, eraser.right, eraser.mean, eraser.shift)
    )

    def erase(states: torch.Tensor) -> torch.Tensor:
        to = states.device  # a copy of the model may have gone elsewhere since
        changed = (states - mean.to(to)) @ left.to(to) @ right.to(to) + shift.to(to)
        return states - eraser.dose * changed

    before = _states(base, layer)
    if layer == layers:
        hook = base.register_forward_hook(lambda _, __, out: _last_erased(out, erase))
    elif layer:  # before what the library itself hooks, which collects the states
        hook = blocks(base)[layer - 1].register_forward_hook(
            lambda _, __, out: _first_erased(out, erase), prepend=True
        )
    else:
        first = blocks(base)[0]
        hook = first.register_forward_pre_hook(lambda _, given: _first_erased(given, erase))
    after = _states(base, layer)
    if not torch.allclose(after, erase(before), atol=1e-4) or torch.equal(before, after):
        hook.remove()
        raise InputError(
            f"{type(base).__name__} does not let layer {eraser.layer} be erased: its states do not"
            " change as they should; take another layer, such as -1"
        )
    setattr(base, ERASED, True)

    def undo() -> None:
        hook.remove()
        delattr(base, ERASED)

    return undo


def blocks(base: PreTrainedModel) -> nn.ModuleList:
    """The layers of a model, in their order. Raises ``InputError`` where they are not a list."""
    from torch import nn

    size = base.config.num_hidden_layers
    lists = [each for each in base.modules() if isinstance(each, nn.ModuleList)]
    found = [each for each in lists if len(each) == size]
    if not found:
        raise InputError(f"{type(base).__name__} has no list of layers; erase the last one, -1")
    return found[0]


def _states(base: PreTrainedModel, layer: int) -> torch.Tensor:
    """The hidden states of a layer for a few tokens, (1, tokens, dim)."""
    import torch

    tokens = torch.arange(4, device=next(base.parameters()).device)[None]
    with torch.inference_mode():
        given = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        found: torch.Tensor = base(**given, output_hidden_states=True).hidden_states[layer]
    return found


def _first_erased(out: Any, erase: Any) -> Any:
    """What a layer takes or gives, with its states erased: they are alone, or come first."""
    return (erase(out[0]), *out[1:]) if isinstance(out, tuple) else erase(out)


def _last_erased(out: Any, erase: Any) -> Any:
    """What a model gives, with its last states erased."""
    out.last_hidden_state = erase(out.last_hidden_state)
    if out.hidden_states is not None:
        out.hidden_states = (*out.hidden_states[:-1], out.last_hidden_state)
    return out
