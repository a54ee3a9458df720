"""Tables of gaps for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isnan
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.files.errors import printable
from biasbridge.files.terminal import print_columns
from biasbridge.stats.formatting import (
    IN_WORDS,
    describe_changes,
    describe_clusters,
    format_estimate,
    order_groups,
)
from biasbridge.stats.intervals import describe_adjusted
from biasbridge.stats.measure_facts import measure_heading, measure_name

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.extrinsic.gap_table import GapRow

_MAX_SHOWN = 20  # groups of a table, classifiers, classes
_MAX_REASONS = 5
_WORSE = "positive: worse for"


def print_gap_tables(rows: Sequence[GapRow], console: Console, label: str = "") -> None:
    """Print a table for each classifier and class: one line per measure for two groups; for more,
    one line per group, the one that fares worst first; of two versions what changed. ``label``
    names the positive class, if it is not 1.
    """
    order = order_groups([row._asdict() for row in rows])
    blocks = [list(block) for _, block in groupby(rows, lambda row: (row.classifier, row.subset))]
    for block in blocks[:_MAX_SHOWN]:
        names = [block[0].classifier, f"class {block[0].subset}" if block[0].subset else ""]
        if title := ", ".join(filter(None, names)):
            console.print(Text(f"\n{printable(title)}", style="bold"))
        records = [row._asdict() for row in block] if block[0].earlier else []
        for claim, interval in describe_changes(records, measure_name, label) if records else []:
            console.print(Text(printable(claim), style="bold") + Text(printable(interval)))
        for table in _tables(block, order):
            print_columns(table, console)
        widths = [row.widening for row in block if row.kind == "gap" and not isnan(row.widening)]
        clusters = describe_clusters([row.n_clusters or 0 for row in block], widths)
        for sentence in filter(None, (_describe_family(block), clusters)):
            console.print(Text(printable(sentence)))
        _print_reasons(block, console)
    if len(blocks) > _MAX_SHOWN:
        console.print(f"and {len(blocks) - _MAX_SHOWN} more: --csv OUT writes all")


def print_text_table(text: pd.DataFrame, console: Console) -> None:
    """Print a table of text."""
    table = _new_table(*text.columns)
    for row in text.to_numpy().tolist():
        table.add_row(*map(printable, row))
    print_columns(table, console)


def _describe_family(rows: Sequence[GapRow]) -> str:
    """Return which gaps differ from 0 after adjustment; empty for two groups, and for what
    changed between versions.
    """
    gaps = [row for row in rows if row.kind == "gap" and not isnan(row.value)]
    is_pair = len({(row.privileged, row.unprivileged) for row in gaps}) < 2
    if is_pair or rows[0].earlier:
        return ""
    several = len({row.privileged for row in gaps}) > 1
    labels = []
    for row in gaps:
        reference = f" to {IN_WORDS.get(row.privileged, row.privileged)}" if several else ""
        gap = _gap_cell(row._replace(low=row.low_simultaneous, high=row.high_simultaneous))
        labels.append(f"{row.unprivileged}{reference}, {measure_heading(row.measure)} {gap}")
    return describe_adjusted(labels, [row.p for row in gaps])


def _tables(rows: Sequence[GapRow], order: Sequence[str]) -> list[Table]:
    gaps = [row for row in rows if row.kind == "gap"]
    if len({(row.privileged, row.unprivileged) for row in gaps}) == 1:
        tables = [_pair(rows, gaps[0].privileged, gaps[0].unprivileged)]
    else:
        tables = [_values(rows, order)]
        for side in dict.fromkeys(row.privileged for row in gaps):
            tables.append(_gaps([row for row in gaps if row.privileged == side], side, order))
    largest = _largest_differences(rows)
    return [*tables, *([largest] if largest.row_count else [])]


def _pair(rows: Sequence[GapRow], privileged: str, unprivileged: str) -> Table:
    """Build a table with a line per measure: value and n of both groups, and the gap."""
    table = _new_table("measure", privileged, "n", unprivileged, "n", "gap")
    second = printable(unprivileged)
    table.title = f"gap of {second} to {printable(privileged)} ({_WORSE} {second})"
    for measure in dict.fromkeys(row.measure for row in rows if row.kind in ("value", "gap")):
        values = {row.group: row for row in rows if row.kind == "value" and row.measure == measure}
        gap = [row for row in rows if row.kind == "gap" and row.measure == measure]
        cells = [measure_heading(measure)]
        for side, support in (
            (privileged, gap[0].support_privileged if gap else None),
            (unprivileged, gap[0].support_unprivileged if gap else None),
        ):
            n = values[side].support if side in values else support
            cells += [
                _cell(values[side]) if side in values else "",
                f"{n:,}" if n is not None else "",
            ]
        table.add_row(*cells, *map(_gap_cell, gap))
    return table


def _values(rows: Sequence[GapRow], order: Sequence[str]) -> Table:
    values = [row for row in rows if row.kind == "value"]
    measures = list(dict.fromkeys(row.measure for row in values))
    # The base rate counts every item, other measures some of them
    n_name = "n" if "base_rate" in measures else "largest n"
    table = _new_table("group", n_name, *map(measure_heading, measures))
    groups = dict.fromkeys(row.group for row in values)
    shown = [name for name in order if name in groups and name != ALL][:_MAX_SHOWN]
    for group in [*([ALL] if ALL in groups else []), *shown]:
        by_measure = {row.measure: row for row in values if row.group == group}
        n = max(row.support for row in by_measure.values())
        cells = (_cell(by_measure[m]) if m in by_measure else "" for m in measures)
        table.add_row(printable(group), f"{n:,}", *cells)
    _caption_omitted(table, len(groups) - len(shown) - (ALL in groups))
    return table


def _gaps(gaps: Sequence[GapRow], privileged: str, order: Sequence[str]) -> Table:
    """Build a table with a line per group: gaps to the privileged group, or to all others."""
    measures = list(dict.fromkeys(row.measure for row in gaps))
    reference = IN_WORDS.get(privileged, printable(privileged))
    table = _new_table("group", *map(measure_heading, measures))
    table.title = f"gap to {reference} ({_WORSE} the group)"
    groups = dict.fromkeys(row.unprivileged for row in gaps)
    shown = [name for name in order if name in groups][:_MAX_SHOWN]
    for group in shown:
        by_measure = {row.measure: row for row in gaps if row.unprivileged == group}
        table.add_row(printable(group), *(_gap_cell(by_measure[name]) for name in measures))
    _caption_omitted(table, len(groups) - len(shown))
    return table


def _largest_differences(rows: Sequence[GapRow]) -> Table:
    """Build a table with a line per measure: the two groups furthest apart, and the difference."""
    table = _new_table("furthest apart", "worst", "best", "difference")
    for row in rows:
        if row.kind == "max_difference":
            ends = printable(row.unprivileged), printable(row.privileged)
            table.add_row(measure_heading(row.measure), *ends, _cell(row))
    for column in table.columns[1:3]:
        column.justify = "left"
    return table


def _new_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, title_justify="left", title_style="")
    for number, name in enumerate(columns):
        table.add_column(printable(name), justify="right" if number else "left")
    return table


def _caption_omitted(table: Table, n_omitted: int) -> None:
    if n_omitted > 0:
        table.caption = f"and {n_omitted:,} more groups: --csv OUT writes all"
        table.caption_justify = "left"


def _print_reasons(rows: Iterable[GapRow], console: Console) -> None:
    reasons = list(dict.fromkeys(row.reason for row in rows if row.reason and isnan(row.value)))
    for reason in reasons[:_MAX_REASONS]:
        console.print(Text(f"-: {printable(reason)}"))
    if len(reasons) > _MAX_REASONS:
        n_omitted = len(reasons) - _MAX_REASONS
        console.print(f"and {n_omitted:,} more reasons: --csv OUT writes all")


def _cell(row: GapRow) -> str:
    return format_estimate(row.value, row.low, row.high, sign="+" if row.earlier else "")


def _gap_cell(row: GapRow) -> str:
    return format_estimate(row.value, row.low, row.high, sign="+")
