"""The code that produces a result, by which the store recognises results of other code.

Of the project, the files count to which import statements lead from a step's modules. Of the user,
a step's modules count, and every file that the process has loaded, in whatever way: an audit hook
sees it run. Methods of one sweep share processes. So a loaded file is left out if no text that
counts names it or may load a file without its name. Of libraries the version counts.

Only the syntax of a file counts: comments, docstrings, layout and imports for type checkers do not.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, NamedTuple

from biasbridge.files.errors import InputError
from biasbridge.files.paths import HOME, ROOMS, digest_of, sha256

Json = str | list["Json"]

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
# Text of code that may load a file without its name
_LOADERS = re.compile(
    r"\b(__dict__|__import__|allow_pickle|builtins|cloudpickle|dill|entry_points|getattr|globals"
    r"|hub\.load|importlib|instantiate|joblib|lazy_loader|pickle|pkg_resources|pkgutil|pydoc"
    r"|read_pickle|runpy|shelve|sys import|sys\.modules|torch\.load|unsafe_load|vars)\b"
    r"|(?<![.\w])(eval|exec)\("
)
_FILE_NAME = re.compile(r"""["']([^"'\n]+\.py)["']""")
# Libraries that check, print and lock, and compute nothing
_PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
# Distributions whose name differs from their module's; searching for others is slow
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}

# Parsed files by name, text, stub and whether it is a package: a sweep hands them to its workers
parsed_files: dict[tuple[str, bytes, bytes, bool], SourceFile] = {}
_texts: dict[str, bytes] = {}  # of the files that this process ran, as they were when it last did
_runs = 0  # how many of the user's it ran


class Source(NamedTuple):
    """Hashes of files by the name of the module, or the path of a script and the like.

    ``modules``: those of a step, and of the project what these import. ``helpers``: further files
    of the user, what they import of the project, and modules that they do not find (no hash).
    ``paths``: the user's files by name. ``libraries``: versions of Python and imported libraries.
    """

    modules: Mapping[str, str]
    helpers: Mapping[str, str]
    paths: Mapping[str, str]
    libraries: Mapping[str, str]

    @property
    def files(self) -> dict[str, str]:
        """All hashes by name."""
        return {**self.helpers, **self.modules}


class _Imported(NamedTuple):
    """``from MODULE import NAME``, or ``import MODULE`` with an empty name."""

    module: str
    name: str

    @property
    def modules(self) -> list[str]:
        """Names of the modules that the import may load."""
        parts = [*filter(None, [*self.module.split("."), self.name])]
        return [".".join(parts[: end + 1]) for end in range(len(parts))]


@dataclass(eq=False)
class SourceFile:
    """A parsed source file: the hash of its syntax, its imports, and those of its top level by the
    name they bind.
    """

    module: str
    is_package: bool
    digest: str = ""
    imports: list[_Imported] = field(default_factory=list)
    imports_by_name: dict[str, _Imported] = field(default_factory=dict)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Keep the text of a file that is run: an audit hook of the interpreter."""
    if event == "exec":
        _keep(getattr(arguments[0], "co_filename", None))
    elif event == "import":
        _keep(arguments[1])  # the file of a compiled module


def _keep(path: object) -> None:
    global _runs
    if isinstance(path, str) and not _is_library(path) and (file := _resolved(path)):
        _texts[file] = _read(file)
        _runs += _is_users(file)


def _resolved(path: str) -> str:
    """Return the absolute path of a file, or of the archive that has it; empty if there is none."""
    path = os.path.abspath(path)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.path.realpath(path) if os.path.isfile(path) else ""


def _read(file: str) -> bytes:
    with suppress(OSError):  # there is none, or it was removed
        return Path(file).read_bytes()
    return b""


@cache
def _is_library(path: str) -> bool:
    """Test whether a path is the standard library's or an installed package's, or is no path."""
    is_installed = path.startswith(_FOLDERS) or any(folder in path for folder in _LIBRARIES)
    return is_installed or path.startswith("<")


@cache
def _is_users(file: str) -> bool:
    if not file or _is_library(file):
        return False
    path = Path(file)
    return not (path.is_relative_to(HOME) and path.relative_to(HOME).parts[0] in _OURS)


def _file_of(module: object) -> str:
    """Return the file that a module was loaded from; empty if it has none, or is a library's."""
    path = getattr(module, "__file__", None)
    return _resolved(path) if isinstance(path, str) and not _is_library(path) else ""


sys.addaudithook(_watch)
for _module in list(sys.modules.values()):
    _keep(_file_of(_module))


@cache
def project_digest() -> str:
    """Return the hash of the project's files, as they are when this process asks first."""
    paths = (path for room in ROOMS for path in sorted((HOME / room).rglob("*.*")))
    return digest_of([sha256(path) for path in paths if path.suffix != ".pyc" and path.is_file()])


def _read_module(name: str) -> SourceFile:
    """Parse a module as this process has last run it, or as it is now; one of ours once."""
    return _read_ours(name) if _is_ours(name) else _read_now(name, "", _texts)


