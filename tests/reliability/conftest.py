"""A sweep that nobody disturbs, to compare the others with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.sweeps import finish, start


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep of eight points, run one after the other by the serial engine."""
    folder = tmp_path_factory.mktemp("quiet")
    finish(start(folder, "seed=0,1", "hydra/launcher=basic"))
    return folder
