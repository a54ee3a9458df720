"""Tables and lines on the terminal, and the points of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd
from rich.table import Table
from rich.text import Text

from biasbridge.analysis.joined import OPTIONS, keep_varying_options, utility_rows
from biasbridge.analysis.naming import (
    ALL,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    describe_label,
    describe_taggers,
    gap_titles,
    measure_title,
    positive_class,
    present_confirmatory,
    row_names,
    with_count,
)
from biasbridge.analysis.tables import typed
from biasbridge.files.columns import as_float, as_text, text_columns, text_rows
from biasbridge.files.language import mask_slurs
from biasbridge.files.terminal import print_columns
from biasbridge.stats.formatting import NOTHING, format_estimate, format_number

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables


T = TypeVar("T")
SCORES_SHOWN = 4
_ROWS_SHOWN = 20
_LEFT_ALIGNED = {*SLICE_COLUMNS, "direction", "status", "note"}
POINTS_SHOWN, MEASURES_SHOWN, REASONS_SHOWN = 20, 8, 5
# Columns shown only where they vary
SHOWN_IF_VARYING = (
    *("task", "source", "challenge", "corpus", "wordset", "classifier", "method", "direction"),
    *("dose", "stereotype", "label_bias", "skew", "label_method", "label_direction"),
    *("label_dose", "replicate", "seed"),
)
_KIND_TITLES = {
    "flips": "flips",
    "max_difference": "largest difference",
    "ratio": "ratio",
}  # titles of kinds


def format_estimates(
    table: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> list[str]:
    """Return the value of each row with its interval."""
    cells = (as_float(table, name).tolist() for name in (value, low, high))
    return list(map(format_estimate, *cells))


def p_value(p: float) -> str:
    """Return a p-value to four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else format_number(p, 4)


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


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    if name in text_columns(table):
        return as_text(table, name)
    values = as_float(table, name)
    finite_values = values[np.isfinite(values)]
    digits = 0 if (finite_values == finite_values.round()).all() else 3
    return [format_number(value, digits) for value in values.tolist()]


def print_as_text(title: str, table: pd.DataFrame, console: Console) -> None:
    """Print the first rows of a table in the form of ``as_text_columns``."""
    extent = f" (the first of {len(table)} rows)" if len(table) > _ROWS_SHOWN else ""
    rows = as_rows(as_text_columns(table))[:_ROWS_SHOWN]
    print_table(title + extent, rows, console, left_aligned=text_columns(table))


