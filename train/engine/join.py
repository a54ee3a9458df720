"""Tables of a sweep, joined from the results in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.frame import as_text, text_rows
from analysis.options import OPTIONS, options_of
from analysis.results import Tables, read_tables
from train.engine.outcome import Outcome, read_outcome
from train.tasks.task_words import EVIDENCE

if TYPE_CHECKING:
    from train.engine.point import Plan
    from train.engine.store import Store

# Columns that are equal within a study; data columns and the steps that read the data
STUDY_COLUMNS = ("experiment", "task", "positive_class")
DATA_STEPS = {"source": ("posts", "documents"), "challenge": ("challenge",), "corpus": ("corpus",)}


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
    return pa.concat_tables(stacked, promote_options="permissive").to_pandas()


def extend_tables(tables: Tables, results: Path) -> Tables:
    """Return the tables plus stored rows of other points with the same task and data.

    Data from files are compared by content and reading options, synthetic data by name.
    """
    if not (results / "points.parquet").is_file():
        return tables
    earlier = read_tables(results)
    new_data = {*_study_and_data(tables.points)}
    earlier_points = as_text(earlier.points, "point")
    earlier_data = zip(earlier_points, _study_and_data(earlier.points), strict=True)
    same_data = {point for point, data in earlier_data if data in new_data}
    kept = same_data - {*as_text(tables.points, "point")}
    return Tables(
        *(
            _join(old[old["point"].isin(kept)], new)
            for old, new in zip(earlier, tables, strict=True)
        )
    )


def _study_and_data(points: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the study and the data of each point."""
    study, data_names = text_rows(points, STUDY_COLUMNS), text_rows(points, DATA_STEPS)
    rows = []
    for study_cells, data_cells, cells in zip(
        study, data_names, text_rows(points, OPTIONS), strict=True
    ):
        options = {name: value for cell in cells for name, value in options_of(cell).items()}
        data = zip(data_cells, DATA_STEPS.values(), strict=True)
        contents = (_content(options, steps) or name for name, steps in data)
        rows.append((*study_cells, *contents))
    return rows


def _content(options: Mapping[str, str], steps: Sequence[str]) -> str:
    """Return the file digests or revisions that steps read, with their options; empty if none."""
    step_options = {name: value for name, value in options.items() if name.split(".")[0] in steps}
    reads_data = any(name.endswith((".files", ".revision")) for name in step_options)
    return json.dumps(step_options, sort_keys=True) if reads_data else ""


def _join(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([old, new], ignore_index=True) if len(old) else new
