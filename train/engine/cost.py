"""Cost of a sweep: steps in the store, steps to build and their expected time before it runs, and,
read from the disk whatever the engine, how far it is.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table
from rich.text import Text

from biasbridge.analysis.naming import with_count
from biasbridge.files import InputError
from biasbridge.files.progress import duration, progress_lines
from biasbridge.files.terminal import LOG, is_quiet, print_columns
from biasbridge.train.engine.locks import is_held
from biasbridge.train.engine.point import read_outcome, read_stamp
from biasbridge.train.engine.store import DamagedError, Step, Store, read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.engine.point import Plan


_MAX_TIMED = 1_000  # results of a step whose times make the forecast


def print_plan(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    console: Console,
    *,
    anew: Container[str] = (),
) -> None:
    """Print a row per step: results of all ``cells``, of ``plans``, stored, to make; time."""
    steps = _steps(plans)
    one_by_one = Counter(step.name for plan in cells for step in plan.steps.values())
    to_make = [step for step in steps if step.key in anew or not store.has(step)]
    costs = _expected_costs(to_make, store)
    title = f"{with_count(len(cells), 'run')}, {with_count(len(plans), 'distinct point')}"
    table = Table(title=title, title_justify="left")
    for column in ("step", "not shared", "shared", "in store", "to make", "time"):
        table.add_column(column, justify="left" if column == "step" else "right")
    shared = Counter(step.name for step in steps)
    rows = [(name, one_by_one[name], shared[name]) for name in shared]
    for name, n_alone, n_shared in [*rows, ("all", one_by_one.total(), len(steps))]:
        here = [costs[step.key] for step in to_make if name in (step.name, "all")]
        counts = map(str, (n_alone, n_shared, n_shared - len(here), len(here)))
        table.add_row(name, *counts, _format_costs(here), style="bold" if name == "all" else None)
    print_columns(table, console)


def describe_cost(
    plans: Sequence[Plan], store: Store, anew: Container[str] = (), cores: int = 1
) -> str:
    """Return ``50 points, 221 steps to run, about 2 min on 2 cores``; empty if none runs."""
    steps_to_make = [step for step in _steps(plans) if step.key in anew or not store.has(step)]
    if not steps_to_make:
        return ""
    costs = [*_expected_costs(steps_to_make, store).values()]
    n_unknown = costs.count(None)
    line = f"{with_count(len(plans), 'point')}, {with_count(len(costs), 'step')} to run"
    if n_unknown == len(costs):
        return f"{line}, of unknown length"
    line += f", about {duration(sum(filter(None, costs)) / cores)} on {with_count(cores, 'core')}"
    unknown = f", not counting {with_count(n_unknown, 'step')} of unknown length"
    return line + unknown if n_unknown else line


def _steps(plans: Iterable[Plan]) -> list[Step]:
    return list({key: step for plan in plans for key, step in plan.steps.items()}.values())


def _expected_costs(steps: Sequence[Step], store: Store) -> dict[str, float | None]:
    """Return, by step key, the mean seconds of stored results of its name and class, or None."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name in {step.name for step in steps}:
        entries = store.entries(name)
        for entry in entries[:: 1 + len(entries) // _MAX_TIMED]:
            with suppress(DamagedError):
                content = read_recipe(entry)
                seconds[name, content["recipe"]["made_by"]].append(content["made"]["seconds"])
    means = {kind: fmean(taken) for kind, taken in seconds.items()}
    return {step.key: means.get((step.name, step.made_by)) for step in steps}


def _format_costs(seconds: Sequence[float | None]) -> str:
    """Return the sum of estimates, ``3 min + 2 unknown``; ``?`` if no step has timings."""
    estimates = [estimate for estimate in seconds if estimate is not None]
    n_unknown = len(seconds) - len(estimates)
    if not estimates:
        return "?" if n_unknown else ""
    return f"{duration(sum(estimates))}{f' + {n_unknown} unknown' if n_unknown else ''}"


class SweepProgress:
    """A line that is kept up to date in a terminal; elsewhere lines from time to time.

    Nothing is shown with ``--quiet``.
    """

    def __init__(
        self, plans: Sequence[Plan], store: Store, results: Path, console: Console
    ) -> None:
        self._stamps = {plan.key: read_stamp(results, plan.key) for plan in plans}
        self._has_failed: dict[str, bool] = {}
        self._unmodified = {
            plan.key: plan for plan in plans if plan.task and plan.unit.key == plan.parent.key
        }
        self._labels = {key: step.label for plan in plans for key, step in plan.steps.items()}
        self._store, self._results, self._console = store, results, console
        self._start = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress of the sweep while the block runs."""
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
        """Return the number of finished points, the time left, and the steps being built."""
        for key in self.new_outcomes() - self._has_failed.keys():
            if outcome := read_outcome(self._results, key):
                self._has_failed[key] = outcome.status == "failed"
                if outcome.status == "done" and key in self._unmodified:
                    self._note_skill(self._unmodified[key])
        total, ended = len(self._stamps), len(self._has_failed)
        n_failed = sum(self._has_failed.values())
        line = f"{ended} of {total} points done"
        line += f", {n_failed} failed" if n_failed else ""
        if total > ended > n_failed:
            seconds = (time.monotonic() - self._start) / (ended - n_failed)
            line += f", about {duration((total - ended) * seconds)} left"
        return f"{line}; building {steps}" if (steps := self._steps_in_progress()) else line

    def _note_skill(self, plan: Plan) -> None:
        """Log where the first unmodified classifier that is measured tells little from chance."""
        from biasbridge.analysis.joined import join_points, low_skill_reason
        from biasbridge.train.engine.tables import join_tables

        self._unmodified.clear()
        with suppress(InputError):  # no gap
            joined = join_points(join_tables([plan], self._store, self._results))
            if reason := low_skill_reason(joined):
                LOG.warning("first classifier: %s", reason)

    def new_outcomes(self) -> set[str]:
        """Return the points whose outcome was written since this object was made."""
        return {
            key for key, stamp in self._stamps.items() if read_stamp(self._results, key) != stamp
        }

    def _steps_in_progress(self) -> str:
        """Return the steps that any sweep builds here, and the time since the first began."""
        begun: dict[str, list[float]] = defaultdict(list)
        for key in self._store.in_progress() & self._labels.keys():
            lock = self._store.lock(Path(key))
            if is_held(lock):  # else a killed process left it
                begun[self._labels[key]].append(lock.stat().st_mtime)
        now = time.time()
        return ", ".join(
            f"{label}{f' x{len(times)}' * (len(times) > 1)} for {duration(now - min(times))}"
            for label, times in sorted(begun.items())
        )
