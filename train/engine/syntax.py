"""Source files of the project and the user: the hash of their syntax, and their imports.

Only the syntax counts: comments, docstrings, layout and imports for type checkers do not. Files are
parsed, not run.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from biasbridge.files.digest import digest_of

Json = str | list["Json"]

_loaded: dict[str, bytes] = {}  # texts of loaded modules, as they were first read


class Imported(NamedTuple):
    """``from MODULE import NAME``, or ``import MODULE`` with an empty name."""

    module: str
    name: str


@dataclass(eq=False)
class SourceFile:
    """A parsed source file: the hash of its syntax, its imports, and those of its top level by the
    name they bind.
    """

    module: str
    is_package: bool
    digest: str = ""
    imports: list[Imported] = field(default_factory=list)
    imports_by_name: dict[str, Imported] = field(default_factory=dict)


@cache
def read_module(name: str) -> SourceFile:
    """Parse a module, or a file that is given by its path, as this process first reads it; without
    source text the result is empty. The stub of a package that loads names lazily adds their
    imports.
    """
    path = path_of(name)
    text = _parse_now(name)
    stub = path.with_suffix(".pyi") if path and text.is_package else None
    if not (stub and stub.is_file()):
        return text
    further = parse(name, is_package=True, content=stub.read_bytes())
    by_name = {**text.imports_by_name, **further.imports_by_name}
    return SourceFile(name, True, text.digest, text.imports + further.imports, by_name)


def current_digest(name: str) -> str:
    """Hash the syntax of a module: a loaded one as it was first read, another as it is now."""
    return _parse_now(name).digest


def _parse_now(name: str) -> SourceFile:
    path = path_of(name)
    content = _loaded.get(name)
    if content is None:
        try:
            content = path.read_bytes() if path else b""
        except OSError:  # removed since
            content = b""
        if name in sys.modules or os.path.isabs(name):
            _loaded[name] = content
    return parse(name, is_package=path is not None and path.stem == "__init__", content=content)


@cache
def parse(name: str, *, is_package: bool, content: bytes) -> SourceFile:
    """Parse the content of a source file."""
    text = SourceFile(name, is_package)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # compiled code, or whoever imports it gets the error
        text.digest = hashlib.sha256(content).hexdigest()[:32]
        return text
    text.digest = digest_of(_as_json(tree, text)) if tree.body else ""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = [alias.asname or alias.name for alias in node.names]
            text.imports_by_name |= dict(zip(bound, _imported(node, text), strict=True))
    return text


def _as_json(node: ast.AST, text: SourceFile) -> Json:
    """Convert syntax to nested lists, equal under all versions of Python; add its imports to
    ``text``.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        text.imports += _imported(node, text)
    content: list[Json] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if value is None or value == [] or name in ("kind", "type_comment", "ctx"):
            continue
        values = value if isinstance(value, list) else [value]
        code = [item for item in values if not (_is_text(item) or _for_type_checkers(item))]
        parts = [_as_json(x, text) if isinstance(x, ast.AST) else repr(x) for x in code]
        content.append([name, *parts])
    return content


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _for_type_checkers(node: object) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        and not node.orelse
    )


def _imported(node: ast.Import | ast.ImportFrom, text: SourceFile) -> list[Imported]:
    if isinstance(node, ast.Import):
        return [Imported(alias.name, "") for alias in node.names]
    module = node.module or ""
    if node.level and os.path.isabs(text.module):
        module = text.module
    elif node.level:
        package = text.module if text.is_package else text.module.rpartition(".")[0]
        module = resolve_name(f"{'.' * node.level}{module}", package)
    return [Imported(module, alias.name) for alias in node.names]


def file_of(module: object) -> str:
    """Return the path of the file that a module was loaded from; empty if it has none."""
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    return os.path.abspath(file) if isinstance(file, str) else ""


@cache
def path_of(module: str) -> Path | None:
    """Return the file of a module, found without importing it or its package."""
    if loaded_from := module if os.path.isabs(module) else file_of(sys.modules.get(module)):
        return Path(loaded_from) if Path(loaded_from).is_file() else None
    top, *submodules = module.split(".")
    loaded = sys.modules.get(top)
    try:
        spec = loaded.__spec__ if loaded else find_spec(top)
    except ValueError:  # __main__ has none
        return None
    if spec is None:
        return None
    if not submodules and spec.origin and not spec.submodule_search_locations:
        return Path(spec.origin)
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *submodules)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                return file
    return None
