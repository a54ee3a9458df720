"""Names of the rooms: ``train.engine.point`` in a checkout, and below ``biasbridge`` in a wheel, so
that a user's ``train.py`` does not shadow them.
"""

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
PREFIX = __name__.removesuffix("files.rooms")
HOME = Path(__file__).resolve().parents[__name__.count(".")]  # where imports find the project


def plain(module: str) -> str:
    """Return the name of a module in a checkout, which configurations and recipes use."""
    return module.removeprefix(PREFIX)


def importable(module: str) -> str:
    """Return the import name of a module, given its name in a checkout."""
    return f"{PREFIX}{module}" if module.partition(".")[0] in ROOMS else module


def is_ours(module: str) -> bool:
    """Test whether a module, given by its import name, is the project's own."""
    top = module.partition(".")[0]
    return top == "biasbridge" or (not PREFIX and top in ROOMS)