def as_rows(columns: Mapping[str, Sequence[T]]) -> list[dict[str, T]]:
    """Return columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def print_table(
    title: str,
    rows: Sequence[dict[str, str]],
    console: Console,
    *,
    left_aligned: Iterable[str] = _LEFT_ALIGNED,
    blanks: int = 2,
) -> None:
    """Print rows under a title; ``left_aligned`` names columns, ``note`` only where present."""
    if title:
        console.print(Text(title, style="italic"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, blanks, 0, 0), header_style="bold")
    names = list(rows[0]) if rows else []
    shown_names = [name for name in names if name != "note" or any(row["note"] for row in rows)]
    for name in shown_names:
        is_left = name in left_aligned
        table.add_column(Text(name), justify="left" if is_left else "right")
    for row in rows:
        table.add_row(*(Text(row[name]) for name in shown_names))
    n_names = next((i for i, name in enumerate(shown_names) if name not in left_aligned), 1)
    print_columns(table, console, names=max(1, n_names))


# The points of a sweep on the terminal: scores, gaps and utility, each with its interval.


def print_points(
    tables: Tables, console: Console, *, confirmatory: Sequence[str], utility: str
) -> None:
    """Print a row for each of the first done points: its scores, its gaps in the ``confirmatory``
    measures, its ``utility`` over all items and other measures; then missing values, failures and
    the taggers of groups.
    """
    tables = typed(tables)
    points = keep_varying_options(tables.points, ("embedding", *SHOWN_IF_VARYING))
    names = [name for name in (*SHOWN_IF_VARYING, *OPTIONS) if len(set(as_text(points, name))) > 1]
    cells = pd.concat(_measured_cells(tables, confirmatory, utility), ignore_index=True)
    titles = list(dict.fromkeys(cells["title"]))
    cell_by_title = dict(
        zip(zip(cells["point"], cells["title"], strict=True), cells["cell"], strict=True)
    )
    done = (points["status"] == "done").to_numpy()
    shown = points[done][:POINTS_SHOWN]
    columns = {name: as_text(shown, name) for name in ("embedding", *names)} | {
        title: [cell_by_title.get((point, title), NOTHING) for point in shown["point"]]
        for title in titles[:MEASURES_SHOWN]
    }
    synthetic = ", synthetic data" if "True" in as_text(points, "generated") else ""
    synthetic_mix = next(filter(None, points["synthetic_mix"]), "")
    stamp = f", {synthetic_mix}" if synthetic_mix else synthetic
    extent = f"the first {len(shown)} of " if len(shown) < done.sum() else ""
    title = f"{extent}{with_count(int(done.sum()), 'point')}{stamp}"
    print_table(title, as_rows(columns), console, left_aligned={*_LEFT_ALIGNED, *OPTIONS}, blanks=1)
    print_lines(_notes(points, tables.extrinsic, cells, titles), console)
    console.print(f"{done.sum()} of {len(points)} points done")
    failed = points[~done][:POINTS_SHOWN]
    if len(failed):
        rows = as_rows({name: as_text(failed, name) for name in ("embedding", *names, "status")})
        print_table("not done; the points table holds their errors", rows, console)


def _measured_cells(
    tables: Tables, confirmatory: Sequence[str], utility: str
) -> Iterator[pd.DataFrame]:
    scores, extrinsic = tables.intrinsic, tables.extrinsic
    has_several_metrics = len({*scores["metric"]}) > 1
    yield _point_cells(scores, row_names(scores, SCORE if has_several_metrics else SCORE[1:]))
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    gaps = gaps.assign(title=gap_titles(gaps))
    for measure in present_confirmatory(gaps["measure"], confirmatory):
        rows = gaps[gaps["measure"] == measure]
        yield _point_cells(rows, rows["title"])
    utilities = utility_rows(extrinsic, utility)
    parts = row_names(utilities, ("measure", "subset"), ", ")
    yield _point_cells(utilities, [part.replace(utility, measure_title(utility)) for part in parts])
    for kind, kind_title in _KIND_TITLES.items():
        rows = extrinsic[(extrinsic["kind"] == kind) & extrinsic["group"].isin(["", ALL])]
        yield _point_cells(rows, [f"{kind_title} {name}" for name in row_names(rows, GAP)])


def _point_cells(rows: pd.DataFrame, titles: Iterable[str]) -> pd.DataFrame:
    titled = rows.assign(title=list(titles), cell=format_estimates(rows))
    missing = rows["value"].isna()
    return titled[["point", "title", "cell"]].assign(reason=rows["reason"].where(missing, ""))


def _notes(
    points: pd.DataFrame, extrinsic: pd.DataFrame, cells: pd.DataFrame, titles: Sequence[str]
) -> Iterator[str]:
    reasons = list(dict.fromkeys(filter(None, cells["reason"])))
    yield from (f"{NOTHING}: {reason}" for reason in reasons[:REASONS_SHOWN])
    if hidden := titles[MEASURES_SHOWN:]:
        yield f"not shown, see the tables: {', '.join(hidden)}"
    if names := [name for name in dict.fromkeys(points["challenge"]) if name]:
        challenge_sets = " or ".join(names)
        yield f"gaps are of the challenge set {challenge_sets}, not of the source's own posts"
    if positive := positive_class(points):
        yield describe_label(positive)
    yield from describe_taggers(extrinsic["group_by"])
