"""The points of a sweep on the terminal: scores, gaps and utility, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from analysis.frame import is_blank, texts, typed, values_of
from analysis.joined import utility_rows
from analysis.naming import (
    ALL,
    CONFIRMATORY,
    SCORE,
    UTILITY,
    confirmatory_of,
    counted,
    describe_label,
    gap_titles,
    group_pairs,
    measure_title,
    positive_class,
    row_names,
    taggers,
)
from analysis.options import OPTIONS, with_varied
from analysis.show import (
    LEFT,
    NOTHING,
    SCORES_SHOWN,
    as_rows,
    estimates,
    print_lines,
    print_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.frame import Tables

FAILED_SHOWN = 20
TABLES_FROM = 3  # pairs of groups
SPREADS = {
    "largest": "largest difference between groups",
    "ratio": "ratio of the smallest value of a group to the largest",
}
# Shown only where they vary: names head a table of their own, numbers are a column.
HEADINGS = (
    *("task", "source", "positive_class", "challenge"),
    *("corpus", "wordset", "classifier"),
)
SETTINGS = (
    *("stereotype", "label_bias", "skew", "label_method", "label_direction", "label_dose"),
    "replicate",
)
MADE_FROM = ("embedding", "method", "direction", "dose")
Cells = dict[str, dict[str, str]]  # by title and point


def print_points(
    tables: Tables,
    console: Console,
    *,
    confirmatory: Sequence[str] = CONFIRMATORY,
    utility: str = UTILITY,
) -> None:
    """One row per done point: its intrinsic scores, its gaps in the ``confirmatory`` measures with
    their intervals and the items behind them (n, of the group that has fewer), its ``utility`` over
    all posts, and how often a prediction flips with a word of a challenge set; one table per
    embedding, where gaps are of three pairs of groups or more, or largest differences and ratios
    were asked for, one of each below it; failed points last.
    """
    known, tables = tables.points.columns, typed(tables)
    points = with_varied(tables.points, (*MADE_FROM, *HEADINGS, *SETTINGS))
    marks: dict[str, str] = {}
    scores, hidden = _scores(tables.intrinsic, marks)
    sections = _sections(tables.extrinsic, scores, confirmatory, utility, marks)
    section = [name for name in HEADINGS if _varies(points, name)]
    settings = [name for name in (*SETTINGS, *OPTIONS) if _varies(points, name)]
    made_from = [name for name in (*MADE_FROM[1:], *settings, "seed") if name in known]
    done = points["status"] == "done"
    stamp = ", synthetic data" if "True" in texts(points, "generated") else ""
    for _, block in points[done].groupby([*section, "embedding"], sort=False, dropna=False):
        heading = [f"{name} {_formatted(block, name)[0]}" for name in section]
        title = ", ".join([*heading, *block["embedding"][:1]])
        mixture = next(filter(None, block["mixture"]), "")
        stamped = f", {mixture}" if mixture else stamp
        for what, found in sections.items():
            columns = {name: _formatted(block, name) for name in made_from} | {
                name: [cells.get(point, NOTHING) for point in block["point"]]
                for name, cells in found.items()
            }
            heads = f"{title}: {what or counted(len(block), 'point')}{stamped}"
            print_table(heads, as_rows(columns), console, left={*LEFT, *OPTIONS}, blanks=1)
            console.print()
    print_lines((f"{mark} {reason}" for reason, mark in marks.items()), console)
    if hidden:
        console.print(
            f"not shown, but in the intrinsic table: {', '.join(hidden)}", highlight=False
        )
    print_lines(_notes(points, tables.extrinsic), console)
    console.print(f"{done.sum()} of {len(points)} points done", highlight=False)
    _print_failed(points[~done], [*section, "embedding", *made_from, "status"], console)


def _print_failed(points: pd.DataFrame, columns: Sequence[str], console: Console) -> None:
    if points.empty:
        return
    rows = as_rows({name: _formatted(points[:FAILED_SHOWN], name) for name in columns})
    print_table("not done; the points table holds their errors", rows, console)
    if (more := len(points) - FAILED_SHOWN) > 0:
        console.print(f"and {more} more", highlight=False)


def _scores(intrinsic: pd.DataFrame, marks: dict[str, str]) -> tuple[Cells, list[str]]:
    """The first scores, those that are missing with a mark of the reason; and the names of the
    others.
    """
    several = _varies(intrinsic, "metric")
    names = pd.Series(row_names(intrinsic, SCORE if several else SCORE[1:]), intrinsic.index)
    every = list(dict.fromkeys(names))
    first = names.isin(every[:SCORES_SHOWN])
    nan, reason = float("nan"), intrinsic["reason"].where(intrinsic["value"].isna(), "")
    rows = intrinsic.assign(low=nan, high=nan, reason=reason)[first]
    return _cells(rows, names[first], marks), every[SCORES_SHOWN:]


def _sections(
    extrinsic: pd.DataFrame,
    scores: Cells,
    confirmatory: Sequence[str],
    utility: str,
    marks: dict[str, str],
) -> dict[str, Cells]:
    """What is printed of the points of an embedding, by what it is: scores, gaps and utility in one
    table; in tables of their own the gaps of each pair of groups, where these are three or more
    (one table would be wider than a screen), largest differences and ratios.
    """
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    pairs = pd.Series(group_pairs(gaps), gaps.index, dtype=str)
    if pairs.nunique() < TABLES_FROM:
        found = {"": scores | _gaps(gaps, confirmatory, marks)}
    else:
        of_pairs = {f"gaps, {pair}": gaps[pairs == pair] for pair in pairs.unique()}
        found = {"": scores} | {
            name: _gaps(rows, confirmatory, marks) for name, rows in of_pairs.items()
        }
    whole = utility_rows(extrinsic, utility)
    flips = extrinsic[(extrinsic["kind"] == "flips") & (extrinsic["group"] == ALL)]
    found[""] |= _cells(whole, _utility_titles(whole, utility), marks)
    found[""] |= _cells(flips, ["flips"] * len(flips), marks)
    for kind, what in SPREADS.items():
        rows = extrinsic[extrinsic["kind"] == kind]
        if len(rows):
            found[what] = _cells(rows, map(measure_title, rows["measure"]), marks)
    return found


def _gaps(gaps: pd.DataFrame, confirmatory: Sequence[str], marks: dict[str, str]) -> Cells:
    """The gaps in the confirmatory measures, with the items behind them."""
    gaps = gaps.assign(title=gap_titles(gaps))
    order = confirmatory_of(gaps["measure"], confirmatory)
    rows = gaps[gaps["measure"].isin(order)]
    rows = rows.sort_values("measure", key=lambda names: names.map(order.index), kind="stable")
    counted = ", n" if rows["support"].notna().any() else ""
    return _cells(rows, [f"{title}{counted}" for title in rows["title"]], marks, counts=True)


def _cells(
    rows: pd.DataFrame, titles: Iterable[str], marks: dict[str, str], *, counts: bool = False
) -> Cells:
    """``.12 [.04,.20] 185 (1)``: the value with its interval, the items behind it, and the mark of
    the reason why something is missing.
    """
    found: Cells = {}
    items = texts(rows, "support") if counts else [""] * len(rows)
    parts = zip(titles, rows["point"], estimates(rows), items, rows["reason"], strict=True)
    for title, point, value, number, reason in parts:
        mark = marks.setdefault(reason, f"({len(marks) + 1})") if reason else ""
        found.setdefault(title, {})[point] = " ".join(filter(None, (value, number, mark)))
    return found


def _utility_titles(whole: pd.DataFrame, utility: str) -> list[str]:
    """For each row the utility, and of which posts, where it is of several: ``F1, held out``."""
    title, several = measure_title(utility), _varies(whole, "subset")
    return [
        f"{title}, {of.replace('_', ' ')}" if several and of else title for of in whole["subset"]
    ]


def _notes(points: pd.DataFrame, extrinsic: pd.DataFrame) -> Iterator[str]:
    """What the gaps and flips of a challenge set are, what label 1 is, who tagged the groups."""
    if names := [name for name in dict.fromkeys(points["challenge"]) if name]:
        of = " or ".join(names)
        yield f"gaps are those of the challenge set {of}, not of the source's own posts"
        if ((extrinsic["kind"] == "flips") & (extrinsic["group"] == ALL)).any():
            yield "flips: how often the prediction changes where the word for people alone does"
    if positive := positive_class(points):
        yield describe_label(positive)
    yield from taggers(extrinsic["group_by"])


def _varies(table: pd.DataFrame, name: str) -> bool:
    return len(set(texts(table, name))) > 1


def _formatted(table: pd.DataFrame, name: str) -> list[str]:
    return [
        NOTHING if is_blank(value) else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values_of(table, name)
    ]
