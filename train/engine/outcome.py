"""Outcome of a point: the point is run, and how it ended is written to a file.

Whether a point is done is decided by the store alone.
"""

from __future__ import annotations

import json
import time
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError, atomic_path
from biasbridge.train.engine.store import Store, StoreError
from biasbridge.train.engine.store.locks import NoLockError, locked

if TYPE_CHECKING:
    from biasbridge.train.engine.point import Plan


@dataclass(frozen=True)
class Outcome:
    """How the last attempt at a point ended.

    ``refused``: failed for invalid input; ``built``: the steps that were built, not found in the
    store.
    """

    point: str
    status: str = "done"
    error: str = ""
    traceback: str = ""
    refused: bool = False
    seconds: float = 0.0
    built: tuple[str, ...] = ()

    def columns(self) -> dict[str, str | bool]:
        """Return the columns of the points table."""
        return {"status": self.status, "error": self.error, "refused": self.refused}


def results_folder(path: str) -> Path:
    """Return the results folder after testing that it can be written and locked. Raises
    ``InputError``.
    """
    folder = Path(path).resolve()
    try:
        (folder / "points").mkdir(parents=True, exist_ok=True)
        with locked(folder / "points" / ".lock", f"the tables in {folder}"):
            return folder
    except OSError as error:
        reason = str(error) if isinstance(error, NoLockError) else error.strerror
        raise InputError(
            f"cannot write {folder}: {reason}; choose another folder with results.dir=PATH"
        ) from error


def _path(results: Path, point: str) -> Path:
    return results / "points" / f"{point}.json"


def read_outcome(results: Path, point: str) -> Outcome | None:
    """Return the outcome recorded for a point; None if it is missing or unreadable."""
    try:
        record = json.loads(_path(results, point).read_text(encoding="utf-8"))
        return Outcome(**(record | {"built": tuple(record["built"])}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def read_stamp(results: Path, point: str) -> tuple[int, int] | None:
    """Return a value that changes with every write of an outcome, even if the clock is set back."""
    try:
        stat = _path(results, point).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def run_point(plan: Plan, store: Store, results: Path) -> Outcome:
    """Build the point's scores and write the outcome.

    Errors of steps, ``SystemExit`` included, are written with their traceback and not raised.
    """
    start = time.perf_counter()
    failure: BaseException | None = None
    try:
        for step in plan.ends:
            store.make(step)
    except (Exception, SystemExit) as error:
        failure = error
    outcome = Outcome(
        plan.key, seconds=round(time.perf_counter() - start, 3), built=tuple(store.built)
    )
    return write_outcome(outcome if failure is None else _failed(outcome, failure), results)


def _failed(outcome: Outcome, error: BaseException) -> Outcome:
    is_expected = isinstance(error, InputError | StoreError)
    return replace(
        outcome,
        status="failed",
        error=str(error) if is_expected else f"{type(error).__name__}: {error}",
        traceback="".join(traceback.format_exception(error)),
        refused=isinstance(error, InputError),
    )


def write_outcome(outcome: Outcome, results: Path) -> Outcome:
    """Write the outcome to ``results/points/``; return a failed one if it cannot be written."""
    try:
        with atomic_path(_path(results, outcome.point)) as path:
            path.write_text(json.dumps(asdict(outcome), indent=1), encoding="utf-8")
    except (InputError, OSError) as error:
        reason = outcome.error or f"its outcome could not be written: {error}"
        return replace(outcome, status="failed", error=reason)
    return outcome
