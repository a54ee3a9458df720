"""The points of a sweep on the terminal: scores, gaps and utility, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd

from analysis.columns import is_blank, numbers, texts, values_of
from analysis.naming import (
    ALL,
    CONFIRMATORY,
    SCORE,
    UTILITY,
    confirmatory_of,
    gap_titles,
    group_pairs,
    label_told,
    measure_title,
    positive_class,
    row_names,
    taggers,
)
from analysis.options import OPTIONS, with_varied
from analysis.show import LEFT, NOTHING, SCORES_SHOWN, as_rows, estimates, print_table, short

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.results import Tables

FAILED_SHOWN = 20
TABLES_FROM = 3  # pairs of groups
SPREADS = {
    "largest": "largest difference between groups",
    "ratio": "ratio of the smallest value of a group to the largest",
}
# Told only where they vary: names head a table of their own, numbers are a column.
HEADINGS = (
    *("task", "source", "positive_class", "challenge"),
    *("corpus", "wordset", "classifier"),
)
SETTINGS = (
    *("stereotype", "label_bias", "skew", "label_method", "label_direction", "label_dose"),
    "replicate",
)
MADE_FROM = ("embedding", "method", "direction", "dose")


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
    embedding,
    where gaps are of three pairs of groups or more, or largest differences and ratios were asked
    for, one of each below it; failed points last.
    """
    points = with_varied(tables.points, (*MADE_FROM, *HEADINGS, *SETTINGS))
    marks: dict[str, str] = {}
    scores, hidden = _scores(tables.intrinsic, marks)
    apart = _apart(tables.extrinsic, confirmatory, marks)
    measures = {} if apart else _gaps(tables.extrinsic, confirmatory, marks)
    measures |= _utility(tables.extrinsic, utility)
    flips = _flips(tables.extrinsic)
    spreads = {what: _spreads(tables.extrinsic, kind, marks) for kind, what in SPREADS.items()}
    section = [name for name in HEADINGS if _varies(points, name)]
    settings = [name for name in (*SETTINGS, *OPTIONS) if _varies(points, name)]
    made_from = [name for name in (*MADE_FROM[1:], *settings, "seed") if name in points]
    done = points["status"] == "done"
    stamp = ", synthetic data" if "True" in texts(points, "generated") else ""
    for _, block in points[done].groupby([*section, "embedding"], sort=False, dropna=False):
        heading = [f"{name} {_cells(block, name)[0]}" for name in section]
        title = ", ".join([*heading, *texts(block[:1], "embedding")])
        told = f", {texts(block[:1], 'mixture')[0]}" if _mixed(block) else stamp
        of = {f"{len(block)} points": scores | measures | flips} | apart | spreads
        for what, found in of.items():
            if what in spreads and not found:
                continue
            columns = {name: _cells(block, name) for name in made_from} | {
                name: [cells.get(point, NOTHING) for point in texts(block, "point")]
                for name, cells in found.items()
            }
            left = {*LEFT, *OPTIONS}
            print_table(f"{title}: {what}{told}", as_rows(columns), console, left=left, blanks=1)
            console.print()
    for reason, mark in marks.items():
        console.print(f"{mark} {reason}", soft_wrap=True, highlight=False, markup=False)
    if hidden:
        told_of = f"not shown, but in the intrinsic table: {', '.join(hidden)}"
        console.print(told_of, highlight=False)
    label = [label_told(told)] if (told := positive_class(points)) else []
    groups = taggers(texts(tables.extrinsic, "group_by"))
    for note in (*_challenges(points, flips), *label, *groups):
        console.print(note, soft_wrap=True, highlight=False, markup=False)
    console.print(f"{done.sum()} of {len(points)} points done", highlight=False)
    failed = {
        name: _cells(points[~done][:FAILED_SHOWN], name)
        for name in (*section, "embedding", *made_from, "status")
    }
    if not done.all():
        title = "not done; the points table holds their errors"
        print_table(title, as_rows(failed), console)
    if (more := int((~done).sum()) - FAILED_SHOWN) > 0:
        console.print(f"and {more} more", highlight=False)


