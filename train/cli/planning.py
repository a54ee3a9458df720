"""Plan of a command: the point of every cell, checked before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hydra import initialize_config_dir
from hydra.errors import HydraException

from biasbridge.files import InputError
from biasbridge.files.data.registry import collected_requests
from biasbridge.files.verbosity import is_quiet, is_verbose
from biasbridge.train.cli import CONF
from biasbridge.train.cli.command import Command, list_cells, read_command
from biasbridge.train.cli.composer import Composer, check_keys, drop_options_of_other_choices
from biasbridge.train.cli.configure import read_point
from biasbridge.train.cli.error_messages import INPUT_ERRORS, one_line
from biasbridge.train.cli.jobs import Job, distinct_plans
from biasbridge.train.cli.options import read_options
from biasbridge.train.engine.estimate import describe_cost, print_plan
from biasbridge.train.engine.part import ChecksInput, Planned
from biasbridge.train.engine.point import Point, plan_point
from biasbridge.train.engine.store.stale import Outdated, outdated, report_outdated

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.cli.settings import Settings
    from biasbridge.train.engine.store import Step, Store


def compose_points(command: Command, cells: Sequence[Sequence[str]]) -> Iterator[Point]:
    """Yield the point of each cell, composed on demand. Raises ``InputError``."""
    if not command.is_sweep:
        check_keys(command.config, command.config.hydra)
        drop_options_of_other_choices(command.config, command.config.hydra)
        yield read_point(command.config)
        return
    compose = Composer(command.hydra)
    for cell in cells:
        try:
            point = compose.read(cell).point
        except (HydraException, InputError) as error:
            if len(cells) == 1:
                raise
            overrides = " ".join(cell)
            raise InputError(f"{one_line(error)} (in the cell {overrides})") from error
        yield point


def list_requested_data(overrides: Sequence[str]) -> list[str]:
    """Return the paths below the data folder that the points of a command line read."""
    try:
        with (
            collected_requests() as requested,
            initialize_config_dir(str(CONF), job_name="data", version_base="1.3"),
        ):
            command = read_command(read_options(overrides))
            cells = {  # numbers change no path
                tuple(option for option in cell if not re.search(r"=-?[\d.]+$", option)): cell
                for cell in list_cells(command)
            }
            for _ in compose_points(command, [*cells.values()]):
                pass
    except INPUT_ERRORS as error:
        raise InputError(one_line(error)) from error
    return list(dict.fromkeys(requested))


def check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """Return the points after checking every distinct task and subject once.

    Points are checked as they come, so that errors are found before all cells are composed. Prints
    warnings. Raises ``InputError``.
    """
    checked_points: list[Point] = []
    distinct_points: dict[tuple[int, ...], Point] = {}  # but for the seed
    checked: set[str] = set()
    for point in points:
        checked_points.append(point)
        parts = (point.task, point.subject, point.metrics, point.from_task)
        if (identities := tuple(map(id, parts))) in distinct_points:
            continue
        distinct_points[identities] = point
        queries = point.queries
        query_names = sorted({f"{query.name} {query.language}" for query in queries})
        for part in (point.task, point.subject):
            identity = repr((getattr(part, "checked", part), query_names))
            if isinstance(part, ChecksInput) and identity not in checked:
                part.check(queries)
                checked.add(identity)
    mixes = (point.synthetic_mix for point in distinct_points.values())
    mismatches = (point.group_mismatch for point in distinct_points.values())
    for mix in dict.fromkeys(filter(None, mixes)):
        console.print(f"warning: results mix synthetic and real data: {mix}", soft_wrap=True)
    for mismatch in dict.fromkeys(filter(None, mismatches)):
        remedy = "Give words about these groups, such as intrinsic.weat.words=FILE"
        console.print(f"warning: {mismatch} {remedy}", soft_wrap=True)
    return checked_points


def plan_jobs(points: Iterable[Point], cells: Iterable[list[str]], store: Store) -> list[Job]:
    """Return one job per cell, so that invalid input ends the sweep before anything runs."""
    planned = Planned()
    pairs = zip(points, cells, strict=True)
    return [Job(plan_point(point, store, planned), cell) for point, cell in pairs]


def plan_rebuilds(
    jobs: Sequence[Job], store: Store, settings: Settings, console: Console, *, n_workers: int
) -> dict[str, Step]:
    """Print cost or plan, and outdated results; return the stored steps to rebuild, by key.

    Raises ``InputError`` if results of other code are refused.
    """
    plans = distinct_plans(jobs)
    to_rebuild = {key: step for plan in plans for key, step in plan.steps().items()}
    results: list[Outdated] = []
    if settings.overwrite != "always":
        results = outdated(store, [step for plan in plans for step in plan.ends])
        outdated_steps = {result.step.key: result.step for result in results}
        to_rebuild = outdated_steps if settings.stale == "rebuild" else {}
    if settings.plan or is_verbose():
        print_plan(plans, [job.plan for job in jobs], store, console, anew=to_rebuild)
    elif not is_quiet() and (line := describe_cost(plans, store, to_rebuild, n_workers)):
        console.print(line)
    report_outdated(results, settings.stale, console)
    return to_rebuild
