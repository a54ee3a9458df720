"""What the rooms are called here: ``train.point`` in a checkout, and the same under ``biasbridge``
where a wheel is installed, so that nobody's ``train.py`` is in its way.
"""

from __future__ import annotations

from pathlib import Path

ROOMS = ("analysis", "corpora", "debias", "extrinsic", "files", "intrinsic", "studies", "train")
PREFIX = __name__.removesuffix("files.rooms")
HOME = Path(__file__).resolve().parents[__name__.count(".")]  # where imports find the project


def plain(module: str) -> str:
    """The name of a module as a checkout has it, which configurations and recipes use."""
    return module.removeprefix(PREFIX)


def importable(module: str) -> str:
    """The name by which a module is imported here, from that of a checkout."""
    return f"{PREFIX}{module}" if module.partition(".")[0] in ROOMS else module


def is_ours(module: str) -> bool:
    """Whether a module, by the name that it is imported by here, is the project's own."""
    top = module.partition(".")[0]
    return top == "biasbridge" or (not PREFIX and top in ROOMS)
