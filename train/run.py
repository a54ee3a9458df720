"""Run points and turn what they left in the store into the tables, figures and printed summary of an experiment."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from analysis.figures import draw_figures
from analysis.tables import Tables, print_correlations, print_points, read_tables, write_tables
from files import InputError, atomic_path
from train.point import Plan
from train.store import Stage, Store

FEWEST = 3  # points that a correlation needs


def distinct(plans: Sequence[Plan]) -> list[Plan]:
    """The plans without repetition, in order: grid cells that come to the same stages (every dose 0, say) are one point."""
    return list({plan.key: plan for plan in plans}.values())


def record_path(results: Path, plan: Plan) -> Path:
    """Where the outcome of a point is noted."""
    return results / "points" / f"{plan.key}.json"


def run_point(plan: Plan, store: Store, results: Path) -> dict[str, Any]:
    """Make the point's scores and note the outcome; an error is noted with its traceback and not raised, so that a sweep goes on."""
    start = time.perf_counter()
    record = {"point": plan.key, **plan.point.facts(), "status": "done", "error": "", "traceback": "", "refused": False}
    try:
        for stage in plan.ends:
            store.make(stage)
    except Exception as error:
        refused = isinstance(error, InputError)
        text = str(error) if refused else f"{type(error).__name__}: {error}"
        record |= {"status": "failed", "error": text, "traceback": traceback.format_exc(), "refused": refused}
    record["seconds"] = round(time.perf_counter() - start, 3)
    with atomic_path(record_path(results, plan)) as path:
        path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return record


def print_plan(plans: Sequence[Plan], runs: int, store: Store, console: Console) -> None:
    """How many results each stage has, how many lie in the store and how many would be made, against one pipeline per run."""
    stages: dict[str, Stage] = {}
    for plan in plans:
        stages |= plan.stages()
    table = Table(title=f"{runs} runs, {len(plans)} distinct points", title_justify="left")
    for column in ("stage", "results", "in store", "to make"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for name in dict.fromkeys(stage.name for stage in stages.values()):
        group = [stage for stage in stages.values() if stage.name == name]
        cached = sum(store.has(stage) for stage in group)
        table.add_row(name, str(len(group)), str(cached), str(len(group) - cached))
    console.print(table)


def collect(plans: Sequence[Plan], store: Store, results: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The points, intrinsic and extrinsic tables of the plans; a point without a record did not run and counts as failed."""
    points, intrinsic, extrinsic = [], [], []
    for plan in plans:
        path = record_path(results, plan)
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
        else:
            record = {"point": plan.key, **plan.point.facts(), "status": "failed", "error": "did not run"}
            record |= {"traceback": "", "refused": False, "seconds": 0.0}
        points.append(record)
        if record["status"] != "done":
            continue
        intrinsic.append(pd.read_parquet(store.path(plan.intrinsic) / "scores.parquet").assign(point=plan.key))
        if plan.extrinsic:
            scores = pd.read_parquet(store.path(plan.extrinsic) / "scores.parquet")
            extrinsic.append(scores.assign(point=plan.key, task=plan.point.task))
    return pd.DataFrame(points), _stack(intrinsic, ["point"]), _stack(extrinsic, ["point", "task"])


def _stack(frames: list[pd.DataFrame], first: list[str]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=first)
    frame = pd.concat(frames, ignore_index=True)
    return frame[first + [column for column in frame.columns if column not in first]]


def extended(tables: Tables, results: Path) -> Tables:
    """The tables with the rows of other points that lie in the results folder already, if they are about the same task and data."""
    if not (results / "points.parquet").is_file():
        return tables
    earlier = read_tables(results)
    about = ["experiment", "task", "source", "corpus"]
    same = earlier.points[about].apply(tuple, axis=1).isin(tables.points[about].apply(tuple, axis=1))
    kept = set(earlier.points.loc[same, "point"]) - set(tables.points["point"])
    return Tables(*(_join(old[old["point"].isin(kept)], new) for old, new in zip(earlier, tables, strict=True)))


def _join(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([old, new], ignore_index=True) if len(old) else new


def finish(plans: Sequence[Plan], store: Store, results: Path, console: Console, *, extend: bool = False) -> int:
    """Write the tables and figures, print the summary; 0 if every point is done, 2 if all were refused for bad input, else 1.

    ``extend`` keeps the points that the results folder holds already (see ``extended``).
    """
    tables = Tables(*collect(plans, store, results))
    points, intrinsic, extrinsic = extended(tables, results) if extend else tables
    correlations = write_tables(results, points, intrinsic, extrinsic)
    print_points(points, intrinsic, extrinsic, console)
    figures: list[Path] = []
    if len(correlations) and len(points) >= FEWEST:
        print_correlations(correlations, console)
        figures = [path for path in draw_figures(results, results / "figures") if path.suffix != ".csv"]
    written = [results / name for name in ("points.parquet", "intrinsic.parquet", "extrinsic.parquet", "correlations.csv")]
    for path in [*written, *figures]:
        console.print(_near(path), soft_wrap=True, highlight=False)
    failed = points[points["status"] != "done"]
    for row in failed.itertuples():
        console.print(f"failed {row.point}: {row.error}", soft_wrap=True, highlight=False, markup=False)
    if not len(failed):
        return 0
    return 2 if failed["refused"].all() and len(failed) == len(points) else 1


def _near(path: Path) -> str:
    """The path as seen from the working directory, where that is shorter."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
