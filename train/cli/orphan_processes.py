"""Guard process that ends processes left by the engine of a killed sweep, such as Ray's.

They are recognised by the sweep's lease in their environment variables.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_READABLE_ENVIRONMENT = {"SPT_NOENV": "1"}  # processes that set a title, as Ray's, keep theirs
N_SCANS, SCAN_INTERVAL = 30, 0.1  # interval in seconds


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """If this process ends within the block or by an exception from it, end related processes.

    These are all processes of this machine with the same value of the environment variable
    ``name``.
    """
    environment = {key: value for key, value in os.environ.items() if key != name}
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, f"{name}={os.environ.get(name)}"],
        stdin=subprocess.PIPE,  # closes when this process ends
        env=environment,
        start_new_session=True,  # not killed with the process group
    )
    os.environ |= _READABLE_ENVIRONMENT
    yield  # after an exception the guard stays until this process ends
    with guard:
        guard.kill()


def _kill_marked(variable: bytes) -> None:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    for _ in range(N_SCANS):
        _kill_marked(os.fsencode(sys.argv[1]))
        time.sleep(SCAN_INTERVAL)
