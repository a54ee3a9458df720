"""Steps, their keys, and the store of their results, which processes share.

A key hashes everything that decides a result. ``root/STEP/TITLE-KEY/`` holds a result and its
``recipe.json``; the title is for readers, the key alone identifies the result. It is built in
``root/work/KEY`` under a file lock, which ends with its process, and renamed into place: built
once, never used if incomplete. One whose checksums are wrong is removed and built again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple, NotRequired, TypedDict

from biasbridge.files import InputError
from biasbridge.files.data.registry import how_to_get_path
from biasbridge.files.errors import printable
from biasbridge.files.paths import HOME, digest_of, sha256
from biasbridge.train.engine.device import on_device
from biasbridge.train.engine.locks import (
    HeldError,
    NoLockError,
    StoreError,
    is_held,
    locked,
    running_sweep,
    writing,
)
from biasbridge.train.engine.source import (
    Source,
    changed_modules,
    library_versions,
    loaded_source,
    source_of,
)

_SCHEME = 6  # of keys: raised when the composition of keys changes, which changes every key
RECIPE = "recipe.json"
RESERVED = ("work", "unfinished", "locks", "digests")
KEY = re.compile("[0-9a-f]{32}")
# What may be removed from the folders of leftovers: the rest is not ours
_OWN = re.compile(rf"(\.removed-|\.probe-|sweep-)?{KEY.pattern}(\.lock)?")
_MAX_TITLE = 80  # characters
_MIN_AGE = 2_000_000_000  # nanoseconds; the coarsest resolution of file times
_MAX_TRIES = 5  # to find or build a result while other processes build, replace or remove it

Identity = tuple[tuple[int, ...], ...]

log = logging.getLogger(__name__)


class Recipe(TypedDict):
    """Everything that decides a result; ``inputs``: keys by name."""

    scheme: int
    step: str
    made_by: str
    done_by: str
    version: int
    params: dict[str, object]
    inputs: dict[str, str]
    files: dict[str, str]
    seed: int | None


class Decided(NamedTuple):
    """Parameters of a choice and digests of its files by file name."""

    params: Mapping[str, object]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """One step of a run.

    ``build(out, inputs)`` writes the result into the new folder ``out``; ``inputs`` maps names to
    folders of the input steps. ``files``: digests of outside files by name. ``decide(digest)``:
    current ``params`` and ``files``. ``made_by``, ``done_by``: class of the choice and function
    that carries it out, with modules. ``made_of``: modules that define what the step does.
    ``title``: what a reader knows the result by, such as ``word2vec,dim=50,seed=0``. ``key`` hashes
    everything but ``build``, ``decide``, ``made_of`` and ``title``, through all ancestors.
    """

    name: str
    made_by: str
    version: int
    params: Mapping[str, object]
    build: Callable[[Path, Mapping[str, Path]], None] = field(repr=False)
    inputs: Mapping[str, Step] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    done_by: str = ""
    decide: Callable[[Callable[[Path], str]], Decided] | None = field(default=None, repr=False)
    made_of: tuple[str, ...] = ()
    title: str = ""

    def __getstate__(self) -> dict[str, object]:
        """Return the state with the code that the step was planned with, for other processes."""
        return {**self.__dict__, "source": self.source}

    @cached_property
    def source(self) -> Source:
        """Code that makes the result, as this process first read or loaded it."""
        return source_of(self.made_of)

    @property
    def choice(self) -> str:
        """Name of the choice's class, without its module."""
        return self.made_by.rpartition(".")[2]

    @property
    def label(self) -> str:
        """Name of the step in messages: ``vectors (Word2Vec)``."""
        return f"{self.name} ({self.choice})"

    def recipe(self) -> Recipe:
        """Return everything that decides the result, as JSON."""
        return {
            "scheme": _SCHEME,
            "step": self.name,
            "made_by": self.made_by,
            "done_by": self.done_by,
            "version": self.version,
            "params": dict(self.params),
            "inputs": {name: step.key for name, step in self.inputs.items()},
            "files": dict(self.files),
            "seed": self.seed,
        }

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of the recipe's SHA-256."""
        return digest_of(self.recipe())

    @cached_property
    def entry_name(self) -> str:
        """Name of the result's folder: the title, cut to what every file system takes, and key."""
        title = _safe_title(self.title or self.choice)
        return f"{title}-{self.key}"

    def ancestry(self) -> dict[str, Step]:
        """Return this step and all its ancestors, by key, inputs first."""
        steps: dict[str, Step] = {}
        for step in self.inputs.values():
            steps |= step.ancestry()
        return steps | {self.key: self}


