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

from files.progress import duration, progress_lines
from files.verbosity import is_quiet
from train.engine.outcome import read_outcome, read_stamp

if TYPE_CHECKING:
    from rich.console import Console

    from train.engine.point import Plan
    from train.engine.store import Store


SHARE_TO_FORECAST = 10  # a tenth of the points: the first ones build what others share


class SweepProgress:
    """A line that is kept up to date in a terminal; elsewhere lines from time to time.

    Nothing is shown with ``--quiet``.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._stamps = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._has_failed: dict[str, bool] = {}
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
        """Return the number of finished points, from a tenth of them on the time left, and the
        steps being built.
        """
        for key in self.new_outcomes() - self._has_failed.keys():
            if outcome := read_outcome(self._results, key):
                self._has_failed[key] = outcome.status == "failed"
        total, done, failed = len(self._stamps), len(self._has_failed), self._has_failed.values()
        line = f"{done} of {total} points done"
        line += f", {sum(failed)} failed" if any(failed) else ""
        if total / SHARE_TO_FORECAST <= done < total:
            seconds_per_point = (time.monotonic() - self._start) / done
            line += f", about {duration(seconds_per_point * (total - done))} left"
        return f"{line}; building {steps}" if (steps := self._steps_in_progress()) else line

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
