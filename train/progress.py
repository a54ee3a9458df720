"""One progress bar over a sweep, whatever engine runs it: a thread watches the outcomes that appear
and the results being built.
"""

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
from train.outcome import Outcome, read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from train.point import Plan
    from train.store import Store

EVERY = 0.5  # seconds between two looks


class SweepProgress:
    """A bar with the stages at work and the time left in a terminal, elsewhere lines by
    ``describe``; neither with ``--quiet``.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._before = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._waiting = {*self._before}
        self._names = {key: stage.label for plan in plans for key, stage in plan.stages().items()}
        self._store, self._results, self._console = store, results, console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._start, self._done, self._failed = 0.0, 0, 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show how far the sweep is while the block runs."""
        self._start = time.monotonic()
        self._thread.start()
        try:
            with progress_lines(self.describe):
                yield
        finally:
            self._stop.set()
            self._thread.join()

    def describe(self) -> str:
        """Return how many points have ended, the time left, and what is being built."""
        total = len(self._before)
        line = f"{self._done} of {total} points done"
        line += f", {self._failed} of them failed" if self._failed else ""
        if 0 < self._done < total:
            seconds = (time.monotonic() - self._start) / self._done  # a point
            line += f", about {duration(seconds * (total - self._done))} left"
        return f"{line}; building {at_work}" if (at_work := self._at_work()) else line

    def new_outcomes(self) -> set[str]:
        """Points whose outcome was noted since this watch was set up."""
        return {key for key in self._before if self._is_new(key)}

    def _is_new(self, point: str) -> bool:
        return read_stamp(self._results, point) != self._before[point]

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
            task = bar.add_task("", total=len(self._before))
            stopped = False
            while not stopped:
                stopped = self._stop.wait(EVERY)
                for outcome in self._finished():
                    self._done += 1
                    self._failed += outcome.status == "failed"
                    bar.advance(task)
                bar.update(task, description=self._at_work())

    def _finished(self) -> list[Outcome]:
        """The outcomes noted since the last look."""
        new = [read_outcome(self._results, key) for key in self._waiting if self._is_new(key)]
        outcomes = [outcome for outcome in new if outcome]
        self._waiting -= {outcome.point for outcome in outcomes}
        return outcomes

    def _at_work(self) -> str:
        """The stages being built now, by this sweep or another one over the same store."""
        names = Counter(self._names[key] for key in self._store.in_progress() if key in self._names)
        return ", ".join(
            f"{name} x{count}" if count > 1 else name for name, count in sorted(names.items())
        )
