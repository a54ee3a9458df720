"""The tables of an experiment: written whole, read back, and never over another experiment's."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from analysis.correlate import JOINED_COLUMNS, correlate_slices
from analysis.join import join_points
from analysis.read import Tables, read_table, read_tables
from analysis.show import print_correlations, print_points
from files import InputError, atomic_path

__all__ = ["Tables", "print_correlations", "print_points", "read_tables", "write_tables"]

CORRELATIONS = "correlations.csv"
WRITTEN = (*(f"{name}.parquet" for name in Tables._fields), CORRELATIONS, "figures", "report.html")


def write_tables(
    results_dir: str | Path, points: pd.DataFrame, intrinsic: pd.DataFrame, extrinsic: pd.DataFrame
) -> pd.DataFrame:
    """Write points, intrinsic and extrinsic as Parquet and their correlations as CSV, and return
    the correlations.

    Tables of other points that lie in the folder are moved first, with their figures, to
    ``earlier/<UTC time>/``. Without a done point or a gap there is nothing to correlate, and the
    correlations have their columns but no rows.
    """
    folder = Path(results_dir)
    tables = Tables(points, intrinsic, extrinsic)
    with ExitStack() as stack:
        for name, table in tables._asdict().items():
            table.to_parquet(
                stack.enter_context(atomic_path(folder / f"{name}.parquet")), index=False
            )
        # Only now are the new tables known to be writable; they take their names when the stack
        # unwinds.
        _set_earlier_aside(folder, set(points["point"]))
    correlations = _correlations(tables)
    with atomic_path(folder / CORRELATIONS) as path:
        correlations.to_csv(path, index=False)
    return correlations


def _correlations(tables: Tables) -> pd.DataFrame:
    gaps = (
        "measure" in tables.extrinsic
        and tables.extrinsic["measure"].astype(str).str.endswith("_gap").any()
    )
    if gaps and len(tables.intrinsic) and (tables.points["status"] == "done").any():
        return correlate_slices(join_points(*tables))
    return correlate_slices(pd.DataFrame(columns=JOINED_COLUMNS))


def _set_earlier_aside(folder: Path, keys: set[str]) -> Path | None:
    """Move the tables and figures of another set of points to a folder of their own; where that is,
    or None when there are none.
    """
    before = folder / "points.parquet"
    if not before.exists() or _keys(before) == keys:
        return None
    start = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    names = [start, *(f"{start}-{i}" for i in range(2, 1000))]
    aside = next(path for name in names if not (path := folder / "earlier" / name).exists())
    aside.mkdir(parents=True)
    for name in WRITTEN:
        if (folder / name).exists():
            os.replace(folder / name, aside / name)
    return aside


def _keys(path: Path) -> set[str] | None:
    try:
        return set(read_table(path)["point"])
    except (InputError, KeyError):
        return None
