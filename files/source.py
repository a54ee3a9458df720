"""Which code makes a result: the whole source files that its imports lead to, and the versions of
the libraries imported there; read from the text, without running any of it.

From a module follow its import statements, those inside functions too, to other modules of the
project and the user. Of each file the syntax counts: comments, docstrings, layout, what is imported
for type checkers alone and whether a checkout or a wheel is installed do not.
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
from files.loaded import SCRIPTS, file_of, is_library, loaded_text, loads_of, users_modules
from files.patches import patches_of
from files.rooms import ROOMS, importable, is_ours, plain

# Modules of ours that compute no result: they judge results, keep them, hash code, or check values,
# and a value that they let pass is in the key. What a user's module imports of them counts.
PASSIVE = (
    *("analysis", "train.front", "train.store", "files.choice", "files.errors"),
    *("files.loaded", "files.patches", "files.rooms", "files.source"),
)
# Libraries that check, print and lock, and compute nothing
PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
# Where a distribution has not its module's name; others are looked for, which takes long
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}
# What computes for a library that is imported
BENEATH = {
    **dict.fromkeys(("gensim", "sklearn"), ("numpy", "scipy")),
    "nltk": ("regex",),
    "transformers": ("safetensors", "tokenizers"),
}
# Where they differ, a wheel's texts and imports differ from a checkout's in these alone
COMMANDS = re.compile(r"(python -m|biasbridge) [\w.]*\w|python (?:train)\.py")
WHEEL = "biasbridge.rooms."
USERS = "./"  # before a user's module that is called like a room where a wheel is installed
PATCHED = "patched "  # before a name of the project's that a user's module has given a new value

Json = str | list["Json"]


class Source(NamedTuple):
    """``modules``: a hash of each file, by the module's name in a checkout, and of each name in one
    that was patched. ``libraries``: the versions of Python and of the libraries imported there.
    """

    modules: Mapping[str, str]
    libraries: Mapping[str, str]

    @property
    def digest(self) -> str:
        """A hash of the modules."""
        return digest_of(dict(self.modules))


class Imported(NamedTuple):
    """``from MODULE import NAME``, or ``import MODULE`` where the name is empty."""

    module: str
    name: str


@dataclass(eq=False)
class Text:
    """One source file: the hash of its syntax, what it imports, what its top level imports by the
    name that it gives it, and what it and its classes set to a literal value.
    """

    module: str
    package: bool
    digest: str = ""
    imports: list[Imported] = field(default_factory=list)
    named: dict[str, Imported] = field(default_factory=dict)
    literals: dict[str, object] = field(default_factory=dict)


def full_name(thing: type | Callable[..., object]) -> str:
    """Return the name of a class or function with its module as a checkout has it; of a script the
    file's name stands for the module.
    """
    module = module_of(thing)
    home = Path(module).stem if thing.__module__ in SCRIPTS else _label(module)
    return f"{home}.{thing.__qualname__}"


def module_of(thing: type | Callable[..., object]) -> str:
    """Return the module that defines a class or function; of a script its path. Raise
    ``InputError`` where no file of that module is there to be read.
    """
    name = thing.__module__
    module = file_of(sys.modules.get(name)) if name in SCRIPTS else name
    if not (loaded_text(module) or (name in sys.modules and path_of(module))):
        raise InputError(
            f"{thing.__qualname__} is defined in {name!r}, of which there is no file to tell its"
            " results by; define it in a module, and import that by its name"
        )
    return module


def planned_source(roots: tuple[str, ...]) -> Source:
    """Return ``source_of`` the modules, and what users' modules have patched in them when they
    were loaded.
    """
    return _planned_source(roots, len(users_modules()))


@cache
def _planned_source(roots: tuple[str, ...], loaded: int) -> Source:
    source = source_of(roots)
    return source._replace(modules={**source.modules, **_patches(source.modules)})


@cache
def source_of(roots: tuple[str, ...]) -> Source:
    """Return the code of the modules ``roots`` and of all that they import, as the process first
    read or loaded it.
    """
    return _source(roots, {root.partition(".")[0] for root in roots})


def source_run(planned: Source) -> Source:
    """Return ``planned`` with the hashes of what this process really loaded and of what it has
    patched, and with what a user's module loaded though no import statement names it.
    """
    files = {label: each for label, each in planned.modules.items() if not _is_patch(label)}
    names = [_name(label) for label in files]
    more = {each for name in names if not is_ours(name) for each in loads_of(name)}
    further = _source(sorted(more - {*names}), set()) if more - {*names} else Source({}, {})
    loaded = {
        label: digest
        for label in (*files, *further.modules)
        if (digest := _loaded_digest(_name(label)))
    }
    modules = {**further.modules, **files, **loaded}
    return Source({**modules, **_patches(modules)}, {**further.libraries, **planned.libraries})


def differing(planned: Source, run: Source) -> list[str]:
    """Return the names of what is not as it was planned; further modules are no difference."""
    both = {*planned.modules, *filter(_is_patch, run.modules)}
    return sorted(each for each in both if planned.modules.get(each) != run.modules.get(each))


def source_now(source: Source, recorded: Iterable[str]) -> Source:
    """Return ``source`` with the further modules that a recipe has recorded; a hash is empty where
    the module is gone, or what was patched no longer is.
    """
    if more := set(recorded) - source.modules.keys():
        further = {e: "" if _is_patch(e) else read_module(_name(e)).digest for e in more}
        return source._replace(modules={**source.modules, **further})
    return source


def loaded_by_user() -> dict[str, str]:
    """Return the hashes of all modules and files outside the project, the standard library and the
    installed packages that this process has loaded, whether or not a step imports them.
    """
    return {_label(name): _loaded_digest(name) for name in users_modules()}


def _is_patch(label: str) -> bool:
    return label.startswith(PATCHED)


def _patches(modules: Iterable[str]) -> dict[str, str]:
    """Return hashes of what users' modules have given new values in modules of the project."""
    found: dict[str, str] = {}
    if not users_modules():
        return found
    for label in modules:
        if is_ours(name := _name(label)):
            for patched, (user, value) in patches_of(name, read_module(name).literals).items():
                by = f" by {_label(user)}" if user else ""
                digest = _loaded_digest(user) if user else digest_of(value)
                found[f"{PATCHED}{label}.{patched}{by}"] = digest
    return found


