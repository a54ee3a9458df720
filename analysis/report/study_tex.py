"""The answer of a study as LaTeX tables."""

from __future__ import annotations

from collections.abc import Sequence
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
from biasbridge.files.writers import TextTable, tex_table

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

_MODELS, _R_RM = "models / parents / conditions", "r_rm [95%]"
_READ = (
    "Change of the gap over the range of the score. r_rm: repeated-measures correlation within"
    " parents. p: adjusted over these tests."
)
_SYNTHETIC = "Synthetic data: no evidence about the world."


def correlations_tex(
    slice_results: Sequence[SliceResult], smallest_change: float = SMALLEST_CHANGE
) -> str:
    """Format the declared tests as a LaTeX ``table`` for each gap (needs ``booktabs``)."""
    results = declared(slice_results)
    reverse_scored = dict.fromkeys(
        result.names["metric"] for result in results if result.reverse_scored
    )
    synthetic = any(result.synthetic for result in results)
    notes = [
        *describe_taggers(result.group_by for result in results),
        *(f"{metric}: reverse-scored, {REVERSED}" for metric in reverse_scored),
        *scope_lines(results),
    ]
    lines = [f"% {note}" for note in notes]
    tests = change_rows(results, smallest_change, _further_cells)
    for number, (heading, rows) in enumerate(tests.items(), 1):
        cells = [list(row.values()) for row in rows]
        table = TextTable("", list(rows[0]), cells, (SCORE_HEADING, VERDICT_HEADING))
        caption = f"{heading}: {_READ}{f' {_SYNTHETIC}' * synthetic}"
        lines += ["", *tex_table(table, caption, f"correlations-{number}")]
    return "\n".join([*lines, ""])


def _further_cells(result: SliceResult) -> dict[str, str]:
    cells = describe_slice(result)
    return {name: cells[name] for name in (_MODELS, _R_RM, PEARSON, HOLM)}
