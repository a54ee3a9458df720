"""The card on top of a page: the lines and tables of the terminal, and the gaps before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.analysis.answer import change_rows, declared, planted_line, scope_rows
from biasbridge.analysis.frame import text_rows
from biasbridge.analysis.naming import CONTROL, GROUPS, capitalise, gap_titles
from biasbridge.analysis.summary import closing_lines, opening_lines
from biasbridge.analysis.utility import describe_task
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.frame import Tables
    from biasbridge.analysis.slice_results import SliceResult

MAX_LINES = 8  # gaps described; the table of gaps has all
Cells = tuple[Sequence[str], Sequence[Sequence[str]]]  # names of columns, and rows


class Card(NamedTuple):
    """The sentences that come ``first``, ``lines`` below them, the tables of changes by gap and of
    ``scopes``, and notes.
    """

    first: Sequence[str]
    lines: Sequence[str] = ()
    changes: Mapping[str, Cells] = {}
    scopes: Cells = ((), ())
    notes: Sequence[str] = ()


def answer_card(
    results: Sequence[SliceResult], tables: Tables, declaration: Declaration, scores: Sequence[str]
) -> Card:
    """Write the card of a study; ``scores``: why some are missing. ``tables`` are typed."""
    tests = declared(results)
    lines = opening_lines(tables, results, declaration)
    n_first = 2 if planted_line(tables.points, tests) else 1
    changes = change_rows(tests, declaration.smallest_change)
    missing = [f"No score is available: {reason}." for reason in scores]
    return Card(
        lines[:n_first],
        lines[n_first:],
        {gap: _cells(rows) for gap, rows in changes.items()},
        _cells(scope_rows(tests)),
        [*closing_lines(tables, results, declaration), *missing],
    )


def missing_results_card(
    missing_scores: Sequence[str], missing_gaps: Sequence[str], tables: Tables, utility: str
) -> Card:
    """Write the card of a study in which no model has a score and a gap.

    The reasons are those of ``scores_lacking`` and ``gaps_lacking``.
    """
    sentences = [
        f"No {side} is available: {'; '.join(reasons)}."
        for side, reasons in (("score", missing_scores), ("gap", missing_gaps))
        if reasons
    ]
    headline, *others = [*sentences, "There is nothing to compare."]
    return Card([headline], others, notes=describe_task(tables, utility))


def _cells(rows: Sequence[Mapping[str, str]]) -> Cells:
    return [*rows[0]] if rows else [], [[*row.values()] for row in rows]


def unmodified_gaps(tables: Tables) -> list[tuple[str, str]]:
    """Describe each gap over the unmodified models, by its name.

    ``precision gap``, ``worse for female by .09 on average, from .01 to .17 in 10 models``.
    """
    points = tables.points
    is_unmodified = (points["status"] == "done") & points["label_method"].isin(["", CONTROL])
    points = points[is_unmodified & (points["method"] == CONTROL)]
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"].dropna(subset="value")
    gaps = gaps.assign(title=gap_titles(gaps)).merge(points[["point", "unit_key"]], on="point")
    model = gaps["unit_key"].where(gaps["unit_key"] != "", gaps["point"])
    has_several_tasks = len({*gaps["task"]}) > 1
    lines = []
    for (task, title), part in gaps.groupby(["task", "title"], sort=False):
        means = part.groupby(model, sort=False)["value"].mean()
        name = f"{task} {title}" if has_several_tasks else str(title)
        lines.append((capitalise(name), _size(means.tolist(), *text_rows(part, GROUPS)[0])))
    more = [("More", f"{len(lines) - MAX_LINES} in the table of gaps")]
    return [*lines[:MAX_LINES], *(more if len(lines) > MAX_LINES else [])]


def _size(values: Sequence[float], privileged: str, unprivileged: str) -> str:
    """Format ``worse for female by .09 on average, from .01 to .17 in 10 models``."""

    def describe(value: float) -> str:
        size = format_number(abs(value))
        worse = unprivileged if value > 0 else privileged
        return f"worse for {worse} by {size}" if float(size) else "no difference"

    if len(values) == 1:
        return f"{describe(values[0])}, in 1 model"
    mean, low, high = sum(values) / len(values), min(values), max(values)
    if low < 0 < high:
        ends = f"{describe(low)} to {describe(high)}"
    else:
        ends = " to ".join(format_number(end) for end in sorted((abs(low), abs(high))))
    return f"{describe(mean)} on average, from {ends} in {len(values)} models"
