"""Low-rank adapters of a language model, as ``peft`` writes them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


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
