"""The child process: one thread, answers in order, its death told by its signal, no longer alive
than its parent.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from files import InputError
from train import device
from train.device import pick_device
from train.worker import Worker, WorkerDiedError

ROOT = Path(__file__).resolve().parent.parent.parent


def test_answers_and_deaths() -> None:
    worker = Worker()
    try:
        assert worker(abs, -3) == 3
        first = worker(os.getpid)
        assert first == worker(os.getpid) != os.getpid()
        assert worker(torch.get_num_threads) == 1
        with pytest.raises(WorkerDiedError, match=r"killed by SIGKILL; .*memory"):
            worker(os.kill, first, signal.SIGKILL)
        with pytest.raises(WorkerDiedError, match="ended with status 7"):
            worker(os._exit, 7)
        assert worker(os.getpid) != first
    finally:
        worker.stop()


def test_child_ends_with_its_parent() -> None:
    code = (
        "import os; from train.worker import Worker; w = Worker(); print(w(os.getpid), flush=True);"
        " w(__import__('time').sleep, 600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(600):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the child outlived its parent by a minute")


def test_jobs_take_the_visible_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "has_gpu_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [pick_device("auto", number) for number in range(4)] == [
        "cuda:0",
        "cuda:1",
        "cuda:0",
        "cuda:1",
    ]
    assert [pick_device(name, 1) for name in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda", "cuda:1"]
    with pytest.raises(InputError, match="2 GPUs are visible"):
        pick_device("cuda:2", 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert pick_device("auto", 3) == "cpu"
    for bad in ("cuda", "gpu", "mps", ""):
        with pytest.raises(InputError, match="device="):
            pick_device(bad, 0)
