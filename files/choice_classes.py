"""Classes of choices found by their presence in a folder; modules are parsed, not run.

A class says itself how it is chosen: a metric by the name in its ``MetricInfo``, a method of
``debias`` by its ``name``, any other as ``chosen_as = ("source/csv",)`` declares.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from biasbridge.files.errors import InputError
from biasbridge.files.folders import ROOMS

PROJECT = Path(__file__).resolve().parents[1]  # folder of the rooms
METRICS, METHODS = "intrinsic", "debias"  # groups
HINTS = {METRICS: ("MetricInfo",), METHODS: ("debias", "acts_on")}  # in files with such classes
PLACES = {METRICS: ("intrinsic", "studies"), METHODS: ("debias",)}  # rooms with such classes


class ChoiceClass(NamedTuple):
    """A class that is chosen as ``GROUP=NAME``; ``module``: its import name."""

    group: str
    name: str
    module: str
    qualname: str

    @property
    def target(self) -> str:
        """Value of ``_target_``."""
        return f"{self.module}.{self.qualname}"

    def load(self) -> Any:
        """Import the class. Raises ``InputError`` if its module cannot be imported."""
        try:
            return getattr(import_module(self.module), self.qualname)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.target} cannot be imported ({reason}); correct it") from error


def choice_classes(folder: str | Path, group: str, name: str = "") -> list[ChoiceClass]:
    """Return the classes of a group, in the order of files and lines, or those of one name.

    ``folder``: the project, or a user's folder, of which the modules beside the configuration files
    are searched.
    """
    path = Path(folder).resolve()
    if path == PROJECT:
        return list(_project_classes(group, name))
    modules = ((file.stem, _text_of(file)) for file in sorted(path.glob("*.py")))
    return list(_search(modules, group, name))


def present_classes(group: str, *packages: str) -> dict[str, Any]:
    """Return the classes of a group that lie in packages of the project, by name."""
    found = choice_classes(PROJECT, group)
    return {each.name: each.load() for each in found if each.module.startswith(packages)}


@cache
def _project_classes(group: str, name: str) -> list[ChoiceClass]:
    modules = (module for room in PLACES.get(group, ROOMS) for module in _room_modules(room))
    return list(_search(modules, group, name))


@cache
def _room_modules(room: str) -> list[tuple[str, str]]:
    """Return the modules of a room and their texts, which do not change in a process."""
    return [
        (
            ".".join(("biasbridge", *path.relative_to(PROJECT).with_suffix("").parts)),
            path.read_text("utf-8"),
        )
        for path in sorted((PROJECT / room).rglob("*.py"))
    ]


def _search(modules: Iterable[tuple[str, str]], group: str, name: str) -> Iterator[ChoiceClass]:
    hints = (f"{group}/{name}", *HINTS.get(group, ()))
    for module, text in modules:
        if name in text and any(hint in text for hint in hints):
            for found in _parse(text, module):
                if found.group == group and name in ("", found.name):
                    yield found


def find_choice(folders: Iterable[str | Path], group: str, name: str) -> ChoiceClass | None:
    """Return the class of a name in the first folder that has it, if any.

    Raises ``InputError`` for several in one folder.
    """
    for folder in folders:
        if found := choice_classes(folder, group, name):
            if len(found) > 1:
                targets = " and ".join(each.target for each in found)
                raise InputError(f"{group}={name} could be {targets}; rename one")
            return found[0]
    return None


def _text_of(path: Path) -> str:
    status = path.stat()
    return _read_text(path, status.st_mtime_ns, status.st_size)


@cache
def _read_text(path: Path, changed: int, size: int) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@cache
def _parse(text: str, module: str) -> list[ChoiceClass]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # the error is that of the import, if it comes to that
        return []
    origins = {
        alias.asname or alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found: list[ChoiceClass] = []
    methods = {name for name, origin in origins.items() if METHODS in origin.split(".")}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            values = _attributes(node)
            is_method = "acts_on" in values or {ast.unparse(base) for base in node.bases} & methods
            methods |= {node.name} if is_method else set()
            for group, name in _chosen_as(values, is_method=bool(is_method)):
                found.append(ChoiceClass(group, name, module, node.name))
    return found


def _attributes(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the values that a class gives its attributes."""
    values: dict[str, ast.expr] = {}
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
    return values


def _chosen_as(values: dict[str, ast.expr], *, is_method: bool) -> Iterator[tuple[str, str]]:
    declared = values.get("chosen_as")
    if isinstance(declared, ast.Tuple):
        for element in declared.elts:
            group, _, name = str(_text(element)).rpartition("/")
            yield group, name
        return
    about = values.get("about")
    if isinstance(about, ast.Call):
        for keyword in about.keywords:
            if keyword.arg == "name" and (name := _text(keyword.value)):
                yield METRICS, name
    elif is_method and (name := _text(values.get("name"))):
        yield METHODS, name


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
