"""The device of a job: GPUs in turn, or the one that is named."""

from __future__ import annotations

import pytest
import torch

from files import InputError
from train.engine import device
from train.engine.device import pick_device


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
