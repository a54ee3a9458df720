"""What a folder of sentence-transformers does with the states of its model, by ``modules.json``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    import torch

    from biasbridge.files.places import Place

_MODULES = "modules.json"
_MODE = re.compile("^pooling_mode_|_tokens?$")
# Vector of the states (tokens, dim) of a text, in the order in which several are joined
_POOLINGS: Mapping[str, Callable[[Any], Any]] = {
    "cls": lambda states: states[0],
    "max": lambda states: states.max(dim=0).values,
    "mean": lambda states: states.mean(dim=0),
    "mean_sqrt_len": lambda states: states.sum(dim=0) / len(states) ** 0.5,
    "weightedmean": lambda states: _weighted_mean(states),
    "lasttoken": lambda states: states[-1],
}


class SentenceModules(NamedTuple):
    """The modules of a sentence encoder: a prompt before each text, the longest text in tokens (0:
    as the model), lower case, and functions of the states, pooling first.
    """

    prompt: str
    longest: int
    is_lower: bool
    steps: tuple[Callable[[Any], Any], ...]

    def text(self, text: str) -> str:
        """Return a text as it is encoded."""
        return self.prompt + (text.lower() if self.is_lower else text)

    def vector(self, states: torch.Tensor) -> torch.Tensor:
        """Compute the vector of a text from the states of its tokens, (tokens, dim)."""
        states = states.float()
        for step in self.steps:
            states = step(states)
        return states


def read_modules(place: Place, read: Callable[[Place, str], Any]) -> SentenceModules | None:
    """Read the modules of a model; ``read`` returns the content of a file beside it. None without
    modules. Raises ``InputError`` for a module that is not computed here.
    """
    if not (modules := read(place, _MODULES)):
        return None
    steps: list[Callable[[Any], Any]] = []
    settings = read(place, "config_sentence_transformers.json") or {}
    limits = read(place, "sentence_bert_config.json") or {}
    prompt = str((settings.get("prompts") or {}).get(settings.get("default_prompt_name")) or "")
    for module in modules:
        if module["path"] == "eraser":  # of biasbridge, hooked to the states here
            continue
        kind, folder = module["type"].rpartition(".")[2], module["path"]
        config = read(place, f"{folder}/config.json") if folder else None
        if kind == "Pooling" and (config.get("include_prompt", True) or not prompt):
            steps.append(_pooling(config))
        elif kind == "Dense" and (weights := read(place, f"{folder}/model.safetensors")):
            steps.append(_dense(config, weights))
        elif kind == "Normalize":
            steps.append(lambda vector: vector / vector.norm().clamp_min(1e-12))
        elif kind not in ("Transformer", "Dropout") or (kind == "Transformer" and folder):
            problem = f"{place.source}: {_MODULES} asks for {kind} in {folder!r}"
            raise InputError(f"{problem}, which is not computed here; give pooling=mean")
    longest = limits.get("max_seq_length") or 0
    return SentenceModules(prompt, longest, bool(limits.get("do_lower_case")), tuple(steps))


def _pooling(config: Mapping[str, Any]) -> Callable[[Any], Any]:
    import torch

    named = config.get("pooling_mode") or [key for key, on in config.items() if on is True]
    modes = [named] if isinstance(named, str) else named
    names = {_MODE.sub("", str(mode)) for mode in modes}
    chosen = [pool for name, pool in _POOLINGS.items() if name in names]
    return lambda states: torch.cat([pool(states) for pool in chosen])


def _dense(config: Mapping[str, Any], path: str) -> Callable[[Any], Any]:
    import torch
    from safetensors.torch import load_file

    tensors = load_file(path)
    activation = getattr(torch.nn, config["activation_function"].rpartition(".")[2])()
    weight, bias = tensors["linear.weight"], tensors.get("linear.bias")

    def dense(vector: torch.Tensor) -> Any:
        moved = bias if bias is None else bias.to(vector)
        return activation(torch.nn.functional.linear(vector, weight.to(vector), moved))

    return dense


def _weighted_mean(states: torch.Tensor) -> torch.Tensor:
    import torch

    weights = torch.arange(1, len(states) + 1).to(states)
    return weights @ states / weights.sum()
