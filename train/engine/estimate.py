"""Cost of a sweep: steps in the store, steps to build, and their expected time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table

from analysis.naming import with_count
from files.progress import duration
from files.terminal import print_columns
from train.engine.store import DamagedError, Step, Store
from train.engine.store.entry import read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from train.engine.point import Plan
    from train.engine.store.step import Recipe

# Seconds of a step on the default synthetic data and an idle core
TYPICAL = {
    "Word2Vec": 3.0,
    "FastText": 3.0,
    "Transformer": 15.0,
    "WordChoice": 2.0,
    "Probed": 2.0,
    "Linear": 0.1,
    "CNN": 6.0,
    "EndToEnd": 30.0,
    "TinyModel": 30.0,
    "Finetuned": 60.0,
    "ChallengeGaps": 2.0,
}
Timings = Mapping[tuple[str, str, str], list[float]]


def print_plan(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    console: Console,
    *,
    anew: Container[str] = (),
) -> None:
    """Print a row per step: results of all cells one by one, shared, stored, to make, and time.

    ``plans``: the distinct points of the grid's ``cells``. ``anew``: keys that are rebuilt.
    """
    steps = _steps(plans)
    one_by_one = Counter(step.name for plan in cells for step in plan.steps().values())
    to_make = [step for step in steps if step.key in anew or not store.has(step)]
    step_timings = timings(store, {step.name for step in to_make})
    title = f"{with_count(len(cells), 'run')}, {with_count(len(plans), 'distinct point')}"
    table = Table(title=title, title_justify="left")
    for column in ("step", "one by one", "shared", "in store", "to make", "about"):
        table.add_column(column, justify="left" if column == "step" else "right")
    shared = Counter(step.name for step in steps)
    rows = [(name, one_by_one[name], shared[name]) for name in shared]
    for name, n_alone, n_shared in [*rows, ("all", one_by_one.total(), len(steps))]:
        steps_to_make = [step for step in to_make if name in (step.name, "all")]
        cost = _format_costs([expected_seconds(step, step_timings) for step in steps_to_make])
        counts = (n_alone, n_shared, n_shared - len(steps_to_make), len(steps_to_make))
        table.add_row(name, *map(str, counts), cost, style="bold" if name == "all" else None)
    print_columns(table, console)


def describe_cost(
    plans: Sequence[Plan], store: Store, anew: Container[str] = (), cores: int = 1
) -> str:
    """Return ``50 points, 221 steps to run, about 2 min on 2 cores``; empty if nothing is to run.

    Steps without timings in the store take as long as ``TYPICAL`` says where all data are
    generated; else their number is given instead.
    """
    steps_to_make = [step for step in _steps(plans) if step.key in anew or not store.has(step)]
    if not steps_to_make:
        return ""
    step_timings = timings(store, {step.name for step in steps_to_make})
    points = [plan.point for plan in plans]
    are_generated = all(of.facts()["generated"] and not of.synthetic_mix for of in points)
    seconds, n_unknown = 0.0, 0
    for step in steps_to_make:
        expected = expected_seconds(step, step_timings)
        if expected is None and are_generated:
            expected = TYPICAL.get(step.choice, 0.1)
        seconds, n_unknown = seconds + (expected or 0.0), n_unknown + (expected is None)
    line = f"{with_count(len(plans), 'point')}, {with_count(len(steps_to_make), 'step')} to run"
    if n_unknown < len(steps_to_make):
        line += f", about {duration(seconds / cores)} on {with_count(cores, 'core')}"
    return f"{line}, {n_unknown} of unknown length" if n_unknown else line


def total_cost(plans: Sequence[Plan], store: Store) -> tuple[float, int]:
    """Return the total seconds of all steps, stored or not, and the number without timings."""
    steps = _steps(plans)
    step_timings = timings(store, {step.name for step in steps})
    seconds = [expected_seconds(step, step_timings) for step in steps]
    return sum(filter(None, seconds)), seconds.count(None)


def _steps(plans: Iterable[Plan]) -> list[Step]:
    return list({key: step for plan in plans for key, step in plan.steps().items()}.values())


def timings(store: Store, names: set[str]) -> Timings:
    """Return the seconds that stored results took, by (step name, maker, parameters)."""
    seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for folder in (entry for name in names for entry in store.entries(name)):
        with suppress(DamagedError):
            content = read_recipe(folder)
            seconds[_timing_key(content["recipe"])].append(content["made"]["seconds"])
    return seconds


def expected_seconds(step: Step, step_timings: Timings) -> float | None:
    """Return the median time of the same step with the same parameters; None if it never ran."""
    return (
        median(step_timings[key]) if (key := _timing_key(step.recipe())) in step_timings else None
    )


def _timing_key(recipe: Recipe) -> tuple[str, str, str]:
    return recipe["step"], recipe["made_by"], json.dumps(recipe["params"], sort_keys=True)


def _format_costs(seconds: Sequence[float | None]) -> str:
    """Return the sum of estimates, ``3 min + 2 new``; ``?`` if no step has timings."""
    estimates = [estimate for estimate in seconds if estimate is not None]
    n_unknown = len(seconds) - len(estimates)
    if not estimates:
        return "?" if n_unknown else ""
    return f"{duration(sum(estimates))}{f' + {n_unknown} new' if n_unknown else ''}"
