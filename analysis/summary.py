"""The answer of a study on the terminal, in 25 lines of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from biasbridge.analysis.answer import (
    LEGEND,
    SCORE,
    TEST,
    VERDICT,
    change_rows,
    declared,
    detectable,
    headline,
    planted_line,
    reasons,
    reliability,
    scope_rows,
    within,
)
from biasbridge.analysis.frame import as_text
from biasbridge.analysis.gap_directions import join_titles, results_by_gap, scores_by_direction
from biasbridge.analysis.groups import group_mismatch_of
from biasbridge.analysis.naming import CONTROL, capitalise, gap_titles, group_pairs, with_count
from biasbridge.analysis.terminal import print_lines, print_table
from biasbridge.analysis.utility import describe_task

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.frame import Tables
    from biasbridge.analysis.slice_results import SliceResult

WIDTH = 80
TESTS, GAPS = 12, 4  # shown; the tables hold all


def print_answer(
    tables: Tables,
    results: Sequence[SliceResult],
    declaration: Declaration,
    console: Console,
) -> None:
    """Print what was found, for what it holds, and what limits it."""
    tests = declared(results)
    print_lines(wrap_all(opening_lines(tables, results, declaration)), console)
    if tests:
        print_lines([""], console)
        shown = tests[:TESTS]
        for gap, rows in change_rows(shown, declaration.smallest_change).items():
            print_table(gap, rows, console, left_aligned=(SCORE, VERDICT))
        rows = [
            {name.replace("other ", "other\n"): _fold(cell) for name, cell in row.items()}
            for row in scope_rows(shown)
        ]
        print_table(
            f"a rise or fall is shown for ({LEGEND})", rows, console, left_aligned=(TEST,), blanks=1
        )
        print_lines(_more_line(len(tests) - TESTS, "tests in correlations.csv"), console)
    print_lines(wrap_all(closing_lines(tables, results, declaration)), console)


def opening_lines(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration
) -> list[str]:
    """Return what comes before the tables: what was planted, the headline, the models, and the sign
    of a gap.
    """
    tests = declared(results)
    lines = [planted_line(tables.points, tests), headline(tests, declaration.smallest_change)]
    lines += [*_run_line(tables, results), group_mismatch_of(tables.points, tables.extrinsic)]
    return list(filter(None, [*lines, *_sign_line(tables)]))


def closing_lines(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration
) -> list[str]:
    """Return what comes after the tables: what limits the verdicts, and what was not declared."""
    tests = declared(results)
    lines = [*reasons(tests), *within(tests, declaration.smallest_change), *detectable(tests)]
    lines += [*reliability(tests), *exploratory_lines(results)]
    return [*lines, *describe_task(tables, declaration.utility), *_missing_values(tables)]


def _sign_line(tables: Tables) -> Iterable[str]:
    pairs = dict.fromkeys(group_pairs(tables.extrinsic[tables.extrinsic["kind"] == "gap"]))
    for pair in list(pairs)[:1]:
        minuend, _, subtrahend = pair.partition(" - ")
        errors = f" (of error rates {subtrahend} - {minuend})" if subtrahend else ""
        yield f"gap: {pair}{errors}; above 0 is worse for {subtrahend or pair}"


def exploratory_lines(results: Sequence[SliceResult]) -> list[str]:
    """Return a line for each gap that was not declared, with its direction by each score."""
    lines = []
    for gap, scores in results_by_gap(results).items():
        undeclared = {name: result for name, result in scores.items() if not result.confirmatory}
        if undeclared:
            directions = "; ".join(
                f"{direction} {join_titles(names)}"
                for direction, names in scores_by_direction(undeclared).items()
            )
            lines.append(f"Exploratory: {gap}: {directions}.")
    more = _more_line(len(lines) - GAPS, "exploratory gaps in exploratory.csv")
    return [*lines[:GAPS], *more]


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
            reason = missing["reason"].iloc[0]
            yield f"{capitalise(str(title))}: no value at {n_missing} points, such as: {reason}"


def _run_line(tables: Tables, results: Sequence[SliceResult]) -> list[str]:
    points = tables.points[tables.points["status"] == "done"]
    largest = max(results, key=lambda result: result.n, default=None)
    methods = [name for name in dict.fromkeys(as_text(points, "method")) if name != CONTROL]
    done_note = f" of {len(tables.points)} points done" if len(points) < len(tables.points) else ""
    models = f"{len(points)}{done_note}, " if done_note else ""
    models += with_count(len({*as_text(points, "unit_key")}), "model")
    embeddings = ", ".join(dict.fromkeys(as_text(points, "embedding")))
    models += f" ({embeddings})" if embeddings else ""
    if largest is not None and largest.n_parents > 0:
        models += f": {largest.n_parents} unmodified (parents)"
        return [f"{models}, the others by {', '.join(methods)}" if methods else models]
    return ["; ".join(filter(None, [models, ", ".join(methods)]))]


def _fold(cell: str) -> str:
    """Break the name of a test over lines of 30 characters."""
    return "\n".join(wrap(cell, 30, subsequent_indent="  "))


def _more_line(hidden: int, noun: str) -> Iterable[str]:
    return [f"and {hidden} more {noun}"] if hidden > 0 else []
