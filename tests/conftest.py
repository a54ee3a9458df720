"""Fixtures every room may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MINUTES = (
    "test_faults_points",
    "test_crash",
    "test_engines",
    "test_readme",
    "test_front",
    "test_world",
    "test_coreference_world",
)


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data named by BIASBRIDGE_DATA; the test is skipped where there is none."""
    folder = os.environ.get("BIASBRIDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BIASBRIDGE_DATA names no folder of real data")
    return Path(folder).resolve()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take minutes first, so that two test processes end together."""
    items.sort(key=lambda item: not any(name in str(item.path) for name in MINUTES))
