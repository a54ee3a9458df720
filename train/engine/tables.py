"""End of a sweep: join the tables, conclude the study, report warnings and failures."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from biasbridge.analysis.naming import MIN_COVERAGE
from biasbridge.analysis.result_folder import (
    PROVENANCE_CSV,
    describe_mixture,
    describe_processor,
    register_outputs,
    remove_older_conclusions,
    without_local_details,
    write_provenance,
    write_tables,
)
from biasbridge.analysis.tables import Tables
from biasbridge.files.charts import figure_style
from biasbridge.files.columns import as_text
from biasbridge.files.data.registry import sets_of_content
from biasbridge.files.errors import printable
from biasbridge.files.paths import atomic_path, digest_of, sha256
from biasbridge.files.terminal import LOG, is_verbose
from biasbridge.stats.formatting import format_number
from biasbridge.train.engine.locks import locked
from biasbridge.train.engine.point import Outcome, read_outcome
from biasbridge.train.engine.source import project_digest
from biasbridge.train.engine.steps import HasWarnings
from biasbridge.train.engine.store_tools import build_records
from biasbridge.train.tasks.task_words import EVIDENCE

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.result_folder import BuildRecord
    from biasbridge.analysis.study import Study
    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Store


_N_TABLES_NAMED = 2  # in the last lines
_FAILED = re.compile(r"^(effects of conditions )?not (drawn|correlated|estimated): ", re.MULTILINE)
_KEPT = ".conclusions"  # in the folder of points: what was concluded, and from what
_LIBRARIES = (
    *("altair", "jinja2", "numpy", "pandas", "pyarrow", "rich", "scipy", "vl-convert-python"),
)
_MIN_EQUAL_SCORES = 3  # fewer scores, such as ranks, may be equal by chance


def finish(
    plans: Sequence[Plan],
    outcomes: Mapping[str, Outcome],
    study: Study,
    store: Store,
    results: Path,
    console: Console,
) -> int:
    """Write the tables and the study's conclusions; return the exit status.

    0: every point is done; 2: all were refused for invalid input; else 1. Sweeps ending in one
    folder wait for one another.
    """
    tables = join_tables(plans, store, results, outcomes)
    if len(tables.points) and tables.points["refused"].all():  # keep the existing tables
        return _report_failures(tables.points, console)
    with locked(results / "points" / ".lock", f"the tables in {_near(results)}"):
        records = build_records(store, {key for table in tables[:2] for key in _result_keys(table)})
        folders_before = _earlier_folders(results)
        written = _write(tables, records, study, results, console)
    LOG.info("wrote %s", ", ".join(map(_near, written)))
    unchanged_models = _models_like_parent(tables)
    messages = [
        f"earlier tables of other points moved from {_near(results)} to {_near(folder)}"
        for folder in sorted(_earlier_folders(results) - folders_before)
    ]
    if mixed_versions := printable(describe_mixture(records)):
        remedy = f"{PROVENANCE_CSV} has the details"
        messages.append(f"results of different code versions: {mixed_versions}. {remedy}")
    if processor := printable(describe_processor(records)):
        messages.append(processor)
    messages += _task_warnings(plans, store) + _describe_coverage(tables) + _citations(plans)
    messages += [f"report  {_near(path)}" for path in written if path.suffix == ".html"]
    names = [path.name for path in written if path.parent == results and path.suffix != ".html"]
    names.sort(key=lambda name: name.endswith(".parquet") or name == PROVENANCE_CSV)
    more = f" and {len(names) - _N_TABLES_NAMED} more" if len(names) > _N_TABLES_NAMED else ""
    messages.append(f"tables  {_near(results)}/: {', '.join(names[:_N_TABLES_NAMED])}{more}")
    if as_text(tables.points, "generated").count("True") == len(tables.points):
        messages.append("next    your own data: biasbridge check posts.csv vectors.vec")
    for message in (*messages, *unchanged_models):
        console.print(message, soft_wrap=True)
    return _report_failures(tables.points, console) or int(bool(unchanged_models))


def _write(
    tables: Tables, records: Sequence[BuildRecord], study: Study, results: Path, console: Console
) -> list[Path]:
    shareable_tables = without_local_details(tables)
    written = [*write_tables(results, shareable_tables), write_provenance(results, records)]
    register_outputs(results, study.writes)
    key = _conclusion_key(study, written, results, console)
    note = results / "points" / _KEPT
    printed, concluded = "", list[Path]()
    with suppress(OSError, ValueError, LookupError, TypeError):  # none, or damaged
        kept = json.loads(note.read_text(encoding="utf-8"))
        if kept["key"] == key and kept["files"] == _digests(results, study.writes):
            concluded = [results / str(name) for name in kept["written"]]
            printed = str(kept["printed"])
    if printed:
        console.file.write(printed)
        return written + concluded
    with suppress(FileNotFoundError):
        note.unlink()
    capture = console.capture()
    try:
        with capture:
            concluded = study.conclude(shareable_tables, results, console)
    finally:
        console.file.write(capture.get())
        console.file.flush()
    remove_older_conclusions(results, study.writes)
    if key and not _FAILED.search(capture.get()):  # what failed may not fail again
        names = [os.path.relpath(path, results) for path in concluded]
        kept = {"key": key, "printed": capture.get(), "written": names}
        with atomic_path(note) as path:
            files = _digests(results, study.writes)
            path.write_text(json.dumps(kept | {"files": files}), encoding="utf-8")
    return written + concluded


def _conclusion_key(study: Study, tables: Sequence[Path], results: Path, console: Console) -> str:
    """Return the hash of all that conclusions depend on; empty where they are not kept: those of a
    user's study, and with ``--verbose``, which prints more.
    """
    if not type(study).__module__.startswith("biasbridge.") or is_verbose():
        return ""
    read = [*tables, *sorted((results / "points").glob("*.json"))]
    return digest_of(
        [
            type(study).__qualname__,
            repr(study),
            [str(results), *map(sha256, read)],
            project_digest(),
            [platform.python_version(), *map(version, _LIBRARIES)],
            repr(figure_style()),
            [console.width, console.color_system, console.quiet, console.encoding],
            [console.is_terminal, console.no_color, "COLUMNS" in os.environ],
        ]
    )


def _digests(results: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the hash of each file that a study wrote under these names."""
    paths = [path for name in names for path in (results / name, *(results / name).rglob("*"))]
    return {str(path.relative_to(results)): sha256(path) for path in paths if path.is_file()}


