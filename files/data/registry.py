"""The registry of real data: names, files, addresses, checksums and licences, and where files lie.

``datasets.yaml`` names what there is, ``registry.tsv`` lists the files of data sets, vectors and
models, ``recipes.yaml`` and ``recipes.tsv`` the corpora that are built from files of others.
"""

from __future__ import annotations

import csv
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.text import read_nested

_HERE = Path(__file__).parent
DATA_VARIABLE = "BIASBRIDGE_DATA"
RAW, ARCHIVE = "https://raw.githubusercontent.com/", "https://codeload.github.com/"
_HUB_TARGET = "(hub cache)"

DataKind = Literal["data", "corpus", "vectors", "model", "hub data"]


@dataclass(frozen=True)
class DataFile:
    """A file of others.

    ``target``: path below the data folder. ``addresses``: in the order to be tried. ``checks``:
    digests by algorithm (``sha256``, ``gitblob``, ``md5``, ``sha1``) of what is downloaded; with
    ``member``, that is a zip of which the file is a member with the digests ``member_checks``.
    ``by_user``: never downloaded.
    """

    target: str
    addresses: tuple[str, ...]
    n_bytes: int | None = None
    checks: dict[str, str] = field(default_factory=dict, hash=False)
    member: str = ""
    member_checks: dict[str, str] = field(default_factory=dict, hash=False)
    by_user: bool = False

    @property
    def own_checks(self) -> dict[str, str]:
        """Return the digests of the file itself."""
        return self.member_checks if self.member else self.checks

    @property
    def repository_path(self) -> str:
        """Return the path in the file's GitHub repository; empty if it is in none."""
        return unquote(self._raw_parts[3]) if self._raw_parts else ""

    @property
    def archive(self) -> DataFile | None:
        """Return the zip that has the file as a member, or the archive of its repository."""
        if self.member:
            name = self.addresses[0].rpartition("/")[2]
            return DataFile(name, self.addresses, self.n_bytes, self.checks)
        if not self._raw_parts:
            return None
        owner, name, commit = self._raw_parts[:3]
        return DataFile(f"{commit}.tar.gz", (f"{ARCHIVE}{owner}/{name}/tar.gz/{commit}",))

    @property
    def _raw_parts(self) -> list[str]:
        address = next(iter(self.addresses), "")
        return address.removeprefix(RAW).split("/", 3) if address.startswith(RAW) else []


@dataclass(frozen=True)
class DataSet:
    """What a user can name: a data set, a corpus, vectors or a model on a hub.

    ``ask``: how to get what may not be downloaded. ``line``: pattern of the lines of a file that
    has no known digest. ``recipe``: sources of a corpus, as in ``recipes.yaml``.
    """

    name: str
    kind: DataKind
    what: str
    licence: str
    licence_source: str
    citation: str
    files: tuple[DataFile, ...]
    ask: str = ""
    note: str = ""
    line: str = ""
    recipe: dict[str, Any] | None = field(default=None, hash=False)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return where the files that are read lie: of a corpus its text."""
        return (corpus_target(self.name),) if self.recipe else _targets(self.files)

    @property
    def remedy(self) -> str:
        """Return how to get what may not be downloaded."""
        if self.ask.startswith("not public"):
            return self.ask
        return f"{self.ask}. Then run biasbridge data add {self.name} FILE"

    @property
    def n_here(self) -> int:
        """How many of the files that are read lie in the data folder."""
        return sum((data_folder() / target).exists() for target in self.targets)

    @property
    def commit(self) -> str:
        """Return the commit of a model or data on a hub; empty if none is known."""
        return self.files[0].checks.get("commit", "") if self.kind in ("model", "hub data") else ""

    @property
    def is_here(self) -> bool:
        """Whether all files lie in the data folder; of a restricted set those that are needed."""
        return not self.commit and self.n_here == len(self.targets)

    @property
    def n_bytes(self) -> int | None:
        """Return the size of the downloads; None if that of a file is not known."""
        return None if None in [file.n_bytes for file in self.files] else total_size(self.files)


def _targets(files: Iterable[DataFile]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.target for file in files))


def total_size(files: Iterable[DataFile]) -> int:
    """Return the bytes of downloads; one zip may have several of the files."""
    sizes = {file.addresses if file.member else file.target: file.n_bytes or 0 for file in files}
    return sum(sizes.values())


def corpus_target(name: str) -> str:
    """Return the path of a corpus below the data folder."""
    return f"corpora/{name}.txt.xz"


def data_folder() -> Path:
    """Return the folder of real data: ``$BIASBRIDGE_DATA``, else one in the user's cache."""
    if folder := os.environ.get(DATA_VARIABLE):
        return Path(folder)
    if sys.platform == "win32":
        cache_folder = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        cache_folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_folder) / "biasbridge" / "data"


