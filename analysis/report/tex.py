"""The correlations as a LaTeX table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from analysis.naming import (
    ALL,
    REVERSED,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    gap_titles,
    row_names,
)
from analysis.slice_printing import describe_slice
from analysis.slices import without_repeats

if TYPE_CHECKING:
    from analysis.slice_results import SliceResult

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # after a line's end an option of its
}
COLUMNS = (
    *("Metric", "Embedding", "Query", "Models / parents / conditions"),
    *(r"$r_\mathrm{rm}$ [95\%]", "$p$ (Holm)", r"slope [95\%]", "gap change", "Verdict"),
)
HEAD = rf"""\begin{{tabular}}{{lllrlrlrl}}
\toprule
{" & ".join(COLUMNS)} \\
\midrule"""
READ = (
    "% r_rm: repeated-measures correlation within parents, with its 95% interval; p adjusted over"
    " the confirmatory slices; no verdict: exploratory."
)
SYNTHETIC = "% Synthetic data: no evidence about the world."


def correlations_tex(slice_results: Iterable[SliceResult]) -> str:
    """Format the slices over all methods as a LaTeX ``tabular`` (needs ``booktabs``)."""
    results = [
        result for result in without_repeats([*slice_results]) if result.names["method"] == ALL
    ]
    names = pd.DataFrame([result.names for result in results], columns=list(SLICE_COLUMNS))
    scores = zip(row_names(names, SCORE[:2]), row_names(names, SCORE[2:]), strict=True)
    has_several_tasks = len({*names["task"]}) > 1
    rows_by_gap: dict[str, list[str]] = {}
    for result, gap, score in zip(results, gap_titles(names), scores, strict=True):
        title = f"{result.names['task']}: {gap}" if has_several_tasks else gap
        rows_by_gap.setdefault(title, []).append(_row(result, *score))
    reverse_scored = dict.fromkeys(
        result.names["metric"] for result in results if result.reverse_scored
    )
    lines = [
        *([SYNTHETIC] if any(result.synthetic for result in results) else []),
        READ,
        *(f"% {note}" for note in describe_taggers(result.group_by for result in results)),
        *(f"% {metric}: reverse-scored, {REVERSED}" for metric in reverse_scored),
        HEAD,
    ]
    for gap, rows in rows_by_gap.items():
        lines += [rf"\multicolumn{{9}}{{l}}{{\emph{{{escape(gap)}}}}} \\", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """Escape the characters that LaTeX would read as commands."""
    return "".join(SPECIAL.get(character, character) for character in text)


def _row(result: SliceResult, metric: str, query: str) -> str:
    names = (metric, result.names["embedding"], query)
    cells = describe_slice(result)
    numbers = [cell.replace("<", "$<$") for name, cell in cells.items() if name != "lost"]
    return " & ".join([*map(escape, names), *numbers, result.verdict]) + r" \\"
