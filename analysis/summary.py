"""The answer of a study in about 25 lines of 80 columns: every gap that was measured and which way
it goes, r_rm with its interval, and what each condition did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

import pandas as pd

from analysis.effects import SHARED
from analysis.effects_table import condition_table, means_before
from analysis.frame import texts
from analysis.groups import doubt_of
from analysis.naming import (
    ALL,
    CONDITION,
    CONTROL,
    ORIGINAL,
    SLICE_COLUMNS,
    capital,
    counted,
    gap_titles,
    group_pairs,
    score_titles,
)
from analysis.show import NOTHING, estimate, print_lines, print_table, short
from analysis.utility import describe_task

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.declaration import Declaration
    from analysis.effects import Effect
    from analysis.findings import Finding
    from analysis.frame import Tables

WIDTH = 80
SCORES, GAPS, CONDITIONS = 3, 12, 8  # shown; the tables have all
WAYS = {1: "rises with", -1: "falls with", 0: "no clear relation with"}
OfGaps = dict[str, dict[str, "Finding"]]


def print_answer(
    tables: Tables,
    found: Sequence[Finding],
    moved: Sequence[Effect],
    declared: Declaration,
    console: Console,
) -> None:
    """What was run, the answer, the numbers behind it, what each condition did."""
    gaps = by_gap(found)
    print_lines([*_run(tables, found), "", "ANSWER"], console)
    print_lines(wrap(doubt_of(tables.points, tables.extrinsic), WIDTH), console)
    for gap, scores in list(gaps.items())[:GAPS]:
        print_lines(wrap(_answer(gap, scores), WIDTH, subsequent_indent="  "), console)
    for why in dict.fromkeys(each.why for each in found if each.confirmatory and each.why):
        print_lines(wrap(f"{capital(why)}.", WIDTH, subsequent_indent="  "), console)
    print_lines(wrap_all([*describe_task(tables, declared.utility), *_missing(tables)]), console)
    names = list(dict.fromkeys(name for scores in gaps.values() for name in scores))
    rows = [
        {"r_rm [95%]": gap}
        | {
            name: estimate(*scores[name].within.interval)
            for name in names[:SCORES]
            if name in scores
        }
        for gap, scores in list(gaps.items())[:GAPS]
    ]
    print_lines([""], console)
    print_table(
        "", [{**dict.fromkeys(rows[0], "-"), **row} for row in rows], console, left=("r_rm [95%]",)
    )
    print_lines(_more(len(names) - SCORES, "scores in correlations.csv"), console)
    print_lines(_more(len(gaps) - GAPS, "gaps in correlations.csv"), console)
    _print_conditions(moved, declared, console)
    pairs = dict.fromkeys(group_pairs(tables.extrinsic[tables.extrinsic["kind"] == "gap"]))
    for pair in list(pairs)[:1]:
        one, _, other = pair.partition(" - ")
        turned = f" (of error rates {other} - {one})" if other else ""
        print_lines([f"gap: {pair}{turned}; above 0 is worse for {other or pair}"], console)


def wrap_all(lines: Iterable[str]) -> list[str]:
    """The lines, broken where they are too long."""
    return [part for line in lines for part in wrap(line, WIDTH, subsequent_indent="  ")]


def _missing(tables: Tables) -> Iterable[str]:
    """Of each gap without a value at some models at how many, and the first reason."""
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    for title, rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        lacking = rows[rows["value"].isna()]
        if len(lacking):
            at = f"{len(lacking)} of {len(rows)}"
            yield f"{title}: no value at {at} models, such as: {lacking['reason'].iloc[0]}"


def by_gap(found: Sequence[Finding]) -> OfGaps:
    """The findings over all embeddings and methods, by the titles of gap and score."""
    whole = [
        each
        for each in found
        if each.names["embedding"] == each.names["method"] == ALL and each.names["query"] != ALL
    ]
    table = pd.DataFrame([each.names for each in whole], columns=list(SLICE_COLUMNS))
    several = len({*texts(table, "task")}) > 1
    tasks = [f"{task} " if several else "" for task in texts(table, "task")]
    gaps: OfGaps = {}
    for task, gap, score, each in zip(
        tasks, gap_titles(table), score_titles(table), whole, strict=True
    ):
        gaps.setdefault(task + gap, {})[score] = each
    return gaps


def _run(tables: Tables, found: Sequence[Finding]) -> list[str]:
    points = tables.points[tables.points["status"] == "done"]
    largest = max(found, key=lambda each: each.n, default=None)
    known = largest is not None and largest.n_parents > 0
    parents = f" of {counted(largest.n_parents, 'parent')}" if largest and known else ""
    methods = [name for name in dict.fromkeys(texts(points, "method")) if name != CONTROL]
    asked = f" of {len(tables.points)} points done" if len(points) < len(tables.points) else ""
    what = f"{len(points)}{asked}, " if asked else ""
    what += f"{counted(len({*texts(points, 'unit_key')}), 'model')}{parents}"
    parts = [what, ", ".join(dict.fromkeys(texts(points, "embedding"))), ", ".join(methods)]
    parts += ["synthetic data" if "True" in texts(points, "generated") else ""]
    return wrap("; ".join(filter(None, parts)), WIDTH)


def _answer(gap: str, scores: dict[str, Finding]) -> str:
    """``precision gap: rises with WEAT 6b, 7, 8 (positive)``."""
    ways = scores_by_way(scores)
    said = "; ".join(f"{way} {join_scores(names)}" for way, names in ways.items())
    return f"{gap}: {said} ({verdicts_of(scores) or 'exploratory'})"


def scores_by_way(scores: dict[str, Finding]) -> dict[str, list[str]]:
    """Which scores a gap rises with, falls with, or neither, by their titles."""
    ways: dict[str, list[str]] = {}
    for name, each in scores.items():
        of = each.within
        sign = (of.low > 0) - (of.high < 0)
        way = WAYS[sign] if isfinite(of.r) else f"no r_rm ({of.reason}) with"
        ways.setdefault(way, []).append(name)
    return ways


def verdicts_of(scores: dict[str, Finding]) -> str:
    """The verdicts of one gap, ``positive``; where they differ each with its score; nothing where
    none was declared.
    """
    verdicts = {name: each.verdict for name, each in scores.items() if each.confirmatory}
    if len({*verdicts.values()}) < 2:
        return next(iter(verdicts.values()), "")
    return ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items())


def join_scores(names: Sequence[str]) -> str:
    """``WEAT 6b, 7, 8``: what is the same is said once."""
    first, _, rest = names[0].partition(" ")
    if rest and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)


def _print_conditions(moved: Sequence[Effect], declared: Declaration, console: Console) -> None:
    """What the methods did to the first gap, the utility and the first score."""
    before = means_before(moved, declared.confirmatory)
    if not before:
        return
    table = condition_table(moved, declared.confirmatory, digits=2)
    tasks, names = (_joined(table, columns) for columns in (SHARED, (*SHARED, *CONDITION)))
    cells = zip(*(texts(table, title) for title in before), strict=True)
    rows = [
        {"what was done": f"{tasks[0]} {ORIGINAL}".lstrip()}
        | {title: short(mean) for title, mean in before.items()},
        *(
            {"what was done": name}
            | {title: cell or NOTHING for title, cell in zip(before, row, strict=True)}
            for name, row in zip(names, cells, strict=True)
        ),
    ]
    print_lines([""], console)
    print_table(
        "means, and changes from them at the largest dose",
        rows[: CONDITIONS + 1],
        console,
        left=("what was done",),
        blanks=1,
    )
    print_lines(_more(len(rows) - CONDITIONS - 1, "conditions in effects.csv"), console)


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """The columns that there are, side by side."""
    shown = [texts(table, name) for name in columns if name in table]
    return [" ".join(filter(None, row)) for row in zip(*shown, strict=True)] or [""] * len(table)


def _more(hidden: int, what: str) -> Iterable[str]:
    return [f"and {hidden} more {what}"] if hidden > 0 else []
