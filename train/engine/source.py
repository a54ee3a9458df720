"""The code that produces a result, by which the store recognises results of other code: the source
files that its imports reach, and the versions of the libraries imported there.

The import statements of a module, those inside functions included, lead to other modules of the
project and the user. A module that a user's module holds without such a statement, as after
``spec_from_file_location``, is added once it is loaded. Only the syntax of a file counts: comments,
docstrings, layout and imports for type checkers do not. Files are parsed, not run.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from biasbridge.files.errors import InputError
from biasbridge.files.paths import HOME, ROOMS, digest_of

Json = str | list["Json"]

_loaded: dict[str, bytes] = {}  # texts of loaded modules, as they were first read

# Modules of ours that compute no result: they analyse or store results, hash code, or check values,
# and a value that passes is in the key. Imports of them by a user's module count.
PASSIVE = (
    "biasbridge.analysis",
    "biasbridge.train.cli",
    *(f"biasbridge.train.engine.{name}" for name in ("locks", "source", "store", "store_tools")),
    *(f"biasbridge.files.{name}" for name in ("choice", "data", "errors", "paths")),
)
_OURS = (*ROOMS, "biasbridge", "train.py")  # the project's own entries of HOME
_SCRIPTS = ("__main__", "__mp_main__")  # names of a running script, which its path replaces
_LIBRARIES = ("/site-packages/", "/dist-packages/")
_FOLDERS = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "scripts"))
# Libraries that check, print and lock, and compute nothing
_PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
# Distributions whose name differs from their module's; searching for others is slow
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}


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
    further = _parse_source(name, is_package=True, content=stub.read_bytes())
    by_name = {**text.imports_by_name, **further.imports_by_name}
    return SourceFile(name, True, text.digest, text.imports + further.imports, by_name)


def _current_digest(name: str) -> str:
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
    return _parse_source(
        name, is_package=path is not None and path.stem == "__init__", content=content
    )


@cache
def _parse_source(name: str, *, is_package: bool, content: bytes) -> SourceFile:
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


def _file_of(module: object) -> str:
    """Return the path of the file that a module was loaded from; empty if it has none."""
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    return os.path.abspath(file) if isinstance(file, str) else ""


@cache
def path_of(module: str) -> Path | None:
    """Return the file of a module, found without importing it or its package."""
    if loaded_from := module if os.path.isabs(module) else _file_of(sys.modules.get(module)):
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


class Source(NamedTuple):
    """``modules``: hashes of files, by the module's name or, of a script, its path. ``libraries``:
    versions of Python and of the imported libraries.
    """

    modules: Mapping[str, str]
    libraries: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Hash of the modules."""
        return digest_of(dict(self.modules))


def full_name(definition: type | Callable[..., object]) -> str:
    """Return the name of a class or function with that of its module, or of the script."""
    module = module_of(definition)
    home = Path(module).stem if definition.__module__ in _SCRIPTS else module
    return f"{home}.{definition.__qualname__}"


def module_of(definition: type | Callable[..., object]) -> str:
    """Return the module that defines a class or function; of a script its path. Raise
    ``InputError`` if the module has no readable file.
    """
    name = definition.__module__
    module = _file_of(sys.modules.get(name)) if name in _SCRIPTS else name
    if not (name in sys.modules and path_of(module)):
        raise InputError(
            f"{definition.__qualname__} is defined in {name!r}, which has no file, so its results"
            " cannot be identified; define it in a module, and import that by its name"
        )
    return module


def require_findable(definition: type | Callable[..., object]) -> None:
    """Raise ``InputError`` unless a class or function is what its module has under its name."""
    value: object = sys.modules.get(definition.__module__, definition)
    for name in definition.__qualname__.split(".") if value is not definition else ():
        value = getattr(value, name, None)
    if "<" in definition.__qualname__ or value is not definition:
        raise InputError(
            f"{definition.__module__}.{definition.__qualname__} is defined in a function, or twice;"
            " define it once, at the top level of a module"
        )


@cache
def source_of(roots: tuple[str, ...]) -> Source:
    """Return the code of the modules ``roots`` and their imports, as first read."""
    return _source(roots, {root.partition(".")[0] for root in roots})


