"""The slices of a study or a table on the terminal: a line each, verdicts, and a line a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.analysis.answer import CHANGE, VERDICT, format_change
from biasbridge.analysis.naming import (
    FAMILY,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    row_names,
    shown_columns,
)
from biasbridge.analysis.terminal import p_value, print_lines, print_table
from biasbridge.stats.formatting import NOTHING, format_estimate, format_number

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.slice_results import SliceResult

PEARSON = "Pearson's r"
R_RM = "r_rm, repeated-measures correlation within parents"
HOLM = "p (Holm)"


def print_slices(results: Sequence[SliceResult], title: str, console: Console) -> None:
    """Print the slices of ``correlate``, one line each, then verdicts and notes."""
    names, is_mixed = list(results[0].names), not all(result.confirmatory for result in results)
    rows = [result.names | describe_slice(result, alone=is_mixed) for result in results]
    if not any(result.confirmatory for result in results):
        rows = [{name: cell for name, cell in row.items() if name != HOLM} for row in rows]
    shared_names = [name for name in names if len({row[name] for row in rows}) == 1 < len(rows)]
    shared = [f"{name} {rows[0][name]}" for name in shared_names if rows[0][name]]
    rows = [{name: row[name] for name in row if name not in shared_names} for row in rows]
    heading = "; ".join(
        [f"{title}: {R_RM}", *([f"of all rows: {', '.join(shared)}"] * bool(shared))]
    )
    print_table(heading, rows, console, left_aligned=names)
    _print_why(results, names, console)
    _print_grouped(results, names, [result.note for result in results], console, note=True)


def print_correlations(results: Sequence[SliceResult], console: Console) -> None:
    """Print r_rm of the confirmatory slices of ``correlate_slices``, one table per task,
    classifier, metric and convention.
    """
    confirmatory = [result for result in results if result.confirmatory]
    names = pd.DataFrame([result.names for result in confirmatory], columns=list(SLICE_COLUMNS))
    headings = row_names(names, FAMILY, ", ") if confirmatory else []
    varying_names = [name for name in ("embedding", "method") if len(set(names[name])) > 1]
    columns = [*varying_names, *shown_columns(names, (*SCORE[2:], *GAP))]
    for heading in dict.fromkeys(headings):
        family = [
            result
            for result, row_heading in zip(confirmatory, headings, strict=True)
            if row_heading == heading
        ]
        rows = [
            {name: result.names[name] for name in columns} | describe_slice(result)
            for result in family
        ]
        synthetic = ", synthetic data" if any(result.synthetic for result in family) else ""
        print_table(f"{heading}: {R_RM}{synthetic}", rows, console)
    print_lines(describe_taggers(result.group_by for result in confirmatory), console)


def count_models(result: SliceResult) -> str:
    """Return the number of models; ``44 as 22`` where seeds of a corpus are averaged."""
    averaged = f" as {result.within.n}" if result.within.n < result.n else ""
    return f"{result.n}{averaged}"


def describe_slice(result: SliceResult, *, alone: bool = False) -> dict[str, str]:
    """Return the cells of a slice; ``alone``: with its unadjusted p."""
    within = result.within
    counts = (
        str(number) if number else NOTHING for number in (result.n_parents, result.n_conditions)
    )
    return {
        "models / parents / conditions": " / ".join((count_models(result), *counts)),
        CHANGE: format_change(result),
        VERDICT: result.verdict,
        "r_rm [95%]": format_estimate(*within.interval),
        PEARSON: format_number(result.r_pearson),
        **({"p": p_value(within.p)} if alone else {}),
        HOLM: p_value(result.p_holm),
        "lost": str(result.lost),
    }


def _print_why(results: Sequence[SliceResult], columns: Sequence[str], console: Console) -> None:
    _print_grouped(
        results, columns, [result.why if result.confirmatory else "" for result in results], console
    )


def _print_grouped(
    results: Sequence[SliceResult],
    columns: Sequence[str],
    texts: Sequence[str],
    console: Console,
    *,
    note: bool = False,
) -> None:
    """Print one line per distinct text, with the names of all slices that share it."""
    names_by_text: dict[str, list[str]] = {}
    for result, text in zip(results, texts, strict=True):
        if text:
            name = " ".join(filter(None, (result.names[name] for name in columns))) or "all"
            names_by_text.setdefault(text, []).append(name)
    verbs = {True: " are ", False: " is "}
    lines = (
        f"{', '.join(slice_names)}{': ' if note else verbs[len(slice_names) > 1]}{text}"
        for text, slice_names in names_by_text.items()
    )
    print_lines(lines, console)
