"""A sweep that nobody disturbs, to compare the others with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.reliability.sweeps import SWEEP


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep of four points, run one after the other in this process."""
    from biasbridge.train.cli.start import main

    folder = tmp_path_factory.mktemp("quiet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])  # which the folder of toys is added to
        patch.delenv("BIASBRIDGE_DATA", raising=False)
        patch.setattr(sys, "argv", ["train.py", *SWEEP, "seed=0", "hydra/launcher=basic"])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 0
    return folder
