"""One stored result on disk: sealed with checksums before it takes its name, checked against them
when it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from files.digest import digest_of, sha256
from files.rooms import HOME
from files.source import Source, library_version
from train.store.stage import Recipe, recipe_key

RECIPE = "recipe.json"


class Request(TypedDict, total=False):
    """The command that asked for a result, and the device it ran on."""

    command: str
    device: str


class Lineage(TypedDict):
    """Hashes of the code and of the libraries' versions that made a result and all it rests on."""

    code: str
    libraries: str


class Made(Request):
    """How a result was made.

    ``modules``: a hash of each source file that made it. ``libraries``: versions of Python and of
    what that code imports. ``project``, ``commit``: the project's own version, and its commit in
    Git where there is one.
    """

    seconds: float
    time: str
    host: str
    project: str
    commit: str
    modules: dict[str, str]
    libraries: dict[str, str]
    lineage: Lineage


class Checksum(TypedDict):
    """What a file must have."""

    bytes: int
    sha256: str


class Content(TypedDict):
    """What ``recipe.json`` holds; ``sha256`` is the hash of the rest."""

    recipe: Recipe
    made: Made
    files: dict[str, Checksum]
    sha256: NotRequired[str]


def lineage(source: Source, inputs: Mapping[str, Lineage]) -> Lineage:
    """The lineage of what this code makes of results with these."""
    return {
        "code": digest_of([source.modules, {n: each["code"] for n, each in inputs.items()}]),
        "libraries": digest_of(
            [source.libraries, {n: each["libraries"] for n, each in inputs.items()}]
        ),
    }


def describe_build(
    source: Source, inputs: Mapping[str, Path], seconds: float, request: Request
) -> Made:
    """How a result was made: by this code from the results in the folders ``inputs``."""
    lineages = {name: read_recipe(folder)["made"]["lineage"] for name, folder in inputs.items()}
    return {
        "seconds": round(seconds, 3),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "project": library_version("biasbridge")[1],
        "commit": commit(),
        "modules": dict(source.modules),
        "libraries": dict(source.libraries),
        "lineage": lineage(source, lineages),
        **request,
    }


@cache
def commit() -> str:
    """The commit of the working tree that the project runs from, ``-dirty`` where files of it were
    changed; empty where there is none.
    """
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
    if (HOME / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            return subprocess.run(
                command,
                cwd=HOME,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            ).stdout.strip()
    return ""


class DamagedError(Exception):
    """A stored result is not what was stored; the message says in what way."""


def seal(folder: Path, recipe: Recipe, made: Made) -> None:
    """Write ``recipe.json``: the recipe, how it was made, size and SHA-256 of every file, and a
    hash of all that; flush all to the disk.

    After it returns a rename of ``folder`` is all that is missing, and a loss of power leaves the
    whole result or none.
    """
    files: dict[str, Checksum] = {
        str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in _files(folder)
    }
    content: Content = {"recipe": recipe, "made": made, "files": files}
    content["sha256"] = _own_hash(content)
    text = json.dumps(content, indent=1, sort_keys=True)
    (folder / RECIPE).write_text(text, encoding="utf-8")
    for path in [*folder.rglob("*"), folder]:
        flush(path)


def read_recipe(folder: Path) -> Content:
    """The content of ``recipe.json``. Raises ``DamagedError`` if it is absent, cannot be read, or
    is not what was sealed for this key.
    """
    try:
        content: Content = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DamagedError(f"{RECIPE} is missing") from None
    except (ValueError, IsADirectoryError, NotADirectoryError):
        raise DamagedError(f"{RECIPE} is not JSON") from None
    sealed = content.pop("sha256", None) if isinstance(content, dict) else None
    if sealed is None or sealed != _own_hash(content):
        raise DamagedError(
            f"{RECIPE} was altered"
            if sealed
            else f"{RECIPE} has no checksums (written by an early version)"
        )
    if content.keys() != Content.__annotations__.keys() - {"sha256"}:
        raise DamagedError(f"{RECIPE} is no recipe")
    if recipe_key(content["recipe"]) != folder.name:
        raise DamagedError(f"{RECIPE} belongs to another key, {recipe_key(content['recipe'])}")
    return content


def check(folder: Path) -> Content:
    """The content of ``recipe.json`` after every file was compared with it. Raises ``DamagedError``
    with the first difference.
    """
    content = read_recipe(folder)
    found = {str(path.relative_to(folder)): path for path in _files(folder)}
    for name, sealed in content["files"].items():
        if name not in found:
            raise DamagedError(f"{name} is missing")
        size = found[name].stat().st_size
        if size != sealed["bytes"]:
            raise DamagedError(f"{name} has {size:,} bytes and was stored with {sealed['bytes']:,}")
        if sha256(found[name]) != sealed["sha256"]:
            raise DamagedError(f"{name} was altered: its SHA-256 is not the one it was stored with")
    if extra := sorted(found.keys() - content["files"].keys()):
        raise DamagedError(f"{extra[0]} was added")
    return content


def flush(path: Path) -> None:
    """Have the system write a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _files(folder: Path) -> list[Path]:
    """The files of a result; hidden ones are a desktop's or the file system's (NFS keeps a removed
    file as .nfs... while it is open).
    """
    found = (path for path in folder.rglob("*") if path.is_file() and path != folder / RECIPE)
    return sorted(path for path in found if not path.name.startswith("."))


def _own_hash(content: Content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