class Request(TypedDict, total=False):
    """Command that requested a result, and the device it ran on."""

    command: str
    device: str


class Lineage(TypedDict):
    """Hashes of code and library versions that made a result and its ancestors."""

    code: str
    libraries: str


class Provenance(Request):
    """How a result was made: hashes of source files, ``paths`` of the user's, versions, commit; on
    a CPU the ``instructions`` of torch, where that was loaded. They are not part of the key.
    """

    seconds: float
    time: str
    host: str
    project: str
    commit: str
    modules: dict[str, str]
    paths: dict[str, str]
    libraries: dict[str, str]
    instructions: NotRequired[str]
    lineage: Lineage


class _Checksum(TypedDict):
    """Size and hash of a stored file."""

    bytes: int
    sha256: str


class Content(TypedDict):
    """Content of ``recipe.json``, except ``sha256``, the hash of the rest."""

    recipe: Recipe
    made: Provenance
    files: dict[str, _Checksum]


def _safe_title(title: str) -> str:
    """Return a title in characters that every file system takes, without settings too many."""
    safe = re.sub(r"[^\w.,=+-]", "_", title, flags=re.ASCII)
    if len(safe) > _MAX_TITLE:
        safe = safe[: _MAX_TITLE + 1].rpartition(",")[0] or safe[:_MAX_TITLE]
    return safe.strip(".") or "_"


def key_of(entry: Path) -> str:
    """Return the key of a result's folder, from its name."""
    return entry.name.rpartition("-")[2]


def lineage(source: Source, inputs: Mapping[str, Lineage]) -> Lineage:
    """Return the lineage of a result of this code and inputs with these lineages."""
    return {
        "code": digest_of([source.files, {n: old["code"] for n, old in inputs.items()}]),
        "libraries": digest_of(
            [source.libraries, {n: old["libraries"] for n, old in inputs.items()}]
        ),
    }


def _describe_build(
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
        "modules": source.files,
        "paths": dict(source.paths),
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
    """A stored result differs from what was stored; the message says how, in printable text."""

    def __init__(self, difference: str) -> None:
        super().__init__(printable(difference))


def _seal_entry(folder: Path, recipe: Recipe, made: Provenance) -> None:
    """Write ``recipe.json`` with recipe, provenance and checksums of all files."""
    files: dict[str, _Checksum] = {
        str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in _files(folder)
    }
    content: Content = {"recipe": recipe, "made": made, "files": files}
    text = json.dumps({**content, "sha256": _hash(content)}, indent=1, sort_keys=True)
    (folder / RECIPE).write_text(text, encoding="utf-8")


def read_recipe(folder: Path) -> Content:
    """Return the content of ``recipe.json``. Raises ``DamagedError`` unless it is this result's."""
    try:
        content: Content = json.loads((folder / RECIPE).read_text(encoding="utf-8"))
        sealed = content.pop("sha256")  # type: ignore[typeddict-item]
        altered = sealed != _hash(content) or content.keys() != Content.__annotations__.keys()
    except FileNotFoundError:
        raise DamagedError(f"{RECIPE} is missing") from None
    except (ValueError, OSError, AttributeError, KeyError, TypeError, RecursionError):
        raise DamagedError(f"{RECIPE} is not a recipe") from None
    if altered:
        raise DamagedError(f"{RECIPE} was altered")
    if (key := digest_of(content["recipe"])) != key_of(folder):
        raise DamagedError(f"{RECIPE} belongs to another key, {key}")
    if content["recipe"]["scheme"] != _SCHEME:
        raise DamagedError("it was stored by an earlier version, and no sweep uses it")
    return content


def check_entry(folder: Path) -> Content:
    """Return ``recipe.json`` after comparing every checksum. Raises ``DamagedError``."""
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


def _identity(path: Path) -> Identity:
    """Return a value of a file and the links to it that changes when it is written or moved."""
    links = [link for link in (path, *path.absolute().parents) if link.is_symlink()]
    stats = [path.stat(), *map(Path.lstat, links)]
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in stats)