def _scores(
    intrinsic: pd.DataFrame, marks: dict[str, str]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The first scores, by name and point, those that cannot be had with a mark of the reason; and
    the names of the others.
    """
    several = len(set(texts(intrinsic, "metric"))) > 1
    names = row_names(intrinsic, SCORE if several else SCORE[1:])
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    if names:
        told = (numbers(intrinsic, "value").tolist(), texts(intrinsic, "reason"))
        for name, point, value, reason in zip(names, texts(intrinsic, "point"), *told, strict=True):
            shown_here = name in list(found)[:SCORES_SHOWN]
            mark = _mark(reason, marks) if shown_here and not isfinite(value) else ""
            found[name][point] = f"{short(value)} {mark}".rstrip()
    first = dict(list(found.items())[:SCORES_SHOWN])
    return first, [name for name in found if name not in first]


def _mark(reason: str, marks: dict[str, str]) -> str:
    """What stands for a reason in a table, such as ``(1)``; empty for none."""
    return marks.setdefault(reason, f"({len(marks) + 1})") if reason else ""


def _apart(
    extrinsic: pd.DataFrame, confirmatory: Sequence[str], marks: dict[str, str]
) -> dict[str, dict[str, dict[str, str]]]:
    """The gaps of each pair of groups for a table of its own, where these are three or more: one
    table would be wider than a screen.
    """
    rows = extrinsic[extrinsic["kind"] == "gap"] if "kind" in extrinsic else extrinsic[:0]
    pairs = pd.Series(group_pairs(rows), rows.index, dtype=str)
    names = pairs.unique().tolist()
    if len(names) < TABLES_FROM:
        return {}
    return {f"gaps, {name}": _gaps(rows[pairs == name], confirmatory, marks) for name in names}


def _gaps(
    extrinsic: pd.DataFrame, confirmatory: Sequence[str], marks: dict[str, str]
) -> dict[str, dict[str, str]]:
    """The gaps in the confirmatory measures, by name and point."""
    if "kind" not in extrinsic:
        return {}
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    gaps = gaps.assign(title=gap_titles(gaps))
    parts = [
        gaps[gaps["measure"] == each]
        for each in confirmatory_of(texts(gaps, "measure"), confirmatory)
    ]
    if not parts:
        return {}
    rows = pd.concat(parts)
    counts = texts(rows, "support")
    reasons = [_mark(reason, marks) for reason in texts(rows, "reason")]
    told = zip(estimates(rows), counts, reasons, strict=True)
    cells = [" ".join(filter(None, each)) for each in told]
    titles = [f"{title}, n" if any(counts) else title for title in texts(rows, "title")]
    return _by_title(titles, texts(rows, "point"), cells)


def _utility(extrinsic: pd.DataFrame, utility: str) -> dict[str, dict[str, str]]:
    """The utility over all posts, by name and point."""
    if "kind" not in extrinsic:
        return {}
    overall = extrinsic[(extrinsic["measure"] == utility) & (extrinsic["group"] == ALL)]
    return _by_title(_utility_titles(overall, utility), texts(overall, "point"), estimates(overall))


def _utility_titles(overall: pd.DataFrame, utility: str) -> list[str]:
    """For each row the utility, and of which posts, where it is of several: ``F1, held out``."""
    subsets = texts(overall, "subset")
    several = len(set(subsets)) > 1
    title = measure_title(utility)
    return [f"{title}, {of.replace('_', ' ')}" if several and of else title for of in subsets]


def _flips(extrinsic: pd.DataFrame) -> dict[str, dict[str, str]]:
    """How often predictions change with the word, where that was counted."""
    if "kind" not in extrinsic:
        return {}
    rows = extrinsic[(extrinsic["kind"] == "flips") & (extrinsic["group"] == ALL)]
    return _by_title(["flips"] * len(rows), texts(rows, "point"), estimates(rows))


def _spreads(
    extrinsic: pd.DataFrame, kind: str, marks: dict[str, str]
) -> dict[str, dict[str, str]]:
    """The largest differences, or the ratios, by measure and point; marked where groups that have
    too few items are left out.
    """
    if "kind" not in extrinsic:
        return {}
    rows = extrinsic[extrinsic["kind"] == kind]
    reasons = [_mark(reason, marks) for reason in texts(rows, "reason")]
    cells = [" ".join(filter(None, each)) for each in zip(estimates(rows), reasons, strict=True)]
    titles = [measure_title(name) for name in texts(rows, "measure")]
    return _by_title(titles, texts(rows, "point"), cells)


def _by_title(
    titles: Sequence[str], points: Sequence[str], cells: Sequence[str]
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for title, point, cell in zip(titles, points, cells, strict=True):
        found.setdefault(title, {})[point] = cell
    return found


def _challenges(points: pd.DataFrame, flips: Mapping[str, object]) -> list[str]:
    """Of what the gaps are, where a challenge set was tested on, and what flips are."""
    names = [name for name in dict.fromkeys(texts(points, "challenge")) if name]
    if not names:
        return []
    told = (
        f"gaps are those of the challenge set {' or '.join(names)}, not of the source's own posts"
    )
    flipped = "flips: how often the prediction changes where the word for people alone does"
    return [told, *([flipped] if flips else [])]


def _mixed(points: pd.DataFrame) -> bool:
    """Whether some of what the points are made of is generated, and some is not."""
    return "mixture" in points and any(texts(points, "mixture"))


def _varies(points: pd.DataFrame, name: str) -> bool:
    return len(set(texts(points, name))) > 1


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    return [
        NOTHING if is_blank(value) else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values_of(table, name)
    ]
