"""The code that produces a result: the source files that its imports reach, and the versions of
the libraries imported there. Files are parsed, not run.

The import statements of a module, those inside functions included, lead to other modules of the
project and the user.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from files.digest import digest_of
from files.errors import InputError
from files.rooms import ROOMS, importable, is_ours, plain
from train.engine.provenance.libraries import versions_of
from train.engine.provenance.loaded import (
    SCRIPTS,
    file_of,
    is_library,
    loaded_text,
    modules_loaded_by,
    user_modules,
)
from train.engine.provenance.patches import patches_of
from train.engine.provenance.syntax import loaded_digest, path_of, read_module

# Modules of ours that compute no result: they analyse or store results, hash code, or check values,
# and a value that passes is in the key. Imports of them by a user's module count.
PASSIVE = (
    *("analysis", "train.cli", "train.engine.provenance", "train.engine.store"),
    *("files.choice", "files.choice_classes", "files.errors", "files.rooms"),
)
USERS = "./"  # prefix of a user's module with the name of a room, if a wheel is installed
PATCHED = "patched "  # prefix of a name of the project that a user's module has replaced


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


def require_findable(definition: type | Callable[..., object]) -> None:
    """Raise ``InputError`` unless a class or function is what its module has under its name."""
    value: object = sys.modules.get(definition.__module__, definition)
    for name in definition.__qualname__.split(".") if value is not definition else ():
        value = getattr(value, name, None)
    if "<" in definition.__qualname__ or value is not definition:
        raise InputError(
            f"{definition.__module__}.{definition.__qualname__} cannot be told from others of this"
            " name: it is defined in a function, or again; define it once, at the top level of a"
            " module"
        )


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
        if (digest := loaded_digest(_name(label)))
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
    return {_label(name): loaded_digest(name) for name in user_modules()}


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
                digest = loaded_digest(user) if user else digest_of(value)
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
    return Source(modules, versions_of(libraries))


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
    reexport = text.imports_by_name.get(name)
    submodule = f"{module}.{name}"
    if text.is_package and is_ours(module) and reexport and reexport.module != module:
        return _target(*reexport)
    return submodule if name and text.is_package and path_of(submodule) else module


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
