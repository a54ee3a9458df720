"""The answer of a study in about 25 lines of 80 columns: for every measured gap its direction, r_rm
with its interval, and the effect of each condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from analysis.effects import SHARED
from analysis.effects_table import condition_table, unmodified_means
from analysis.frame import as_text
from analysis.gap_directions import (
    ResultsByGap,
    describe_verdicts,
    join_titles,
    results_by_gap,
    scores_by_direction,
)
from analysis.groups import group_mismatch_of
from analysis.naming import (
    CONDITION,
    CONTROL,
    ORIGINAL,
    capitalise,
    gap_titles,
    group_pairs,
    with_count,
)
from analysis.terminal import print_lines, print_table
from analysis.utility import describe_task
from stats.formatting import NOTHING, format_estimate, format_number

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.declaration import Declaration
    from analysis.effects import Effect
    from analysis.frame import Tables
    from analysis.slice_results import SliceResult

WIDTH = 80
SCORES, METRICS, GAPS, CONDITIONS = 3, 8, 12, 8  # shown; the tables hold all


def print_answer(
    tables: Tables,
    results: Sequence[SliceResult],
    changes: Sequence[Effect],
    declaration: Declaration,
    console: Console,
) -> None:
    """Print the sweep, the answer, its numbers, and the effect of each condition."""
    gaps = results_by_gap(results)
    print_lines([*_run_line(tables, results), "", "ANSWER"], console)
    print_lines(wrap(group_mismatch_of(tables.points, tables.extrinsic), WIDTH), console)
    for gap, scores in list(gaps.items())[:GAPS]:
        print_lines(wrap(_answer_line(gap, scores), WIDTH, subsequent_indent="  "), console)
    print_lines(wrap_all(_verdict_lines(gaps)), console)
    notes = [*describe_task(tables, declaration.utility), *_missing_values(tables)]
    print_lines(wrap_all(notes), console)
    n_scores, names = _shown_scores(gaps)
    rows = [
        {"r_rm [95%]": gap}
        | {name: format_estimate(*scores[name].within.interval) for name in names if name in scores}
        for gap, scores in list(gaps.items())[:GAPS]
    ]
    print_lines([""], console)
    print_table(
        "",
        [{**dict.fromkeys(rows[0], "-"), **row} for row in rows],
        console,
        left_aligned=("r_rm [95%]",),
    )
    print_lines(_more_line(n_scores - len(names), "scores in correlations.csv"), console)
    print_lines(_more_line(len(gaps) - GAPS, "gaps in correlations.csv"), console)
    _print_conditions(changes, declaration, console)
    pairs = dict.fromkeys(group_pairs(tables.extrinsic[tables.extrinsic["kind"] == "gap"]))
    for pair in list(pairs)[:1]:
        minuend, _, subtrahend = pair.partition(" - ")
        errors = f" (of error rates {subtrahend} - {minuend})" if subtrahend else ""
        print_lines([f"gap: {pair}{errors}; above 0 is worse for {subtrahend or pair}"], console)


def _shown_scores(gaps: ResultsByGap) -> tuple[int, list[str]]:
    """Return the number of scores, and the titles of those shown: of each metric one or more."""
    metrics: dict[str, str] = {}
    firsts: dict[str, str] = {}
    for name, result in (item for scores in gaps.values() for item in scores.items()):
        metrics[name] = result.names["metric"]
        firsts.setdefault(metrics[name], name)
    by_rank = list(dict.fromkeys([*firsts.values(), *metrics]))
    shown = by_rank[: max(SCORES, min(len(firsts), METRICS))]
    return len(metrics), [name for name in metrics if name in shown]


def _verdict_lines(gaps: ResultsByGap) -> Iterator[str]:
    """Yield the sentence of each verdict after the gap and the scores it is about."""
    for gap, scores in gaps.items():
        names_by_sentence: dict[str, list[str]] = {}
        for score, result in scores.items():
            if result.confirmatory and result.why:
                names_by_sentence.setdefault(result.why, []).append(score)
        for sentence, names in names_by_sentence.items():
            yield f"{capitalise(gap)}, {join_titles(names)}: {sentence}."


def wrap_all(lines: Iterable[str]) -> list[str]:
    """Wrap lines at ``WIDTH``."""
    return [part for line in lines for part in wrap(line, WIDTH, subsequent_indent="  ")]


def _missing_values(tables: Tables) -> Iterable[str]:
    """Yield each gap with missing values: at how many points, and the first reason."""
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    titled = gaps.assign(title=gap_titles(gaps))
    for (_, title), rows in titled.groupby(["task", "title"], sort=False):
        missing = rows[rows["value"].isna()]
        if len(missing):
            n_missing = f"{len(missing)} of {len(rows)}"
            yield f"{title}: no value at {n_missing} points, such as: {missing['reason'].iloc[0]}"


def _run_line(tables: Tables, results: Sequence[SliceResult]) -> list[str]:
    points = tables.points[tables.points["status"] == "done"]
    largest = max(results, key=lambda result: result.n, default=None)
    has_parents = largest is not None and largest.n_parents > 0
    parents = f" of {with_count(largest.n_parents, 'parent')}" if largest and has_parents else ""
    methods = [name for name in dict.fromkeys(as_text(points, "method")) if name != CONTROL]
    done_note = f" of {len(tables.points)} points done" if len(points) < len(tables.points) else ""
    models = f"{len(points)}{done_note}, " if done_note else ""
    models += f"{with_count(len({*as_text(points, 'unit_key')}), 'model')}{parents}"
    parts = [models, ", ".join(dict.fromkeys(as_text(points, "embedding"))), ", ".join(methods)]
    parts += ["synthetic data" if "True" in as_text(points, "generated") else ""]
    return wrap("; ".join(filter(None, parts)), WIDTH)


def _answer_line(gap: str, scores: dict[str, SliceResult]) -> str:
    """Return ``precision gap: rises with WEAT 6b, 7, 8 (positive)``."""
    names_by_direction = scores_by_direction(scores)
    directions = "; ".join(
        f"{direction} {join_titles(names)}" for direction, names in names_by_direction.items()
    )
    return f"{gap}: {directions} ({describe_verdicts(scores) or 'exploratory'})"


def _print_conditions(
    changes: Sequence[Effect], declaration: Declaration, console: Console
) -> None:
    """Print how the methods changed the first gap, the utility and the first score."""
    means = unmodified_means(changes, declaration.confirmatory)
    if not means:
        return
    table = condition_table(changes, declaration.confirmatory, digits=2)
    tasks, names = (_joined(table, columns) for columns in (SHARED, (*SHARED, *CONDITION)))
    cells = zip(*(as_text(table, title) for title in means), strict=True)
    rows = [
        {"condition": f"{tasks[0]} {ORIGINAL}".lstrip()}
        | {title: format_number(mean) for title, mean in means.items()},
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
        left_aligned=("condition",),
        blanks=1,
    )
    print_lines(_more_line(len(rows) - CONDITIONS - 1, "conditions in effects.csv"), console)


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    shown = [as_text(table, name) for name in columns if name in table]
    return [" ".join(filter(None, row)) for row in zip(*shown, strict=True)] or [""] * len(table)


def _more_line(hidden: int, noun: str) -> Iterable[str]:
    return [f"and {hidden} more {noun}"] if hidden > 0 else []
