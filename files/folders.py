"""Where the project is, in a checkout and installed, and the command that runs studies there."""

from __future__ import annotations

from pathlib import Path

ROOMS = (
    "analysis",
    "corpora",
    "debias",
    "extrinsic",
    "files",
    "intrinsic",
    "stats",
    "studies",
    "train",
)
HOME = Path(__file__).resolve().parent.parent  # has the rooms and conf
IMPORTED_FROM = HOME.parent if (HOME / "__init__.py").is_file() else HOME  # has biasbridge
TRAIN = "python train.py" if (HOME / "train.py").is_file() else "biasbridge train"
