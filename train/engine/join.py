"""Tables of a sweep, joined from the results in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from biasbridge.analysis.results import Tables
from biasbridge.train.engine.outcome import Outcome, read_outcome
from biasbridge.train.tasks.task_words import EVIDENCE

if TYPE_CHECKING:
    from biasbridge.train.engine.point import Plan
    from biasbridge.train.engine.store import Store


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
