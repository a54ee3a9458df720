"""The code that produces a result: the source files that its imports reach, and the versions of
the libraries imported there. Files are parsed, not run.

The import statements of a module, those inside functions included, lead to other modules of the
project and the user. Only the syntax of a file counts: comments, docstrings, layout, imports for
type checkers and the difference between a checkout and a wheel do not.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from files.digest import digest_of
from files.errors import InputError
from files.loaded import SCRIPTS, file_of, is_library, loaded_text, modules_loaded_by, user_modules
from files.patches import patches_of
from files.rooms import ROOMS, importable, is_ours, plain

# Modules of ours that compute no result: they analyse or store results, hash code, or check values,
# and a value that passes is in the key. Imports of them by a user's module count.
PASSIVE = (
    *("analysis", "train.cli", "train.engine.store", "files.choice", "files.errors"),
    *("files.loaded", "files.patches", "files.rooms", "files.source"),
)
# Libraries that check, print and lock, and compute nothing
PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
# Distributions whose name differs from their module's; searching for others is slow
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}
# Libraries that compute for an imported library
DEPENDENCIES = {
    **dict.fromkeys(("gensim", "sklearn"), ("numpy", "scipy")),
    "nltk": ("regex",),
    "transformers": ("safetensors", "tokenizers"),
}
# The only differences between the texts and imports of a wheel and a checkout
COMMANDS = re.compile(r"(python -m|biasbridge) [\w.]*\w|python (?:train)\.py")
WHEEL = "biasbridge.rooms."
USERS = "./"  # prefix of a user's module with the name of a room, if a wheel is installed
PATCHED = "patched "  # prefix of a name of the project that a user's module has replaced

Json = str | list["Json"]


class Source(NamedTuple):
    """``modules``: hashes of files, by the module's name in a checkout, and of patched names.
    ``libraries``: versions of Python and of the imported libraries.
    """

    modules: Mapping[str, str]
    libraries: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Hash of the modules."""
        return digest_of(dict(self.modules))


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
    package: bool
    digest: str = ""
    imports: list[Imported] = field(default_factory=list)
    named: dict[str, Imported] = field(default_factory=dict)
    literals: dict[str, object] = field(default_factory=dict)


def full_name(definition: type | Callable[..., object]) -> str:
    """Return the name of a class or function with its module's name in a checkout, or with the file
    name of a script.
    """
    module = module_of(definition)
    home = Path(module).stem if definition.__module__ in SCRIPTS else _label(module)
    return f"{home}.{definition.__qualname__}"


def module_of(definition: type | Callable[..., object]) -> str:
    """Return the module that defines a class or function; of a script its path. Raise
    ``InputError`` if the module has no readable file.
    """
    name = definition.__module__
    module = file_of(sys.modules.get(name)) if name in SCRIPTS else name
    if not (loaded_text(module) or (name in sys.modules and path_of(module))):
        raise InputError(
            f"{definition.__qualname__} is defined in {name!r}, which has no file to identify its"
            " results by; define it in a module, and import that by its name"
        )
    return module


def planned_source(roots: tuple[str, ...]) -> Source:
    """Return ``source_of`` the modules, and what users' modules have patched in them."""
    return _planned_source(roots, len(user_modules()))


@cache
def _planned_source(roots: tuple[str, ...], n_loaded: int) -> Source:
    source = source_of(roots)
    return source._replace(modules={**source.modules, **_patches(source.modules)})


@cache
def source_of(roots: tuple[str, ...]) -> Source:
    """Return the code of the modules ``roots`` and their imports, as first read or loaded."""
    return _source(roots, {root.partition(".")[0] for root in roots})


def loaded_source(planned: Source) -> Source:
    """Return ``planned`` with the hashes of the code that this process loaded or patched, and with
    modules that a user's module loaded without an import statement.
    """
    files = {label: digest for label, digest in planned.modules.items() if not _is_patch(label)}
    names = [_name(label) for label in files]
    loads = {module for name in names if not is_ours(name) for module in modules_loaded_by(name)}
    unplanned = loads - {*names}
    further = _source(sorted(unplanned), set()) if unplanned else Source({}, {})
    loaded = {
        label: digest
        for label in (*files, *further.modules)
        if (digest := _loaded_digest(_name(label)))
    }
    modules = {**further.modules, **files, **loaded}
    return Source({**modules, **_patches(modules)}, {**further.libraries, **planned.libraries})


def changed_modules(planned: Source, run: Source) -> list[str]:
    """Return the names of modules and patches that differ from the plan; further modules do not
    count.
    """
    labels = {*planned.modules, *filter(_is_patch, run.modules)}
    return sorted(label for label in labels if planned.modules.get(label) != run.modules.get(label))


def current_source(source: Source, recorded: Iterable[str]) -> Source:
    """Return ``source`` with the further modules that a recipe has recorded; the hash of a module
    or patch that no longer exists is empty.
    """
    if labels := set(recorded) - source.modules.keys():
        further = {
            label: "" if _is_patch(label) else read_module(_name(label)).digest for label in labels
        }
        return source._replace(modules={**source.modules, **further})
    return source


