"""Which processor a point's model runs on, and on how many threads."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from files import InputError

DRIVERS = ("libcuda.so.1", "nvcuda.dll")
THREADS = "OMP_NUM_THREADS"  # what torch reads when it is imported


def pick_device(device: str, number: int) -> str:
    """The device of job ``number``: for ``auto`` the visible GPUs in turn, or the CPU where there
    is none; others as they are named.

    Raises ``InputError`` for a device that is not there.
    """
    if device == "cpu":
        return device
    named = re.fullmatch(r"cuda(?::(\d+))?", device)
    if device != "auto" and not named:
        raise InputError(f"device={device!r}: give auto, cpu, cuda or cuda:NUMBER")
    if not named and not has_gpu_driver():
        return "cpu"
    import torch  # slow to import, and the CPU does without

    visible = torch.cuda.device_count()
    if not named:
        return f"cuda:{number % visible}" if visible else "cpu"
    if int(named[1] or 0) >= visible:
        raise InputError(
            f"device={device}: {visible} GPUs are visible here; give auto, cpu or a number below"
            " that"
        )
    return device


def has_gpu_driver() -> bool:
    """Whether the system has a driver without which torch sees no GPU."""
    for name in DRIVERS:
        with suppress(OSError):
            ctypes.CDLL(name)
            return True
    return Path("/dev/kfd").exists()  # AMD


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for torch: a small network gains little from more, and sums in another order
    change the last digits of a result. Torch that is first imported within keeps to one.
    """
    if "torch" not in sys.modules:  # takes seconds, and many classifiers do without
        before = os.environ.get(THREADS)
        os.environ[THREADS] = "1"
        try:
            yield
        finally:
            os.environ.pop(THREADS)
            os.environ |= {THREADS: before} if before else {}
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
