"""The tables of the page of gaps: the cells as text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from biasbridge.analysis.gap_charts import ALL
from biasbridge.analysis.naming import capitalise, measure_title
from biasbridge.stats.changes import IN_WORDS
from biasbridge.stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = "Mapping[Hashable, Any]"
MISSED_FACTOR = (1.959964 + 0.841621) / 1.959964  # times half an interval: power .8 at .05
TEXT_COLUMNS = ("measure", "group", "compared with", "worst", "best", "why no value")


class TextTable(NamedTuple):
    """A table as text, under a heading that may be empty."""

    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def value_table(block: pd.DataFrame, groups: Sequence[str], *, plus: bool = False) -> TextTable:
    """Return the values of each group, and of all items; ``plus`` as of ``row_estimate``."""
    values = block[block["kind"] == "value"]
    measures = list(values["measure"].unique())
    cells = {(row["group"], row["measure"]): row for row in values.to_dict("records")}
    rows = []
    for group in [*groups, ALL]:
        group_cells = [cells.get((group, measure)) for measure in measures]
        if any(group_cells):
            n = max(int(row["support"]) for row in group_cells if row)
            estimates = [row_estimate(row or {}, plus=plus) for row in group_cells]
            rows.append([group, f"{n:,}", *estimates])
    # The base rate counts every item, other measures some of them
    n_name = "n" if "base_rate" in measures else "largest n"
    return TextTable("", ["group", n_name, *map(measure_title, measures)], rows)


def gap_tables(block: pd.DataFrame, groups: Sequence[str], *, is_pair: bool) -> list[TextTable]:
    """Return one table for two groups; for more, one per measure after the largest differences."""
    gaps = block[block["kind"] == "gap"]
    if is_pair:
        measures = [measure_title(str(name)) for name in gaps["measure"]]
        return [*_largest_table(block), _gap_table("", gaps.to_dict("records"), measures)]
    rank = {name: number for number, name in enumerate(groups)}
    tables = _largest_table(block)
    for measure, gap_rows in gaps.groupby("measure", sort=False):
        rows = sorted(gap_rows.to_dict("records"), key=lambda row: rank[row["unprivileged"]])
        tables.append(_gap_table(capitalise(measure_title(str(measure))), rows))
    return tables


def gap_matrices(block: pd.DataFrame, groups: Sequence[str]) -> list[TextTable]:
    """Return a table of gaps, groups by measures, for each side that groups are compared with."""
    gaps = block[block["kind"] == "gap"]
    measures = list(gaps["measure"].unique())
    tables = []
    for privileged, side in gaps.groupby("privileged", sort=False):
        cells = {(row["unprivileged"], row["measure"]): row for row in side.to_dict("records")}
        rows = [
            [group, *(row_estimate(cells[group, measure], plus=True) for measure in measures)]
            for group in groups
            if (group, measures[0]) in cells
        ]
        reference = IN_WORDS.get(str(privileged), str(privileged))
        heading = f"Gap to {reference} (positive: worse for the group)"
        tables.append(TextTable(heading, ["group", *map(measure_title, measures)], rows))
    return tables


def _gap_table(heading: str, rows: Sequence[Row], measures: Sequence[str] = ()) -> TextTable:
    columns: dict[str, list[str]] = {
        "measure": list(measures),
        "group": [str(row["unprivileged"]) for row in rows],
        "compared with": [IN_WORDS.get(row["privileged"], str(row["privileged"])) for row in rows],
        "gap": [row_estimate(row, plus=True) for row in rows],
        "could be missed": [format_number(detectable_gap(row)) for row in rows],
        "n": [_count(row["support_unprivileged"]) for row in rows],
        "n compared": [_count(row["support_privileged"]) for row in rows],
        "why no value": [str(row["reason"]) for row in rows],
    }
    filled = {name: column for name, column in columns.items() if any(column)}
    return TextTable(heading, list(filled), list(zip(*filled.values(), strict=True)))


def _largest_table(block: pd.DataFrame) -> list[TextTable]:
    largest = block[(block["kind"] == "max_difference") & block["value"].notna()].to_dict("records")
    head = ["measure", "worst", "best", "difference", "n worst", "n best"]
    rows = [
        [
            measure_title(row["measure"]),
            str(row["unprivileged"]),
            str(row["privileged"]),
            row_estimate(row),
            _count(row["support_unprivileged"]),
            _count(row["support_privileged"]),
        ]
        for row in largest
    ]
    return [TextTable("Furthest apart", head, rows)] if rows else []


def detectable_gap(row: Row) -> float:
    """Return the gap that samples of this size detect with power .8: 2.8 standard errors."""
    return float(row["high"] - row["low"]) / 2 * MISSED_FACTOR


def row_estimate(row: Row, *, plus: bool = False) -> str:
    """Return the value of a row with its interval; ``plus`` adds the sign of a positive one."""
    value, low, high = (float(row.get(name, nan)) for name in ("value", "low", "high"))
    return format_estimate(value, low, high, sign="+" if plus else "")


def group_names(rows: Iterable[Row]) -> str:
    """Join the distinct groups of rows."""
    return ", ".join(dict.fromkeys(str(row["unprivileged"]) for row in rows))


def measure_names(rows: Iterable[Row]) -> str:
    """Join the distinct measures of rows."""
    return " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in rows))


def _count(value: object) -> str:
    return f"{int(str(value)):,}" if str(value).isdigit() else ""
