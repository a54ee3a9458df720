"""Device and number of threads on which a point's model runs."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from biasbridge.files import InputError

_DRIVERS = ("libcuda.so.1", "nvcuda.dll")
_THREADS = "OMP_NUM_THREADS"  # what torch reads when it is imported
_STEP_DEVICE: ContextVar[str] = ContextVar("device", default="cpu")


def pick_device(device: str, number: int) -> str:
    """Return the device of job ``number``; ``auto``: visible GPUs in turn, without any the CPU."""
    if device == "cpu":
        return device
    cuda_device = re.fullmatch(r"cuda(?::(\d+))?", device)
    if device != "auto" and not cuda_device:
        raise InputError(f"device={device!r}: give auto, cpu, cuda or cuda:NUMBER")
    if not cuda_device and not _has_gpu_driver():
        return "cpu"
    import torch  # slow to import, and the CPU does without

    n_visible = torch.cuda.device_count()
    if not cuda_device:
        return f"cuda:{number % n_visible}" if n_visible else "cpu"
    if int(cuda_device[1] or 0) >= n_visible:
        raise InputError(
            f"device={device}: {n_visible} GPUs are visible; give auto, cpu or a number below that"
        )
    return device


def _has_gpu_driver() -> bool:
    """Test whether the system has a GPU driver, which torch needs."""
    for name in _DRIVERS:
        with suppress(OSError):
            ctypes.CDLL(name)
            return True
    return Path("/dev/kfd").exists()  # AMD


@contextmanager
def on_device(device: str) -> Iterator[None]:
    """Run the language models of a step on a device."""
    token = _STEP_DEVICE.set(device)
    try:
        yield
    finally:
        _STEP_DEVICE.reset(token)


def step_device() -> str:
    """Return the device on which the language models of the current step run."""
    return _STEP_DEVICE.get()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch, imported now or later, to one thread: more change the order of sums."""
    if "torch" not in sys.modules:  # the import takes seconds, and many classifiers do not need it
        before = os.environ.get(_THREADS)
        os.environ[_THREADS] = "1"
        try:
            yield
        finally:
            os.environ.pop(_THREADS)
            os.environ |= {_THREADS: before} if before else {}
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