def _models_like_parent(tables: Tables) -> list[str]:
    """Return an error per modified model whose scores, but proportions, all equal its parent's."""
    points = tables.points.set_index("point")
    if not {"unit_key", "parent_key"} <= {*points} or "scale_min" not in tables.intrinsic:
        return []
    score_columns = ["metric", "convention", "query", "part", "value"]
    scores = tables.intrinsic.query("scale_min != 0 or scale_max != 1")  # not proportions
    values = scores.assign(unit=scores["point"].map(points["unit_key"]))
    scores_by_unit = {  # of all layers of a model
        str(unit): {*rows[score_columns].itertuples(index=False, name=None)}
        for unit, rows in values.dropna(subset="value").groupby("unit")
    }
    errors = {}
    for _, point in points.iterrows():
        unit, parent = str(point["unit_key"]), str(point["parent_key"])
        unit_scores = scores_by_unit.get(unit, set())
        parent_scores = scores_by_unit.get(parent, set())
        has_enough = len(unit_scores) >= _MIN_EQUAL_SCORES
        if unit != parent and has_enough and unit_scores <= parent_scores:
            condition = " ".join(map(str, (point["method"], point["direction"], point["dose"])))
            effect = "scores exactly like its parent: the method had no effect"
            errors[unit] = f"error: {condition} {effect}"
    return list(dict.fromkeys(errors.values()))


def _earlier_folders(results: Path) -> set[Path]:
    """Return the folders of tables that were set aside."""
    return set((results / "earlier").glob("[!.]*"))


def _task_warnings(plans: Sequence[Plan], store: Store) -> list[str]:
    """Return the warnings of tasks about their results, once per task."""
    tasks: dict[str, tuple[HasWarnings, list[Plan]]] = {}
    for plan in plans:
        if isinstance(task := plan.point.task, HasWarnings):
            tasks.setdefault(repr(task), (task, []))[1].append(plan)
    lines = [
        line
        for task_with_warnings, task_plans in tasks.values()
        for line in task_with_warnings.warnings(partial(_find_folder, task_plans, store))
    ]
    return list(dict.fromkeys(lines))


def _find_folder(plans: Sequence[Plan], store: Store, name: str) -> Path | None:
    """Return the folder of a step by its name; None if it is no longer stored."""
    steps = (step for plan in plans for step in plan.steps.values() if step.name == name)
    return next((store.path(step) for step in steps if store.has(step)), None)


