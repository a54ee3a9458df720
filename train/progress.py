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
from files.verbosity import is_quiet, is_verbose
from train.outcome import Outcome, read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from train.parts.part import Facts
    from train.point import Plan
    from train.store import Store

EVERY = 0.5  # seconds between two looks


class SweepProgress:
    """A bar with the stages at work and the time left in a terminal, unless ``--quiet``; elsewhere
    lines by ``describe``, and with ``--verbose`` one for each finished point.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._before = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._waiting = {plan.key: plan for plan in plans}
        self._names = {key: stage.label for plan in plans for key, stage in plan.stages().items()}
        self._shown = _varying([plan.point.facts() for plan in plans])
        self._store, self._results, self._console = store, results, console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._start, self._done = 0.0, 0

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
        """Return how many points are done, what is being built, and the time left."""
        done = f"{self._done} of {len(self._before)} points done"
        at_work = self._at_work()
        return f"{done}{self._left()}{f'; building {at_work}' if at_work else ''}"

    def _left(self) -> str:
        """Return ``, about 3 min left``; nothing before a point is done, and after the last."""
        remaining = len(self._before) - self._done
        left = (time.monotonic() - self._start) / max(1, self._done) * remaining
        return f", about {duration(left)} left" if self._done and left else ""

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
                for plan, outcome in self._finished():
                    self._done += 1
                    if hidden and is_verbose():
                        self._print(plan, outcome)
                    bar.advance(task)
                bar.update(task, description=self._at_work())

    def _finished(self) -> list[tuple[Plan, Outcome]]:
        """Points that have an outcome since the last look."""
        new = {key: read_outcome(self._results, key) for key in self._waiting if self._is_new(key)}
        return [(self._waiting.pop(key), outcome) for key, outcome in new.items() if outcome]

    def _at_work(self) -> str:
        """The stages being built now, by this sweep or another one over the same store."""
        names = Counter(self._names[key] for key in self._store.in_progress() if key in self._names)
        return ", ".join(
            f"{name} x{count}" if count > 1 else name for name, count in sorted(names.items())
        )

    def _print(self, plan: Plan, outcome: Outcome) -> None:
        total = len(self._before)
        facts = plan.point.facts()
        shown = [str(facts[name]) for name in self._shown if facts.get(name, "") != ""]
        label = " ".join([f"[{self._done}/{total}]", *shown, outcome.status])
        line = f"{label}, {outcome.seconds:.1f} s{self._left()}"
        self._console.print(line)


def _varying(facts: Sequence[Facts]) -> list[str]:
    """The facts in which points differ, in the order of the points table."""
    names = dict.fromkeys(name for each in facts for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in facts}) > 1]
