"""A check that no other module hides a package of this checkout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
# Packages that each function imports, besides files
NEEDED: Mapping[str, tuple[str, ...]] = {
    "audit": ("intrinsic", "studies"),
    "certify": ("intrinsic", "analysis", "studies", "train"),
    "query": ("intrinsic",),
    "debias": ("intrinsic", "debias"),
    "bbq": ("extrinsic",),
    "gaps": ("intrinsic", "extrinsic"),
    "gate": ("intrinsic", "extrinsic"),
    "predict": ("extrinsic",),
    "correlate": ("analysis",),
    "plot": ("analysis",),
    "read_results": ("analysis",),
    "thresholds": ("intrinsic", "extrinsic"),
}
ROOMS_OF_A_WHEEL = Path(__file__).with_name("rooms")


def refuse_hidden(*rooms: str) -> None:
    """Raise ``ImportError`` if imports find other files in place of these rooms.

    ``python -m`` prints the error and exits with status 2. A wheel shares no names.
    """
    if ROOMS_OF_A_WHEEL.is_dir():
        return
    for room in rooms:
        imported = _imported_path(room)
        if imported is None or imported.resolve() == HOME / room / "__init__.py":
            continue
        message = (
            f"{imported} hides {room!r}, a package of biasbridge in {HOME}; rename it, or"
            f" install biasbridge as a wheel, which shares no names: pip install --no-deps {HOME}"
        )
        if sys.argv[:1] == ["-m"]:  # while Python searches for the module
            print(f"error: {message}", file=sys.stderr)
            sys.exit(2)
        raise ImportError(message)


def _imported_path(room: str) -> Path | None:
    """Return the file, or the folder without ``__init__.py``, that an import finds."""
    module = sys.modules.get(room)
    spec = module.__spec__ if module else PathFinder.find_spec(room)
    if spec is None:
        return None
    return Path(spec.origin or next(iter(spec.submodule_search_locations or ())))
