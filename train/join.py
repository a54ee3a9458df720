"""The tables of a sweep, joined from what is in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.frame import text_rows, texts
from analysis.options import OPTIONS, options_of
from analysis.results import Tables, read_tables
from train.outcome import Outcome, read_outcome
from train.parts.task_words import EVIDENCE

if TYPE_CHECKING:
    from train.point import Plan
    from train.store import Store

# What two sweeps of one study share, and the data by the stages that read them
STUDY = ("experiment", "task", "positive_class")
DATA = {"source": ("posts", "documents"), "challenge": ("challenge",), "corpus": ("corpus",)}


def join_tables(
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    outcomes: Mapping[str, Outcome] | None = None,
) -> Tables:
    """A point is done if the results it ends in are in the store, whole; otherwise its row says how
    the last attempt ended: by ``outcomes``, by point, or else by what is written in ``results``.

    The tables hold nothing that differs between two runs of the same sweep: no times, no paths of
    the store.
    """
    points, intrinsic, extrinsic, probes, words = [], [], [], [], []
    for plan in plans:
        outcome = Outcome(plan.key)
        if all(store.intact(stage) for stage in plan.ends):
            for stage in plan.metrics:
                scores = _scores(store.path(stage), point=plan.key)
                key = pa.repeat(stage.key, scores.num_rows)
                intrinsic.append(scores.add_column(scores.num_columns, "intrinsic_key", key))
            probes += [_scores(store.path(stage), point=plan.key) for stage in plan.probes]
            drawn = [stage for stage in plan.task_words() if store.intact(stage)]
            words += [_scores(store.path(stage), EVIDENCE, point=plan.key) for stage in drawn]
            if plan.task:
                task = str(plan.point.facts()["task"])
                extrinsic.append(_scores(store.path(plan.task), task=task, point=plan.key))
        else:
            noted = (outcomes or {}).get(plan.key) or read_outcome(results, plan.key)
            failed = noted is not None and noted.status == "failed"
            why = "its results are no longer in the store" if noted else "did not run"
            outcome = noted if noted and failed else Outcome(plan.key, "failed", why)
        columns = {**plan.point.facts(), **plan.options(), **outcome.columns(), **plan.keys()}
        points.append({"point": plan.key, **columns})
    return Tables(
        pd.DataFrame(points),
        _stack(intrinsic, ["point"]),
        _stack(extrinsic, ["point", "task"]),
        _stack(probes, ["point", "probe"]),
        _stack(words, ["point", "query"]),
    )


def _scores(folder: Path, name: str = "scores.parquet", **first: str) -> pa.Table:
    """The rows of a stage's scores with columns put before them."""
    file = pq.ParquetFile(folder / name)
    table = file.read(use_threads=False).replace_schema_metadata(None)
    for column, value in first.items():
        table = table.add_column(0, column, pa.repeat(value, table.num_rows))
    return table


def _stack(tables: Iterable[pa.Table], first: list[str]) -> pd.DataFrame:
    stacked = list(tables)
    if not stacked:
        return pd.DataFrame(columns=first)
    return pa.concat_tables(stacked, promote_options="permissive").to_pandas()


def extend_tables(tables: Tables, results: Path) -> Tables:
    """The tables with the rows of other points that are in the results folder already, if they are
    about the same task and data: what was read is known by its content and by how it was read, what
    is synthetic by its name.
    """
    if not (results / "points.parquet").is_file():
        return tables
    earlier = read_tables(results)
    now = {*_about(tables.points)}
    about = zip(texts(earlier.points, "point"), _about(earlier.points), strict=True)
    kept = {point for point, each in about if each in now} - {*texts(tables.points, "point")}
    return Tables(
        *(
            _join(old[old["point"].isin(kept)], new)
            for old, new in zip(earlier, tables, strict=True)
        )
    )


def _about(points: pd.DataFrame) -> list[tuple[str, ...]]:
    """For each point its study and data."""
    study, names = text_rows(points, STUDY), text_rows(points, DATA)
    found = []
    for each, named, cells in zip(study, names, text_rows(points, OPTIONS), strict=True):
        options = {name: value for cell in cells for name, value in options_of(cell).items()}
        data = zip(named, DATA.values(), strict=True)
        found.append((*each, *(_content(options, stages) or name for name, stages in data)))
    return found


def _content(options: Mapping[str, str], stages: Sequence[str]) -> str:
    """What the stages read, the bytes or a revision, and how; empty where they read nothing."""
    chosen = {name: value for name, value in options.items() if name.split(".")[0] in stages}
    read = any(name.endswith((".files", ".revision")) for name in chosen)
    return json.dumps(chosen, sort_keys=True) if read else ""


def _join(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([old, new], ignore_index=True) if len(old) else new
