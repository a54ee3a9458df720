"""The correlations as a table for a paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from analysis.naming import ALL, REVERSED, SCORE, SLICE_COLUMNS, gap_titles, row_names, taggers
from analysis.show import describe_slice
from analysis.slices import without_repeats

if TYPE_CHECKING:
    from analysis.findings import Finding

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
COLUMNS = (
    *("Metric", "Embedding", "Query", "Models / parents / conditions"),
    *(r"$r_\mathrm{rm}$ [95\%]", "$p$ (Holm)", "given condition", "given utility", "Verdict"),
)
HEAD = rf"""\begin{{tabular}}{{lllrlrlll}}
\toprule
{" & ".join(COLUMNS)} \\
\midrule"""
READ = (
    "% r_rm: repeated-measures correlation within parents, with its 95% interval; p adjusted over"
    " the confirmatory slices; no verdict: exploratory."
)
SYNTHETIC = "% Synthetic data: no evidence about the world."


def correlations_tex(found: Iterable[Finding]) -> str:
    """Slices over all methods as a LaTeX ``tabular`` (needs ``booktabs``): models, r_rm and its
    interval, adjusted p, r_rm given the condition and given the task's utility, verdict.
    """
    whole = [each for each in without_repeats([*found]) if each.names["method"] == ALL]
    names = pd.DataFrame([each.names for each in whole], columns=list(SLICE_COLUMNS))
    scores = zip(row_names(names, SCORE[:2]), row_names(names, SCORE[2:]), strict=True)
    blocks: dict[str, list[str]] = {}
    for each, gap, score in zip(whole, gap_titles(names), scores, strict=True):
        blocks.setdefault(gap, []).append(_row(each, *score))
    reverse_scored = dict.fromkeys(each.names["metric"] for each in whole if each.reverse_scored)
    lines = [
        *([SYNTHETIC] if any(each.synthetic for each in whole) else []),
        READ,
        *(f"% {note}" for note in taggers(each.group_by for each in whole)),
        *(f"% {each}: reverse-scored, {REVERSED}" for each in reverse_scored),
        HEAD,
    ]
    for gap, rows in blocks.items():
        lines += [rf"\multicolumn{{9}}{{l}}{{\emph{{{escape(gap)}}}}} \\", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """The text with what LaTeX would read as commands spelled out."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _row(found: Finding, metric: str, query: str) -> str:
    names = (metric, found.names["embedding"], query)
    cells = describe_slice(found)
    numbers = [cell.replace("<", "$<$") for name, cell in cells.items() if name != "lost"]
    return " & ".join([*map(escape, names), *numbers, found.verdict]) + r" \\"
