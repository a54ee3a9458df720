"""What a sweep concludes about scores and gaps: printed, and written beside its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from analysis.alignment import alignments, write_alignment
from analysis.correlate import correlate_slices
from analysis.crossed import crossed_table
from analysis.effects import effects
from analysis.effects.table import TABLE, write_effects
from analysis.figures import draw_figures
from analysis.findings import CORRELATION_COLUMNS, correlation_table
from analysis.frame import texts
from analysis.joined import has_gaps, join_points
from analysis.naming import confirmatory_of
from analysis.report import build_report
from analysis.results import write_conclusions
from analysis.show import (
    print_correlations,
    print_described,
    print_lines,
    varying,
    word_lists,
)
from analysis.show_points import print_points
from analysis.specification_curve import write_curves
from analysis.specifications import specification_curves
from files import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from rich.console import Console

    from analysis.declaration import Declaration
    from analysis.findings import Finding
    from analysis.frame import Tables

FEWEST = 3  # points that a correlation needs


def conclude(declared: Declaration, tables: Tables, folder: Path, console: Console) -> list[Path]:
    """Print, correlate and draw; the paths written."""
    confirmatory, utility = declared.confirmatory, declared.utility
    print_points(tables, console, confirmatory=confirmatory, utility=utility)
    print_lines(word_lists(tables.words), console)
    found: list[Finding] = []
    joined = None
    if has_gaps(tables):
        with _said("not correlated", console):
            joined = join_points(tables, utility)
            found = correlate_slices(joined, declared)
    written = write_conclusions(
        folder, {"correlations": correlation_table(found, CORRELATION_COLUMNS)}
    )
    enough = joined is not None and len(tables.points) >= FEWEST
    if enough:
        print_correlations(found, console)
    with _said("what conditions did is not known", console):
        if moved := effects(tables, utility):
            written.append(write_effects(moved, confirmatory, folder / TABLE, console))
    if joined is None or not enough:
        return written
    crossed = crossed_table(joined)
    if crossed is not None:
        measures = confirmatory_of(texts(crossed, "measure"), confirmatory)
        title = "embedding crossed with labels: shares of the gap's variance within parents"
        print_described(title, varying(crossed[crossed["measure"].isin(measures)]), console)
        written += write_conclusions(folder, {"crossed": crossed})
    return written + _draw(declared, tables, joined, found, folder, console)


def _draw(
    declared: Declaration,
    tables: Tables,
    joined: pd.DataFrame,
    found: list[Finding],
    folder: Path,
    console: Console,
) -> list[Path]:
    curves, aligned = specification_curves(joined, found), alignments(joined)
    written = write_curves(curves, folder, console)
    written += write_alignment(aligned, folder, console)
    with _said("not drawn", console):
        written += draw_figures(
            joined,
            folder / "figures",
            found=found,
            confirmatory=declared.confirmatory,
            console=console,
        )
    with _said("not drawn", console):
        written += build_report(
            folder, tables, joined, found, declared=declared, curves=curves, aligned=aligned
        )
    return written


@contextmanager
def _said(what: str, console: Console) -> Iterator[None]:
    """The tables are written, and what is too much for a picture is no failure: it is said."""
    try:
        yield
    except InputError as refusal:
        print_lines([f"{what}: {refusal}"], console)