def loaded_source(planned: Source) -> Source:
    """Return ``planned`` with the hashes of the code that this process has loaded or would load
    now, and with the modules that a user's module holds without an import statement.
    """
    holders = [module for name, module in _user_modules().items() if name in planned.modules]
    held = {_file_of(value) for module in holders for value in list(vars(module).values())}
    new = filter(_is_users, held - {str(path_of(name)) for name in planned.modules})
    further = _source(sorted(new), set())
    modules = {name: _current_digest(name) for name in (*further.modules, *planned.modules)}
    return Source(modules, {**further.libraries, **planned.libraries})


def changed_modules(planned: Source, run: Source) -> list[str]:
    """Return the names of modules that differ from the plan; further modules do not count."""
    return sorted(name for name in planned.modules if planned.modules[name] != run.modules[name])


def current_source(source: Source, recorded: Iterable[str]) -> Source:
    """Return ``source`` with the further modules that a recipe has recorded; the hash of a module
    that no longer exists is empty.
    """
    further = {name: read_module(name).digest for name in {*recorded} - source.modules.keys()}
    return source._replace(modules={**source.modules, **further})


def user_hashes() -> dict[str, str]:
    """Return the hashes of all modules and scripts of the user that this process has loaded, also
    of those that no step imports.
    """
    return {name: _current_digest(name) for name in sorted(_user_modules())}


def _user_modules() -> dict[str, ModuleType]:
    """Return the loaded modules of the user by name, scripts by path."""
    modules: dict[str, ModuleType] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and _is_users(file):
            modules[_file_of(module) if name in _SCRIPTS else name] = module
    return modules


@cache
def _is_users(file: str) -> bool:
    if not file or _is_library(file):
        return False
    path = Path(os.path.realpath(file))
    return not (path.is_relative_to(HOME) and path.relative_to(HOME).parts[0] in _OURS)


def _is_library(file: str) -> bool:
    """Return whether a file is the standard library's or an installed package's."""
    return file.startswith(_FOLDERS) or any(folder in file for folder in _LIBRARIES)


def _source(roots: Iterable[str], tops: set[str]) -> Source:
    digests: dict[str, str] = {}
    libraries: set[str] = set()
    pending = [module for root in roots for module in _executed(root)]
    while pending:
        name = pending.pop()
        if name in digests:
            continue
        text = read_module(name)
        digests[name] = text.digest
        follows_all = _is_passive(name) or not _is_ours(name)
        for module, imported_name in text.imports:
            if not _counts(module, tops):
                libraries.add(module.partition(".")[0])
            elif follows_all or not _is_passive(_target(module, imported_name)):
                pending += _executed(_target(module, imported_name))
    modules = {name: digests[name] for name in sorted(digests) if digests[name]}
    return Source(modules, _versions_of(libraries))


def _executed(module: str) -> list[str]:
    """Return the modules whose code runs on import, besides imports: the module and the packages
    that contain a user's module. Packages of ours only re-export names, which a test checks.
    """
    if os.path.isabs(module) or _is_ours(module):
        return [module]
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _target(module: str, name: str) -> str:
    """Return the module that defines an imported name, followed through packages of ours."""
    text = read_module(module)
    reexport = text.imports_by_name.get(name)
    submodule = f"{module}.{name}"
    if text.is_package and _is_ours(module) and reexport and reexport.module != module:
        return _target(*reexport)
    return submodule if name and text.is_package and path_of(submodule) else module


def _counts(module: str, tops: set[str]) -> bool:
    top = module.partition(".")[0]
    if _is_ours(module) or top in tops:
        return True
    path = None if top in sys.stdlib_module_names else path_of(top)
    return path is not None and not _is_library(str(path))


def _is_ours(module: str) -> bool:
    """Test whether a module is the project's own."""
    return f"{module}.".startswith("biasbridge.")


def _is_passive(module: str) -> bool:
    return any(f"{module}.".startswith(f"{passive}.") for passive in PASSIVE)


@cache
def library_versions(module: str) -> Mapping[str, str]:
    """Return the versions of a library's distributions by name."""
    name = _DISTRIBUTIONS.get(module, module)
    try:
        return {name: metadata.version(name)}
    except (metadata.PackageNotFoundError, ValueError):
        names = _distributions().get(module, ())
        return {name: metadata.version(name) for name in names}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _versions_of(modules: set[str]) -> dict[str, str]:
    """Return the versions of Python and of the libraries that modules belong to."""
    versions = {"Python": platform.python_version()}
    for module in sorted(modules - _PLUMBING - sys.stdlib_module_names):
        versions |= library_versions(module)
    return versions
