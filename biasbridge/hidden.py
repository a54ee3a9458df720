"""A user's module that comes before a room of a checkout is named before anything else fails."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
# What the functions of the package import beyond files, which all do
NEEDED: Mapping[str, tuple[str, ...]] = {
    "audit": ("intrinsic", "studies"),
    "certify": ("intrinsic", "analysis", "studies", "train"),
    "query": ("intrinsic",),
    "debias": ("intrinsic", "debias"),
    "gaps": ("intrinsic", "extrinsic"),
    "correlate": ("analysis",),
    "plot": ("analysis",),
    "read_results": ("analysis",),
}
ROOMS_OF_A_WHEEL = Path(__file__).with_name("rooms")


def refuse_hidden(*rooms: str) -> None:
    """Nothing where imports find these rooms, or where they are those of a wheel.

    Raises ``ImportError``, naming the file that is found in the place of one; to ``python -m`` it
    is a line and exit status 2, as all that is refused there.
    """
    if ROOMS_OF_A_WHEEL.is_dir():
        return
    for room in rooms:
        instead = _found(room)
        if instead is None or instead.resolve() == HOME / room / "__init__.py":
            continue
        message = (
            f"{instead} hides {room!r}, a package of biasbridge in {HOME}; rename it, or"
            f" install biasbridge as a wheel, which shares no names: pip install --no-deps {HOME}"
        )
        if sys.argv[:1] == ["-m"]:  # so long as Python looks for the module
            print(f"error: {message}", file=sys.stderr)
            sys.exit(2)
        raise ImportError(message)


def _found(room: str) -> Path | None:
    """The file, or the folder without an ``__init__.py``, that an import has loaded or would."""
    there = sys.modules.get(room)
    spec = there.__spec__ if there else PathFinder.find_spec(room)
    if spec is None:
        return None
    return Path(spec.origin or next(iter(spec.submodule_search_locations or ())))
