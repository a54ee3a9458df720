"""The code of a test as a new process would read it."""

from __future__ import annotations

import sys

from biasbridge.train.engine import source
from biasbridge.train.engine import source as syntax

CACHED = (source.source_of, source.library_versions, syntax.read_module, syntax.path_of)


def forget_code(*prefixes: str) -> None:
    """Have every file read anew, and modules called ``toy_...`` or by a prefix loaded anew."""
    for each in CACHED:
        each.cache_clear()
    known = (*sys.modules, *syntax._loaded)  # noqa: SLF001
    for name in [name for name in known if "toy_" in name or name.startswith(prefixes)]:
        sys.modules.pop(name, None)
        syntax._loaded.pop(name, None)  # noqa: SLF001
