"""A process that outlives a sweep by a moment and ends what it left on this machine.

An engine's workers may wait for minutes for a parent that was killed before they ask whether it
lives. They are known by the lease of the sweep in their environment, which a process that gives
itself a title, as Ray's do, writes over unless a variable of that environment forbids it.
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

PROC = Path("/proc")
_guards: list[subprocess.Popen[bytes]] = []
KEEP = "SPT_NOENV"  # what the libraries that set titles ask before they write over the environment
LOOKS, BETWEEN, LONGEST = 3, 0.1, 10.0  # looks in a row that find nobody; seconds; seconds


@contextmanager
def guarded(mark: str) -> Iterator[None]:
    """If this process ends in the block, or by an exception from it, end every process of this
    machine that has ``mark``, as NAME=VALUE, in the environment that it was started with.

    Without a mark, or where there is no ``/proc``, nobody is ended.
    """
    if not (mark and (PROC / "self" / "environ").exists()):
        yield
        return
    name = mark.partition("=")[0]
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, mark],
        stdin=subprocess.PIPE,  # its end is that of this process
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if key != name},
        start_new_session=True,  # out of reach of what ends the whole group
    )
    _guards.append(guard)
    before = os.environ.get(KEEP)
    os.environ[KEEP] = "1"
    yield  # after an exception it stays until this process has ended
    os.environ.pop(KEEP)
    os.environ |= {KEEP: before} if before else {}
    _guards.remove(guard)
    with guard:
        guard.kill()


def end_marked(mark: bytes) -> None:
    """End processes with the mark, and what they started, until several looks in a row find
    none.
    """
    end, quiet = time.monotonic() + LONGEST, 0
    while quiet < LOOKS and time.monotonic() < end:
        ended = [_end(descriptor) for descriptor in _found(mark)]
        quiet = 0 if any(ended) else quiet + 1
        time.sleep(BETWEEN)


def _found(mark: bytes) -> list[int]:
    """Processes with the mark and what they started, be it without the mark: a descriptor each, so
    that no later process of the same number is ended.
    """
    found, parents, opened = set(), {}, {}
    for process in (int(each.name) for each in PROC.iterdir() if each.name.isdigit()):
        with suppress(OSError):
            opened[process] = os.pidfd_open(process)
            stat = (PROC / str(process) / "stat").read_bytes()
            state, parent = stat.rpartition(b")")[2].split()[:2]
            if state != b"Z":
                parents[process] = int(parent)
            if mark in (PROC / str(process) / "environ").read_bytes().split(b"\0"):
                found.add(process)
    while started := {each for each, parent in parents.items() if parent in found} - found:
        found |= started
    for process in opened.keys() - (found - {os.getpid()}):
        os.close(opened.pop(process))
    return list(opened.values())


def _end(descriptor: int) -> bool:
    """Whether the process was there to be ended."""
    try:
        with suppress(OSError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return True
    finally:
        os.close(descriptor)
    return False


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end_marked(os.fsencode(sys.argv[1]))
