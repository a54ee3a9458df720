"""A hook that passes the hidden states of a language model through the eraser beside this file.

Biasbridge writes a copy into the folder of a debiased model. It needs torch, transformers and
safetensors, not Biasbridge. With the folder on Python's path::

    from eraser_hook import hook_eraser
    model = hook_eraser(AutoModel.from_pretrained(FOLDER))
"""

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open

_FILE = Path(__file__).with_name("eraser.safetensors")


def hook_eraser(model: Any, file: Path = _FILE) -> Any:
    """Hook the eraser of a file to a model of transformers, and return the model."""
    with safe_open(file, framework="pt") as opened:
        header = json.loads(opened.metadata()["eraser"])
        left, right, mean, shift = map(opened.get_tensor, ("left", "right", "mean", "shift"))
    erase = eraser_of(left, right, mean, shift, header["dose"])
    hook_states(base_of(model), header["layer"], erase)
    return model


def base_of(model: Any) -> Any:
    """Return what a head reads: the model without it; of an encoder-decoder the encoder; of a model
    of texts and pictures, and of the decoder of such a pair, the module inside that reads texts.
    """
    base = getattr(model, "base_model", model)
    if base.config.is_encoder_decoder:
        return base.get_encoder()
    names = ("language_model", "text_model", "decoder", "model")
    inner = next(filter(None, (getattr(base, name, None) for name in names)), None)
    return inner if hasattr(inner, "get_input_embeddings") else base


def eraser_of(left: Any, right: Any, mean: Any, shift: Any, dose: float) -> Any:
    """Return the function of states x -> x - dose ((x - mean) left right + shift)."""

    def erase(x: Any) -> Any:
        a, b, m, s = (tensor.to(x.device, x.dtype) for tensor in (left, right, mean, shift))
        return x - dose * ((x - m) @ a @ b + s)

    return erase


def hook_states(base: Any, layer: int, erase: Any) -> Any:
    """Hook a function to the hidden states of a layer: 0 the embeddings, -1 the last."""
    layer, blocks = layer % (base.config.num_hidden_layers + 1), blocks_of(base)
    if layer == base.config.num_hidden_layers:
        return base.register_forward_hook(lambda _, __, out: _erase_last(out, erase))
    if layer:  # before the library's own hooks, which collect the states
        after = blocks[layer - 1].register_forward_hook
        return after(lambda _, __, out: _erase_first(out, erase), prepend=True)
    return blocks[0].register_forward_pre_hook(lambda _, inputs: _erase_first(inputs, erase))


def states_of(out: Any, layer: int, layers: int) -> Any:
    """Return the states of a layer; after the last one a normalisation may follow (CLIP)."""
    return out.last_hidden_state if layer in (-1, layers) else out.hidden_states[layer]


def blocks_of(base: Any) -> Any:
    """Return the layers of a model in order; ``None`` if they are not a list."""
    lists = [module for module in base.modules() if type(module).__name__ == "ModuleList"]
    return next((xs for xs in lists if len(xs) == base.config.num_hidden_layers), None)


def _erase_first(states: Any, erase: Any) -> Any:
    """Erase the input or output of a layer, where states are alone or come first."""
    return (erase(states[0]), *states[1:]) if isinstance(states, tuple) else erase(states)


def _erase_last(out: Any, erase: Any) -> Any:
    out.last_hidden_state = erase(out.last_hidden_state)
    if out.hidden_states is not None:
        out.hidden_states = (*out.hidden_states[:-1], out.last_hidden_state)
    return out
