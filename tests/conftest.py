"""Fixtures every room may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LONGEST = (
    *(
        "test_faults_points",
        "test_crash",
        "test_engines",
        "test_leftovers",
        "test_locks_and_leases",
    ),
    *("test_readme", "test_front", "test_wheel", "test_stale", "test_addition", "test_fuzz"),
    *("test_world", "test_coreference_world", "test_transformer_world"),
)


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data named by BIASBRIDGE_DATA; the test is skipped where there is none."""
    folder = os.environ.get("BIASBRIDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BIASBRIDGE_DATA names no folder of real data")
    return Path(folder).resolve()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest first, so that two test processes end together."""
    items.sort(key=lambda item: not any(name in str(item.path) for name in LONGEST))
