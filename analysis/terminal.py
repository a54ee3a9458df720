"""Tables on the terminal, within 100 columns where possible, every estimate beside its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from rich.measure import Measurement
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from analysis.frame import as_float, as_text, text_rows
from analysis.naming import (
    ALL,
    FAMILY,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    gap_titles,
    row_names,
    score_titles,
    shown_columns,
)
from files.masking import mask_slurs

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.slice_results import SliceResult

NOTHING = "-"
SCORES_SHOWN = 4
ROWS_SHOWN = 20
WIDTH, COLUMNS = 100, 10
DROPPABLE = ("lost", "gap change", "slope [95%]")  # left out of a wide table, in this order
R_RM = "r_rm, repeated-measures correlation within parents"
HOLM = "p (Holm)"
LEFT_ALIGNED = {*SLICE_COLUMNS, "direction", "status", "note"}


def format_number(value: float, digits: int = 2) -> str:
    """Return a number without leading zero: ``.31``, ``1.25``; ``-`` where undefined."""
    if not isfinite(value):
        return NOTHING
    rounded = f"{value:.{digits}f}"
    rounded = rounded.removeprefix("-") if float(rounded) == 0 else rounded
    return rounded.replace("0.", ".", 1) if rounded.lstrip("-").startswith("0.") else rounded


def format_estimate(
    value: float, low: float = float("nan"), high: float = float("nan"), digits: int = 2
) -> str:
    """Return a number with its interval: ``.31 [-.09,.62]``."""
    interval = f" [{format_number(low, digits)},{format_number(high, digits)}]"
    return format_number(value, digits) + (interval if isfinite(low) and isfinite(high) else "")


def format_estimates(
    table: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> list[str]:
    """Return the value of each row with its interval."""
    cells = (as_float(table, name).tolist() for name in (value, low, high))
    return list(map(format_estimate, *cells))


def p_value(p: float) -> str:
    """Return a p-value to four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else format_number(p, 4)


def print_slices(results: Sequence[SliceResult], title: str, console: Console) -> None:
    """Print the slices of ``correlate``, one line each, then verdicts and notes."""
    names, is_mixed = list(results[0].names), not all(result.confirmatory for result in results)
    rows = [result.names | describe_slice(result, alone=is_mixed) for result in results]
    if not any(result.confirmatory for result in results):
        rows = [{name: cell for name, cell in row.items() if name != HOLM} for row in rows]
    constant_names = [name for name in names if len({row[name] for row in rows}) == 1 < len(rows)]
    rows, left_out = _within_width(rows, [*constant_names, *DROPPABLE])
    print_table(f"{title}: {R_RM}", rows, console, left_aligned=names)
    if left_out:
        print_lines([f"not shown: {', '.join(left_out)}; --out FILE has every column"], console)
    _print_why(results, names, console)
    _print_grouped(results, names, [result.note for result in results], console, note=True)


def _within_width(
    rows: list[dict[str, str]], droppable: Sequence[str]
) -> tuple[list[dict[str, str]], list[str]]:
    """Drop as many ``droppable`` columns as the width needs; return their names too."""
    left_out: list[str] = []
    for name in droppable:
        widths = [max(len(column), *(len(row[column]) for row in rows)) + 2 for column in rows[0]]
        if len(widths) <= COLUMNS and sum(widths) - 2 <= WIDTH:
            break
        rows = [{key: cell for key, cell in row.items() if key != name} for row in rows]
        left_out.append(name)
    return rows, left_out


