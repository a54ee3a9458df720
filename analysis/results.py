"""The tables of a results folder: read, written whole, and never over those of other points."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.columns import texts
from files import InputError, atomic_path
from files.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

CONCLUSIONS = (
    *("correlation.json", "correlations.csv", "correlations.tex", "survey.csv"),
    *("calibration.csv", "calibration_curves.csv", "calibration_dependence.csv"),
    *("control.csv", "control_studies.csv"),
    *("figures", "report.html"),
)


class Tables(NamedTuple):
    """What a results folder holds: one row per point, per intrinsic score and per extrinsic
    measure.
    """

    points: pd.DataFrame
    intrinsic: pd.DataFrame
    extrinsic: pd.DataFrame


FILES = tuple(f"{name}.parquet" for name in Tables._fields)


def read_tables(results_dir: str | Path) -> Tables:
    """The three tables of a results folder; ``InputError`` when one is absent or damaged."""
    return Tables(*(read_table(Path(results_dir) / name) for name in FILES))


def write_tables(results_dir: str | Path, tables: Tables) -> list[Path]:
    """Write the three tables as Parquet; their paths.

    Tables of other points that lie in the folder are moved first, with what was concluded from
    them, to ``earlier/<UTC time>/``.
    """
    paths = [Path(results_dir) / name for name in FILES]
    with ExitStack() as stack:
        for path, table in zip(paths, tables, strict=True):
            table.to_parquet(stack.enter_context(atomic_path(path)), index=False)
        # Only now are the new tables known to be writable; they take their names when the stack
        # unwinds.
        _set_earlier_aside(Path(results_dir), set(texts(tables.points, "point")))
    return paths


def _set_earlier_aside(folder: Path, keys: set[str]) -> None:
    """Move the tables of another set of points, and what was concluded from them, to a folder of
    their own.
    """
    before = folder / "points.parquet"
    if not before.exists() or _keys(before) == keys:
        return
    start = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    names = [start, *(f"{start}-{i}" for i in range(2, 1000))]
    aside = next(path for name in names if not (path := folder / "earlier" / name).exists())
    aside.mkdir(parents=True)
    for name in (*FILES, *CONCLUSIONS):
        if (folder / name).exists():
            os.replace(folder / name, aside / name)


def _keys(path: Path) -> set[str]:
    """The points of a table; none where it is damaged."""
    try:
        return set(texts(read_table(path), "point"))
    except InputError:
        return set()
