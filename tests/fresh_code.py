"""The code of a test as a new process would read it."""

from __future__ import annotations

import sys

from train.engine import source, syntax

CACHED = (source.source_of, source.library_versions, syntax.read_module, syntax.path_of)


def forget_code() -> None:
    """Have every file read anew, and modules that are called ``toy_...`` loaded anew."""
    for each in CACHED:
        each.cache_clear()
    for name in [name for name in (*sys.modules, *syntax._loaded) if "toy_" in name]:  # noqa: SLF001
        sys.modules.pop(name, None)
        syntax._loaded.pop(name, None)  # noqa: SLF001
