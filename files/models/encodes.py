"""The protocol of encoders of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Encodes(Protocol):
    """An encoder of texts, such as ``biasbridge.files.models.encoder.Encoder``."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Compute one vector per text, (n_texts, dim), not of unit length."""

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens, none of them the unknown token."""