@cache
def _read_ours(name: str) -> SourceFile:
    return _read_now(name, "", _texts)


def _read_now(name: str, file: str, texts: Mapping[str, bytes]) -> SourceFile:
    """Parse a module by its text, or as it is now; ``file``: where it is if no name leads to it.

    Without source text the result is empty. The stub of a package of ours, which loads names
    lazily, adds their imports.
    """
    file = path_of(name) or file
    is_package = os.path.basename(file) == "__init__.py"
    stub = _read(f"{file}i") if is_package and _is_ours(name) else b""
    content = texts[file] if file in texts else _read(file)
    key = name, content, stub, is_package
    if key not in parsed_files:
        parsed_files[key] = _parse(*key)
    return parsed_files[key]


def _parse(name: str, content: bytes, stub: bytes, is_package: bool, /) -> SourceFile:
    text = SourceFile(name, is_package)
    try:
        tree, further = ast.parse(content), ast.parse(stub)
    except (SyntaxError, ValueError):  # compiled code, or whoever imports it gets the error
        text.digest = hashlib.sha256(content).hexdigest()[:32]
        return text
    text.digest = digest_of(_as_json(tree, text)) if tree.body else ""
    _as_json(further, text)
    for node in tree.body + further.body:
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


def _imported(node: ast.Import | ast.ImportFrom, text: SourceFile) -> list[_Imported]:
    if isinstance(node, ast.Import):
        return [_Imported(alias.name, "") for alias in node.names]
    module = node.module or ""
    if node.level and not os.path.isabs(text.module):
        package = text.module if text.is_package else text.module.rpartition(".")[0]
        module = resolve_name(f"{'.' * node.level}{module}", package)
    return [_Imported(module, alias.name) for alias in node.names]


def path_of(name: str) -> str:
    """Return the file of a module, found without importing it or its package, or that of a path;
    empty if there is none, or it is a library's.
    """
    if os.path.isabs(name):
        return _resolved(name)
    if _is_ours(name):
        return _find_ours(name)
    file = _file_of(sys.modules.get(name)) or _find(name)
    return "" if _is_library(file) else file


def _find(name: str) -> str:
    """Return the file that the import of a module would load if it were not loaded."""
    top, *rest = name.split(".")
    spec = sys.modules[top].__spec__ if _is_ours(top) else PathFinder.find_spec(top)
    if spec is None or not rest:
        return _resolved(spec.origin) if spec and spec.origin else ""
    paths = [os.path.join(folder, *rest) for folder in spec.submodule_search_locations or ()]
    files = (f"{path}{ending}" for path in paths for ending in ("/__init__.py", ".py"))
    return next((_resolved(file) for file in files if os.path.isfile(file)), "")


_find_ours = cache(_find)


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
    path = getattr(sys.modules.get(name), "__file__", None)
    if not (isinstance(path, str) and os.path.isfile(path)):
        raise InputError(
            f"{definition.__qualname__} is defined in {name!r}, which has no file, so its results"
            " cannot be identified; define it in a module, and import that by its name"
        )
    return os.path.abspath(path) if name in _SCRIPTS else name


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


def source_of(roots: tuple[str, ...]) -> Source:
    """Return the code of a step that the modules ``roots`` define, as this process loaded it."""
    return _source(roots, _runs)


def loaded_source(planned: Source, roots: tuple[str, ...]) -> Source:
    """Return ``planned`` with what this process has loaded since for the same step."""
    pairs = zip(planned, source_of(roots), strict=True)
    return Source(*({**before, **now} for before, now in pairs))


def changed_modules(planned: Source) -> list[str]:
    """Return the names of planned files that are others in this process."""
    paths, files = planned.paths, {name: old for name, old in planned.files.items() if old}
    digests = {name: _read_now(name, paths.get(name, ""), _texts).digest for name in files}
    return sorted(name for name in files if digests[name] != files[name])


def current_source(planned: Source, recorded: Source, digest: Callable[[str, str], str]) -> Source:
    """Return the code that would make a stored result now: the modules of the planned step and the
    files that were ``recorded``, with hashes by ``digest(name, file)``.

    Files of the user that no name leads to are sought from the step's module, where it is now.
    """
    paths = {**planned.paths, **recorded.paths}
    for root in sorted(planned.modules.keys() & planned.paths.keys() & recorded.paths.keys())[:1]:
        before, now = (os.path.dirname(source.paths[root]) for source in (recorded, planned))
        relative = {name: os.path.relpath(path, before) for name, path in recorded.paths.items()}
        paths |= {name: os.path.abspath(os.path.join(now, path)) for name, path in relative.items()}
    modules = {
        name: digest(paths[name] if os.path.isabs(name) else name, paths.get(name, ""))
        for name in {**recorded.files, **planned.modules}
    }
    libraries: dict[str, str] = {}
    for name in recorded.libraries.keys() - planned.libraries.keys():
        libraries |= library_versions(name)
    return Source(modules, {}, paths, {**libraries, **planned.libraries})


