"""The points of a sweep on the terminal: scores, gaps and utility, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from analysis.frame import texts, typed
from analysis.joined import utility_rows
from analysis.naming import (
    ALL,
    GAP,
    SCORE,
    confirmatory_of,
    counted,
    describe_label,
    gap_titles,
    measure_title,
    positive_class,
    row_names,
    taggers,
)
from analysis.options import OPTIONS, with_varied
from analysis.show import LEFT, NOTHING, as_rows, estimates, print_lines, print_table

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.frame import Tables

POINTS_SHOWN, MEASURES_SHOWN, REASONS_SHOWN = 20, 8, 5
# Shown only where they vary
VARY = (
    *("task", "source", "challenge", "corpus", "wordset", "classifier", "method", "direction"),
    *("dose", "stereotype", "label_bias", "skew", "label_method", "label_direction"),
    *("label_dose", "replicate", "seed"),
)
FURTHER = {"flips": "flips", "largest": "largest difference", "ratio": "ratio"}  # kinds, in words


def print_points(
    tables: Tables, console: Console, *, confirmatory: Sequence[str], utility: str
) -> None:
    """A row for each of the first points that are done, with its scores, its gaps in the
    ``confirmatory`` measures, its ``utility`` over all items and what else was measured; then why
    something is missing, what failed, and who tagged the groups.
    """
    tables = typed(tables)
    points = with_varied(tables.points, ("embedding", *VARY))
    names = [name for name in (*VARY, *OPTIONS) if len(set(texts(points, name))) > 1]
    cells = pd.concat(_measured(tables, confirmatory, utility), ignore_index=True)
    titles = list(dict.fromkeys(cells["title"]))
    found = dict(zip(zip(cells["point"], cells["title"], strict=True), cells["cell"], strict=True))
    done = (points["status"] == "done").to_numpy()
    shown = points[done][:POINTS_SHOWN]
    columns = {name: texts(shown, name) for name in ("embedding", *names)} | {
        title: [found.get((point, title), NOTHING) for point in shown["point"]]
        for title in titles[:MEASURES_SHOWN]
    }
    synthetic = ", synthetic data" if "True" in texts(points, "generated") else ""
    mixture = next(filter(None, points["mixture"]), "")
    stamp = f", {mixture}" if mixture else synthetic
    of = f"the first {len(shown)} of " if len(shown) < done.sum() else ""
    title = f"{of}{counted(int(done.sum()), 'point')}{stamp}"
    print_table(title, as_rows(columns), console, left={*LEFT, *OPTIONS}, blanks=1)
    print_lines(_notes(points, tables.extrinsic, cells, titles), console)
    console.print(f"{done.sum()} of {len(points)} points done")
    failed = points[~done][:POINTS_SHOWN]
    if len(failed):
        rows = as_rows({name: texts(failed, name) for name in ("embedding", *names, "status")})
        print_table("not done; the points table holds their errors", rows, console)


def _measured(tables: Tables, confirmatory: Sequence[str], utility: str) -> Iterator[pd.DataFrame]:
    scores, extrinsic = tables.intrinsic, tables.extrinsic
    several = len({*scores["metric"]}) > 1
    yield _cells(scores, row_names(scores, SCORE if several else SCORE[1:]))
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    gaps = gaps.assign(title=gap_titles(gaps))
    for measure in confirmatory_of(gaps["measure"], confirmatory):
        rows = gaps[gaps["measure"] == measure]
        yield _cells(rows, rows["title"])
    whole = utility_rows(extrinsic, utility)
    parts = row_names(whole, ("measure", "subset"), ", ")
    yield _cells(whole, [part.replace(utility, measure_title(utility)) for part in parts])
    for kind, what in FURTHER.items():
        rows = extrinsic[(extrinsic["kind"] == kind) & extrinsic["group"].isin(["", ALL])]
        yield _cells(rows, [f"{what} {name}" for name in row_names(rows, GAP)])


def _cells(rows: pd.DataFrame, titles: Iterable[str]) -> pd.DataFrame:
    named = rows.assign(title=list(titles), cell=estimates(rows))
    missing = rows["value"].isna()
    return named[["point", "title", "cell"]].assign(reason=rows["reason"].where(missing, ""))


def _notes(
    points: pd.DataFrame, extrinsic: pd.DataFrame, cells: pd.DataFrame, titles: Sequence[str]
) -> Iterator[str]:
    reasons = list(dict.fromkeys(filter(None, cells["reason"])))
    yield from (f"{NOTHING}: {reason}" for reason in reasons[:REASONS_SHOWN])
    if hidden := titles[MEASURES_SHOWN:]:
        yield f"not shown, but in the tables: {', '.join(hidden)}"
    if names := [name for name in dict.fromkeys(points["challenge"]) if name]:
        of = " or ".join(names)
        yield f"gaps are those of the challenge set {of}, not of the source's own posts"
    if positive := positive_class(points):
        yield describe_label(positive)
    yield from taggers(extrinsic["group_by"])
