"""The end of a sweep: tables and figures written, the summary printed, failures last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from filelock import FileLock
from rich.console import Console

from analysis.figures import draw_figures
from analysis.report import build_report
from analysis.survey import is_survey, print_survey, write_survey
from analysis.tables import Tables, print_correlations, print_points, write_tables
from files import InputError, atomic_path
from train.point import Plan
from train.store import Store
from train.tables import extended

FEWEST = 3  # points that a correlation needs


def results_folder(path: str) -> Path:
    """The results folder, proven to be writable before anything runs. Raises ``InputError``."""
    folder = Path(path).resolve()
    with atomic_path(folder / "points" / ".probe") as probe:
        probe.touch()
    (folder / "points" / ".probe").unlink(missing_ok=True)
    return folder


def finish(
    tables: Tables,
    plans: Sequence[Plan],
    store: Store,
    results: Path,
    console: Console,
    *,
    extend: bool = False,
) -> int:
    """Write the tables and figures, print the summary; 0 if every point is done, 2 if all were
    refused for bad input, else 1.

    ``extend`` keeps the points that the results folder holds already (see ``extended``). Sweeps
    that end in the same folder at the same time wait for one another.
    """
    with FileLock(results / "points" / ".lock"):
        tables = extended(tables, results) if extend else tables
        correlations = write_tables(results, *tables)
        made: list[Path] = []
        if is_survey(tables):
            print_survey(tables, console)
            made = write_survey(tables, results)
        else:
            print_points(*tables, console)
        if len(correlations) and len(tables.points) >= FEWEST:
            print_correlations(correlations, console)
            for draw in (
                lambda: draw_figures(results, results / "figures"),
                lambda: build_report(results, correlations=correlations, figures=False),
            ):
                try:
                    made += draw()
                # The tables are written, and what is too much for a picture is no failure of the
                # sweep
                except InputError as refusal:
                    console.print(
                        f"not drawn: {refusal}", soft_wrap=True, highlight=False, markup=False
                    )
    written = [
        results / name
        for name in ("points.parquet", "intrinsic.parquet", "extrinsic.parquet", "correlations.csv")
    ]
    for path in [
        *written,
        *(path for path in made if path.parent == results or path.suffix != ".csv"),
    ]:
        console.print(_near(path), soft_wrap=True, highlight=False)
    if damaged := list((store.root / "damaged").glob("*")):
        console.print(
            f"{len(damaged)} damaged results were set aside in {_near(store.root / 'damaged')}",
            soft_wrap=True,
            highlight=False,
        )
    return _report_failures(tables.points, console)


def _report_failures(points: pd.DataFrame, console: Console) -> int:
    failed = points[points["status"] != "done"]
    for row in failed.itertuples():
        console.print(
            f"failed {row.point}: {row.error}", soft_wrap=True, highlight=False, markup=False
        )
    if not len(failed):
        return 0
    return 2 if failed["refused"].all() and len(failed) == len(points) else 1


def _near(path: Path) -> str:
    """The path as seen from the working directory, where that is shorter."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