def _delete(path: Path) -> None:
    """Remove a folder or a file; of a link not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class Store:
    """Folder of results.

    ``made`` (command, device) is written to every recipe; ``built``: names of steps built by this
    object.
    """

    # All of this process: entries whose checksums were compared, and digests of outside files
    checked: ClassVar[set[tuple[Path, int]]] = set()
    hashed: ClassVar[dict[Identity, str]] = {}
    # By folder: its time of change, and the results in it by key
    _listed: ClassVar[dict[Path, tuple[int, dict[str, Path]]]] = {}

    def __init__(self, root: str | Path, made: Request | None = None) -> None:
        self.root = Path(root).resolve()
        self.made: Request = made or {}
        self.built: list[str] = []

    def require_own(self) -> None:
        """Raise ``InputError`` if others' files or links are where a store writes and removes."""
        if reason := self._foreign():
            raise InputError(f"store.dir={self.root}: {reason}; choose an empty folder")

    def _foreign(self) -> str:
        for name in ("locks", "work", "unfinished"):
            folder = self.root / name
            if folder.is_symlink():
                return f"{name} in it is a link"
            for path in sorted(folder.glob("[!.]*")) if name != "locks" else ():
                if path.is_symlink() or not _OWN.fullmatch(path.name):
                    return f"{name}/{path.name} in it is not of a store"
            if folder.exists() and not (self.root / "locks").exists():
                return f"it is not a store, and has a folder {name}"
        return ""

    def prove_writable(self) -> None:
        """Raise ``InputError`` unless the store is its own and can be written and locked."""
        self.require_own()
        try:
            for folder in ("locks", "work"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            probe = self.root / "work" / f".probe-{digest_of([platform.node(), os.getpid()])}"
            with locked(probe):
                probe.unlink(missing_ok=True)
        except OSError as error:
            no_lock = isinstance(error, NoLockError)
            reason = str(error) if no_lock else f"it cannot be written ({error.strerror})"
            raise InputError(
                f"store.dir={self.root}: {reason}; choose another with store.dir=PATH"
            ) from error

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Tell ``gc`` and workers that a sweep runs, unless the store cannot be written."""
        with ExitStack() as stack:
            with suppress(InputError, OSError):
                self.prove_writable()
                stack.enter_context(running_sweep(self.root / "locks"))
            yield

    def path(self, step: Step) -> Path:
        """Return the folder of a step's result, stored or not: an existing one has the key."""
        entry = self.root / step.name / step.entry_name
        if entry.is_dir():
            return entry
        return self._by_key(self.root / step.name).get(step.key, entry)

    def _by_key(self, folder: Path) -> Mapping[str, Path]:
        """Return the results of a step by key; the folder is read again when it has changed."""
        try:
            changed = folder.stat().st_mtime_ns
        except (FileNotFoundError, NotADirectoryError):
            return {}
        if self._listed.get(folder, (0, {}))[0] != changed:
            self._listed[folder] = (
                changed,
                {key_of(path): path for path in self.entries(folder.name)},
            )
        return self._listed[folder][1]

    def has(self, step: Step) -> bool:
        """Test whether a result is stored; ``intact`` also verifies it."""
        return self.path(step).is_dir()

    def intact(self, step: Step) -> bool:
        """Test whether a result is stored and intact, once per process; remove a damaged one."""
        entry = self.path(step)
        try:
            return self._passes(entry)
        except DamagedError:
            with self._locked(step.key):
                try:
                    return self._passes(entry)  # another process may have rebuilt it
                except DamagedError as damage:
                    self.remove(entry)
                    message = "rebuilding a damaged result: %s %s: %s"
                    log.warning(message, step.name, step.key, damage)
                    return False

    def make(self, step: Step) -> Path:
        """Return the folder of a step's result, built with its inputs if missing or damaged.

        Raises ``StoreError`` if the store cannot be written, ``InputError`` if an input file has
        changed since planning, and whatever the build raises.
        """
        for _ in range(_MAX_TRIES):
            if self.intact(step):
                return self.path(step)
            inputs = {name: self.make(ancestor) for name, ancestor in step.inputs.items()}
            with self._locked(step.key, step.name):
                if self.has(step):  # built by another process while this one waited
                    continue
                try:
                    self._build(step, inputs)
                    return self.path(step)
                except Exception as error:  # libraries raise errors of their own for missing files
                    required_folders = (self.path(step).parent, *inputs.values())
                    is_store_error = isinstance(error, StoreError) and self.root.is_dir()
                    if is_store_error or all(folder.is_dir() for folder in required_folders):
                        raise
        raise StoreError(
            f"{step.name} {step.key} could not be built: another process keeps removing it or its"
            f" inputs from {self.root}"
        )

    def _build(self, step: Step, inputs: Mapping[str, Path]) -> None:
        entry, work = self.path(step), self.root / "work" / step.key
        with writing(self.root):
            try:
                _delete(work)
                work.mkdir(parents=True)
                entry.parent.mkdir(exist_ok=True)
                read_files = self._refuse_changed(step)
                start = time.perf_counter()
                with on_device(self.made.get("device", "cpu")):
                    step.build(work, inputs)
                seconds = time.perf_counter() - start
                self._refuse_changed(step, read_files)
                source = loaded_source(step.source, step.made_of)
                made = _describe_build(source, inputs, seconds, self.made)
                _seal_entry(work, step.recipe(), made)
                os.replace(work, entry)
            finally:
                shutil.rmtree(work, ignore_errors=True)
        self.checked.add((entry, (entry / RECIPE).stat().st_ino))
        self.built.append(step.name)

    def _refuse_changed(
        self, step: Step, before: Mapping[Path, Identity] | None = None
    ) -> dict[Path, Identity]:
        """Return the identities of a step's files; raise ``InputError`` if they or code changed."""
        identities: dict[Path, Identity] = {}

        def digest(path: Path) -> str:
            sha = self.digest(path)
            identities[path] = _identity(path)
            return sha

        changed = changed_modules(step.source)
        if step.decide is not None:
            try:
                params, files = step.decide(digest)
            except FileNotFoundError as error:
                changed.append(Path(str(error.filename)).name)
            else:
                names = {**step.files, **files}
                differing_files = [n for n in names if step.files.get(n) != files.get(n)]
                changed += [name.partition(" ")[2] for name in differing_files]
                if not differing_files and params != step.params:
                    changed.append("the content of its words or files")
        if before and not changed:  # another file may have replaced the same one for a while
            changed = [path.name for path in identities if identities[path] != before.get(path)]
        if changed:
            raise InputError(
                f"{', '.join(changed)} changed after {step.label} was planned; its results were"
                " not kept: run the same command again"
            )
        return identities

    def digest(self, path: Path) -> str:
        """Return the SHA-256 of an outside file; not kept where times may hide a further change."""
        if not path.is_file():
            raise InputError(f"no such file: {path}{how_to_get_path(path)}")
        file_identity = _identity(path)
        if file_identity not in self.hashed:
            sha = sha256(path)
            if time.time_ns() - path.stat().st_ctime_ns < _MIN_AGE:
                return sha
            self.hashed[file_identity] = sha
        return self.hashed[file_identity]

    def discard(self, step: Step) -> None:
        """Remove a result if it is stored."""
        with self._locked(step.key):
            self.remove(self.path(step))

    def remove(self, entry: Path) -> None:
        """Remove a folder of the store atomically."""
        with writing(self.root):
            doomed = self.root / "work" / f".removed-{key_of(entry)}"
            _delete(doomed)
            doomed.parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                os.replace(entry, doomed)
            _delete(doomed)

    def entries(self, name: str) -> list[Path]:
        """Return the folders of all results of a step."""
        folder = self.root / name
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        return [path for path in paths if KEY.fullmatch(key_of(path)) and path.is_dir()]

    def lock(self, path: Path) -> Path:
        """Return the lock of a result's folder, also while it is built or removed."""
        return self.root / "locks" / f"{key_of(path)}.lock"

    def in_progress(self) -> set[str]:
        """Return the keys of results being built by any process."""
        return {path.name for path in self.listed("work") if KEY.fullmatch(path.name)}

    def listed(self, folder: str, pattern: str = "*") -> list[Path]:
        """Return a store's own entries in a folder; nothing of a link, which leads out of it."""
        is_link = (self.root / folder).is_symlink()
        paths = [] if is_link else sorted((self.root / folder).glob(pattern))
        return [path for path in paths if _OWN.fullmatch(path.name)]

    def orphans(self, *, remove: bool) -> list[Path]:
        """Return what killed processes left of results; with ``remove`` delete it."""
        leftovers = [path for path in self.listed("work") if not is_held(self.lock(path))]
        for path in leftovers if remove else ():
            lock = self._locked(self.lock(path).stem, wait=False)
            with suppress(HeldError), lock, writing(self.root):
                _delete(path)
        return leftovers

    def _passes(self, entry: Path) -> bool:
        if not entry.is_dir():
            return False
        try:
            version = (entry, (entry / RECIPE).stat().st_ino)
        except FileNotFoundError:
            if not entry.is_dir():
                return False
            raise DamagedError(f"{RECIPE} is missing") from None
        if version not in self.checked:
            check_entry(entry)
            self.checked.add(version)
            with suppress(OSError):
                os.utime(entry / RECIPE)  # the time of last use for gc
        return True

    @contextmanager
    def _locked(self, key: str, what: str = "result", *, wait: bool = True) -> Iterator[None]:
        with ExitStack() as stack:
            with writing(self.root):
                locks = self.root / "locks"
                locks.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(locks / f"{key}.lock", f"{what} {key}", wait=wait))
            yield