def stored_digest(name: str, file: str) -> str:
    """Return the hash of a module as it is on the disk."""
    return _read_now(name, file, {}).digest


@cache
def _source(roots: tuple[str, ...], runs: int) -> Source:
    modules, imports = _reached(roots)
    paths = _users_files(roots, imports)
    reached, further = _reached(paths)
    missing = {name for imported in further for name in _missing(imported)}
    return Source(
        {name: digest for name in sorted(modules) if (digest := _read_module(name).digest)},
        {name: _read_module(name).digest for name in sorted((reached | missing) - modules)},
        paths,
        _versions_of(imports | further),
    )


def _reached(starts: Iterable[str]) -> tuple[set[str], set[_Imported]]:
    """Return the modules ``starts`` and all of the project that their imports lead to, and the
    imports of anything else.
    """
    reached: set[str] = set()
    others: set[_Imported] = set()
    pending = list(starts)
    while pending:
        name = pending.pop()
        if name in reached:
            continue
        reached.add(name)
        follows_all = _is_passive(name) or not _is_ours(name)
        for imported in _read_module(name).imports:
            if not _is_ours(imported.module):
                others.add(imported)
            elif follows_all or not _is_passive(_target(*imported)):
                pending.append(_target(*imported))
    return reached, others


def _target(module: str, name: str) -> str:
    """Return the module that defines an imported name, followed through packages of ours."""
    text = _read_module(module)
    reexport = text.imports_by_name.get(name)
    submodule = f"{module}.{name}"
    if text.is_package and reexport and reexport.module != module:
        return _target(*reexport)
    return submodule if name and text.is_package and path_of(submodule) else module


def _users_files(roots: Iterable[str], imports: Iterable[_Imported]) -> dict[str, str]:
    """Return the user's files that count for modules with these imports, by name: those of the
    modules, and what is loaded and named by an import or by the text of a file that counts.
    """
    scripts = {_file_of(sys.modules.get(name)) for name in _SCRIPTS}
    files = [file for file in list(_texts) if _is_users(file) and file not in scripts]
    loaded: dict[str, set[str]] = {file: set() for file in files}
    for name, module in list(sys.modules.items()):
        if name not in _SCRIPTS and _is_users(file := _file_of(module)):
            loaded.setdefault(file, set()).add(name)
    last_words = {file: {name.rpartition(".")[2] for name in loaded[file]} for file in loaded}
    for file, words in last_words.items():
        path = Path(file)
        words.add(path.parent.name if path.name == "__init__.py" else path.stem)
    imported = {name for each in imports for name in each.modules}
    paths = {name: file for name in roots if _is_users(file := path_of(name))}
    pending = [*paths.values(), *(file for file in loaded if loaded[file] & imported)]
    counted: dict[str, str] = {}
    while pending:
        file = pending.pop()
        if file in counted:
            continue
        names = loaded.get(file, set())
        counted[file] = min((name for name in names if _find(name) == file), default=file)
        text = (_texts.get(file) or _read(file)).decode(errors="replace")
        words = {*re.findall(r"\w+", f"{text} {' '.join(names)}")}  # of packages around it, too
        loads_any = _LOADERS.search(text) or not file.endswith(".py")
        pending += [other for other in loaded if loads_any or words & last_words[other]]
        folder = os.path.dirname(file)
        for path in _FILE_NAME.findall(text):
            places = (
                path,
                os.path.join(folder, path),
                os.path.join(folder, os.path.basename(path)),
            )
            pending += filter(_is_users, map(os.path.realpath, filter(os.path.isfile, places)))
    return paths | {name: file for file, name in counted.items() if file not in paths.values()}


def _missing(imported: _Imported) -> list[str]:
    """Return the names of the modules that an import looks for, if there is none of them."""
    top, *rest = names = imported.modules
    is_known = top in sys.stdlib_module_names or _is_installed(top) or any(map(path_of, names))
    return [] if is_known else [top, *rest]


def _is_ours(module: str) -> bool:
    """Test whether a module is the project's own."""
    return f"{module}.".startswith("biasbridge.")


def _is_passive(module: str) -> bool:
    return any(f"{module}.".startswith(f"{passive}.") for passive in PASSIVE)


@cache
def _is_installed(package: str) -> bool:
    """Test whether a package lies in a folder of libraries."""
    spec = PathFinder.find_spec(package)
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    return any(_is_library(f"{place}/") for place in places if place)


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


def _versions_of(imports: Iterable[_Imported]) -> dict[str, str]:
    """Return the versions of Python and of the libraries that are imported."""
    packages = {imported.modules[0] for imported in imports}
    versions = {"Python": platform.python_version()}
    for package in sorted(packages - _PLUMBING - sys.stdlib_module_names):
        versions |= library_versions(package) if _is_installed(package) else {}
    return versions
