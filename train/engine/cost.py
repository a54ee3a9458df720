"""Cost of a sweep: steps in the store, steps to build and their expected time, before it runs and,
read from the disk whatever the engine, while it runs.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from rich.live import Live
from rich.table import Table
from rich.text import Text

from biasbridge.analysis.naming import with_count
from biasbridge.files.terminal import duration, is_quiet, print_columns, progress_lines
from biasbridge.train.engine.point import read_outcome, read_stamp
from biasbridge.train.engine.store import DamagedError, Step, Store, read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Recipe


class Timing(NamedTuple):
    """Seconds that a step took without imports, and its ``Step.work`` (0: not recorded)."""

    seconds: float
    work: float


# Of the default synthetic data on an idle core
_TYPICAL = {
    "Word2Vec": Timing(3.0, 2.1e9),
    "FastText": Timing(3.0, 2.1e9),
    "Transformer": Timing(15.0, 0),
    "WordChoice": Timing(2.0, 0),
    "Probed": Timing(2.0, 0),
    "Linear": Timing(0.1, 2.8e8),
    "CNN": Timing(6.0, 7e11),
    "EndToEnd": Timing(30.0, 3.2e8),
    "TinyModel": Timing(30.0, 4.4e8),
    "Finetuned": Timing(60.0, 1.2e9),
    "ChallengeGaps": Timing(2.0, 4.2e6),
}
_SHORT = 0.1  # seconds of other steps on such data
_N_NEAREST = 5  # timings of steps whose work is nearest
Timings = Mapping[tuple[str, str, str], list[Timing]]


def print_plan(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    console: Console,
    *,
    anew: Container[str] = (),
) -> None:
    """Print a row per step: results of all cells, not shared and shared, stored, to make, and time.

    ``plans``: the distinct points of the grid's ``cells``. ``anew``: keys that are rebuilt.
    """
    steps = _steps(plans)
    one_by_one = Counter(step.name for plan in cells for step in plan.steps().values())
    to_make = [step for step in steps if step.key in anew or not store.has(step)]
    step_timings = _timings(store, {step.name for step in to_make})
    title = f"{with_count(len(cells), 'run')}, {with_count(len(plans), 'distinct point')}"
    table = Table(title=title, title_justify="left")
    for column in ("step", "not shared", "shared", "in store", "to make", "time"):
        table.add_column(column, justify="left" if column == "step" else "right")
    shared = Counter(step.name for step in steps)
    rows = [(name, one_by_one[name], shared[name]) for name in shared]
    for name, n_alone, n_shared in [*rows, ("all", one_by_one.total(), len(steps))]:
        steps_to_make = [step for step in to_make if name in (step.name, "all")]
        cost = _format_costs(_expected_costs(steps_to_make, step_timings))
        counts = (n_alone, n_shared, n_shared - len(steps_to_make), len(steps_to_make))
        table.add_row(name, *map(str, counts), cost, style="bold" if name == "all" else None)
    print_columns(table, console)


def describe_cost(
    plans: Sequence[Plan], store: Store, anew: Container[str] = (), cores: int = 1
) -> str:
    """Return ``50 points, 221 steps to run, about 2 min on 2 cores``; empty if nothing is to run.

    Steps without an estimate take ``SHORT`` where all data are generated; else their number is
    given instead.
    """
    steps_to_make = [step for step in _steps(plans) if step.key in anew or not store.has(step)]
    if not steps_to_make:
        return ""
    step_timings = _timings(store, {step.name for step in steps_to_make})
    points = [plan.point for plan in plans]
    are_generated = all(of.facts()["generated"] and not of.synthetic_mix for of in points)
    costs = _expected_costs(steps_to_make, step_timings)
    seconds, n_unknown = sum(filter(None, costs)), costs.count(None)
    if are_generated:
        seconds, n_unknown = seconds + _SHORT * n_unknown, 0
    line = f"{with_count(len(plans), 'point')}, {with_count(len(steps_to_make), 'step')} to run"
    if n_unknown == len(steps_to_make):
        return f"{line}, of unknown length"
    line += f", about {duration(seconds / cores)} on {with_count(cores, 'core')}"
    unknown = f", not counting {with_count(n_unknown, 'step')} of unknown length"
    return line + unknown if n_unknown else line


def _steps(plans: Iterable[Plan]) -> list[Step]:
    return list({key: step for plan in plans for key, step in plan.steps().items()}.values())


def _timings(store: Store, names: set[str]) -> Timings:
    """Return the timings of the stored results of steps, by (step name, maker, parameters)."""
    return _timings_of(entry for name in names for entry in store.entries(name))


def _timings_of(folders: Iterable[Path]) -> Timings:
    """Return the timings of undamaged results, by (step name, maker, parameters)."""
    result: dict[tuple[str, str, str], list[Timing]] = defaultdict(list)
    for folder in folders:
        with suppress(DamagedError):
            content = read_recipe(folder)
            made = content["made"]
            timing = Timing(made["seconds"] - made.get("imports", 0), made.get("work", 0))
            result[_timing_key(content["recipe"])].append(timing)
    return result


def _expected_costs(steps: Iterable[Step], step_timings: Timings) -> list[float | None]:
    """Return ``expected_seconds`` of each step, computed once for steps of equal work."""
    costs: dict[object, float | None] = {}
    kinds = [(step, (*_timing_key(step.recipe()), step.work)) for step in steps]
    for step, kind in kinds:
        if kind not in costs:
            costs[kind] = _expected_seconds(step, step_timings)
    return [costs[kind] for _, kind in kinds]


def _expected_seconds(step: Step, step_timings: Timings) -> float | None:
    """Return the time of a step by those of its class whose work is nearest, with the same
    parameters if there are any; without one by ``TYPICAL``, else None.
    """
    key = _timing_key(step.recipe())
    group = step_timings.get(key) or [
        timing for other, ran in step_timings.items() if other[:2] == key[:2] for timing in ran
    ]
    group = group or [timing for name, timing in _TYPICAL.items() if name == step.choice]
    scales = [(step.work / timing.work if timing.work else 1.0, timing.seconds) for timing in group]
    nearest = sorted(scales, key=lambda pair: abs(math.log(pair[0])))[:_N_NEAREST]
    return median(scale * seconds for scale, seconds in nearest) if nearest else None


def _timing_key(recipe: Recipe) -> tuple[str, str, str]:
    return recipe["step"], recipe["made_by"], json.dumps(recipe["params"], sort_keys=True)


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
        for key, ran in _timings_of(map(self._store.path, built)).items():
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
        costs = _expected_costs(self._steps_to_make.values(), self._timings)
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
