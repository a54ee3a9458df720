"""The pool of processes of this machine."""

from __future__ import annotations

import subprocess
import sys

SWEEP = """
import os
from joblib.externals.loky.backend import resource_tracker
from biasbridge.train.cli.local_engine import start_trackers
start_trackers()
resource_tracker.register("/loky-1-never-made", "semlock")
os._exit(130)
"""


def test_a_semaphore_left_behind_prints_nothing_after_the_last_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWEEP], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")
