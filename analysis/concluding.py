"""The conclusions of a sweep about scores and gaps: printed, and written beside its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from math import nan
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.analysis.answer import print_answer
from biasbridge.analysis.claims import declared
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.effects import effect_table, effects, effects_document
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import SCORE, SLICE_COLUMNS
from biasbridge.analysis.printing import print_points, word_lists
from biasbridge.analysis.result_folder import DETAILS_TXT, write_csv_tables
from biasbridge.analysis.slice_documents import correlations_document
from biasbridge.analysis.slices import (
    CORRELATION_COLUMNS,
    correlation_table,
    scope_table,
    without_repeats,
)
from biasbridge.analysis.tables import typed
from biasbridge.files import InputError, atomic_path
from biasbridge.files.terminal import LOG, open_console
from biasbridge.files.writers import print_document, print_lines

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.effects import Effect
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables

_OF_VERDICTS = {
    *("gap_verdict", "bound", "verdict", "why", "detectable_change", "share_explained"),
    "effective_conditions",
}
_EXPLORATORY_COLUMNS = tuple(
    "p" if name == "p_holm" else name for name in CORRELATION_COLUMNS if name not in _OF_VERDICTS
)
_GAP_COLUMNS = (
    *(name for name in SLICE_COLUMNS if name not in SCORE),
    *("n_parents", "n_conditions", "gap_unmodified", "bound", "verdict", "why", "condition"),
    *("effect", "effect_low", "effect_high"),
)
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
    if _has_gaps(tables):
        with _report_errors("not correlated", console):
            joined = join_points(tables, utility)
            results = correlate_slices(joined, declaration)
            print_lines(declaration.unmatched(joined), console)
    distinct = without_repeats(results)
    exploratory = [result for result in distinct if not result.confirmatory]
    correlation_tables = {
        "correlations": correlation_table(declared(distinct)),
        "exploratory": correlation_table(exploratory, _EXPLORATORY_COLUMNS),
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


def _has_gaps(tables: Tables) -> bool:
    """Test whether a done point has a score, and a gap was measured."""
    tables = typed(tables)
    done = (tables.points["status"] == "done").any()
    return bool(done and len(tables.intrinsic) and (tables.extrinsic["kind"] == "gap").any())


@contextmanager
def _report_errors(failure: str, console: Console) -> Iterator[None]:
    """Report an ``InputError`` without failing: the tables are already written."""
    try:
        yield
    except InputError as error:
        print_lines([f"{failure}: {error}"], console)


def gap_table(results: Iterable[SliceResult]) -> pd.DataFrame:
    """Return one row per declared gap: what the modifications did to it.

    ``condition`` is the modification that moved it furthest, of those that surely did; where none
    did, that of the largest bound.
    """
    rows: dict[tuple[str, ...], dict[str, object]] = {}
    counts: dict[tuple[str, ...], int] = {}
    for result in results:
        names = {name: value for name, value in result.names.items() if name not in SCORE}
        key = tuple(names.values())
        if not result.confirmatory or result.n <= counts.get(key, -1):
            continue
        counts[key] = result.n
        named = result.effects.named
        value, low, high = named.change.interval if named else (nan, nan, nan)
        rows[key] = {
            **names,
            "n_parents": result.effects.n_units,
            "n_conditions": len(result.effects.conditions),
            "gap_unmodified": result.gap_unmodified,
            "bound": result.effects.bound,
            "verdict": result.gap_verdict,
            "why": result.gap_why,
            "condition": named.condition if named else "",
            "effect": value,
            "effect_low": low,
            "effect_high": high,
        }
    return pd.DataFrame(rows.values(), columns=None if rows else [*_GAP_COLUMNS])
