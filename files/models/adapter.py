"""Adapters and other wrappers of a language model; low-rank adapters as ``peft`` writes them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Attributes in which torch.compile, DataParallel and the like keep the model that they wrap
WRAPPED = ("_orig_mod", "module")


@contextmanager
def require_peft() -> Iterator[None]:
    """Raise ``InputError`` with the remedy where ``peft`` is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"adapters need {error.name}: run pip install '.[adapters]' in the clone of biasbridge"
        ) from error


def merge_adapter(model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    """Return the model with the adapters of a folder added to its weights, without dropout."""
    with require_peft():
        from peft import PeftModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of its use of transformers
        adapted: Any = PeftModel.from_pretrained(model, str(folder))
        merged: PreTrainedModel = adapted.merge_and_unload().eval()
    return merged


def unwrap(model: Any) -> PreTrainedModel:
    """Return the model of transformers inside compiled, parallel and ``peft`` models, adapters
    included. Raises ``InputError`` for a prompt that is learned, and for another kind of model.
    """
    from transformers import PreTrainedModel

    network = model
    while not isinstance(network, PreTrainedModel):
        inner = next(filter(None, (getattr(network, name, None) for name in WRAPPED)), None)
        if hasattr(network, "get_base_model"):
            if getattr(network.active_peft_config, "is_prompt_learning", False):
                kind = type(network.active_peft_config).__name__
                raise InputError(f"{kind} puts learned tokens before each text: cannot be measured")
            inner = network.get_base_model()
        if inner is None:
            kind = type(network).__name__
            raise InputError(f"model={kind}: give a model of transformers, with its tokenizer")
        network = inner
    return network
