"""What a sweep will cost: how much is in the store, how much is to be built, and how long that took
before.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table

from analysis.naming import counted
from files.progress import duration
from train.store import DamagedError, Stage, Store
from train.store.entry import read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from train.point import Plan
    from train.store.stage import Recipe

# Seconds of a step with the default synthetic data, where this store has none, on an idle core that
# takes ``IDLE`` seconds for ``ADDITIONS``
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
WORTH_SAYING = 60.0  # seconds that another classifier would save
IDLE, ADDITIONS = 0.05, 1_000_000
BUSY = 1.5  # times as long as on an idle core, which is said
Timings = Mapping[tuple[str, str, str], list[float]]


def print_plan(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    console: Console,
    *,
    anew: Container[str] = (),
) -> None:
    """One row a stage: how many results all cells would need one by one, how many they share, how
    many of those are in the store, how many are to be built, and in what time.

    ``plans`` are the distinct points of the grid's ``cells``. ``anew``: keys of results that are
    built again though they are in the store.
    """
    stages = _stages(plans)
    one_by_one = Counter(stage.name for plan in cells for stage in plan.stages().values())
    to_make = [stage for stage in stages if stage.key in anew or not store.has(stage)]
    known = timings(store, {stage.name for stage in to_make})
    title = f"{counted(len(cells), 'run')}, {counted(len(plans), 'distinct point')}"
    table = Table(title=title, title_justify="left")
    for column in ("stage", "one by one", "shared", "in store", "to make", "about"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    shared = Counter(stage.name for stage in stages)
    rows = [(name, one_by_one[name], shared[name]) for name in shared]
    for name, alone, together in [*rows, ("all", one_by_one.total(), len(stages))]:
        left = [stage for stage in to_make if name in (stage.name, "all")]
        cost = _format_costs([expected_seconds(stage, known) for stage in left])
        counts = (alone, together, together - len(left), len(left))
        table.add_row(name, *map(str, counts), cost, style="bold" if name == "all" else None)
    console.print(table)


def measure_slowness() -> float:
    """Return how many times as long as on an idle core a computation takes here and now, beside
    whatever else runs.
    """
    start = time.perf_counter()
    sum(number * number for number in range(ADDITIONS))
    return (time.perf_counter() - start) / IDLE


def describe_cost(
    plans: Sequence[Plan],
    store: Store,
    *,
    anew: Container[str] = (),
    cores: int = 1,
    slowness: float = 1.0,
) -> str:
    """Return ``50 points, 221 steps to run, about 2 min on 2 cores``; empty where nothing is to
    run. A step that never ran in this store is taken to last ``slowness`` times as long as
    ``TYPICAL`` ones.
    """
    left = [each for each in _stages(plans) if each.key in anew or not store.has(each)]
    if not left:
        return ""
    known = timings(store, {stage.name for stage in left})
    seconds = {
        stage.key: TYPICAL.get(stage.choice, 0.1) * slowness if found is None else found
        for stage in left
        for found in [expected_seconds(stage, known)]
    }
    line = f"{counted(len(plans), 'point')}, {counted(len(left), 'step')} to run"
    line += f", about {duration(sum(seconds.values()) / cores)} on {counted(cores, 'core')}"
    if slowness > BUSY:
        line += f"; the machine is busy and takes {slowness:.1f} times as long"
    slow = [stage.key for stage in left if stage.choice == "CNN"]
    saved = sum(seconds[key] for key in slow) - len(slow) * TYPICAL["Linear"]
    if saved > WORTH_SAYING:
        less = duration((sum(seconds.values()) - saved) / cores)
        line += f" (with classifier=linear {less})"
    return line


def cost_of(plans: Sequence[Plan], store: Store) -> tuple[float, int]:
    """Seconds that all stages of the plans take one after another, as in ``expected_seconds``,
    whether or not their results are in the store; and how many are of a step that never ran.
    """
    stages = _stages(plans)
    known = timings(store, {stage.name for stage in stages})
    seconds = [expected_seconds(stage, known) for stage in stages]
    return sum(filter(None, seconds)), seconds.count(None)


def _stages(plans: Iterable[Plan]) -> list[Stage]:
    return list({key: stage for plan in plans for key, stage in plan.stages().items()}.values())


def timings(store: Store, names: set[str]) -> Timings:
    """Seconds that results of the named stages took, by step: (stage, maker, parameters)."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for folder in (each for name in names for each in store.entries(name)):
        with suppress(DamagedError):
            content = read_recipe(folder)
            found[_step(content["recipe"])].append(content["made"]["seconds"])
    return found


def expected_seconds(stage: Stage, known: Timings) -> float | None:
    """Seconds: the median of what the same step with the same parameters took in this store; None
    where it never ran.
    """
    return median(known[step]) if (step := _step(stage.recipe())) in known else None


def _step(recipe: Recipe) -> tuple[str, str, str]:
    return recipe["stage"], recipe["made_by"], json.dumps(recipe["params"], sort_keys=True)


def _format_costs(seconds: Sequence[float | None]) -> str:
    """The sum of estimates, ``3 min``; ``?`` for steps that never ran in this store."""
    known = [value for value in seconds if value is not None]
    unknown = len(seconds) - len(known)
    if not known:
        return "?" if unknown else ""
    return f"{duration(sum(known))}{f' + {unknown} new' if unknown else ''}"