def _source(roots: Iterable[str], tops: set[str]) -> Source:
    found: dict[str, str] = {}
    libraries: set[str] = set()
    left = [module for root in roots for module in _executed(root)]
    while left:
        name = left.pop()
        if name in found:
            continue
        text = read_module(name)
        found[name] = text.digest
        follows_all = _is_passive(name) or not is_ours(name)
        for module, what in text.imports:
            if not _counts(module, tops):
                libraries.add(module.partition(".")[0])
            elif follows_all or not _is_passive(_target(module, what)):
                left += _executed(_target(module, what))
    modules = {_label(name): found[name] for name in sorted(found) if found[name]}
    return Source(modules, _versions(libraries))


def _executed(module: str) -> list[str]:
    """The modules whose code runs when this one is imported, its imports aside: of a user's package
    the packages around it too. Those of ours only hand names on, and a test holds them to it.
    """
    if module.startswith("/"):
        return [module]
    parts = module.split(".")
    around = [] if is_ours(module) else [".".join(parts[:end]) for end in range(1, len(parts))]
    return [*around, module]


def _target(module: str, name: str) -> str:
    """The module that an import leads to: through a package of ours, which hands the name on, to
    where it comes from.
    """
    text = read_module(module)
    handed_on = text.named.get(name)
    within = f"{module}.{name}"
    if text.package and is_ours(module) and handed_on and handed_on.module != module:
        return _target(*handed_on)
    return within if name and text.package and path_of(within) else module


def _counts(module: str, tops: set[str]) -> bool:
    top = module.partition(".")[0]
    if is_ours(module) or top in tops:
        return True
    path = None if top in sys.stdlib_module_names else path_of(top)
    return path is not None and not is_library(str(path))


