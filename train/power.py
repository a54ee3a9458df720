"""What a study would see: printed beside the plan, from the points at hand or from stated
reliabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from analysis.naming import ALL
from analysis.planner import Design, Pilot, Planner, Power, Scenario, pilot_of, power
from analysis.show import print_table
from analysis.study import Correlation
from files import InputError
from files.progress import duration
from train.estimate import cost_of

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.study import Study
    from intrinsic.probe import AnyMetric
    from train.point import Plan
    from train.store import Store

LEAST = 0.01  # reliability: that of points that show noise alone is estimated as 0
COLUMNS = ("study", "models", "ladder", "normal", "growing", "others", "exclude", "cost")


def print_power(
    planner: Planner,
    study: Study,
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    console: Console,
) -> None:
    """How often the planned study, and larger ones, see |r| of ``sesoi`` and exclude it.

    Raises ``InputError`` for a study that asks for no correlation, and where neither points at hand
    nor the planner say how reliable scores and gaps are.
    """
    if not isinstance(study, Correlation):
        raise InputError(f"power=true plans correlations; study={study.name} asks for none")
    pilot = read_pilot(results, study)
    design = design_of(planner, study, plans, pilot)
    seconds, unknown = cost_of(plans, store)
    each = seconds / design.models
    source = f"{pilot.models} models at hand" if pilot.models else "as stated"
    rows = []
    for name, at in _sizes(design).items():
        found = [power(at, planner.studies, scenario) for scenario in get_args(Scenario)]
        cost = f"{duration(each * at.models)}{' + ?' if unknown else ''}" if each else "?"
        cells = name, str(at.models), *_shares(found), "?" if "items" in name else cost
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    title = (
        f"Shares of studies of {design.parents} parents x {design.conditions} conditions that see"
        f" |r| = {design.sesoi:g} ({design.tests} confirmatory slices; reliability of scores"
        f" {design.reliability_x:.2f}, of gaps {design.reliability_y:.2f}, {source})"
    )
    print_table(title, rows, console, left=COLUMNS[:1])
    console.print(
        "ladder, normal, growing: scores on a ladder of doses, normal scores, noise that grows"
        " with the score. others: seen for other conditions too (ladder), from ten"
        " conditions on. exclude: r = 0 is called negligible (ladder). Costs are of this plan's"
        f" stages one after another. {planner.studies} simulated studies each.",
        soft_wrap=True,
    )


def _sizes(design: Design) -> dict[str, Design]:
    """The planned study and larger ones."""
    found = {"as planned": design}
    for times in (2, 4):
        found[f"parents x {times}"] = design._replace(parents=times * design.parents)
        found[f"conditions x {times}"] = design._replace(conditions=times * design.conditions)
    return found | {"test items x 4": design.with_items(4)}


def _shares(found: Sequence[Power]) -> list[str]:
    of_others = found[0].seen_over_conditions
    others = f"{of_others:.0%}" if isfinite(of_others) else "-"
    return [*(f"{each.seen:.0%}" for each in found), others, f"{found[0].excluded:.0%}"]


def read_pilot(results: Path, study: Correlation) -> Pilot:
    """What the tables in a results folder say of noise; an empty one where there are none."""
    from analysis.correlate import correlate_slices
    from analysis.frame import numbers
    from analysis.joined import has_gaps, join_points
    from analysis.naming import confirmatory_of
    from analysis.results import read_tables

    if not (results / "points.parquet").exists():
        return Pilot()
    tables = read_tables(results)
    if not has_gaps(tables):
        return Pilot()
    joined = join_points(tables, study.utility)
    measures = confirmatory_of(joined["measure"].tolist(), study.confirmatory)
    items = numbers(joined[joined["measure"].isin(measures)], "support").tolist()
    return pilot_of(correlate_slices(joined, study), items)


def design_of(planner: Planner, study: Correlation, plans: Sequence[Plan], pilot: Pilot) -> Design:
    """The study that is planned: parents and conditions from the plan, the rest as stated or from
    the pilot.
    """
    models, parents = _counts(plans)
    tests = planner.tests or pilot.tests or confirmatory_slices(study, plans[0].point.metrics)
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
    sampling = [e if isfinite(e) else 0.0 for e in (pilot.words_error, pilot.items_error)]
    # Where nothing is modified the models are compared with one another
    shape = (parents, round(models / parents)) if models >= 2 * parents else (1, models)
    return Design(*shape, tests, planner.sesoi or study.sesoi, *reliable, *sampling)


def confirmatory_slices(study: Correlation, metrics: Sequence[AnyMetric]) -> int:
    """How many confirmatory slices a study has where all its measures are there: those of each
    query of each metric, or of the queries that it names; a metric without an unbiased value has
    none.
    """
    biased = [each for each in metrics if each.about.unbiased is not None]
    asked = [(*(query.name for query in each.asked), *each.open, ALL) for each in biased]
    named = [
        name
        for names in asked
        for name in names
        if (name in study.queries if study.queries else name != ALL)
    ]
    alike = (named, study.confirmatory, study.embeddings, study.methods)
    return prod(max(1, len(each)) for each in alike)


def _counts(plans: Sequence[Plan]) -> tuple[int, int]:
    """How many models a plan has, and of how many parents."""
    return len({plan.unit.key for plan in plans}), len({plan.parent.key for plan in plans})
