"""Stored results on disk: sealed with checksums when built, checked against them when used."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from biasbridge.files.digest import digest_of, sha256
from biasbridge.files.folders import HOME
from biasbridge.train.engine.source import Source, library_versions, user_hashes
from biasbridge.train.engine.store.step import SCHEME

if TYPE_CHECKING:
    from biasbridge.train.engine.store.step import Recipe

RECIPE = "recipe.json"


class Request(TypedDict, total=False):
    """Command that requested a result, the device it ran on, ``Step.work``, and the seconds of
    imports.
    """

    command: str
    device: str
    work: float
    imports: float


class Lineage(TypedDict):
    """Hashes of code and library versions that made a result and its ancestors."""

    code: str
    libraries: str


class Provenance(Request):
    """How a result was made: hashes of source files, versions, commit, user files ``loaded``; on a
    CPU the ``instructions`` of torch, where that was loaded. They are not part of the key.
    """

    seconds: float
    time: str
    host: str
    project: str
    commit: str
    modules: dict[str, str]
    loaded: dict[str, str]
    libraries: dict[str, str]
    instructions: NotRequired[str]
    lineage: Lineage


class Checksum(TypedDict):
    """Size and hash of a stored file."""

    bytes: int
    sha256: str


class Content(TypedDict):
    """Content of ``recipe.json``, except ``sha256``, the hash of the rest."""

    recipe: Recipe
    made: Provenance
    files: dict[str, Checksum]


def lineage(source: Source, inputs: Mapping[str, Lineage]) -> Lineage:
    """Return the lineage of a result of this code and inputs with these lineages."""
    return {
        "code": digest_of([source.modules, {n: old["code"] for n, old in inputs.items()}]),
        "libraries": digest_of(
            [source.libraries, {n: old["libraries"] for n, old in inputs.items()}]
        ),
    }


def describe_build(
    source: Source, inputs: Mapping[str, Path], seconds: float, request: Request
) -> Provenance:
    """Return how a result was made, by this code from the results in the folders ``inputs``."""
    lineages = {name: read_recipe(folder)["made"]["lineage"] for name, folder in inputs.items()}
    made: Provenance = {
        "seconds": round(seconds, 3),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "project": library_versions("biasbridge").get("biasbridge", ""),
        "commit": _commit(),
        "modules": dict(source.modules),
        "loaded": user_hashes(),
        "libraries": dict(source.libraries),
        "lineage": lineage(source, lineages),
        **request,  # type: ignore[typeddict-item]
    }
    torch = sys.modules.get("torch")
    if torch and "torch" in source.libraries and request.get("device", "cpu") == "cpu":
        made["instructions"] = torch.backends.cpu.get_cpu_capability()
    return made


@cache
def _commit() -> str:
    """Return the commit of the working tree, with ``-dirty`` if changed; empty without git."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    if (HOME / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            completed = subprocess.run(
                command, cwd=HOME, env=environment, capture_output=True, text=True, timeout=10
            )
            return completed.stdout.strip()
    return ""


class DamagedError(Exception):
    """A stored result differs from what was stored; the message says how."""


def seal(folder: Path, recipe: Recipe, made: Provenance) -> None:
    """Write ``recipe.json`` with recipe, provenance and checksums of all files."""
    files: dict[str, Checksum] = {
        str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in _files(folder)
    }
    content: Content = {"recipe": recipe, "made": made, "files": files}
    text = json.dumps({**content, "sha256": _hash(content)}, indent=1, sort_keys=True)
    (folder / RECIPE).write_text(text, encoding="utf-8")


def read_recipe(folder: Path) -> Content:
    """Return the content of ``recipe.json``.

    Raises ``DamagedError`` if it is missing, unreadable, altered, of another key or scheme.
    """
    try:
        content: Content = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
        sealed = content.pop("sha256")  # type: ignore[typeddict-item]
        altered = sealed != _hash(content) or content.keys() != Content.__annotations__.keys()
    except FileNotFoundError:
        raise DamagedError(f"{RECIPE} is missing") from None
    except (ValueError, OSError, AttributeError, KeyError, TypeError, RecursionError):
        raise DamagedError(f"{RECIPE} is no recipe") from None
    if altered:
        raise DamagedError(f"{RECIPE} was altered")
    if (key := digest_of(content["recipe"])) != folder.name:
        raise DamagedError(f"{RECIPE} belongs to another key, {key}")
    if content["recipe"]["scheme"] != SCHEME:
        raise DamagedError("it was stored by an earlier version, and no sweep uses it")
    return content


def check(folder: Path) -> Content:
    """Return the content of ``recipe.json`` after comparing every file with its checksum.

    Raises ``DamagedError`` with the first difference.
    """
    content = read_recipe(folder)
    paths = {str(path.relative_to(folder)): path for path in _files(folder)}
    for name, sealed in content["files"].items():
        if name not in paths:
            raise DamagedError(f"{name} is missing")
        size = paths[name].stat().st_size
        if size != sealed["bytes"]:
            raise DamagedError(f"{name} has {size:,} bytes and was stored with {sealed['bytes']:,}")
        if sha256(paths[name]) != sealed["sha256"]:
            raise DamagedError(f"{name} was altered: its SHA-256 is not the one it was stored with")
    if added := sorted(paths.keys() - content["files"].keys()):
        raise DamagedError(f"{added[0]} was added")
    return content


def _files(folder: Path) -> list[Path]:
    """Return the files of a result without hidden ones of desktops and NFS (.nfs...)."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path != folder / RECIPE)
    return sorted(path for path in paths if not path.name.startswith("."))


def _hash(content: Content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
