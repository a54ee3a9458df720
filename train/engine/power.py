"""Power of a planned study, from existing points or stated reliabilities, printed with the plan."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pandas as pd

from biasbridge.analysis.naming import ALL
from biasbridge.analysis.power import (
    Pilot,
    Planner,
    Power,
    PowerDesign,
    Scenario,
    estimate_pilot,
    power,
)
from biasbridge.analysis.printing import print_table
from biasbridge.analysis.study import Correlation
from biasbridge.files import InputError
from biasbridge.files.terminal import duration
from biasbridge.train.engine.cost import total_cost

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.study import Study
    from biasbridge.intrinsic.metric import AnyMetric
    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Store

_MIN_RELIABILITY = 0.01  # of points that show only noise, estimated as 0
_COLUMNS = ("study", "models", "ladder", "normal", "growing", "other doses", "cost")


def print_power(
    planner: Planner,
    study: Study,
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    console: Console,
) -> None:
    """Print the power of the planned study and of larger ones for |r| = ``sesoi``.

    Raises ``InputError`` for a study without correlations, and if neither existing points nor the
    planner give the reliabilities of scores and gaps.
    """
    if not isinstance(study, Correlation):
        raise InputError(f"power=true plans correlations; study={study.name} computes none")
    pilot = _read_pilot(results, study)
    design = _planned_design(planner, study, plans, pilot)
    seconds, n_untimed = total_cost(plans, store)
    n_models = len({plan.unit.key for plan in plans})
    _, n_parents, n_clusters = _count_levels(plans)
    is_averaged = 1 < n_clusters < n_parents
    averaged = " (clusters: parents that share a corpus or seed are averaged)" * is_averaged
    source = f"{pilot.models} existing models" if pilot.models else "as stated"
    rows = []
    for name, size in _sizes(design).items():
        powers = [power(size, planner.studies, scenario) for scenario in get_args(Scenario)]
        times = size.models / design.models
        time = duration(seconds * times) + (" + ?" if n_untimed else "")
        cost = time if seconds else "?"
        cost = "?" if "items" in name else cost
        cells = name, str(round(n_models * times)), *_shares(powers), cost
        rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    title = (
        f"Power to find |r| = {design.sesoi:g} with {design.parents} parents{averaged} x"
        f" {design.conditions} conditions"
    )
    print_table(title, rows, console, left_aligned=_COLUMNS[:1])
    console.print(
        f"Assumed ({source}): {design.tests} confirmatory slices, a reliability of"
        f" {design.reliability_x:.2f} for scores and of {design.reliability_y:.2f} for gaps."
        " ladder: scores rise with the dose. normal: scores are normally distributed. growing:"
        " noise grows with the score. other doses: power to claim them, with scores as in ladder"
        " and at least ten conditions. cost: time of this plan's steps, one after another."
        f" {planner.studies} simulated studies per row.",
        soft_wrap=True,
    )


def _sizes(design: PowerDesign) -> dict[str, PowerDesign]:
    """Return the planned study and larger ones."""
    designs = {"as planned": design}
    for factor in (2, 4):
        designs[f"parents x {factor}"] = design._replace(parents=factor * design.parents)
        designs[f"conditions x {factor}"] = design._replace(conditions=factor * design.conditions)
    return designs | {"test items x 4": design.with_items(4)}


def _shares(powers: Sequence[Power]) -> list[str]:
    power_over_conditions = powers[0].detected_over_conditions
    others = f"{power_over_conditions:.0%}" if isfinite(power_over_conditions) else "-"
    detected = (f"{scenario_power.detected:.0%}" for scenario_power in powers)
    return [*detected, others]


def _read_pilot(results: Path, study: Correlation) -> Pilot:
    """Return the noise estimates of the tables in a results folder; empty without tables."""
    from biasbridge.analysis.correlate import correlate_slices
    from biasbridge.analysis.joined import has_gaps, join_points
    from biasbridge.analysis.naming import present_confirmatory
    from biasbridge.analysis.tables import as_float, read_tables

    if not (results / "points.parquet").exists():
        return Pilot()
    tables = read_tables(results)
    if not has_gaps(tables):
        return Pilot()
    joined = join_points(tables, study.utility)
    measures = present_confirmatory(joined["measure"].tolist(), study.confirmatory)
    items = as_float(joined[joined["measure"].isin(measures)], "support").tolist()
    return estimate_pilot(correlate_slices(joined, study), items)


def _planned_design(
    planner: Planner, study: Correlation, plans: Sequence[Plan], pilot: Pilot
) -> PowerDesign:
    """Return the planned design: models from the plan, the rest as stated or from the pilot.

    Parents of one of several clusters count once, as their averages do in the analysis.
    """
    models, parents, clusters = _count_levels(plans)
    shape = clusters if 1 < clusters < parents else parents, round(models / parents)
    tasks = {plan.point.task.name for plan in plans if plan.point.task is not None}
    slices = max(1, len(tasks)) * _confirmatory_slices(study, plans[0].point.metrics)
    tests = planner.tests or pilot.tests or slices
    reliabilities = []
    for name, stated, estimated in (
        ("reliability_x", planner.reliability_x, pilot.reliability_x),
        ("reliability_y", planner.reliability_y, pilot.reliability_y),
    ):
        value = stated if stated is not None else estimated
        if not isfinite(value):
            raise InputError(
                f"{name} is unknown: the results folder has no estimate; first run some points with"
                f" resamples of words and posts, or give planner.{name}=0.8"
            )
        reliabilities.append(max(value, _MIN_RELIABILITY))
    errors = (pilot.words_error, pilot.items_error)
    sampling = [error if isfinite(error) else 0.0 for error in errors]
    return PowerDesign(*shape, tests, planner.sesoi, *reliabilities, *sampling)


def _count_levels(plans: Sequence[Plan]) -> list[int]:
    """Return the numbers of models, parents and clusters, as an analysis has them."""
    from biasbridge.analysis.joined import levels

    points = [{**plan.point.facts(), **plan.keys(), "point": plan.key} for plan in plans]
    return [len({*names}) for names in levels(pd.DataFrame(points)).values()]


def _confirmatory_slices(study: Correlation, metrics: Sequence[AnyMetric]) -> int:
    """Return the number of confirmatory slices of a study if all its measures are estimated.

    These are the slices of each query, or each query of ``study.queries``, per metric; metrics
    without an unbiased value have none.
    """
    with_unbiased = [metric for metric in metrics if metric.about.unbiased is not None]
    names_by_metric = [
        (*(query.name for query in metric.loaded_queries), *metric.open_queries, ALL)
        for metric in with_unbiased
    ]
    queries = [
        name
        for names in names_by_metric
        for name in names
        if (name in study.queries if study.queries else name != ALL)
    ]
    factors = (queries, study.confirmatory, study.embeddings, study.methods)
    return prod(max(1, len(factor)) for factor in factors)