def print_correlations(results: Sequence[SliceResult], console: Console) -> None:
    """Print the confirmatory slices of ``correlate_slices``, one table per task, metric and
    convention, each followed by its verdicts; then the answer for every measured gap.
    """
    confirmatory = [result for result in results if result.confirmatory]
    names = pd.DataFrame([result.names for result in confirmatory], columns=list(SLICE_COLUMNS))
    headings = row_names(names, FAMILY, ", ") if confirmatory else []
    varying_names = [name for name in ("embedding", "method") if len(set(names[name])) > 1]
    columns = [*varying_names, *shown_columns(names, (*SCORE[2:], *GAP))]
    for heading in dict.fromkeys(headings):
        family = [
            result
            for result, row_heading in zip(confirmatory, headings, strict=True)
            if row_heading == heading
        ]
        rows = [
            {name: result.names[name] for name in columns} | describe_slice(result)
            for result in family
        ]
        rows, _ = _within_width(rows, DROPPABLE)
        synthetic = ", synthetic data" if any(result.synthetic for result in family) else ""
        print_table(f"{heading}: {R_RM}{synthetic}", rows, console)
        _print_why(family, columns, console)
    print_lines(answer_lines(results), console)
    print_lines(describe_taggers(result.group_by for result in confirmatory), console)


def describe_slice(result: SliceResult, *, alone: bool = False) -> dict[str, str]:
    """Return the cells of a slice; ``alone``: with its unadjusted p."""
    within = result.within
    counts = (
        str(number) if number else NOTHING for number in (result.n_parents, result.n_conditions)
    )
    return {
        "models / parents / conditions": " / ".join((str(result.n), *counts)),
        "r_rm [95%]": format_estimate(*within.interval),
        **({"p": p_value(within.p)} if alone else {}),
        HOLM: p_value(result.p_holm),
        "slope [95%]": format_estimate(*result.slope, digits=3),
        "gap change": format_number(result.gap_change, 3),
        "lost": str(result.lost),
    }


def _print_why(results: Sequence[SliceResult], columns: Sequence[str], console: Console) -> None:
    _print_grouped(
        results, columns, [result.why if result.confirmatory else "" for result in results], console
    )


def _print_grouped(
    results: Sequence[SliceResult],
    columns: Sequence[str],
    texts: Sequence[str],
    console: Console,
    *,
    note: bool = False,
) -> None:
    """Print one line per distinct text, with the names of all slices that share it."""
    names_by_text: dict[str, list[str]] = {}
    for result, text in zip(results, texts, strict=True):
        if text:
            name = " ".join(filter(None, (result.names[name] for name in columns))) or "all"
            names_by_text.setdefault(text, []).append(name)
    verbs = {True: " are ", False: " is "}
    lines = (
        f"{', '.join(slice_names)}{': ' if note else verbs[len(slice_names) > 1]}{text}"
        for text, slice_names in names_by_text.items()
    )
    print_lines(lines, console)


def answer_lines(results: Sequence[SliceResult]) -> list[str]:
    """Return a line for each measured gap, declared or not, with the scores that it rises or falls
    with, over all embeddings and methods.
    """
    pooled = [
        result
        for result in results
        if result.names["embedding"] == result.names["method"] == ALL
        and result.names["query"] != ALL
    ]
    table = pd.DataFrame([result.names for result in pooled], columns=list(SLICE_COLUMNS))
    titles = zip(gap_titles(table), score_titles(table), pooled, strict=True)
    scores_by_gap: dict[str, list[tuple[str, SliceResult]]] = {}
    for gap, score, result in titles:
        scores_by_gap.setdefault(gap, []).append((score, result))
    return [_gap_line(gap, parts) for gap, parts in scores_by_gap.items()]


def _gap_line(gap: str, parts: Sequence[tuple[str, SliceResult]]) -> str:
    """Return ``recall gap (exploratory): falls with WEAT 6b -.84 [-.89,-.76]``."""
    scores_by_direction: dict[str, list[str]] = {}
    for score, result in parts:
        within = result.within
        direction = "no clear relation with" if isfinite(within.r) else "not measured with"
        if within.low > 0 or within.high < 0:
            direction = "rises with" if within.low > 0 else "falls with"
        text = f"{score} {format_estimate(*within.interval)}".replace(" -", " -")
        scores_by_direction.setdefault(direction, []).append(text)
    verdicts = dict.fromkeys(result.verdict for _, result in parts if result.confirmatory)
    role = f"confirmatory: {', '.join(verdicts)}" if verdicts else "exploratory"
    directions = "; ".join(
        f"{direction} {', '.join(scores[:SCORES_SHOWN])}"
        for direction, scores in scores_by_direction.items()
    )
    hidden = sum(max(0, len(scores) - SCORES_SHOWN) for scores in scores_by_direction.values())
    more_scores = f"; {hidden} more in correlations.csv" if hidden else ""
    return f"{gap} ({role}): {directions}{more_scores}"


