"""Sweeps: plan every cell, run missing points on an engine, resubmit lost ones, join the tables.

A single point is a sweep of one cell, run in this process.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from hydra.errors import HydraException

from biasbridge.files import InputError
from biasbridge.files.charts import figures_as
from biasbridge.files.data.registry import collected_requests, require_data
from biasbridge.files.progress import progress_lines
from biasbridge.files.terminal import is_quiet, is_verbose
from biasbridge.train.cli.command import (
    Command,
    hydra_started,
    one_line,
    read_command,
    read_options,
)
from biasbridge.train.cli.composing import Composer, read_settings, read_study
from biasbridge.train.cli.engines import (
    Job,
    check_engine,
    count_workers,
    distinct_jobs,
    distinct_plans,
    launch,
    plan_rounds,
    run_here,
    run_locally,
)
from biasbridge.train.engine.cost import SweepProgress, describe_cost, print_plan
from biasbridge.train.engine.point import (
    Outcome,
    Point,
    plan_point,
    read_outcome,
    results_folder,
    write_outcome,
)
from biasbridge.train.engine.source import project_digest
from biasbridge.train.engine.steps import ChecksInput, SharedSteps
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store_tools import Outdated, outdated, report_outdated

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.cli.composing import Overwrite, Settings
    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Step


def _compose_points(compose: Composer, cells: Sequence[Sequence[str]]) -> Iterator[Point]:
    """Yield the point of each cell, composed on demand. Raises ``InputError``."""
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
    options = read_options(overrides)
    with collected_requests() as requested, hydra_started(options.config_dir, "data"):
        command = read_command(options)
        compose = Composer(command.hydra)
        cells = {  # numbers change no path
            tuple(option for option in cell if not re.search(r"=-?[\d.]+$", option)): cell
            for cell in compose.list_cells(command)
        }
        for _ in _compose_points(compose, [*cells.values()]):
            pass
    return list(dict.fromkeys(requested))


def _check_input(points: Iterable[Point], console: Console) -> list[Point]:
    """Return the points after checking each task and subject once, as they come; print warnings."""
    checked_points: list[Point] = []
    distinct_points: dict[tuple[int, ...], Point] = {}  # but for the seed
    checked: set[str] = set()
    missing_words: list[str] = []
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
                missing_words += point.missing_words() if part is point.subject else []
    mixes = (point.synthetic_mix for point in distinct_points.values())
    mismatches = (point.group_mismatch for point in distinct_points.values())
    for mix in dict.fromkeys(filter(None, mixes)):
        console.print(f"warning: results mix synthetic and real data: {mix}", soft_wrap=True)
    for warning in dict.fromkeys(missing_words):
        console.print(f"warning: {warning}", soft_wrap=True)
    for mismatch in dict.fromkeys(filter(None, mismatches)):
        remedy = "Give words about these groups, such as intrinsic.weat.words=FILE"
        console.print(f"warning: {mismatch} {remedy}", soft_wrap=True)
    return checked_points


def _describe_axes(cells: Sequence[Sequence[str]]) -> list[str]:
    """Return the keys that vary in the grid with their values, where two lines have room for them;
    of the longest axes the number of values.
    """
    values: dict[str, dict[str, None]] = {}
    for key, _, value in (line.partition("=") for cell in cells for line in cell):
        values.setdefault(key, {})[value] = None
    axes = {key: f"{key} {', '.join(listed)}" for key, listed in values.items() if len(listed) > 1}
    for longest in [*sorted(axes, key=lambda key: len(axes[key])), ""][::-1]:
        axes |= {longest: f"{longest} ({len(values[longest])})"} if longest else {}
        if len(lines := wrap(f"axes: {'; '.join(axes.values()) or 'none'}", 80)) <= 2:
            break
    return lines


class _UnreadFiles(Store):
    """A store for plans that name files in place of their content."""

    def digest(self, path: Path) -> str:
        """Return the path."""
        return str(path)


def _outline(
    compose: Composer,
    command: Command,
    cells: Sequence[list[str]],
    settings: Settings,
    console: Console,
) -> list[Point]:
    """Print the axes and whether a verdict is possible, before data are read; return the points."""
    with collected_requests() as requested:
        points, study = [*_compose_points(compose, cells)], read_study(command.config)
    store, planned = _UnreadFiles(settings.store), SharedSteps()
    facts = []
    for point in points:
        subject = replace(point, metrics=(), probe=None, task=None)
        facts.append(_facts(plan_point(subject, store, planned)) | point.facts())
    outline = getattr(study, "outline", lambda _: ())
    for line in [*_describe_axes(cells), *outline(facts)]:
        console.print(line, soft_wrap=True)
    require_data(requested)
    return points


def _facts(plan: Plan) -> dict[str, object]:
    """Return the columns of a point without its outcome."""
    return {**plan.point.facts(), **plan.options(), **plan.keys()}


def _plan_jobs(points: Iterable[Point], cells: Iterable[list[str]], store: Store) -> list[Job]:
    """Return one job per cell, so that invalid input ends the sweep before anything runs."""
    planned = SharedSteps()
    pairs = zip(points, cells, strict=True)
    return [Job(plan_point(point, store, planned), cell) for point, cell in pairs]


def _plan_rebuilds(
    jobs: Sequence[Job], store: Store, settings: Settings, console: Console, *, n_workers: int
) -> dict[str, Step]:
    """Print cost or plan, and outdated results; return the stored steps to rebuild, by key."""
    plans = distinct_plans(jobs)
    to_rebuild = {key: step for plan in plans for key, step in plan.steps.items()}
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


_LOCAL = "local"  # launcher of this machine
_ROUNDS = 3  # of a sweep whose results are removed while it runs

log = logging.getLogger(__name__)


def run(command: Command, console: Console) -> tuple[int, Path]:
    """Run what a command line asks for; return the exit status and the folder of its tables."""
    project_digest()  # of the code that runs: it may change before the conclusions
    config, settings = command.config, read_settings(command.config)
    check_engine(config.hydra)
    store, compose = Store(settings.store), Composer(command.hydra)
    store.require_own()
    cells = compose.list_cells(command)
    points = (
        _outline(compose, command, cells, settings, console)
        if settings.plan and command.is_sweep
        else _compose_points(compose, cells)
    )
    jobs = _plan_jobs(_check_input(points, console), cells, store)
    for choice, options in compose.left_out.items():
        console.print(f"{choice} has no option {', '.join(options)}: left out", soft_wrap=True)
    plans = distinct_plans(jobs)
    n_workers = count_workers(config.hydra, len(plans))
    to_rebuild = _plan_rebuilds(jobs, store, settings, console, n_workers=n_workers)
    study = read_study(config)
    for line in getattr(study, "forecast", lambda _: ())([*map(_facts, plans)]):
        console.print(line, soft_wrap=True)
    folder = settings.results if command.is_sweep else f"{settings.results}/{plans[0].key}"
    if settings.plan:
        return 0, Path(folder)
    from biasbridge.analysis.result_folder import require_own

    require_own(Path(folder), study.writes)
    sweep = _Sweep(command, cells, store, results_folder(folder), settings.overwrite, console)
    with store.in_use():
        if to_rebuild:
            store.prove_writable()
        for step in to_rebuild.values():
            store.discard(step)
        jobs = sweep.run(jobs)
        from biasbridge.train.engine.tables import finish  # loads what studies need

        progress = progress_lines(lambda: "writing the tables and conclusions")
        with progress, figures_as(settings.figures):
            plans = distinct_plans(jobs)
            status = finish(plans, sweep.outcomes, study, store, sweep.results, console)
            return status, sweep.results


@dataclass
class _Sweep:
    """Sweep, or a single point, whose missing points are run; ``outcomes``: by point."""

    command: Command
    cells: Sequence[list[str]]
    store: Store
    results: Path
    overwrite: Overwrite
    console: Console
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def run(self, jobs: Sequence[Job]) -> list[Job]:
        """Run the missing points; return the jobs as last planned.

        A round follows another if points are missing that did not fail: their results were removed,
        or an input file changed after planning, which makes them other points.
        """
        unfinished = distinct_jobs(jobs)
        if self.overwrite != "always":
            unfinished = [job for job in unfinished if not self._is_done(job)]
        if self.overwrite == "only-cache":
            return list(jobs)
        for _ in range(_ROUNDS):
            if unfinished:
                self.outcomes |= self._run_round(unfinished)
            if all(map(self._is_done, jobs)):
                break
            points = _compose_points(Composer(self.command.hydra), self.cells)
            jobs = _plan_jobs(points, self.cells, self.store)
            if not (unfinished := self._list_undone(jobs)):
                break
        return list(jobs)

    def _run_round(self, jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Run the jobs on the engine and show the progress; return the outcomes by point."""
        self.store.prove_writable()
        self.store.orphans(remove=True)
        if not self.command.is_sweep:
            with progress_lines(self._watch_progress(jobs).describe):
                return run_here(jobs[0], Composer(self.command.hydra), self.results)
        try:
            outcomes, last_error = self._run_on_engine(jobs)
        finally:
            self.store.orphans(remove=True)
        unfinished = [job.plan.key for job in jobs if job.plan.key not in outcomes]
        if unfinished and not outcomes:
            raise InputError(
                f"the engine ran none of the {len(jobs)} points: {last_error}. Correct this or the"
                " options of the engine (hydra.launcher), or choose another engine, such as"
                " engine=joblib"
            )
        failures = [Outcome(key, "failed", f"did not finish: {last_error}") for key in unfinished]
        written = [write_outcome(outcome, self.results) for outcome in failures]
        return outcomes | {outcome.point: outcome for outcome in written}

    def _run_on_engine(self, jobs: Sequence[Job]) -> tuple[dict[str, Outcome], str]:
        """Return the outcomes by point, and the last error of the engine."""
        hydra, progress = self.command.config.hydra, self._watch_progress(jobs)
        rounds = plan_rounds(jobs, self.store)
        with progress.shown():
            if hydra.runtime.choices["hydra/launcher"] == _LOCAL:
                composer = Composer(self.command.hydra)
                in_turn = [job for jobs in rounds for job in jobs]  # whoever is free takes the next
                return run_locally(in_turn, composer, hydra.launcher.n_jobs), ""
            return launch(rounds, self.command, progress, self.results)

    def _watch_progress(self, jobs: Sequence[Job]) -> SweepProgress:
        plans = [job.plan for job in jobs]
        return SweepProgress(plans, self.store, self.results, self.console)

    def _list_undone(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that did not fail and are not done."""
        undone = [
            job
            for job in distinct_jobs(jobs)
            if not self._is_done(job) and not self._has_failed(job.plan.key)
        ]
        if undone:
            log.warning(
                "rebuilding %d points, such as %s, because an input file changed during the sweep"
                " or their results were removed",
                *(len(undone), undone[0].plan.key),
            )
        return undone

    def _has_failed(self, point: str) -> bool:
        outcome = self.outcomes.get(point) or read_outcome(self.results, point)
        return outcome is not None and outcome.status == "failed"

    def _is_done(self, job: Job) -> bool:
        return all(map(self.store.intact, job.plan.ends))