@cache
def registry() -> dict[str, DataSet]:
    """Read the sets by name."""
    files: dict[str, list[DataFile]] = {}
    for row in _rows("registry.tsv"):
        files.setdefault(row["name"], []).append(
            DataFile(
                row["target"],
                tuple(row["address"].split()),
                int(row["bytes"]) if row["bytes"] else None,
                _read_checks(row["checks"]),
                row["member"],
                _read_checks(row["member_checks"]),
                row["by"] == "user",
            )
        )
    sets = {
        name: DataSet(
            name, _kind(files[name][0], fields["what"]), files=tuple(files[name]), **fields
        )
        for name, fields in _read_yaml("datasets.yaml")["sets"].items()
    }
    sources: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _rows("recipes.tsv"):
        sources.setdefault((row["corpus"], row["repository"]), []).append(row)
    for name, recipe in _read_yaml("recipes.yaml")["corpora"].items():
        sets[name] = _corpus(name, recipe, sources)
    return sets


def _corpus(
    name: str, recipe: dict[str, Any], rows: dict[tuple[str, str], list[dict[str, str]]]
) -> DataSet:
    files = []
    for source in recipe["sources"]:
        base = f"{source['repository']}/{source['commit']}"
        source["targets"] = []
        for row in rows[name, source["repository"]]:
            if row["path"] in source.get("paths", [row["path"]]):
                target = f"sources/{base}/{row['path']}"
                address = f"{RAW}{base}/{quote(row['path'])}"
                checks = {"sha256": row["sha256"]}
                files.append(DataFile(target, (address,), int(row["bytes"]), checks))
                source["targets"].append(target)
    grades = {source["grade"] for source in recipe["sources"]}
    licences = dict.fromkeys(source["licence"] for source in recipe["sources"])
    return DataSet(
        name,
        "corpus",
        recipe["title"],
        "; ".join(licences) + ("; for research, not to be passed on" if "B" in grades else ""),
        "the repositories",
        f"{name}: {len(recipe['sources'])} collections, listed by biasbridge data info {name}",
        tuple(files),
        recipe=recipe,
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (_HERE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def _read_yaml(name: str) -> Any:
    return read_nested(_HERE / name)


def _read_checks(text: str) -> dict[str, str]:
    return dict(check.split(":", 1) for check in text.split())


def _kind(file: DataFile, what: str) -> DataKind:
    if file.target == _HUB_TARGET:
        return "hub data" if what.startswith("hub data") else "model"
    return "vectors" if file.target.startswith("vectors/") else "data"


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """Read the names that stand for several sets."""
    return {name: tuple(names) for name, names in _read_yaml("datasets.yaml")["groups"].items()}


def find_sets(name: str) -> list[DataSet]:
    """Return the sets of a name or of a group. Raises ``InputError`` for an unknown one."""
    if name not in registry() and name not in groups():
        hint = nearest(name, [*registry(), *groups()])
        raise InputError(f"no data {name!r}{hint}; biasbridge data lists what there is")
    return [registry()[member] for member in groups().get(name, (name,))]


def sets_of(relative: str) -> list[DataSet]:
    """Return the sets that a file, folder or pattern below the data folder belongs to, each with
    the files that it means.
    """
    relative = relative.rstrip("/")
    alternatives = {relative, relative.removesuffix(".xz")}  # a table is read compressed or not

    def is_meant(target: str) -> bool:
        is_inside = target.startswith(f"{relative}/") or fnmatchcase(target, relative)
        return target in alternatives or is_inside

    sets = []
    for data in registry().values():
        files = tuple(file for file in data.files if is_meant(file.target))
        if data.recipe and is_meant(corpus_target(data.name)):
            sets.append(data)
        elif files:
            sets.append(replace(data, files=files))
    public = [data for data in sets if not data.ask]
    return public if any(relative in data.targets for data in public) else sets


def sets_of_content(files: Collection[tuple[str, str]]) -> list[DataSet]:
    """Return the sets with one of the files, given by name and sha256; a corpus by its name."""
    names, digests = {name for name, _ in files}, {digest for _, digest in files}
    return [
        data
        for data in registry().values()
        if (data.recipe and Path(corpus_target(data.name)).name in names)
        or any(file.checks.get("sha256") in digests for file in data.files)
    ]


_requested: ContextVar[list[str] | None] = ContextVar("requested", default=None)
_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collected_requests() -> Iterator[list[str]]:
    """Collect what the points composed in the block read from the data folder, missing or not."""
    collected: list[str] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


@contextmanager
def required_requests() -> Iterator[None]:
    """Raise ``InputError`` after the block if paths that ``data_path`` was asked for are missing,
    with the commands that bring them all; or hand them to ``collected_requests``.
    """
    requested: list[str] = []
    token = _requested.set(requested)
    try:
        yield
    finally:
        _requested.reset(token)
    if (collected := _collected.get()) is not None:
        collected.extend(requested)
    else:
        require_data(requested)


def require_data(paths: Iterable[str]) -> None:
    """Raise ``InputError`` if paths below the data folder are missing, with what brings them."""
    missing = [path for path in dict.fromkeys(paths) if not _is_there(path)]
    if missing:
        raise InputError(f"not in {data_folder()}: {', '.join(missing)}{how_to_get(*missing)}")


def data_path(relative: str) -> str:
    """Return the path of a file, folder or pattern of the data folder.

    Raises ``InputError`` if nothing is there, with the command that brings it.
    """
    if (requested := _requested.get()) is not None:
        requested.append(relative)
    elif _collected.get() is None and not _is_there(relative):
        raise InputError(f"not in {data_folder()}: {relative}{how_to_get(relative)}")
    path = data_folder() / relative
    plain = path.with_suffix("")  # a table is read compressed or not
    return str(plain if path.suffix == ".xz" and not path.exists() and plain.exists() else path)


def _is_there(relative: str) -> bool:
    folder = data_folder()
    path = folder / relative
    plain = path.suffix == ".xz" and path.with_suffix("").exists()
    return path.exists() or plain or any(folder.glob(relative))


def how_to_get(*paths: str) -> str:
    """Return the end of an error over missing paths below the data folder: what brings them."""
    sets = {data.name: data for path in paths for data in sets_of(path)}.values()
    restricted = [data for data in sets if any(file.by_user for file in data.files)]
    public = [data.name for data in sets if data not in restricted]
    remedies = [f"run biasbridge data get {shlex.join(public)}"] if public else []
    remedies += [data.remedy for data in restricted]
    return "; " + ("; ".join(remedies) or "give another path, or put it there")


def how_to_get_path(path: Path) -> str:
    """Return ``how_to_get`` for a path in the data folder that a set has; empty for any other."""
    try:
        relative = path.resolve().relative_to(data_folder().resolve()).as_posix()
    except ValueError:
        return ""
    return how_to_get(relative) if sets_of(relative) else ""
