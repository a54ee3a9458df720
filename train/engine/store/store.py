"""Folder of results, shared by processes: built once, never used if incomplete or altered.

``root/STEP/KEY/`` holds a result and its ``recipe.json``. It is built in ``root/work/KEY`` under a
file lock, which ends with its process, and renamed into place. One whose checksums are wrong is
removed and built again.
"""

from __future__ import annotations

import builtins
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from biasbridge.files import InputError
from biasbridge.files.data.registry import how_to_get_path
from biasbridge.files.digest import sha256
from biasbridge.train.engine.device import on_device
from biasbridge.train.engine.source import changed_modules, loaded_source
from biasbridge.train.engine.store.entry import (
    RECIPE,
    DamagedError,
    Request,
    check,
    describe_build,
    seal,
)
from biasbridge.train.engine.store.locks import HeldError, NoLockError, StoreError, locked, writing

if TYPE_CHECKING:
    from biasbridge.train.engine.store.step import Step

RESERVED = ("work", "unfinished", "locks", "leases", "digests")
KEY = re.compile("[0-9a-f]{32}")
Identity = tuple[tuple[int, ...], ...]
MIN_AGE = 2_000_000_000  # nanoseconds; the coarsest resolution of file times
# To find or build a result while other processes build, replace or remove it
MAX_TRIES = 5

log = logging.getLogger(__name__)


def identity(path: Path) -> Identity:
    """Return a value that no other file has, and that changes when the file is written or moved.

    It covers the links that lead to the file.
    """
    links = [link for link in (path, *path.absolute().parents) if link.is_symlink()]
    stats = [path.stat(), *map(Path.lstat, links)]
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in stats)


@contextmanager
def _timed_imports() -> Iterator[list[float]]:
    """Collect the seconds of the block's imports, which only the first step of a process needs."""
    seconds: list[float] = []
    starts: list[float] = []
    original = builtins.__import__

    def timed(*arguments: Any, **named: Any) -> Any:
        starts.append(time.perf_counter())
        try:
            return original(*arguments, **named)
        finally:
            start = starts.pop()
            seconds.append(0.0 if starts else time.perf_counter() - start)

    builtins.__import__ = timed
    try:
        yield seconds
    finally:
        builtins.__import__ = original


class Store:
    """Folder of results.

    ``made`` (command, device) is written to every recipe; ``built``: names of steps built by this
    object.
    """

    # Of this process: entries whose checksums were compared, and digests of outside files
    checked: ClassVar[set[tuple[Path, int]]] = set()
    hashed: ClassVar[dict[Identity, str]] = {}

    def __init__(self, root: str | Path, made: Request | None = None) -> None:
        self.root = Path(root).resolve()
        self.made: Request = made or {}
        self.built: list[str] = []

    def prove_writable(self) -> None:
        """Raise ``InputError`` if the folder cannot be created or written, or has others' files
        where a store has what it may remove.
        """
        if not (self.root / "locks").exists():
            for folder in ("work", "unfinished"):
                if (self.root / folder).exists():
                    reason = f"it is not a store, and has a folder {folder}"
                    raise InputError(f"store.dir={self.root}: {reason}; choose an empty folder")
        try:
            for folder in ("locks", "work"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            probe = self.root / "work" / f".probe-{os.getpid()}"
            with locked(probe):
                probe.unlink(missing_ok=True)
        except OSError as error:
            no_lock = isinstance(error, NoLockError)
            reason = str(error) if no_lock else f"it cannot be written ({error.strerror})"
            raise InputError(
                f"store.dir={self.root}: {reason}; choose another with store.dir=PATH"
            ) from error

    def path(self, step: Step) -> Path:
        """Return the folder of a step's result, stored or not."""
        return self.root / step.name / step.key

    def has(self, step: Step) -> bool:
        """Test whether a result is stored; ``intact`` also verifies it."""
        return self.path(step).is_dir()

    def intact(self, step: Step) -> bool:
        """Test whether a result is stored and passes its checksums (compared once per process).

        A damaged result is removed and reported.
        """
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
        for _ in range(MAX_TRIES):
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
                if work.exists():
                    shutil.rmtree(work)
                work.mkdir(parents=True)
                entry.parent.mkdir(exist_ok=True)
                read_files = self._refuse_changed(step)
                start = time.perf_counter()
                with _timed_imports() as imports, on_device(self.made.get("device", "cpu")):
                    step.build(work, inputs)
                seconds = time.perf_counter() - start
                self._refuse_changed(step, read_files)
                request: Request = {**self.made, "work": step.work, "imports": sum(imports)}
                made = describe_build(loaded_source(step.source), inputs, seconds, request)
                seal(work, step.recipe(), made)
                os.replace(work, entry)
            finally:
                shutil.rmtree(work, ignore_errors=True)
        self.checked.add((entry, (entry / RECIPE).stat().st_ino))
        self.built.append(step.name)

    def _refuse_changed(
        self, step: Step, before: Mapping[Path, Identity] | None = None
    ) -> dict[Path, Identity]:
        """Return the identities of the files that a step reads.

        Raises ``InputError`` if one differs from ``before``, or if files or loaded code differ from
        those the step was planned with.
        """
        identities: dict[Path, Identity] = {}

        def digest(path: Path) -> str:
            sha = self.digest(path)
            identities[path] = identity(path)
            return sha

        changed = changed_modules(step.source, loaded_source(step.source))
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
        """Return the SHA-256 of an outside file, cached unless the file was written very recently.

        A second change could leave the times of such a file as they are.
        """
        if not path.is_file():
            raise InputError(f"no such file: {path}{how_to_get_path(path)}")
        file_identity = identity(path)
        if file_identity not in self.hashed:
            sha = sha256(path)
            if time.time_ns() - path.stat().st_ctime_ns < MIN_AGE:
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
            doomed = self.root / "work" / f".removed-{entry.name}"
            shutil.rmtree(doomed, ignore_errors=True)
            doomed.parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                os.replace(entry, doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    def entries(self, name: str) -> list[Path]:
        """Return the folders of all results of a step."""
        folder = self.root / name
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        return [path for path in paths if KEY.fullmatch(path.name) and path.is_dir()]

    def lock(self, path: Path) -> Path:
        """Return the lock of a result's folder, also while it is built or removed."""
        name = path.name.removeprefix(".removed-")
        return self.root / "locks" / f"{name if KEY.fullmatch(name) else 'leftovers'}.lock"

    def in_progress(self) -> set[str]:
        """Return the keys of results being built by any process."""
        return {path.name for path in (self.root / "work").glob("[!.]*")}

    def listed(self, folder: str, pattern: str = "*") -> list[Path]:
        """Return the paths in a folder of the store; none of a link, which leads out of it."""
        is_link = (self.root / folder).is_symlink()
        return [] if is_link else sorted((self.root / folder).glob(pattern))

    def orphans(self, *, remove: bool) -> list[Path]:
        """Return what killed processes left of results; with ``remove`` delete it."""
        leftovers = []
        for path in self.listed("work"):
            with suppress(HeldError), self._locked(self.lock(path).stem, wait=False):
                if path.exists():
                    leftovers.append(path)
                    if remove:
                        with writing(self.root):
                            _erase(path)
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
            check(entry)
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


def _erase(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
