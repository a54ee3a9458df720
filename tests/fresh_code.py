"""The code of a test as a new process would read it."""

from __future__ import annotations

import sys

from train.engine.provenance import libraries, loaded, source, syntax

CACHED = (
    *(source.source_of, source._planned_source, libraries.library_versions),  # noqa: SLF001
    *(syntax.read_module, syntax.path_of),
)


def forget_code() -> None:
    """Have every file read anew, and modules that are called ``toy_...`` loaded anew."""
    for each in CACHED:
        each.cache_clear()
    for name in [name for name in (*sys.modules, *loaded._texts) if "toy_" in name]:  # noqa: SLF001
        sys.modules.pop(name, None)
        loaded._texts.pop(name, None)  # noqa: SLF001
