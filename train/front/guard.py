"""A process that outlives a sweep by a moment and ends what its engine left on this machine: Ray's
own processes live on for minutes after a killed sweep. They are known by the lease of the sweep in
their environment.
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

KEEP = {"SPT_NOENV": "1"}  # has a process that gives itself a title, as Ray's do, keep it readable
LOOKS, BETWEEN = 30, 0.1  # how often it looks for such processes; seconds


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """If this process ends in the block, or by an exception from it, end every process of this
    machine that was started with the environment variable ``name`` as it is here.
    """
    environment = {key: value for key, value in os.environ.items() if key != name}
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, f"{name}={os.environ.get(name)}"],
        stdin=subprocess.PIPE,  # its end is that of this process
        env=environment,
        start_new_session=True,  # out of reach of what ends the whole group
    )
    os.environ |= KEEP
    yield  # after an exception it stays until this process has ended
    with guard:
        guard.kill()


def _end_marked(mark: bytes) -> None:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    for _ in range(LOOKS):
        _end_marked(os.fsencode(sys.argv[1]))
        time.sleep(BETWEEN)
