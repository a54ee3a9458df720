"""Progress bar of a sweep, for every engine: a thread watches outcomes and steps in progress."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from files.progress import duration, progress_lines
from files.verbosity import is_quiet
from train.engine.outcome import Outcome, read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from train.engine.point import Plan
    from train.engine.store import Store

POLL_SECONDS = 0.5


class SweepProgress:
    """A bar with running steps and time left in a terminal, else lines by ``describe``.

    Nothing is shown with ``--quiet``.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._stamps = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._pending = {*self._stamps}
        self._labels = {key: step.label for plan in plans for key, step in plan.steps().items()}
        self._store, self._results, self._console = store, results, console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._start, self._done, self._failed = 0.0, 0, 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress of the sweep while the block runs."""
        self._start = time.monotonic()
        self._thread.start()
        try:
            with progress_lines(self.describe):
                yield
        finally:
            self._stop.set()
            self._thread.join()

    def describe(self) -> str:
        """Return the number of finished points, the time left and the steps being built."""
        total = len(self._stamps)
        line = f"{self._done} of {total} points done"
        line += f", {self._failed} failed" if self._failed else ""
        if 0 < self._done < total:
            seconds_per_point = (time.monotonic() - self._start) / self._done
            line += f", about {duration(seconds_per_point * (total - self._done))} left"
        return f"{line}; building {steps}" if (steps := self._steps_in_progress()) else line

    def new_outcomes(self) -> set[str]:
        """Return the points whose outcome was written since this object was made."""
        return {key for key in self._stamps if self._is_new(key)}

    def _is_new(self, point: str) -> bool:
        return read_stamp(self._results, point) != self._stamps[point]

    def _watch(self) -> None:
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("points"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
        )
        hidden = is_quiet() or not self._console.is_terminal
        with Progress(*columns, console=self._console, transient=True, disable=hidden) as bar:
            task = bar.add_task("", total=len(self._stamps))
            stopped = False
            while not stopped:
                stopped = self._stop.wait(POLL_SECONDS)
                for outcome in self._read_new_outcomes():
                    self._done += 1
                    self._failed += outcome.status == "failed"
                    bar.advance(task)
                bar.update(task, description=self._steps_in_progress())

    def _read_new_outcomes(self) -> list[Outcome]:
        """Return the outcomes written since the last call."""
        candidates = [
            read_outcome(self._results, key) for key in self._pending if self._is_new(key)
        ]
        outcomes = [outcome for outcome in candidates if outcome]
        self._pending -= {outcome.point for outcome in outcomes}
        return outcomes

    def _steps_in_progress(self) -> str:
        """Return the steps being built, by this sweep or another one on the same store."""
        labels = Counter(
            self._labels[key] for key in self._store.in_progress() if key in self._labels
        )
        return ", ".join(
            f"{label} x{count}" if count > 1 else label for label, count in sorted(labels.items())
        )
