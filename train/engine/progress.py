"""Progress of a sweep, for every engine: outcomes and steps in progress are read from the disk."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from biasbridge.files.progress import duration, progress_lines
from biasbridge.files.verbosity import is_quiet
from biasbridge.train.engine.estimate import Timing, expected_costs, timings_of
from biasbridge.train.engine.outcome import read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Store


class SweepProgress:
    """A line that is kept up to date in a terminal; elsewhere lines from time to time.

    Nothing is shown with ``--quiet``.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._stamps = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._has_failed: dict[str, bool] = {}
        self._plans = {plan.key: plan for plan in plans}
        self._steps_to_make = {
            key: step for plan in plans for key, step in plan.steps().items() if not store.has(step)
        }
        self._timings: dict[tuple[str, str, str], list[Timing]] = {}
        self._labels = {key: step.label for plan in plans for key, step in plan.steps().items()}
        self._store, self._results, self._console = store, results, console
        self._start = 0.0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress of the sweep while the block runs."""
        self._start = time.monotonic()
        live = Live(
            get_renderable=lambda: Text(self.describe()),
            console=self._console,
            transient=True,
            refresh_per_second=2,
        )
        # A notebook sets FORCE_COLOR, by which rich takes its pipes for terminals
        is_live = self._console.is_terminal and self._console.file.isatty() and not is_quiet()
        with live if is_live else nullcontext(), progress_lines(self.describe):
            yield

    def describe(self) -> str:
        """Return the number of finished points, from the first of them on the time left, and the
        steps being built.
        """
        for key in self.new_outcomes() - self._has_failed.keys():
            if outcome := read_outcome(self._results, key):
                self._has_failed[key] = outcome.status == "failed"
                self._time_steps(self._plans[key])
        total, done, failed = len(self._stamps), len(self._has_failed), self._has_failed.values()
        line = f"{done} of {total} points done"
        line += f", {sum(failed)} failed" if any(failed) else ""
        if done < total and (left := self._seconds_left()):
            line += f", about {duration(left)} left"
        return f"{line}; building {steps}" if (steps := self._steps_in_progress()) else line

    def _time_steps(self, plan: Plan) -> None:
        """Add the times of the steps that were built for a finished point."""
        built = [step for key, step in plan.steps().items() if self._steps_to_make.pop(key, None)]
        for key, ran in timings_of(map(self._store.path, built)).items():
            self._timings.setdefault(key, []).extend(ran)

    def _seconds_left(self) -> float:
        """Return the expected seconds of the steps to make, by those that this sweep has made; 0 if
        it has made none.
        """
        made = sum(timing.seconds for ran in self._timings.values() for timing in ran)
        if not made:
            return 0.0
        n_building = len(self._labels.keys() & self._store.in_progress())
        n_parallel = max(1.0, made / (time.monotonic() - self._start), n_building)
        costs = expected_costs(self._steps_to_make.values(), self._timings)
        return sum(filter(None, costs)) / n_parallel

    def new_outcomes(self) -> set[str]:
        """Return the points whose outcome was written since this object was made."""
        return {
            key for key, stamp in self._stamps.items() if read_stamp(self._results, key) != stamp
        }

    def _steps_in_progress(self) -> str:
        """Return the steps being built, by this sweep or another one on the same store."""
        labels = Counter(
            self._labels[key] for key in self._store.in_progress() if key in self._labels
        )
        return ", ".join(
            f"{label} x{count}" if count > 1 else label for label, count in sorted(labels.items())
        )
