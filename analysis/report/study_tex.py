"""The answer of a study as a LaTeX table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from biasbridge.analysis.answer import (
    HOLM,
    PEARSON,
    SCORE_HEADING,
    VERDICT_HEADING,
    change_rows,
    declared,
    describe_slice,
    scope_lines,
)
from biasbridge.analysis.naming import REVERSED, SMALLEST_CHANGE, describe_taggers
from biasbridge.files.tables import escape_tex

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

_MODELS, _R_RM = "models / parents / conditions", "r_rm [95%]"
_READ = (
    "% Change of the gap over the range of the score. r_rm: repeated-measures correlation within"
    " parents. p: adjusted over these tests."
)
_LEFT = (SCORE_HEADING, VERDICT_HEADING)
_SYNTHETIC = "% Synthetic data: no evidence about the world."


def correlations_tex(
    slice_results: Sequence[SliceResult], smallest_change: float = SMALLEST_CHANGE
) -> str:
    """Format the declared tests as a LaTeX ``tabular`` (needs ``booktabs``)."""
    results = declared(slice_results)
    reverse_scored = dict.fromkeys(
        result.names["metric"] for result in results if result.reverse_scored
    )
    lines = [
        *([_SYNTHETIC] if any(result.synthetic for result in results) else []),
        _READ,
        *(f"% {note}" for note in describe_taggers(result.group_by for result in results)),
        *(f"% {metric}: reverse-scored, {REVERSED}" for metric in reverse_scored),
        *(f"% {line}" for line in scope_lines(results)),
    ]
    tests = change_rows(results, smallest_change, _further_cells)
    return "\n".join([*lines, *_tabular(tests), ""])


def _further_cells(result: SliceResult) -> dict[str, str]:
    cells = describe_slice(result)
    return {name: cells[name] for name in (_MODELS, _R_RM, PEARSON, HOLM)}


def _tabular(rows_by_heading: Mapping[str, Sequence[Mapping[str, str]]]) -> list[str]:
    """Return the lines of a table; none without rows."""
    head = next((list(rows[0]) for rows in rows_by_heading.values()), [])
    columns = "".join("l" if name in _LEFT else "r" for name in head)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _line(head), r"\midrule"]
    for heading, rows in rows_by_heading.items():
        span = rf"\multicolumn{{{len(head)}}}{{l}}{{\emph{{{escape_tex(heading)}}}}} \\"
        lines += [*([span] if heading else []), *(_line(row.values()) for row in rows)]
    return [*lines, r"\bottomrule", r"\end{tabular}"] if head else []


def _line(cells: Iterable[str]) -> str:
    return " & ".join(map(escape_tex, cells)) + r" \\"