def _is_passive(module: str) -> bool:
    name = plain(module)
    return is_ours(module) and any(f"{name}.".startswith(f"{each}.") for each in PASSIVE)


def _label(name: str) -> str:
    users = name.partition(".")[0] in ROOMS and not is_ours(name)
    return f"{USERS}{name}" if users else plain(name)


def _name(label: str) -> str:
    return label.removeprefix(USERS) if label.startswith(USERS) else importable(label)


@cache
def read_module(name: str) -> Text:
    """The module of that name, as it was loaded or else as its file is now; an empty one where it
    has no source text. A package that loads names when they are asked for has their origins in its
    stub.
    """
    path = path_of(name)
    content = loaded_text(name)
    if content is None and path:
        content = path.read_bytes()
    text = parse(name, package=path is not None and path.stem == "__init__", content=content or b"")
    stub = path.with_suffix(".pyi") if path and text.package else None
    if stub and stub.is_file():
        more = parse(name, package=True, content=stub.read_bytes())
        return replace(
            text, imports=text.imports + more.imports, named={**text.named, **more.named}
        )
    return text


@cache
def parse(name: str, *, package: bool, content: bytes) -> Text:
    """The text of a source file."""
    text = Text(name, package)
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
    found: dict[str, object] = {}
    for node in body:
        match node:
            case ast.ClassDef():
                found |= _literals(node.body, f"{prefix}{node.name}.")
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                with suppress(ValueError, TypeError):
                    literal = ast.literal_eval(value)
                    if name.isupper() or not isinstance(literal, list | dict | set):  # a cache
                        found[f"{prefix}{name}"] = literal
    return found


def _loaded_digest(name: str) -> str:
    content = loaded_text(name)
    return parse(name, package=read_module(name).package, content=content).digest if content else ""


def _as_json(node: ast.AST, text: Text) -> Json:
    """A piece of syntax as nested lists, the same under every version of Python; its imports are
    added to ``text``.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        text.imports += _imported(node, text)
    found: list[Json] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if value is None or value == [] or name in ("kind", "type_comment", "ctx"):
            continue
        values = value if isinstance(value, list) else [value]
        kept = [each for each in values if not _is_text(each) and not _for_type_checkers(each)]
        found.append([name, *(_value(each, text) for each in kept)])
    return found


def _value(value: object, text: Text) -> Json:
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


def _imported(node: ast.Import | ast.ImportFrom, text: Text) -> list[Imported]:
    if isinstance(node, ast.Import):
        return [Imported(alias.name, "") for alias in node.names]
    module = node.module or ""
    if node.level:
        package = text.module if text.package else text.module.rpartition(".")[0]
        module = resolve_name(f"{'.' * node.level}{module}", package)
    return [Imported(module, alias.name) for alias in node.names]


@cache
def path_of(module: str) -> Path | None:
    """The file of a module, found without importing it or its package."""
    if own := module if module.startswith("/") else file_of(sys.modules.get(module)):
        return Path(own) if Path(own).is_file() else None
    top, *rest = module.split(".")
    loaded = sys.modules.get(top)
    try:
        spec = loaded.__spec__ if loaded else find_spec(top)
    except ValueError:  # __main__ has none
        return None
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


@cache
def library_versions(module: str) -> Mapping[str, str]:
    """Return the versions of the distributions that a library comes from, by their names."""
    name = DISTRIBUTIONS.get(module, module)
    try:
        return {name: metadata.version(name)}
    except (metadata.PackageNotFoundError, ValueError):
        found = _distributions().get(module, ())
        return {name: metadata.version(name) for name in found}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _versions(modules: Iterable[str]) -> dict[str, str]:
    found = {"Python": platform.python_version()}
    beneath = {below for module in modules for below in BENEATH.get(module, ())}
    for module in sorted({*modules, *beneath} - PLUMBING - sys.stdlib_module_names):
        found |= library_versions(module)
    return found
