"""Stored results: sealed with checksums when built, checked against them when used, and compared
with the current code and library versions.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, TypedDict

from files import InputError
from files.digest import digest_of, sha256
from files.rooms import HOME
from train.engine.source import Source, current_source, library_versions, user_hashes
from train.engine.store.step import SCHEME

if TYPE_CHECKING:
    from rich.console import Console

    from train.engine.store.step import Recipe, Step
    from train.engine.store.store import Store

RECIPE = "recipe.json"
Policy = Literal["refuse", "use", "rebuild"]  # of results of other code


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


class Outdated(NamedTuple):
    """A stored result of other code or library versions.

    ``modules``: source files that differ; ``libraries``: as ``gensim 4.3.3 (now 4.4.0)``; ``code``:
    whether code differs here or in an ancestor.
    """

    step: Step
    code: bool
    modules: tuple[str, ...]
    libraries: tuple[str, ...]


def outdated(store: Store, ends: Iterable[Step]) -> list[Outdated]:
    """Return the outdated results that these steps use, and outdated ancestors.

    Only recipes are read; no result is checked.
    """
    compared: dict[str, tuple[Lineage, bool, Outdated | None]] = {}
    outdated_by_key: dict[str, Outdated] = {}
    visited: set[str] = set()

    def compare(step: Step) -> tuple[Lineage, bool, Outdated | None]:
        if step.key not in compared:
            inputs = {name: compare(input_step)[0] for name, input_step in step.inputs.items()}
            compared[step.key] = _compare(store, step, inputs)
        return compared[step.key]

    queue = list(ends)
    while queue:
        step = queue.pop(0)
        if step.key in visited:
            continue
        visited.add(step.key)
        _, is_stored, difference = compare(step)
        if difference:
            outdated_by_key[step.key] = difference
        if difference or not is_stored:  # inputs of a current stored result are not used
            queue += step.inputs.values()
    return list(outdated_by_key.values())


def _compare(
    store: Store, step: Step, inputs: Mapping[str, Lineage]
) -> tuple[Lineage, bool, Outdated | None]:
    """Return the current lineage of a result, whether it is stored, and how that one differs."""
    try:
        made = read_recipe(store.path(step))["made"]
    except DamagedError:  # missing, or moved away when it is used
        return lineage(step.source, inputs), False, None
    source = current_source(step.source, made["modules"])
    current, old_libraries = lineage(source, inputs), made["libraries"]
    if made["lineage"] == current:
        return current, True, None
    libraries = tuple(
        f"{name} {old_libraries.get(name, 'none')} (now {source.libraries.get(name, 'none')})"
        for name in _differing(old_libraries, source.libraries)
    )
    code = made["lineage"]["code"] != current["code"]
    modules = tuple(_differing(made["modules"], source.modules))
    return current, True, Outdated(step, code, modules, libraries)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({**before, **now}) if before.get(name) != now.get(name)]


def report_outdated(results: Sequence[Outdated], policy: Policy, console: Console) -> None:
    """Print what happens to outdated results: ``rebuild`` rebuilds, ``use`` uses them.

    ``refuse`` uses those of other libraries and raises ``InputError`` for those of other code.
    """
    other_code = [result for result in results if result.code]
    other_libraries = [result for result in results if not result.code]
    if other_code and policy == "refuse":
        raise InputError(
            f"stored results are of other code: {_describe(other_code)}; --stale rebuild rebuilds"
            " them and what depends on them, --stale use uses them unchanged"
        )
    action = "rebuilding" if policy == "rebuild" else "using"
    for group, cause in ((other_code, "code"), (other_libraries, "library versions")):
        if group:
            line = f"{action} results of other {cause}: {_describe(group)}"
            console.print(line, soft_wrap=True)


def _describe(results: Sequence[Outdated]) -> str:
    """Return the number of results per step and what differs, first causes first."""
    counts = Counter((r.step.label, (*r.modules, *r.libraries)) for r in results)
    ordered = sorted(counts.items(), key=lambda entry: not entry[0][1])
    return ", ".join(
        f"{count} {label}: {'+'.join(causes) or 'depends on these'}"
        for (label, causes), count in ordered
    )
