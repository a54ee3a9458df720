"""Tables and lines on the terminal, and the points of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import pandas as pd

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
from biasbridge.files.columns import as_float, as_text, text_rows
from biasbridge.files.language import mask_slurs
from biasbridge.files.writers import TextTable, print_lines, print_text_table
from biasbridge.stats.formatting import NOTHING, format_estimate

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables


T = TypeVar("T")
SCORES_SHOWN = 4
_ROWS_SHOWN = 20
POINTS_SHOWN, MEASURES_SHOWN, REASONS_SHOWN = 20, 8, 5
# Columns shown only where they vary
_SHOWN_IF_VARYING = (
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


def print_first_rows(table: TextTable, console: Console) -> None:
    """Print the first rows of a table, and how many it has."""
    extent = f" (the first of {len(table.rows)} rows)" if len(table.rows) > _ROWS_SHOWN else ""
    shown = table._replace(heading=table.heading + extent, rows=table.rows[:_ROWS_SHOWN])
    print_text_table(shown, console, ruled=False)


def as_rows(columns: Mapping[str, Sequence[T]]) -> list[dict[str, T]]:
    """Return columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# The points of a sweep on the terminal: scores, gaps and utility, each with its interval.


def print_points(
    tables: Tables, console: Console, *, confirmatory: Sequence[str], utility: str
) -> None:
    """Print a row for each of the first done points: its scores, its gaps in the ``confirmatory``
    measures, its ``utility`` over all items and other measures; then missing values, failures and
    the taggers of groups.
    """
    tables = typed(tables)
    points = keep_varying_options(tables.points, ("embedding", *_SHOWN_IF_VARYING))
    names = [name for name in (*_SHOWN_IF_VARYING, *OPTIONS) if len(set(as_text(points, name))) > 1]
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
    _print_columns(title, columns, console)
    print_lines(_notes(points, tables.extrinsic, cells, titles), console)
    console.print(f"{done.sum()} of {len(points)} points done")
    failed = points[~done][:POINTS_SHOWN]
    if len(failed):
        columns = {name: as_text(failed, name) for name in ("embedding", *names, "status")}
        _print_columns("not done; the points table holds their errors", columns, console)


def _print_columns(title: str, columns: Mapping[str, Sequence[str]], console: Console) -> None:
    names = {*SLICE_COLUMNS, *OPTIONS, "direction", "status"}
    table = TextTable.of_rows(title, as_rows(columns), names)
    print_text_table(table, console, ruled=False, blanks=1)


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
