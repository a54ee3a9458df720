"""Which code makes a result: the definitions of ours that a stage can reach, read from their source
text without running any of it.

From a class or function follow the names in its text: to definitions of its module, through imports
(those inside functions too) to other modules of ours. Statements of a module that define nothing
count with it. Comments, docstrings, layout and what is imported for type checkers alone do not.
"""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from files.digest import digest_of
from files.rooms import HOME, ROOMS, importable, plain

OURS = frozenset(ROOMS)
# They check values and refuse them; a value that they let pass is in the key
CHECKS = frozenset({"files.choice", "files.errors"})
# Libraries that check, print and lock, and reckon nothing
PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}  # where it has not the module's name
DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

Json = str | list["Json"]


class Name(NamedTuple):
    """Something that a module defines; ``*``: all of it."""

    module: str
    name: str = "*"


class Source(NamedTuple):
    """``modules``: a hash of what is reached in each module of ours, by its name. ``libraries``:
    the versions of Python and of the libraries imported there.
    """

    modules: Mapping[str, str]
    libraries: Mapping[str, str]


@cache
def source_of(roots: tuple[Name, ...]) -> Source:
    """What the definitions ``roots`` rest on; read once a process, as its modules are."""
    reached: dict[str, set[str]] = {}
    outside: set[str] = set()
    ours = OURS | {root.module.partition(".")[0] for root in roots}
    left = [Name(*root) for root in roots]
    while left:
        at = left.pop()
        if at.name in reached.setdefault(at.module, set()):
            continue
        reached[at.module].add(at.name)
        for target in read_module(at.module).uses(at.name):
            top = target.module.partition(".")[0]
            if top not in ours:
                outside.add(top)
            elif target.module not in CHECKS:
                left.append(target)
    modules = {name: read_module(name).digest(reached[name]) for name in sorted(reached)}
    return Source({name: digest for name, digest in modules.items() if digest}, _versions(outside))


def remember(made_of: Iterable[tuple[Name, ...]]) -> None:
    """Read the code of stages, and the commit, as a process begins with them: who edits a file
    meanwhile does not change what the process runs.
    """
    project()
    for roots in made_of:
        source_of(roots)


@cache
def project() -> tuple[str, str]:
    """The project's version, and the commit of the working tree that it runs from, ``-dirty`` where
    files of it were changed; empty where there is none.
    """
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
    told = ""
    if (HOME / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            told = subprocess.run(
                command,
                cwd=HOME,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            ).stdout.strip()
    return _versions(["biasbridge"]).get("biasbridge", ""), told


@cache
def read_module(name: str) -> Module:
    """The module of that name, parsed; an empty one where it has no source text."""
    path = _path_of(name)
    text = path.read_text(encoding="utf-8") if path else ""
    return Module(name, path is not None and path.stem == "__init__", ast.parse(text))


@dataclass(frozen=True, eq=False)
class Module:
    """The top level of a module by the names that it binds."""

    name: str
    package: bool
    tree: ast.Module
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Name] = field(default_factory=dict)
    others: list[ast.stmt] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.update(self._imported(node))
            elif isinstance(node, DEFINES):
                self.definitions.setdefault(node.name, []).append(node)
            elif names := _assigned(node):
                for name in names:
                    self.definitions.setdefault(name, []).append(node)
            elif not _is_text(node) and not _for_type_checkers(node):
                self.others.append(node)
                for each in ast.walk(node):
                    if isinstance(each, ast.Import | ast.ImportFrom):
                        self.imports.update(self._imported(each))

    def uses(self, name: str) -> Iterator[Name]:
        """What the text of a definition names, and what the module does when it is imported."""
        if name == "*":
            yield from self.imports.values()
            yield from (Name(self.name, each) for each in self.definitions)
        elif name in self.imports:
            yield self.imports[name]
        elif name not in self.definitions and _path_of(f"{self.name}.{name}"):
            yield Name(f"{self.name}.{name}")
        elif name not in self.definitions and self._stub:
            yield from self._stub.uses(name)
        for node in [*self.definitions.get(name, []), *self.others]:
            yield from self._named_in(node)

    def digest(self, names: Iterable[str]) -> str:
        """A hash of what defines these names and of the statements that define none; empty if there
        are none.
        """
        found = [*(node for name in names for node in self.definitions.get(name, [])), *self.others]
        order = {id(node): place for place, node in enumerate(self.tree.body)}
        distinct = sorted({id(node): node for node in found}.values(), key=lambda n: order[id(n)])
        return digest_of([_told(node) for node in distinct]) if distinct else ""

    @cached_property
    def _stub(self) -> Module | None:
        """The stub, which says where names come from that the module loads when they are asked."""
        path = _path_of(self.name)
        if path is None or path.suffix == ".pyi" or not path.with_suffix(".pyi").is_file():
            return None
        text = path.with_suffix(".pyi").read_text(encoding="utf-8")
        return Module(self.name, self.package, ast.parse(text))

    def _named_in(self, node: ast.stmt) -> Iterator[Name]:
        for each in ast.walk(node):
            if isinstance(each, ast.Import | ast.ImportFrom):
                yield from self._imported(each).values()
            elif isinstance(each, ast.Name) and (
                each.id in self.definitions or each.id in self.imports
            ):
                yield Name(self.name, each.id)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> dict[str, Name]:
        """What an import binds. ``import a.b`` stands for all of ``a.b``."""
        if isinstance(node, ast.Import):
            return {
                alias.asname or alias.name.partition(".")[0]: Name(alias.name)
                for alias in node.names
            }
        parts = self.name.split(".")[: None if self.package else -1] if node.level else []
        within = parts[: len(parts) - node.level + 1] if node.level else []
        module = ".".join([*within, *([plain(node.module)] if node.module else [])])
        return {alias.asname or alias.name: Name(module, alias.name) for alias in node.names}


def _assigned(node: ast.stmt) -> list[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [
        each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
    ]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _for_type_checkers(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _told(node: ast.AST) -> Json:
    """A piece of syntax as nested lists, the same under every version of Python."""
    told: list[Json] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and name == "body":
            value = [each for each in value if not _is_text(each)]
        if value is None or value == [] or name in ("kind", "type_comment", "ctx"):
            continue
        if isinstance(node, ast.ImportFrom) and isinstance(value, str):
            value = plain(value)
        told.append([name, *(_value(each) for each in _listed(value))])
    return told


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _value(value: object) -> Json:
    return _told(value) if isinstance(value, ast.AST) else repr(value)


@cache
def _path_of(module: str) -> Path | None:
    """The file of a module, found without importing it or its package."""
    top, *rest = importable(module).split(".")
    loaded = sys.modules.get(top)
    spec = loaded.__spec__ if loaded else find_spec(top)
    if spec is None:
        return None
    if not rest and spec.origin and not spec.submodule_search_locations:
        return Path(spec.origin)
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *rest)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                return file
    return None


def _versions(modules: Iterable[str]) -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for module in sorted(set(modules) - PLUMBING - sys.stdlib_module_names):
        name = DISTRIBUTIONS.get(module, module)
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
