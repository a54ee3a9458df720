"""The points of a sweep on the terminal: scores, gaps and utility, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.analysis.frame import as_text, typed
from biasbridge.analysis.joined import utility_rows
from biasbridge.analysis.naming import (
    ALL,
    GAP,
    SCORE,
    describe_label,
    describe_taggers,
    gap_titles,
    measure_title,
    positive_class,
    present_confirmatory,
    row_names,
    with_count,
)
from biasbridge.analysis.options import OPTIONS, keep_varying_options
from biasbridge.analysis.terminal import (
    LEFT_ALIGNED,
    as_rows,
    format_estimates,
    print_lines,
    print_table,
)
from biasbridge.stats.formatting import NOTHING

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.frame import Tables

POINTS_SHOWN, MEASURES_SHOWN, REASONS_SHOWN = 20, 8, 5
# Columns shown only where they vary
SHOWN_IF_VARYING = (
    *("task", "source", "challenge", "corpus", "wordset", "classifier", "method", "direction"),
    *("dose", "stereotype", "label_bias", "skew", "label_method", "label_direction"),
    *("label_dose", "replicate", "seed"),
)
KIND_TITLES = {
    "flips": "flips",
    "max_difference": "largest difference",
    "ratio": "ratio",
}  # titles of kinds


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
    print_table(title, as_rows(columns), console, left_aligned={*LEFT_ALIGNED, *OPTIONS}, blanks=1)
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
    yield _cells(scores, row_names(scores, SCORE if has_several_metrics else SCORE[1:]))
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    gaps = gaps.assign(title=gap_titles(gaps))
    for measure in present_confirmatory(gaps["measure"], confirmatory):
        rows = gaps[gaps["measure"] == measure]
        yield _cells(rows, rows["title"])
    utilities = utility_rows(extrinsic, utility)
    parts = row_names(utilities, ("measure", "subset"), ", ")
    yield _cells(utilities, [part.replace(utility, measure_title(utility)) for part in parts])
    for kind, kind_title in KIND_TITLES.items():
        rows = extrinsic[(extrinsic["kind"] == kind) & extrinsic["group"].isin(["", ALL])]
        yield _cells(rows, [f"{kind_title} {name}" for name in row_names(rows, GAP)])


def _cells(rows: pd.DataFrame, titles: Iterable[str]) -> pd.DataFrame:
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