def print_lines(lines: Iterable[str], console: Console) -> None:
    """Print lines without wrapping them."""
    for line in lines:
        console.print(line, soft_wrap=True)


def word_lists(words: pd.DataFrame) -> list[str]:
    """Return a line for each word set drawn from the task's posts, ``from_task, X (male), 12
    points: he``; where points have different lists, a line for each list with its number of points.
    """
    words_by_set: dict[tuple[str, str, str], list[str]] = {}
    names = text_rows(words, ("point", "query", "role", "stands_for")) if len(words) else []
    for (point, *set_name), word in zip(names, as_text(words, "word"), strict=True):
        query, role, stands_for = set_name
        key = point, f"{query}, {role}", stands_for
        words_by_set.setdefault(key, []).append(mask_slurs(word))
    counts = Counter((*key[1:], ", ".join(set_words)) for key, set_words in words_by_set.items())
    return [
        f"{set_name} ({group}), {n_points} point{'s' * (n_points > 1)}: {set_words}"
        for (set_name, group, set_words), n_points in counts.items()
    ]


def as_text_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns as text: numbers to two digits, beside their intervals, which are the
    columns ``NAME_low`` and ``NAME_high``, or ``low`` and ``high`` after the number.
    """
    columns: dict[str, list[str]] = {}
    column_names = list(map(str, table))
    for name, following in zip(column_names, [*column_names[1:], ""], strict=True):
        low = (
            f"{name}_low" if f"{name}_low" in column_names else "low" if following == "low" else ""
        )
        if low:
            columns[name] = format_estimates(table, name, low, low.replace("low", "high"))
        elif not name.endswith(("low", "high")) and any(cells := _cells(table, name)):
            columns[name] = cells
    return columns


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that hold no numbers."""
    return [
        str(name)
        for name, column in table.items()
        if is_bool_dtype(column) or not is_numeric_dtype(column)
    ]


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    if name in text_columns(table):
        return as_text(table, name)
    values = as_float(table, name)
    finite_values = values[np.isfinite(values)]
    digits = 0 if (finite_values == finite_values.round()).all() else 3
    return [format_number(value, digits) for value in values.tolist()]


def print_as_text(title: str, table: pd.DataFrame, console: Console) -> None:
    """Print the first rows of a table in the form of ``as_text_columns``."""
    extent = f" (the first of {len(table)} rows)" if len(table) > ROWS_SHOWN else ""
    rows = as_rows(as_text_columns(table))[:ROWS_SHOWN]
    print_table(title + extent, rows, console, left_aligned=text_columns(table))


def drop_constant_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table without text columns that are constant."""
    constant_names = [name for name in text_columns(table) if len({*as_text(table, name)}) < 2]
    return table.drop(columns=constant_names) if len(table) > 1 else table


def as_rows(columns: dict[str, list[str]]) -> list[dict[str, str]]:
    """Return columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def print_table(
    title: str,
    rows: Sequence[dict[str, str]],
    console: Console,
    *,
    left_aligned: Iterable[str] = LEFT_ALIGNED,
    blanks: int = 2,
) -> None:
    """Print rows under a title; ``left_aligned`` names columns, ``note`` only where present."""
    if title:
        console.print(Text(title, style="italic"), soft_wrap=True)
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, blanks, 0, 0),
        header_style="bold",
    )
    names = list(rows[0]) if rows else []
    shown_names = [name for name in names if name != "note" or any(row["note"] for row in rows)]
    for name in shown_names:
        is_left = name in left_aligned
        table.add_column(Text(name), justify="left" if is_left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[name]) for name in shown_names))
    # Keep the natural width on narrow consoles: a number broken over two lines misleads, and a pipe
    # has no width.
    natural_width = Measurement.get(console, console.options.update(width=1000), table).maximum
    options = console.options.update(width=max(console.width, natural_width))
    console.print(Segments(console.render(table, options)), crop=False, end="")
