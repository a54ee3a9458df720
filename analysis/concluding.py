"""The conclusions of a sweep about scores and gaps: printed, and written beside its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

from biasbridge.analysis.answer import correlations_document, print_answer
from biasbridge.analysis.claims import declared
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.effects import effect_table, effects, effects_document
from biasbridge.analysis.joined import has_gaps, join_points
from biasbridge.analysis.printing import print_points, word_lists
from biasbridge.analysis.slices import (
    EXPLORATORY_COLUMNS,
    correlation_table,
    gap_table,
    scope_table,
    without_repeats,
)
from biasbridge.analysis.tables import DETAILS_TXT, write_csv_tables
from biasbridge.files import InputError, atomic_path
from biasbridge.files.terminal import LOG, open_console
from biasbridge.files.writers import print_document, print_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.effects import Effect
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables

_MIN_POINTS = 3  # number of points that a correlation needs


def conclude(
    declaration: Declaration, tables: Tables, folder: Path, console: Console
) -> list[Path]:
    """Print the answer, or the points where nothing can be correlated; write and draw the rest, all
    that can be printed in ``details.txt``; return the paths written.
    """
    confirmatory, utility = declaration.confirmatory, declaration.utility
    buffer = StringIO()
    details = open_console(file=buffer, width=100)
    results: list[SliceResult] = []
    changes: list[Effect] = []
    joined = None
    if has_gaps(tables):
        with _report_errors("not correlated", console):
            joined = join_points(tables, utility)
            results = correlate_slices(joined, declaration)
            print_lines(declaration.unmatched(joined), console)
    distinct = without_repeats(results)
    exploratory = [result for result in distinct if not result.confirmatory]
    correlation_tables = {
        "correlations": correlation_table(declared(distinct)),
        "exploratory": correlation_table(exploratory, EXPLORATORY_COLUMNS),
        "gaps": gap_table(distinct),
        "scopes": scope_table(distinct),
    }
    written = write_csv_tables(folder, correlation_tables)
    with _report_errors("effects of conditions not estimated", console):
        if changes := effects(tables, utility, declaration.smallest_change):
            written += write_csv_tables(folder, {"effects": effect_table(changes)})
            print_document(effects_document(changes, confirmatory), details, ruled=False)
    if joined is None or not results or len(tables.points) < _MIN_POINTS:
        print_points(tables, console, confirmatory=confirmatory, utility=utility)
        print_lines(word_lists(tables.words), console)
        return written
    print_answer(tables, results, declaration, console)
    print_points(tables, details, confirmatory=confirmatory, utility=utility)
    print_lines(word_lists(tables.words), details)
    print_document(correlations_document(results), details, ruled=False)
    written += _draw(declaration, tables, joined, results, folder, console, details)
    with atomic_path(folder / DETAILS_TXT) as path:
        path.write_text(buffer.getvalue(), encoding="utf-8")
    LOG.info("%s", buffer.getvalue())
    return [*written, folder / DETAILS_TXT]


def _draw(
    declaration: Declaration,
    tables: Tables,
    joined: pd.DataFrame,
    results: list[SliceResult],
    folder: Path,
    console: Console,
    details: Console,
) -> list[Path]:
    # Charts are imported only where there is something to draw
    from biasbridge.analysis.change_chart import change_picture
    from biasbridge.analysis.figures import draw_figures
    from biasbridge.analysis.report.page import build_report

    written: list[Path] = []
    change = None
    with _report_errors("not drawn", console):
        change = change_picture(joined, results)
        written += draw_figures(
            joined,
            folder / "figures",
            results=results,
            confirmatory=declaration.confirmatory,
            change=change,
            console=details,
        )
    with _report_errors("not drawn", console):
        written += build_report(
            folder, tables, joined, results, declared=declaration, change=change
        )
    return written


@contextmanager
def _report_errors(failure: str, console: Console) -> Iterator[None]:
    """Report an ``InputError`` without failing: the tables are already written."""
    try:
        yield
    except InputError as error:
        print_lines([f"{failure}: {error}"], console)
