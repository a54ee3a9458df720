"""The device of a job: GPUs in turn, or the one that is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import torch

from biasbridge.files import InputError
from biasbridge.train.engine import device
from biasbridge.train.engine.device import pick_device, step_device
from biasbridge.train.engine.store import Step, Store

if TYPE_CHECKING:
    from biasbridge.train.engine.store.entry import Request


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


def test_language_models_of_a_step_are_on_the_device_of_the_job(tmp_path: Path) -> None:
    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        (out / "device").write_text(step_device(), encoding="utf-8")

    devices = []
    for number, request in enumerate(({"device": "cuda:1"}, {})):
        step = Step("probe", "tests.Probe", number, {}, build)
        folder = Store(tmp_path, cast("Request", request)).make(step)
        devices.append((folder / "device").read_text(encoding="utf-8"))
    assert devices == ["cuda:1", "cpu"]
    assert step_device() == "cpu"
