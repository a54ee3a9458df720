"""What a folder of sentence-transformers does with the states of its model, by ``modules.json``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    from biasbridge.files.places import Place

_MODE = re.compile("^pooling_mode_|_tokens?$")
# Vector of the states (tokens, dim) of a text, in the order in which several are joined
_POOLINGS: Mapping[str, Callable[[Any], Any]] = {
    "cls": lambda x: x[0],
    "max": lambda x: x.max(dim=0).values,
    "mean": lambda x: x.mean(dim=0),
    "mean_sqrt_len": lambda x: x.sum(dim=0) / len(x) ** 0.5,
    "weightedmean": lambda x: x.new_tensor(range(1, len(x) + 1)) @ x * 2 / len(x) / (len(x) + 1),
    "lasttoken": lambda x: x[-1],
}


class SentenceModules(NamedTuple):
    """The text that is encoded for a text, the longest one in tokens (0: as the model), and
    functions of the states of its tokens, pooling first.
    """

    text: Callable[[str], str]
    longest: int
    steps: list[Callable[[Any], Any]]


def read_modules(place: Place, read: Callable[[Place, str], Any]) -> SentenceModules | None:
    """Read the modules of a model; ``read`` returns the content of a file beside it. None without
    modules. Raises ``InputError`` for a module that is not computed here.
    """
    if not (modules := read(place, "modules.json")):
        return None
    steps: list[Callable[[Any], Any]] = []
    settings = read(place, "config_sentence_transformers.json") or {}
    limits = read(place, "sentence_bert_config.json") or {}
    prompt = (settings.get("prompts") or {}).get(settings.get("default_prompt_name")) or ""
    for module in modules:
        kind, folder = module["type"].rpartition(".")[2], module["path"]
        if folder == "eraser":  # of biasbridge, hooked to the states here
            continue
        config = (read(place, f"{folder}/config.json") if folder else None) or {}
        if kind == "Pooling" and (config.get("include_prompt", True) or not prompt):
            steps.append(_pooling(config))
        elif kind == "Dense" and (weights := read(place, f"{folder}/model.safetensors")):
            steps.append(_dense(config, weights))
        elif kind == "Normalize":
            steps.append(lambda x: x / x.norm().clamp_min(1e-12))
        elif kind not in ("Transformer", "Dropout") or (kind == "Transformer" and folder):
            problem = f"{place.source}: modules.json asks for {kind} in {folder!r}"
            raise InputError(f"{problem}, which is not computed here; give pooling=mean")
    lower = str.lower if limits.get("do_lower_case") else str
    return SentenceModules(lambda x: prompt + lower(x), limits.get("max_seq_length") or 0, steps)


def _pooling(config: Mapping[str, Any]) -> Callable[[Any], Any]:
    import torch

    named = config.get("pooling_mode") or [key for key, on in config.items() if on is True]
    names = {_MODE.sub("", mode) for mode in ([named] if isinstance(named, str) else named)}
    chosen = [pool for name, pool in _POOLINGS.items() if name in names]
    return lambda x: torch.cat([pool(x) for pool in chosen])


def _dense(config: Mapping[str, Any], path: str) -> Callable[[Any], Any]:
    import torch
    from safetensors.torch import load_file

    tensors = load_file(path)
    activation = getattr(torch.nn, config["activation_function"].rpartition(".")[2])()
    weight = tensors["linear.weight"]
    bias = tensors.get("linear.bias", torch.zeros(len(weight)))
    return lambda x: activation(torch.nn.functional.linear(x, weight.to(x), bias.to(x)))
