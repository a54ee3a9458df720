"""The answer of a study in about 25 lines of 80 columns: for every measured gap its direction, r_rm
with its interval, and the effect of each condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

import pandas as pd

from analysis.effects import SHARED
from analysis.effects_table import condition_table, unmodified_means
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
SCORES, GAPS, CONDITIONS = 3, 12, 8  # shown; the tables hold all
WAYS = {1: "rises with", -1: "falls with", 0: "no clear relation with"}
OfGaps = dict[str, dict[str, "Finding"]]


def print_answer(
    tables: Tables,
    results: Sequence[Finding],
    changes: Sequence[Effect],
    declaration: Declaration,
    console: Console,
) -> None:
    """Print the sweep, the answer, its numbers, and the effect of each condition."""
    gaps = by_gap(results)
    print_lines([*_run_line(tables, results), "", "ANSWER"], console)
    print_lines(wrap(doubt_of(tables.points, tables.extrinsic), WIDTH), console)
    for gap, scores in list(gaps.items())[:GAPS]:
        print_lines(wrap(_answer_line(gap, scores), WIDTH, subsequent_indent="  "), console)
    reasons = [result.why for result in results if result.confirmatory and result.why]
    for why in dict.fromkeys(reasons):
        print_lines(wrap(f"{capital(why)}.", WIDTH, subsequent_indent="  "), console)
    notes = [*describe_task(tables, declaration.utility), *_missing_values(tables)]
    print_lines(wrap_all(notes), console)
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
    print_lines(_more_line(len(names) - SCORES, "scores in correlations.csv"), console)
    print_lines(_more_line(len(gaps) - GAPS, "gaps in correlations.csv"), console)
    _print_conditions(changes, declaration, console)
    pairs = dict.fromkeys(group_pairs(tables.extrinsic[tables.extrinsic["kind"] == "gap"]))
    for pair in list(pairs)[:1]:
        minuend, _, subtrahend = pair.partition(" - ")
        errors = f" (of error rates {subtrahend} - {minuend})" if subtrahend else ""
        print_lines([f"gap: {pair}{errors}; above 0 is worse for {subtrahend or pair}"], console)


def wrap_all(lines: Iterable[str]) -> list[str]:
    """Wrap lines at ``WIDTH``."""
    return [part for line in lines for part in wrap(line, WIDTH, subsequent_indent="  ")]


def _missing_values(tables: Tables) -> Iterable[str]:
    """Yield each gap with missing values: at how many models, and the first reason."""
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    for title, rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        missing = rows[rows["value"].isna()]
        if len(missing):
            n_missing = f"{len(missing)} of {len(rows)}"
            yield f"{title}: no value at {n_missing} models, such as: {missing['reason'].iloc[0]}"


def by_gap(results: Sequence[Finding]) -> OfGaps:
    """Return the slice results over all embeddings and methods, by the titles of gap and score."""
    pooled = [
        result
        for result in results
        if result.names["embedding"] == result.names["method"] == ALL
        and result.names["query"] != ALL
    ]
    table = pd.DataFrame([result.names for result in pooled], columns=list(SLICE_COLUMNS))
    has_several_tasks = len({*texts(table, "task")}) > 1
    tasks = [f"{task} " if has_several_tasks else "" for task in texts(table, "task")]
    gaps: OfGaps = {}
    for task, gap, score, result in zip(
        tasks, gap_titles(table), score_titles(table), pooled, strict=True
    ):
        gaps.setdefault(task + gap, {})[score] = result
    return gaps


def _run_line(tables: Tables, results: Sequence[Finding]) -> list[str]:
    points = tables.points[tables.points["status"] == "done"]
    largest = max(results, key=lambda result: result.n, default=None)
    has_parents = largest is not None and largest.n_parents > 0
    parents = f" of {counted(largest.n_parents, 'parent')}" if largest and has_parents else ""
    methods = [name for name in dict.fromkeys(texts(points, "method")) if name != CONTROL]
    done_note = f" of {len(tables.points)} points done" if len(points) < len(tables.points) else ""
    models = f"{len(points)}{done_note}, " if done_note else ""
    models += f"{counted(len({*texts(points, 'unit_key')}), 'model')}{parents}"
    parts = [models, ", ".join(dict.fromkeys(texts(points, "embedding"))), ", ".join(methods)]
    parts += ["synthetic data" if "True" in texts(points, "generated") else ""]
    return wrap("; ".join(filter(None, parts)), WIDTH)


def _answer_line(gap: str, scores: dict[str, Finding]) -> str:
    """Return ``precision gap: rises with WEAT 6b, 7, 8 (positive)``."""
    names_by_direction = scores_by_way(scores)
    directions = "; ".join(
        f"{direction} {join_scores(names)}" for direction, names in names_by_direction.items()
    )
    return f"{gap}: {directions} ({verdicts_of(scores) or 'exploratory'})"


def scores_by_way(scores: dict[str, Finding]) -> dict[str, list[str]]:
    """Return the titles of the scores that a gap rises with, falls with, or neither."""
    names_by_direction: dict[str, list[str]] = {}
    for name, result in scores.items():
        within = result.within
        sign = (within.low > 0) - (within.high < 0)
        direction = WAYS[sign] if isfinite(within.r) else f"no r_rm ({within.reason}) with"
        names_by_direction.setdefault(direction, []).append(name)
    return names_by_direction


def verdicts_of(scores: dict[str, Finding]) -> str:
    """Return the verdict of a gap; where verdicts differ, each with its score."""
    verdicts = {name: result.verdict for name, result in scores.items() if result.confirmatory}
    if len({*verdicts.values()}) < 2:
        return next(iter(verdicts.values()), "")
    return ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items())


def join_scores(names: Sequence[str]) -> str:
    """Join titles, a shared first word once: ``WEAT 6b, 7, 8``."""
    first, _, remainder = names[0].partition(" ")
    if remainder and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)


def _print_conditions(
    changes: Sequence[Effect], declaration: Declaration, console: Console
) -> None:
    """Print how the methods changed the first gap, the utility and the first score."""
    means = unmodified_means(changes, declaration.confirmatory)
    if not means:
        return
    table = condition_table(changes, declaration.confirmatory, digits=2)
    tasks, names = (_joined(table, columns) for columns in (SHARED, (*SHARED, *CONDITION)))
    cells = zip(*(texts(table, title) for title in means), strict=True)
    rows = [
        {"condition": f"{tasks[0]} {ORIGINAL}".lstrip()}
        | {title: short(mean) for title, mean in means.items()},
        *(
            {"condition": name}
            | {title: cell or NOTHING for title, cell in zip(means, row, strict=True)}
            for name, row in zip(names, cells, strict=True)
        ),
    ]
    print_lines([""], console)
    print_table(
        "mean, and change from the unmodified models at the largest dose",
        rows[: CONDITIONS + 1],
        console,
        left=("condition",),
        blanks=1,
    )
    print_lines(_more_line(len(rows) - CONDITIONS - 1, "conditions in effects.csv"), console)


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    shown = [texts(table, name) for name in columns if name in table]
    return [" ".join(filter(None, row)) for row in zip(*shown, strict=True)] or [""] * len(table)


def _more_line(hidden: int, noun: str) -> Iterable[str]:
    return [f"and {hidden} more {noun}"] if hidden > 0 else []
