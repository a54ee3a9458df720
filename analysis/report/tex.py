"""The correlations as a table for a paper."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd

from analysis.naming import ALL, SCORE, SLICE_COLUMNS, TURNED, gap_titles, row_names, taggers

if TYPE_CHECKING:
    from analysis.findings import Finding

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
HEAD = r"""\begin{tabular}{lllrrlrll}
\toprule
Metric & Embedding & Query & Rows & Units & $r$ [95\%] & $p$ & Right picks [95\%] & Verdict \\
\midrule"""


def correlations_tex(found: Iterable[Finding]) -> str:
    """Slices over all methods as a LaTeX ``tabular`` (needs ``booktabs``): units, r within bases
    and its interval, adjusted p, right picks, verdict.
    """
    whole = [each for each in found if each.names["method"] == ALL]
    names = pd.DataFrame([each.names for each in whole], columns=list(SLICE_COLUMNS))
    scores = zip(row_names(names, SCORE[:2]), row_names(names, SCORE[2:]), strict=True)
    blocks: dict[str, list[str]] = {}
    turned = dict.fromkeys(each.names["metric"] for each in whole if each.marks.turned)
    for each, gap, score in zip(whole, gap_titles(names), scores, strict=True):
        blocks.setdefault(gap, []).append(_row(each, *score))
    generated = any(each.marks.generated for each in whole)
    lines = [
        "% Generated data: no evidence about the world."
        if generated
        else "% r within bases, 95% interval; p adjusted over its family; (exploratory verdicts).",
        *(f"% {note}" for note in taggers(each.marks.group_by for each in whole)),
        *(f"% {each}: turned around, as {TURNED}" for each in turned),
        HEAD,
    ]
    for gap, rows in blocks.items():
        lines += [rf"\multicolumn{{9}}{{l}}{{\emph{{{escape(gap)}}}}} \\", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """The text with what LaTeX would read as commands spelled out."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _row(found: Finding, metric: str, query: str) -> str:
    behind = found.evidence
    cells = [
        escape(metric),
        escape(found.names["embedding"]),
        escape(query),
        str(found.statistics.n),
        str(behind.n_units),
        _estimate(behind.within, behind.within_low, behind.within_high),
        _estimate(found.judgement.p_adjusted),
        _estimate(behind.accuracy, behind.accuracy_low, behind.accuracy_high),
        found.judgement.told,
    ]
    return " & ".join(cells) + r" \\"


def _estimate(value: float, low: float = float("nan"), high: float = float("nan")) -> str:
    interval = f" [{low:.2f}, {high:.2f}]" if isfinite(low) and isfinite(high) else ""
    return (f"{value:.2f}" if isfinite(value) else "--") + interval
