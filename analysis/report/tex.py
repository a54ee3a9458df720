"""The correlations as a table for a paper."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd

from analysis.correlate import ALL

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def correlations_tex(correlations: pd.DataFrame, *, generated: bool) -> str:
    """Slices over all methods as a LaTeX ``tabular`` (needs ``booktabs``): units, r and its
    interval, Holm's p, right picks, verdict.
    """
    lines = [
        (
            "% Generated data: no evidence about the world."
            if generated
            else "% r over units, 95% interval; p after Holm."
        ),
        r"\begin{tabular}{lllrrlrll}",
        r"\toprule",
    ]
    lines += [
        (
            r"Metric & Embedding & Query & Rows & Units & $r$ [95\%] & $p$ & Right picks [95\%] &"
            r" Verdict \\"
        ),
        r"\midrule",
    ]
    for gap, block in correlations[correlations["method"] == ALL].groupby("gap", sort=False):
        lines.append(rf"\multicolumn{{9}}{{l}}{{\emph{{{escape(str(gap))}}}}} \\")
        for row in block.to_dict("records"):
            cells = [escape(str(row[name])) for name in ("metric", "embedding", "query")] + [
                str(row["n"]),
                str(int(row["n_units"])),
            ]
            cells += [
                _estimate(row, "pearson", "r_low", "r_high"),
                _number(row["p_holm"]),
                _estimate(row, "accuracy", "accuracy_low", "accuracy_high"),
            ]
            lines.append(
                " & ".join([*cells, escape(str(row["verdict"]).partition(":")[0])]) + r" \\"
            )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """The text with what LaTeX would read as commands spelled out."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _estimate(row: dict[str, Any], value: str, low: str, high: str) -> str:
    interval = (
        f" [{row[low]:.2f}, {row[high]:.2f}]" if isfinite(row[low]) and isfinite(row[high]) else ""
    )
    return _number(row[value]) + interval


def _number(value: float) -> str:
    return f"{value:.2f}" if isfinite(value) else "--"
