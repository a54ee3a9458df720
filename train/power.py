"""What a study would have to be to see a correlation of interest, or to exclude it: printed beside
the plan, from the points at hand or from stated reliabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rich.table import Table

from analysis.naming import ALL
from analysis.planner import Design, Kind, Pilot, Planner, excludes, needed, pilot_of, sees
from analysis.show import short
from analysis.studies.correlation import Correlation
from files import InputError
from train.estimate import cost_of, duration

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.studies.study import Study
    from intrinsic.metric import Metric
    from train.point import Plan
    from train.store import Store

TIMES = (1, 2, 4, 8)  # the test items at hand
LEAST = 0.01  # reliability: that of points that show noise alone is estimated as 0
COLUMNS = ("test items", "reliability of gaps", "r", "to see", "cost", "to exclude", "cost")
CHECKED = 1_000  # studies that the power of the planned sweep is simulated by


def print_power(
    planner: Planner,
    study: Study,
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    console: Console,
) -> None:
    """How many embeddings, by test items, it takes to see and to exclude |r| of ``smallest``, what
    they cost by this plan's stages, and what the planned sweep would do.

    Raises ``InputError`` for a study that asks for no correlation, and where neither points at hand
    nor the planner say how reliable scores and gaps are.
    """
    if not isinstance(study, Correlation):
        raise InputError(f"power=true plans correlations; study={study.name} asks for none")
    pilot = read_pilot(results, study)
    design = design_of(planner, study, plans, pilot)
    seconds, unknown = cost_of(plans, store)
    embeddings, bases = _counts(plans)
    console.print(_needs(planner, design, pilot, seconds / embeddings, unknown))
    here = design._replace(units=max(1, round(embeddings / bases)))
    seen = [sees(here, embeddings, CHECKED, kind=kind) for kind in get_args(Kind)]
    console.print(
        f"This plan, {embeddings} embeddings of {bases} bases: sees |r| = {design.smallest:g} in"
        f" {seen[0]:.0%} of studies, excludes it in {excludes(here, embeddings, CHECKED):.0%}. All"
        " this is for scores on a ladder of doses and normal noise; it sees it in"
        f" {seen[1]:.0%} where scores are normal, and in {seen[2]:.0%} where noise grows with the"
        " score. Costs are of this plan's stages one after another; those of more test items are"
        " not known.",
        soft_wrap=True,
        highlight=False,
    )


def _needs(planner: Planner, design: Design, pilot: Pilot, seconds: float, unknown: int) -> Table:
    """The embeddings that it takes, by test items; ``seconds``: the cost of one."""
    table = Table(title=_title(planner, design, pilot), title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for times in TIMES:
        at = design.with_items(times)
        needs = [needed(at, planner.power, of, planner.studies) for of in (sees, excludes)]
        items = f"{pilot.items * times:.0f}" if isfinite(pilot.items) else f"x {times}"
        never = "over 20,000", "over 20,000" if at.excludable else "never: noise"
        told = [
            cell
            for need, otherwise in zip(needs, never, strict=True)
            for cell in _spell(at, need, otherwise, seconds, unknown)
        ]
        table.add_row(items, short(at.reliability_y), short(at.smallest * at.ceiling), *told)
    return table


def read_pilot(results: Path, study: Correlation) -> Pilot:
    """What the tables in a results folder say of noise; an empty one where there are none."""
    from analysis.columns import numbers
    from analysis.correlate import correlate_slices
    from analysis.joined import has_gaps, join_points
    from analysis.naming import primary_of
    from analysis.results import read_tables

    if not (results / "points.parquet").exists():
        return Pilot()
    tables = read_tables(results)
    if not has_gaps(tables):
        return Pilot()
    joined = join_points(tables)
    primary = joined["measure"].isin(primary_of(joined["measure"].tolist(), study.primary))
    items = numbers(joined[primary], "support").tolist()
    return pilot_of(correlate_slices(joined, study.declared), items)


def design_of(planner: Planner, study: Correlation, plans: Sequence[Plan], pilot: Pilot) -> Design:
    """The kind of study that is planned: embeddings a base from the plan, the rest as stated or
    from the pilot.
    """
    embeddings, bases = _counts(plans)
    family = planner.family or pilot.family or primary_slices(study, plans[0].point.metrics)
    reliable = []
    for name, stated, seen in (
        ("reliability_x", planner.reliability_x, pilot.reliability_x),
        ("reliability_y", planner.reliability_y, pilot.reliability_y),
    ):
        value = stated if stated is not None else seen
        if not isfinite(value):
            raise InputError(
                f"the results folder does not say how reliable scores and gaps are ({name}); run"
                f" some points with resamples of words and posts first, or state planner.{name}=0.8"
            )
        reliable.append(max(value, LEAST))
    smallest = planner.smallest or study.smallest
    of_scores, of_gaps = reliable
    of_trainings = pilot.training_share if planner.reliability_y is None else 0.0
    of_trainings, *shared = (
        each if isfinite(each) else 0.0
        for each in (of_trainings, pilot.words_error, pilot.items_error)
    )
    units = round(embeddings / bases)
    of_trainings = min(of_trainings, 1 - of_gaps)
    return Design(units, of_scores, of_gaps, family, smallest, of_trainings, *shared)


def primary_slices(study: Correlation, metrics: Sequence[Metric]) -> int:
    """How many primary slices a study has where all its measures are there: those of each query of
    each metric, or of the queries that it names; a metric without an unbiased value has none.
    """
    biased = [each for each in metrics if each.about.unbiased is not None]
    asked = [(*(query.name for query in each.asked), *each.open, ALL) for each in biased]
    named = [
        name
        for names in asked
        for name in names
        if (name in study.queries if study.queries else name != ALL)
    ]
    alike = (named, study.primary, study.embeddings, study.methods)
    return prod(max(1, len(each)) for each in alike)


def _counts(plans: Sequence[Plan]) -> tuple[int, int]:
    """How many embeddings a plan has, and of how many bases."""
    keys = [plan.keys() for plan in plans]
    embeddings = {key["vectors_key"] for key in keys if "vectors_key" in key}
    bases = {key.get("base_key", key["vectors_key"]) for key in keys if "vectors_key" in key}
    if not embeddings:
        raise InputError("power=true plans embeddings, and this plan has none")
    return len(embeddings), len(bases)


def _title(planner: Planner, design: Design, pilot: Pilot) -> str:
    source = f"{pilot.embeddings} embeddings at hand" if pilot.embeddings else "as stated"
    return (
        f"Embeddings to see, and to exclude, |r| = {design.smallest:g} in {planner.power:.0%} of"
        f" studies; {design.family} primary slices, {design.units} embeddings a base, reliability"
        f" of scores {short(design.reliability_x)} ({source})"
    )


def _spell(
    design: Design, embeddings: int | None, otherwise: str, seconds: float, unknown: int
) -> tuple[str, str]:
    """``243 of 27 bases`` and ``5.1 h``; ``otherwise`` where there is no number."""
    if embeddings is None:
        return otherwise, ""
    cost = f"{duration(seconds * embeddings)}{' + ?' if unknown else ''}" if seconds else "?"
    return f"{embeddings} of {design.bases(embeddings)} bases", cost
