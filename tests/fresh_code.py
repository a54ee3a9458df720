"""The code of a test as a new process would read it."""

from __future__ import annotations

import importlib
import sys

from biasbridge.train.engine import source

CACHED = (source._source, source._read_ours, source._is_installed)  # noqa: SLF001


def forget_code(*prefixes: str) -> None:
    """Have every file read anew, and modules called ``toy_...`` or by a prefix loaded anew."""
    importlib.invalidate_caches()
    for each in CACHED:
        each.cache_clear()
    for name in [name for name in sys.modules if "toy_" in name or name.startswith(prefixes)]:
        sys.modules.pop(name)
    for file in [file for file in source._texts if "toy_" in file]:  # noqa: SLF001
        source._texts.pop(file)  # noqa: SLF001