def _citations(plans: Sequence[Plan]) -> list[str]:
    """Return a line that cites each registered data set that steps read, known by its content."""
    digests = {
        (name.partition(" ")[2], digest)
        for plan in plans
        for step in plan.steps.values()
        for name, digest in step.files.items()
    }
    cited = dict.fromkeys(each.citation for each in sets_of_content(digests))
    return [f"cite    {'; '.join(cited)}"] if cited else []


def _describe_coverage(tables: Tables) -> list[str]:
    """Return a warning per source of which few tokens have a vector."""
    if "coverage" not in tables.extrinsic:
        return []
    sources = tables.points.set_index("point")["source"]
    coverage = tables.extrinsic.drop_duplicates("point").assign(
        source=lambda table: table["point"].map(sources)
    )
    lines = []
    for source, fewest in coverage.groupby("source", sort=False)["coverage"].min().items():
        line = f"{format_number(fewest)} of the tokens of source={source} have a vector"
        LOG.info(line)
        if fewest < MIN_COVERAGE:
            lines.append(f"warning: {line}; use vectors, or a corpus, of similar texts")
    return lines


def _result_keys(table: pd.DataFrame) -> set[str]:
    """Return the result keys in the columns of a table."""
    return {
        key for name in table if str(name).endswith("_key") for key in as_text(table, str(name))
    }


def _report_failures(points: pd.DataFrame, console: Console) -> int:
    failed = points[points["status"] != "done"]
    for error, names in failed.groupby("error", sort=False)["point"]:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        console.print(f"failed {names.iloc[0]}{more}: {error}", soft_wrap=True)
    if not len(failed):
        return 0
    return 2 if failed["refused"].all() and len(failed) == len(points) else 1


def _near(path: Path) -> str:
    """Return the path relative to the working directory if it lies inside."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def join_tables(
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    outcomes: Mapping[str, Outcome] | None = None,
) -> Tables:
    """Return the tables of the plans' points.

    A point is done if all results it ends in are intact in the store. Otherwise its row tells how
    the last attempt ended, from ``outcomes`` (by point) or from the file in ``results``. Tables
    contain no times and no store paths, so two runs of one sweep give equal tables.
    """
    points, intrinsic, extrinsic, probes, words = [], [], [], [], []
    for plan in plans:
        outcome = Outcome(plan.key)
        if all(store.intact(step) for step in plan.ends):
            for step in plan.metrics:
                scores = _read_scores(store.path(step), point=plan.key)
                key = pa.repeat(step.key, scores.num_rows)
                intrinsic.append(scores.add_column(scores.num_columns, "intrinsic_key", key))
            probes += [_read_scores(store.path(step), point=plan.key) for step in plan.probes]
            stored = [store.path(step) for step in plan.task_words() if store.intact(step)]
            words += [_read_scores(folder, EVIDENCE, point=plan.key) for folder in stored]
            if plan.task:
                task = str(plan.point.facts()["task"])
                extrinsic.append(_read_scores(store.path(plan.task), task=task, point=plan.key))
        else:
            recorded = (outcomes or {}).get(plan.key) or read_outcome(results, plan.key)
            has_failed = recorded is not None and recorded.status == "failed"
            reason = "its results were removed from the store" if recorded else "did not run"
            outcome = recorded if recorded and has_failed else Outcome(plan.key, "failed", reason)
        columns = {**plan.point.facts(), **plan.options(), **outcome.columns(), **plan.keys()}
        points.append({"point": plan.key, **columns})
    return Tables(
        pd.DataFrame(points),
        _stack(intrinsic, ["point"]),
        _stack(extrinsic, ["point", "task"]),
        _stack(probes, ["point", "probe"]),
        _stack(words, ["point", "query"]),
    )


def _read_scores(folder: Path, name: str = "scores.parquet", **columns: str) -> pa.Table:
    """Return a step's scores with constant columns put before them."""
    file = pq.ParquetFile(folder / name)
    table = file.read(use_threads=False).replace_schema_metadata(None)
    for column, value in columns.items():
        table = table.add_column(0, column, pa.repeat(value, table.num_rows))
    return table


def _stack(tables: Iterable[pa.Table], columns: list[str]) -> pd.DataFrame:
    stacked = list(tables)
    if not stacked:
        return pd.DataFrame(columns=columns)
    frame: pd.DataFrame = pa.concat_tables(stacked, promote_options="permissive").to_pandas()
    return frame
