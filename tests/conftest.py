"""Fixtures every room may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data named by BIASBRIDGE_DATA; the test is skipped where there is none."""
    folder = os.environ.get("BIASBRIDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BIASBRIDGE_DATA names no folder of real data")
    return Path(folder).resolve()
