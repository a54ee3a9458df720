"""One progress bar over a sweep, whatever engine runs it: a thread watches the outcomes that appear
and the results being built.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
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

from train.estimate import duration
from train.outcome import Outcome, read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from train.parts.part import Facts
    from train.point import Plan
    from train.store import Store

EVERY = 0.5  # seconds between two looks


class SweepProgress:
    """A bar with the stages at work and the time left in a terminal; elsewhere one plain line a
    finished point.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._before = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._waiting = {plan.key: plan for plan in plans}
        self._names = {
            key: f"{stage.name} ({stage.made_by})"
            for plan in plans
            for key, stage in plan.stages().items()
        }
        self._total = len(plans)
        self._shown = _varying([plan.point.facts() for plan in plans])
        self._store, self._results, self._console = store, results, console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._start = 0.0

    def start(self) -> None:
        """Begin to watch."""
        self._start = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Show what finished last and end."""
        self._stop.set()
        self._thread.join()

    def new_outcomes(self) -> set[str]:
        """Points whose outcome was noted since this watch was set up."""
        return {
            key for key, before in self._before.items() if read_stamp(self._results, key) != before
        }

    def _watch(self) -> None:
        if not self._console.is_terminal:
            while not self._stop.wait(EVERY):
                self._print_finished()
            self._print_finished()
            return
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("points"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, TextColumn("{task.description}"), console=self._console, transient=True
        ) as bar:
            task = bar.add_task("", total=self._total)
            while not self._stop.wait(EVERY):
                bar.update(task, advance=len(self._finished()), description=self._at_work())

    def _finished(self) -> list[tuple[Plan, Outcome]]:
        """Points that have an outcome since the last look."""
        new = {
            key: read_outcome(self._results, key)
            for key in self._waiting
            if read_stamp(self._results, key) != self._before[key]
        }
        return [(self._waiting.pop(key), outcome) for key, outcome in new.items() if outcome]

    def _at_work(self) -> str:
        """The stages being built now, by this sweep or another one over the same store."""
        names = Counter(self._names[key] for key in self._store.in_progress() if key in self._names)
        return ", ".join(
            f"{name} x{count}" if count > 1 else name for name, count in sorted(names.items())
        )

    def _print_finished(self) -> None:
        finished = self._finished()
        for done, (plan, outcome) in enumerate(
            finished, self._total - len(self._waiting) - len(finished) + 1
        ):
            facts = plan.point.facts()
            shown = [str(facts[name]) for name in self._shown if facts.get(name, "") != ""]
            label = " ".join([*shown, outcome.status])
            left = (time.monotonic() - self._start) / done * (self._total - done)
            ending = f", about {duration(left)} left" if left else ""
            self._console.print(
                f"[{done}/{self._total}] {label}, {outcome.seconds:.1f} s{ending}",
                markup=False,
                highlight=False,
            )


def _varying(facts: Sequence[Facts]) -> list[str]:
    """The facts in which points differ, in the order of the points table."""
    names = dict.fromkeys(name for each in facts for name in each)
    return [name for name in names if len({repr(each.get(name)) for each in facts}) > 1]
