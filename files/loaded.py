"""The source text of the project's and the user's modules as this process loaded it.

A module loads when it is first imported, be it hours after the process began: what its file held
before or holds afterwards says nothing about the code that runs. So the text is kept as it is
loaded, and compiled from exactly these bytes: a cached ``.pyc`` is only as true as a file's time.
"""

from __future__ import annotations

import inspect
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING

from files.rooms import is_ours

if TYPE_CHECKING:
    from types import CodeType, ModuleType

LIBRARIES = ("site-packages", "dist-packages")

_texts: dict[str, bytes] = {}
_loads: dict[str, set[str]] = {}


def loaded_text(module: str) -> bytes | None:
    """The text that the module was loaded from; None where it is not loaded."""
    return _texts.get(module)


def loads_of(module: str) -> frozenset[str]:
    """What a user's module had imported while this process watched, by whatever means."""
    return frozenset(_loads.get(module, ()))


@cache
def is_library(file: str) -> bool:
    """Whether a file is the standard library's or an installed package's."""
    folders = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    path = Path(file)
    return any(part in LIBRARIES for part in path.parts) or any(map(path.is_relative_to, folders))


def watch_loads() -> None:
    """From now on keep the text of every module of the project or the user that is loaded; what is
    loaded already is read now.
    """
    if any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    sys.meta_path.insert(sys.meta_path.index(PathFinder), _Finder())
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if (file := _source_file(name, spec)) and Path(file).is_file():
            _texts[name] = Path(file).read_bytes()


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and (file := _source_file(name, spec)):
            spec.loader = _Loader(name, file)
            if not is_ours(name):
                _loads.setdefault(_importer(), set()).add(name)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        text = _texts[fullname] = self.get_data(self.path)
        code: CodeType = self.source_to_code(text, self.path)
        return code


def _source_file(name: str, spec: ModuleSpec | None) -> str:
    """The file of a module of the project or the user; empty for another."""
    if spec is None or not isinstance(spec.loader, SourceFileLoader) or not spec.origin:
        return ""
    return spec.origin if is_ours(name) or not is_library(spec.origin) else ""


def _importer() -> str:
    """The module of the project or the user whose code is at work; empty for none."""
    frame = inspect.currentframe()
    while frame:
        name = str(frame.f_globals.get("__name__"))
        if name in _texts and name != __name__:
            return name
        frame = frame.f_back
    return ""
