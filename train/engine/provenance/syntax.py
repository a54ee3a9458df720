"""Parsing of source files: the hash of their syntax, their imports and their literals.

Only the syntax counts: comments, docstrings, layout, imports for type checkers and the difference
between a checkout and a wheel do not.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from files.digest import digest_of
from files.rooms import is_ours
from train.engine.provenance.loaded import file_of, loaded_text

# The only differences between the imports and texts of a wheel and a checkout
WHEEL = "biasbridge.rooms."
CHECKOUT_COMMAND, WHEEL_COMMAND = " ".join(("python", "train.py")), "biasbridge train"

Json = str | list["Json"]


class Imported(NamedTuple):
    """``from MODULE import NAME``, or ``import MODULE`` with an empty name."""

    module: str
    name: str


@dataclass(eq=False)
class SourceFile:
    """A parsed source file: the hash of its syntax, its imports, the imports of its top level by
    the name they bind, and the literal values that it and its classes assign.
    """

    module: str
    is_package: bool
    digest: str = ""
    imports: list[Imported] = field(default_factory=list)
    imports_by_name: dict[str, Imported] = field(default_factory=dict)
    literals: dict[str, object] = field(default_factory=dict)


@cache
def read_module(name: str) -> SourceFile:
    """Parse a module as it was loaded, or its file as it is now; without source text the result is
    empty. The stub of a package that loads names lazily adds their imports.
    """
    path = path_of(name)
    content = loaded_text(name)
    if content is None and path:
        content = path.read_bytes()
    is_package = path is not None and path.stem == "__init__"
    text = parse(name, is_package=is_package, content=content or b"")
    stub = path.with_suffix(".pyi") if path and text.is_package else None
    if stub and stub.is_file():
        stub_text = parse(name, is_package=True, content=stub.read_bytes())
        imports = text.imports + stub_text.imports
        return replace(
            text,
            imports=imports,
            imports_by_name={**text.imports_by_name, **stub_text.imports_by_name},
        )
    return text


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
    text.literals = _literals(tree.body)
    return text


def _literals(body: Iterable[ast.stmt], prefix: str = "") -> dict[str, object]:
    literals: dict[str, object] = {}
    for node in body:
        match node:
            case ast.ClassDef():
                literals |= _literals(node.body, f"{prefix}{node.name}.")
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                with suppress(ValueError, TypeError):
                    literal = ast.literal_eval(value)
                    if name.isupper() or not isinstance(literal, list | dict | set):  # a cache
                        literals[f"{prefix}{name}"] = literal
    return literals


def loaded_digest(name: str) -> str:
    """Hash the syntax of a module as this process loaded it; empty if it is not loaded."""
    content = loaded_text(name)
    if not content:
        return ""
    return parse(name, is_package=read_module(name).is_package, content=content).digest


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
        content.append([name, *(_value(name, item, text) for item in code)])
    return content


def _value(name: str, value: object, text: SourceFile) -> Json:
    if isinstance(value, ast.AST):
        return _as_json(value, text)
    if name == "module":
        return repr(value).replace(WHEEL, "")
    is_own = is_ours(text.module)
    return repr(value).replace(CHECKOUT_COMMAND, WHEEL_COMMAND) if is_own else repr(value)


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
    if node.level:
        package = text.module if text.is_package else text.module.rpartition(".")[0]
        module = resolve_name(f"{'.' * node.level}{module}", package)
    return [Imported(module, alias.name) for alias in node.names]


@cache
def path_of(module: str) -> Path | None:
    """Return the file of a module, found without importing it or its package."""
    if loaded_from := module if module.startswith("/") else file_of(sys.modules.get(module)):
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
