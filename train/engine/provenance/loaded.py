"""The source text of the project's and the user's code as this process loaded it.

A module may be imported hours after the process began, and its file may change before or after
that. So the text is kept at loading and compiled from exactly these bytes; a cached ``.pyc`` could
be out of date. A user's file that runs without an import (``runpy``, ``spec_from_file_location``, a
script) is kept under its path, which serves as its name.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files.rooms import HOME, ROOMS, is_ours

if TYPE_CHECKING:
    from types import CodeType, ModuleType

LIBRARIES = ("/site-packages/", "/dist-packages/")
FOLDERS = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "scripts"))
OURS = (*ROOMS, "biasbridge", "train.py")  # the project's own entries of HOME
SCRIPTS = ("__main__", "__mp_main__")  # names of a running script

_texts: dict[str, bytes] = {}
_names: dict[str, str] = {}  # of files, in _texts
_users: dict[str, str] = {}  # those of the user, by the path as code has it too
_loads: dict[str, set[str]] = {}


def loaded_text(module: str) -> bytes | None:
    """Return the text that a module was loaded from; None if it is not loaded."""
    return _texts.get(module, _texts.get(file_of(sys.modules.get(module))))


def modules_loaded_by(module: str) -> frozenset[str]:
    """Return the modules that a user's module has loaded since ``watch_loads``."""
    return frozenset(_loads.get(module, ()))


def user_modules() -> list[str]:
    """Return the names of all modules and files of the user that this process loaded."""
    return sorted(name for name in _texts if not is_ours(name))


def user_module_of(file: str | None) -> str:
    """Return the name of the user's module that a file was loaded as; empty for another file."""
    return _users.get(file or "", "")


def file_of(module: object) -> str:
    """Return the path of the file that a module was loaded from; empty if it has none."""
    file = getattr(module, "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else ""


def is_library(file: str) -> bool:
    """Return whether a file is the standard library's or an installed package's."""
    return file.startswith(FOLDERS) or any(folder in file for folder in LIBRARIES)


@cache
def _is_users(file: str) -> bool:
    if is_library(file):
        return False
    path = Path(os.path.realpath(file))
    return not (path.is_relative_to(HOME) and path.relative_to(HOME).parts[0] in OURS)


def watch_loads() -> None:
    """Keep the text of every module of the project or the user that loads from now on; read that
    of modules loaded before.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(sys.meta_path.index(PathFinder), _Finder())
    for name, module in list(sys.modules.items()):
        if (file := file_of(module)) and (is_ours(name) or _is_users(file)):
            _keep(file if name in SCRIPTS else name, file)
    sys.addaudithook(_see_run)


def _keep(name: str, file: str, text: bytes | None = None) -> None:
    with suppress(OSError):  # no such file, as for a notebook's cell
        _texts[name] = Path(file).read_bytes() if text is None else text
        _names[os.path.abspath(file)] = name
        if not is_ours(name):
            _users.update(dict.fromkeys((file, os.path.abspath(file)), name))
            _loads.setdefault(_importer(), set()).add(name)


def _see_run(event: str, arguments: tuple[object, ...]) -> None:
    """Keep the text of a user's file whose code is about to run without an import."""
    code = arguments[0] if event == "exec" else None
    if inspect.iscode(code) and code.co_name == "<module>":
        file = os.path.abspath(code.co_filename)
        if _names.get(file, file) == file and _is_users(file):
            _keep(file, code.co_filename)


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not spec.has_location or not spec.origin:
            return spec
        if is_ours(name) or _is_users(spec.origin):
            if isinstance(spec.loader, SourceFileLoader):
                spec.loader = _Loader(name, spec.origin)
            else:  # compiled code
                _keep(name, spec.origin)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        text = self.get_data(self.path)
        _keep(fullname, self.path, text)
        code: CodeType = self.source_to_code(text, self.path)
        return code


def _importer() -> str:
    """Return the innermost module of the project or the user on the stack; empty for none."""
    frame = inspect.currentframe()
    while frame:
        name = _names.get(os.path.abspath(frame.f_code.co_filename))
        if name and name != __name__:
            return name
        frame = frame.f_back
    return ""


@contextmanager
def importing() -> Iterator[list[float]]:
    """Collect the seconds of the block's imports, which only the first step of a process needs."""
    seconds: list[float] = []
    starts: list[float] = []
    original = builtins.__import__

    def timed(*arguments: Any, **named: Any) -> Any:
        starts.append(time.perf_counter())
        try:
            return original(*arguments, **named)
        finally:
            start = starts.pop()
            seconds.append(0.0 if starts else time.perf_counter() - start)

    builtins.__import__ = timed
    try:
        yield seconds
    finally:
        builtins.__import__ = original