def user_module_hashes() -> dict[str, str]:
    """Return the hashes of all loaded modules and files of the user, whether or not a step imports
    them.
    """
    return {_label(name): _loaded_digest(name) for name in user_modules()}


def _is_patch(label: str) -> bool:
    return label.startswith(PATCHED)


def _patches(modules: Iterable[str]) -> dict[str, str]:
    """Return hashes of the names in modules of the project that users' modules have replaced."""
    digests: dict[str, str] = {}
    if not user_modules():
        return digests
    for label in modules:
        if is_ours(name := _name(label)):
            for patched, (user, value) in patches_of(name, read_module(name).literals).items():
                suffix = f" by {_label(user)}" if user else ""
                digest = _loaded_digest(user) if user else digest_of(value)
                digests[f"{PATCHED}{label}.{patched}{suffix}"] = digest
    return digests


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
        follows_all = _is_passive(name) or not is_ours(name)
        for module, imported_name in text.imports:
            if not _counts(module, tops):
                libraries.add(module.partition(".")[0])
            elif follows_all or not _is_passive(_target(module, imported_name)):
                pending += _executed(_target(module, imported_name))
    modules = {_label(name): digests[name] for name in sorted(digests) if digests[name]}
    return Source(modules, _versions(libraries))


def _executed(module: str) -> list[str]:
    """Return the modules whose code runs on import, besides imports: the module and the packages
    that contain a user's module. Packages of ours only re-export names, which a test checks.
    """
    if module.startswith("/"):
        return [module]
    parts = module.split(".")
    if is_ours(module):
        return [module]
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _target(module: str, name: str) -> str:
    """Return the module that defines an imported name, followed through packages of ours."""
    text = read_module(module)
    reexport = text.named.get(name)
    submodule = f"{module}.{name}"
    if text.package and is_ours(module) and reexport and reexport.module != module:
        return _target(*reexport)
    return submodule if name and text.package and path_of(submodule) else module


def _counts(module: str, tops: set[str]) -> bool:
    top = module.partition(".")[0]
    if is_ours(module) or top in tops:
        return True
    path = None if top in sys.stdlib_module_names else path_of(top)
    return path is not None and not is_library(str(path))


def _is_passive(module: str) -> bool:
    name = plain(module)
    return is_ours(module) and any(f"{name}.".startswith(f"{module}.") for module in PASSIVE)


def _label(name: str) -> str:
    is_users_room = name.partition(".")[0] in ROOMS and not is_ours(name)
    return f"{USERS}{name}" if is_users_room else plain(name)


def _name(label: str) -> str:
    return label.removeprefix(USERS) if label.startswith(USERS) else importable(label)


@cache
def read_module(name: str) -> SourceFile:
    """Parse a module as it was loaded, or its file as it is now; without source text the result is
    empty. The stub of a package that loads names lazily adds their imports.
    """
    path = path_of(name)
    content = loaded_text(name)
    if content is None and path:
        content = path.read_bytes()
    text = parse(name, package=path is not None and path.stem == "__init__", content=content or b"")
    stub = path.with_suffix(".pyi") if path and text.package else None
    if stub and stub.is_file():
        stub_text = parse(name, package=True, content=stub.read_bytes())
        imports = text.imports + stub_text.imports
        return replace(text, imports=imports, named={**text.named, **stub_text.named})
    return text


@cache
def parse(name: str, *, package: bool, content: bytes) -> SourceFile:
    """Parse the content of a source file."""
    text = SourceFile(name, package)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # compiled code, or whoever imports it gets the error
        text.digest = hashlib.sha256(content).hexdigest()[:32]
        return text
    text.digest = digest_of(_as_json(tree, text)) if tree.body else ""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = [alias.asname or alias.name for alias in node.names]
            text.named |= dict(zip(bound, _imported(node, text), strict=True))
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


def _loaded_digest(name: str) -> str:
    content = loaded_text(name)
    return parse(name, package=read_module(name).package, content=content).digest if content else ""


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
        content.append([name, *(_value(item, text) for item in code)])
    return content


def _value(value: object, text: SourceFile) -> Json:
    if isinstance(value, ast.AST):
        return _as_json(value, text)
    return COMMANDS.sub("", repr(value).replace(WHEEL, ""))


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
        package = text.module if text.package else text.module.rpartition(".")[0]
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


@cache
def library_versions(module: str) -> Mapping[str, str]:
    """Return the versions of a library's distributions by name."""
    name = DISTRIBUTIONS.get(module, module)
    try:
        return {name: metadata.version(name)}
    except (metadata.PackageNotFoundError, ValueError):
        names = _distributions().get(module, ())
        return {name: metadata.version(name) for name in names}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _versions(modules: Iterable[str]) -> dict[str, str]:
    versions = {"Python": platform.python_version()}
    dependencies = {name for module in modules for name in DEPENDENCIES.get(module, ())}
    for module in sorted({*modules, *dependencies} - PLUMBING - sys.stdlib_module_names):
        versions |= library_versions(module)
    return versions
