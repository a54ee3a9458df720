"""The folder of results, shared by any number of processes: each result is built once, and nothing
half-written or altered is used.

``root/STAGE/KEY/`` holds a result and its ``recipe.json``. It is built in ``root/work/KEY`` under a
lock of the operating system, which dies with its holder, and renamed into place; ``root/damaged``
holds what failed its checksums.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError
from files.digest import sha256
from files.source import differing, source_run
from train.store.entry import RECIPE, DamagedError, Request, check, describe_build, flush, seal
from train.store.lock import HeldError, NoLockError, locked

if TYPE_CHECKING:
    from train.store.stage import Stage

NOT_STAGES = ("work", "unfinished", "locks", "leases", "digests", "damaged")
KEY = re.compile("[0-9a-f]{32}")
Identity = tuple[tuple[int, ...], ...]
FRESH = 2_000_000_000  # nanoseconds; the coarsest times of a file system in use
NO_ROOM = 1 << 20  # with fewer free bytes than this, an error of writing is taken for a full disk
# Times a result is looked for or built while other processes build, replace or remove it
PATIENCE = 5
TROUBLES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "the disk is full"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "it cannot be written"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "{where} is in the way"),
}

log = logging.getLogger(__name__)


class StoreError(RuntimeError):
    """The store cannot be written; what is in it stays valid."""


def error_of_removed(root: Path) -> StoreError:
    """What to say where somebody removed the store."""
    return StoreError(
        f"store.dir={root} was removed while the sweep ran; the same command builds its results"
        " again"
    )


def identity(path: Path) -> Identity:
    """Return what no two files have in common, nor one file before and after it was written or
    moved: of the file, and of the links that lead to it.
    """
    links = [each for each in (path, *path.absolute().parents) if each.is_symlink()]
    stats = [path.stat(), *map(Path.lstat, links)]
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in stats)


class Store:
    """The folder of results. ``made`` (command, device) is noted in every recipe; ``built`` names
    the stages built by this object.
    """

    # Of this process: entries compared with their checksums, and digests of files from outside
    checked: ClassVar[set[tuple[Path, int]]] = set()
    hashed: ClassVar[dict[Identity, str]] = {}

    def __init__(self, root: str | Path, made: Request | None = None) -> None:
        self.root = Path(root).resolve()
        self.made: Request = made or {}
        self.built: list[str] = []

    def prove_writable(self) -> None:
        """Raises ``InputError`` where the folder cannot be made or written, before anything
        runs.
        """
        try:
            for folder in ("work", "locks"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            probe = self.root / "work" / f".probe-{os.getpid()}"
            with locked(probe):
                probe.unlink(missing_ok=True)
        except OSError as error:
            no_lock = isinstance(error, NoLockError)
            why = str(error) if no_lock else f"it cannot be written ({error.strerror})"
            raise InputError(
                f"store.dir={self.root}: {why}; choose another with store.dir=PATH"
            ) from error

    def path(self, stage: Stage) -> Path:
        """Where the result of a stage lies, or would lie."""
        return self.root / stage.name / stage.key

    def has(self, stage: Stage) -> bool:
        """Whether a result is there; ``intact`` says whether it is what was stored."""
        return self.path(stage).is_dir()

    def intact(self, stage: Stage) -> bool:
        """Whether the result is there and passes its checksums (compared once a process); one that
        fails is set aside and reported.
        """
        entry = self.path(stage)
        try:
            return self._passes(entry)
        except DamagedError:
            with self._locked(stage.key):
                try:
                    return self._passes(entry)  # another process may have built it anew meanwhile
                except DamagedError as damage:
                    self._set_aside(entry, damage)
                    return False

    def make(self, stage: Stage) -> Path:
        """The folder of the stage's result, built first where it is missing or damaged; inputs are
        made only then.

        Raises ``StoreError`` when the disk is full or the store cannot be written, ``InputError``
        when a file that is read has changed since the stage was planned, and whatever the build
        raises.
        """
        for _ in range(PATIENCE):
            if self.intact(stage):
                return self.path(stage)
            inputs = {name: self.make(ancestor) for name, ancestor in stage.inputs.items()}
            with self._locked(stage.key, stage.name):
                if self.has(stage):  # built by another process while this one waited
                    continue
                try:
                    self._build(stage, inputs)
                    return self.path(stage)
                except Exception as error:  # a library has words of its own for a file that is gone
                    needed = (self.path(stage).parent, *inputs.values())
                    trouble = isinstance(error, StoreError) and self.root.is_dir()
                    if trouble or all(folder.is_dir() for folder in needed):
                        raise
        raise StoreError(
            f"{stage.name} {stage.key} could not be made: another process keeps removing it or its"
            f" inputs from {self.root}"
        )

    def _build(self, stage: Stage, inputs: Mapping[str, Path]) -> None:
        entry, work = self.path(stage), self.root / "work" / stage.key
        with self._writing():
            try:
                if work.exists():
                    shutil.rmtree(work)
                work.mkdir(parents=True)
                entry.parent.mkdir(exist_ok=True)
                read = self._refuse_changed(stage)
                start = time.perf_counter()
                stage.build(work, inputs)
                seconds = time.perf_counter() - start
                self._refuse_changed(stage, read)
                made = describe_build(source_run(stage.source), inputs, seconds, self.made)
                seal(work, stage.recipe(), made)
                os.replace(work, entry)
                flush(entry.parent)
            finally:
                shutil.rmtree(work, ignore_errors=True)
        self.checked.add((entry, (entry / RECIPE).stat().st_ino))
        self.built.append(stage.name)

    def _refuse_changed(
        self, stage: Stage, before: Mapping[Path, Identity] | None = None
    ) -> dict[Path, Identity]:
        """Return the files that a stage reads, and what they are on the disk. Raise ``InputError``
        where one of them is not what it was ``before``, or they or the code that this process
        loaded for the stage are not what it was planned with.
        """
        read: dict[Path, Identity] = {}

        def digest(path: Path) -> str:
            found = self.digest(path)
            read[path] = identity(path)
            return found

        changed = differing(stage.source, source_run(stage.source))
        if stage.decide is not None:
            try:
                params, files = stage.decide(digest)
            except FileNotFoundError as error:
                changed.append(Path(str(error.filename)).name)
            else:
                every = {**stage.files, **files}
                other = [name for name in every if stage.files.get(name) != files.get(name)]
                changed += [name.partition(" ")[2] for name in other]
                if not other and params != stage.params:
                    changed.append("what its words or files stand for")
        if before and not changed:  # another file may have been in the place of the same one
            changed = [path.name for path in read if read[path] != before.get(path)]
        if changed:
            raise InputError(
                f"{', '.join(changed)} changed after {stage.label} was planned; nothing made from"
                " it is kept: give the same command again"
            )
        return read

    def digest(self, path: Path) -> str:
        """SHA-256 of a file from outside, remembered by this process; not where the file has just
        been written, for a second change may leave its times as they are.
        """
        if not path.is_file():
            raise InputError(f"no such file: {path}")
        before = identity(path)
        if before not in self.hashed:
            found = sha256(path)
            if time.time_ns() - path.stat().st_ctime_ns < FRESH:
                return found
            self.hashed[before] = found
        return self.hashed[before]

    def discard(self, stage: Stage) -> None:
        """Remove a result, if it is there."""
        with self._locked(stage.key):
            self.remove(self.path(stage))

    def remove(self, entry: Path) -> None:
        """Remove a folder of the store in one step for whoever looks at its name."""
        with self._writing():
            doomed = self.root / "work" / f".removed-{entry.name}"
            shutil.rmtree(doomed, ignore_errors=True)
            doomed.parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                os.replace(entry, doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    def entries(self, name: str) -> list[Path]:
        """The folders of all results of a stage; what else lies there is none of ours."""
        folder = self.root / name
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return [path for path in found if KEY.fullmatch(path.name) and path.is_dir()]

    def lock(self, path: Path) -> Path:
        """The lock of a result's folder, or of what is on the way to be one or was one."""
        name = path.name.removeprefix(".removed-")
        return self.root / "locks" / f"{name if KEY.fullmatch(name) else 'leftovers'}.lock"

    def in_progress(self) -> set[str]:
        """Keys of the results that some process is building now."""
        return {path.name for path in (self.root / "work").glob("[!.]*")}

    def orphans(self, *, remove: bool) -> list[Path]:
        """What killed processes left of results that they were building or removing; removed if
        asked.
        """
        found = []
        for path in sorted((self.root / "work").glob("*")):
            with suppress(HeldError), self._locked(self.lock(path).stem, wait=False):
                if path.exists():
                    found.append(path)
                    if remove:
                        _erase(path)
        return found

    def _passes(self, entry: Path) -> bool:
        if not entry.is_dir():
            return False
        try:
            identity = (entry, (entry / RECIPE).stat().st_ino)
        except FileNotFoundError:
            if not entry.is_dir():
                return False
            raise DamagedError(f"{RECIPE} is missing") from None
        if identity not in self.checked:
            check(entry)
            self.checked.add(identity)
            with suppress(OSError):
                os.utime(entry / RECIPE)  # gc reads it as the time of the last use
        return True

    def _set_aside(self, entry: Path, damage: DamagedError) -> None:
        aside = self.root / "damaged"
        names = (f"{entry.parent.name}-{entry.name}-{i}" for i in range(1, 10_000))
        target = next(path for name in names if not (path := aside / name).exists())
        with self._writing():
            try:
                aside.mkdir(exist_ok=True)
                os.replace(entry, target)
            except FileNotFoundError:  # somebody is removing it
                return
            (target / "damage.txt").write_text(f"{damage}\n", encoding="utf-8")
        stage, key = entry.parent.name, entry.name
        message = "damaged result set aside in %s, to be built again: %s %s: %s"
        log.warning(message, target, stage, key, damage)

    @contextmanager
    def _locked(self, key: str, what: str = "result", *, wait: bool = True) -> Iterator[None]:
        with ExitStack() as stack:
            with self._writing():
                locks = self.root / "locks"
                locks.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(locks / f"{key}.lock", f"{what} {key}", wait=wait))
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn an error of the disk into one that says what to do; errors of other kinds pass."""
        try:
            yield
        except OSError as error:
            if error.errno == errno.ENOENT and not self.root.is_dir():
                raise error_of_removed(self.root) from error
            if reason := self._disk_trouble(error):
                raise StoreError(
                    f"store.dir={self.root}: {reason}. What is finished stays; free some space"
                    " (biasbridge store gc) or choose another folder with store.dir=PATH, and"
                    " the same command goes on from here"
                ) from error
            raise

    def _disk_trouble(self, error: OSError) -> str:
        if isinstance(error, NoLockError):
            return str(error)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        where = error.filename2 or error.filename
        ours = where is not None and Path(os.fsdecode(where)).is_relative_to(self.root)
        if full or (ours and error.errno in TROUBLES):
            return f"{TROUBLES[error.errno or 0].format(where=where)} ({error.strerror})"
        with suppress(OSError):
            # Libraries report a short write in words of their own
            if shutil.disk_usage(self.root).free < NO_ROOM:
                return f"the disk is full ({error})"
        return ""


def _erase(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
