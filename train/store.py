"""A content-addressed store: each stage's result lies in a folder named by the hash of everything that decides it.

``root/STAGE/KEY/`` holds the result and ``recipe.json``. A result is built in ``root/work/KEY`` under a file lock and renamed into
place, so a folder that exists is whole; what a killed process left behind is cleared by the next one that builds the same key.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version as library_version
from pathlib import Path
from typing import Any

from filelock import FileLock

from files import InputError

LIBRARIES = ("datasets", "gensim", "nltk", "numpy", "pandas", "scikit-learn", "scipy", "torch")


@dataclass(frozen=True)
class Stage:
    """One step of a run: what it does, to which inputs, with which seed.

    ``build(out, inputs)`` writes the result into the new folder ``out``; ``inputs`` maps names to the folders of the input stages.
    ``files`` maps names to digests of files from outside. ``key`` hashes everything but ``build``, through all ancestors.
    """

    name: str
    made_by: str
    version: int
    params: Mapping[str, Any]
    build: Callable[[Path, Mapping[str, Path]], None] = field(repr=False)
    inputs: Mapping[str, Stage] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None

    def recipe(self) -> dict[str, Any]:
        """What decides the result, as JSON."""
        return {
            "stage": self.name,
            "made_by": self.made_by,
            "version": self.version,
            "params": dict(self.params),
            "inputs": {name: stage.key for name, stage in self.inputs.items()},
            "files": dict(self.files),
            "seed": self.seed,
        }

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of the recipe's SHA-256."""
        return hashlib.sha256(json.dumps(self.recipe(), sort_keys=True).encode()).hexdigest()[:32]

    def ancestry(self) -> dict[str, Stage]:
        """This stage and all it rests on, by key, inputs first."""
        found: dict[str, Stage] = {}
        for stage in self.inputs.values():
            found |= stage.ancestry()
        return found | {self.key: self}


class Store:
    """The folder of results; any number of processes may share it."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        try:
            for folder in ("work", "locks", "digests"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            probe = self.root / "work" / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise InputError(f"store.dir={self.root} cannot be written ({error.strerror}); choose another with store.dir=PATH") from error

    def path(self, stage: Stage) -> Path:
        """Where the result of a stage lies, or would lie."""
        return self.root / stage.name / stage.key

    def has(self, stage: Stage) -> bool:
        """Whether the result is there, whole."""
        return self.path(stage).is_dir()

    def make(self, stage: Stage) -> Path:
        """The folder of the stage's result, built first where it is missing; inputs are made only then."""
        entry = self.path(stage)
        if entry.is_dir():
            return entry
        inputs = {name: self.make(ancestor) for name, ancestor in stage.inputs.items()}
        with FileLock(self.root / "locks" / f"{stage.key}.lock"):
            if not entry.is_dir():
                self._build(stage, entry, inputs)
        return entry

    def _build(self, stage: Stage, entry: Path, inputs: Mapping[str, Path]) -> None:
        work = self.root / "work" / stage.key
        if work.exists():
            shutil.rmtree(work)
        work.mkdir()
        try:
            start = time.perf_counter()
            stage.build(work, inputs)
            made = {"seconds": round(time.perf_counter() - start, 3), "libraries": {name: library_version(name) for name in LIBRARIES}}
            (work / "recipe.json").write_text(json.dumps(stage.recipe() | made, indent=1, sort_keys=True), encoding="utf-8")
            entry.parent.mkdir(exist_ok=True)
            os.replace(work, entry)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def digest(self, path: Path) -> str:
        """SHA-256 of a file from outside, remembered by its path, size and time of change so that large files are hashed once."""
        if not path.is_file():
            raise InputError(f"no such file: {path}")
        path = path.resolve()
        stat = path.stat()
        memo = self.root / "digests" / hashlib.sha256(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}".encode()).hexdigest()
        if memo.is_file() and len(known := memo.read_text(encoding="ascii")) == 64:
            return known
        with open(path, "rb") as raw:
            found = hashlib.file_digest(raw, "sha256").hexdigest()
        memo.write_text(found, encoding="ascii")
        return found
