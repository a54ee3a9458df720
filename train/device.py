"""Which processor a point's classifier runs on."""

from __future__ import annotations

import torch

from files import InputError


def pick_device(device: str, number: int) -> str:
    """The device of job ``number``: for ``auto`` the visible GPUs in turn, or the CPU where there
    is none; others as they are named.

    Raises ``InputError`` for a device that is not there.
    """
    if device == "auto":
        visible = torch.cuda.device_count()
        return f"cuda:{number % visible}" if visible else "cpu"
    try:
        wanted = torch.device(device)
    except RuntimeError:
        wanted = None
    if wanted is None or wanted.type not in ("cpu", "cuda"):
        raise InputError(f"device={device!r}: give auto, cpu, cuda or cuda:NUMBER")
    if wanted.type == "cuda" and (wanted.index or 0) >= (visible := torch.cuda.device_count()):
        raise InputError(
            f"device={device}: {visible} GPUs are visible here; give auto, cpu or a number below"
            " that"
        )
    return str(wanted)
