"""The rows of a table of gaps as text, the same on every medium: tables, and what they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.extrinsic.claims import OUTCOMES, find_outcome
from biasbridge.extrinsic.gap_table import GapRow, as_table
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.files.errors import printable
from biasbridge.files.writers import TextTable
from biasbridge.stats.formatting import (
    IN_WORDS,
    MAX_NAMED,
    capitalise,
    format_estimate,
    format_number,
    order_groups,
)
from biasbridge.stats.intervals import ALPHA
from biasbridge.stats.measure_facts import MEASURE_FACTS, error_rate, measure_heading, measure_name

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.claims import Claim

_MOVED_BY_BASE_RATES = {name for name, facts in MEASURE_FACTS.items() if facts.moved_by_base_rates}
_WITHOUT_SIDE = {name for name, facts in MEASURE_FACTS.items() if not facts.has_worse_side}
_LARGE_DIFFERENCE = 0.1  # of base rates; from here precision gaps need a caution
_MAX_CHARTED = 20  # groups on the first screen
_AXIS_ENDS = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
_Count = tuple[float, float, float]  # of 100, and the ends of its interval
METHOD = (
    "Brackets hold 95% intervals for the choice of items: Wilson's for proportions, Newcombe's for"
    " their gaps, Price and Bonett's for differences between versions. A difference from 0 is"
    " claimed after adjustment over all groups, measures and classes (Bonferroni)."
)
LIMITS = (
    "No detected gap does not mean no gap: its interval says which gaps remain possible.",
    "The intervals cover other items of the same kind. They do not cover another training of the"
    " classifier, wrong labels, or people missing from the data.",
    "Which gap matters depends on what the classifier is used for. Equal precision and equal recall"
    " cannot both hold where base rates differ, unless the classifier makes no errors.",
)


class GapBlock(NamedTuple):
    """Rows of one version and class, or of a later version minus an earlier one, as text.

    ``name`` is empty for a single one. ``groups``: the one with the largest gap first. ``lines``:
    which gaps differ from 0, and what else a reader must know.
    """

    name: str
    rows: Sequence[GapRow]
    groups: Sequence[str]
    is_change: bool
    tables: Sequence[TextTable]
    lines: Sequence[str]

    @property
    def table(self) -> pd.DataFrame:
        """Table of the rows."""
        return as_table(self.rows)


def read_blocks(rows: Sequence[GapRow], label: str = "") -> list[GapBlock]:
    """Split the rows of a table of gaps by version and class, and describe each part.

    ``label`` names the positive class; empty for label 1.
    """
    rows = list(map(_printable, rows))
    orders = {
        subset: order_groups([row._asdict() for row in rows if row.subset == subset])
        for subset in dict.fromkeys(row.subset for row in rows)
    }
    values = {
        (row.classifier, row.subset, row.measure, row.group): row
        for row in rows
        if row.kind == "value"
    }
    blocks = []
    for (version, subset), found in groupby(rows, lambda row: (row.classifier, row.subset)):
        block, groups = list(found), orders[subset]
        name = ", ".join(filter(None, (version, f"class {subset}" if subset else "")))
        earlier = block[0].earlier
        later = version.removesuffix(f" - {earlier}")
        tables = [
            *_main_tables(block, groups, values, (earlier, later) if earlier else ()),
            *_largest_differences(block),
        ]
        lines = _lines(block, label or (f"of class {subset}" if subset else "of label 1"))
        blocks.append(GapBlock(name, block, groups, bool(earlier), tables, lines))
    return blocks


def _printable(row: GapRow) -> GapRow:
    return GapRow._make(printable(cell) if type(cell) is str else cell for cell in row)


def _main_tables(
    rows: Sequence[GapRow],
    order: Sequence[str],
    values: dict[tuple[str, str, str, str], GapRow],
    versions: Sequence[str],
) -> list[TextTable]:
    gaps = [row for row in rows if row.kind == "gap"]
    if not versions and len({(row.privileged, row.unprivileged) for row in gaps}) == 1:
        return [_pair(rows, gaps)]
    matrices = [
        _gap_matrix([row for row in gaps if row.privileged == side], side, order)
        for side in dict.fromkeys(row.privileged for row in gaps)
    ]
    return [_values(rows, order, values, versions), *matrices]


def _pair(rows: Sequence[GapRow], gaps: Sequence[GapRow]) -> TextTable:
    """Return a line per measure: value and n of both groups, and the gap."""
    sides = gaps[0].privileged, gaps[0].unprivileged
    by_measure = {row.measure: row for row in gaps}
    own = {(row.measure, row.group): row for row in rows if row.kind == "value"}
    lines = []
    for measure in dict.fromkeys(row.measure for row in rows if row.kind in ("value", "gap")):
        gap = by_measure.get(measure)
        counts = (gap.support_privileged, gap.support_unprivileged) if gap else (None, None)
        cells = [measure_heading(measure)]
        for side, count in zip(sides, counts, strict=True):
            value = own.get((measure, side))
            n = value.support if value else count
            cells += [estimate_text(value) if value else "", "" if n is None else f"{n:,}"]
        lines.append([*cells, gap_text(gap) if gap else ""])
    reference = IN_WORDS.get(sides[0], sides[0])
    heading = f"gap of {sides[1]} to {reference} (positive: worse for {sides[1]})"
    return TextTable(heading, ["measure", reference, "n", sides[1], "n", "gap"], lines)


def _values(
    rows: Sequence[GapRow],
    order: Sequence[str],
    values: dict[tuple[str, str, str, str], GapRow],
    versions: Sequence[str],
) -> TextTable:
    """Return a line per group: its values, or those of both ``versions`` and the change."""
    own = [row for row in rows if row.kind == "value"]
    measures = list(dict.fromkeys(row.measure for row in own))
    # The base rate counts every item, other measures some of them
    n_name = "n" if "base_rate" in measures else "largest n"
    by_group: dict[str, dict[str, GapRow]] = {}
    for row in own:
        by_group.setdefault(row.group, {})[row.measure] = row

    def cell(row: GapRow | None) -> str:
        if row is None or not versions:
            return estimate_text(row) if row else ""
        keys = [(version, row.subset, row.measure, row.group) for version in versions]
        before, after = (format_number(values[key].value) for key in keys)
        return f"{before} to {after}: {estimate_text(row)}"

    lines = []
    for group in [ALL, *order]:
        if found := by_group.get(group):
            n = max(row.support for row in found.values())
            shown = IN_WORDS.get(group, group)
            lines.append([shown, f"{n:,}", *(cell(found.get(name)) for name in measures)])
    heading = f"values of {versions[0]} to {versions[1]}, and the change" if versions else "values"
    if len(order) > 1:
        is_own = [*order] == [*order_groups([row._asdict() for row in rows])]
        heading += ", the largest gap first" if is_own else ", in the last version's order of gaps"
    return TextTable(heading, ["group", n_name, *map(measure_heading, measures)], lines)


def _gap_matrix(gaps: Sequence[GapRow], privileged: str, order: Sequence[str]) -> TextTable:
    """Return a line per group: its gaps to the privileged group, or to all others."""
    measures = list(dict.fromkeys(row.measure for row in gaps))
    cells = {(row.unprivileged, row.measure): row for row in gaps}
    lines = [
        [group, *(gap_text(cells[group, name]) for name in measures)]
        for group in order
        if (group, measures[0]) in cells
    ]
    reference = IN_WORDS.get(privileged, privileged)
    change = "change of the " if gaps[0].earlier else ""
    heading = f"{change}gap to {reference} (positive: worse for the group)"
    return TextTable(heading, ["group", *map(measure_heading, measures)], lines)


def _largest_differences(rows: Sequence[GapRow]) -> list[TextTable]:
    """Return a line per measure: the two groups furthest apart, and the difference."""
    lines = [
        [measure_heading(row.measure), row.unprivileged, row.privileged, estimate_text(row)]
        for row in rows
        if row.kind == "max_difference"
    ]
    head = ["measure", "worst", "best", "difference"]
    return [TextTable("furthest apart", head, lines, head[1:3])] if lines else []


def estimate_text(row: GapRow) -> str:
    """Format ``.31 [.09,.62]``, with the sign of a change."""
    return format_estimate(row.value, row.low, row.high, sign="+" if row.earlier else "")


def gap_text(row: GapRow) -> str:
    """Format ``+.31 [.09,.62]``."""
    return format_estimate(row.value, row.low, row.high, sign="+")


def describe_missing(rows: Iterable[GapRow]) -> list[str]:
    """Return why values are missing, the first reasons."""
    found = list(dict.fromkeys(row.reason for row in rows if row.reason and isnan(row.value)))
    n_hidden = len(found) - MAX_NAMED
    more = [f"and {n_hidden:,} more reasons: --csv OUT writes all"] if n_hidden > 0 else []
    return [*(f"no value: {printable(reason)}" for reason in found[:MAX_NAMED]), *more]


class ErrorChart(NamedTuple):
    """Errors in 100 by group: a column for each title, in a cell a count for each version, with the
    ends of its interval, or the number of items where they are too few. What the group that decides
    is compared with comes after it, without an interval.
    """

    titles: Sequence[str]
    versions: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[Sequence[_Count], str]]]]
    end: int  # of the axis
    n_hidden: int  # groups that are not drawn


def error_chart(blocks: Sequence[GapBlock], claim: Claim | None = None) -> ErrorChart:
    """Return the errors of each group by the last version, and the first, in the class of the claim
    that decides.
    """
    subset = claim.row.subset if claim else ""
    single = [block for block in blocks if not block.is_change]
    rows = [row for block in single for row in block.rows if row.kind == "value"]
    rows = [row for row in rows if row.subset == subset]
    present = list(dict.fromkeys(row.measure for row in rows if row.measure in OUTCOMES))
    errors = [name for name in present if name != "accuracy"] or present
    versions = list(dict.fromkeys(row.classifier for row in rows))
    versions = [*versions[:1], *versions[1:][-1:]]
    by_key = {(row.classifier, row.measure, row.group): row for row in rows}
    groups = list(single[0].groups) if single else []

    def cell(group: str, measure: str) -> tuple[list[_Count], str]:
        keys = [(name, measure, group) for name in versions]
        found = [by_key[key] for key in keys if key in by_key]
        few = next((f"{row.support} items" for row in found if row.reason), "")
        return [_count(row) for row in found if not row.reason], few

    named = {**IN_WORDS, ALL: "all items"}
    shown = [*groups[:_MAX_CHARTED], ALL]
    cells = [(named.get(x, x), [cell(x, measure) for measure in errors]) for x in shown]
    if claim and claim.kind == "gap" and claim.against not in shown and claim.group in shown:
        rate = 100 * error_rate(claim.row.measure, claim.rates[0])
        counts = [[(rate,) * 3] if measure == claim.row.measure else [] for measure in errors]
        reference = named.get(claim.against, claim.against), [(marks, "") for marks in counts]
        cells.insert(shown.index(claim.group) + 1, reference)
    highs = [count[2] for _, row in cells for counts, _ in row for count in counts]
    end = next(size for size in _AXIS_ENDS if size >= min(max(highs, default=0), 100))
    titles = [outcome.title for name in errors if (outcome := find_outcome(name, subset))]
    titles = list(map(capitalise, titles))
    return ErrorChart(titles, versions, cells, end, max(0, len(groups) - _MAX_CHARTED))


def _count(row: GapRow) -> _Count:
    """Return the count of 100 of a value, with the ends of its interval."""
    value, *ends = (100 * error_rate(row.measure, x) for x in (row.value, row.low, row.high))
    return value, min(ends), max(ends)


def _lines(rows: Sequence[GapRow], label: str) -> list[str]:
    """Return which gaps differ from 0 after adjustment, which may be chance, and what base rates
    and clusters do to them.
    """
    gaps = [row for row in rows if row.kind == "gap" and not isnan(row.value)]
    lines = []
    if gaps and not gaps[0].earlier:
        lines = [_adjusted(gaps), _possible_chance(gaps), _base_rate_warning(rows, gaps, label)]
    either = [measure_name(name) for name in _WITHOUT_SIDE & {row.measure for row in gaps}]
    lines += [f"{name}: it depends on the use which sign is worse." for name in either]
    return [capitalise(line) for line in (*lines, _clusters(rows, gaps)) if line]


def _adjusted(gaps: Sequence[GapRow]) -> str:
    """Return which gaps differ from 0 after Bonferroni's adjustment, the largest first."""
    shown = sorted(filter(_is_sure, gaps), key=lambda row: -abs(row.value))
    several = len({row.privileged for row in gaps}) > 1
    labels = []
    for row in shown[:MAX_NAMED]:
        to = f" to {IN_WORDS.get(row.privileged, row.privileged)}" if several else ""
        joint = row._replace(low=row.low_simultaneous, high=row.high_simultaneous)
        labels.append(f"{row.unprivileged}{to}, {measure_name(row.measure)} {gap_text(joint)}")
    n, n_hidden = len(gaps), len(shown) - len(labels)
    number = f"{len(shown) or 'None'} of {n} gap{'s' * (n != 1)}"
    verb = "differ" if len(shown) > 1 else "differs"
    listed = "; ".join([*labels, *([f"and {n_hidden} more"] if n_hidden else [])])
    sentence = f"{number} {verb} from 0 after adjustment (Bonferroni)"
    return f"{sentence}: {listed}." if listed else f"{sentence}."


def _clusters(rows: Sequence[GapRow], gaps: Sequence[GapRow]) -> str:
    """Return how many clusters there are, the most of any row, and how many times wider than those
    of independent items the intervals of gaps are; empty without clusters.
    """
    widening = sorted(row.widening for row in gaps if not isnan(row.widening))
    if not widening:
        return ""
    widths = [f"{width:.2f}".removeprefix("0") for width in widening]
    n_clusters = max(row.n_clusters or 0 for row in rows)
    return (
        f"{n_clusters:,} clusters: intervals of gaps are {widths[len(widths) // 2]} times as"
        f" wide as those of independent items. The factor goes from {widths[0]} to {widths[-1]}."
    )


def _is_sure(row: GapRow) -> bool:
    return bool(row.low_simultaneous > 0 or row.high_simultaneous < 0)


def _possible_chance(gaps: Sequence[GapRow]) -> str:
    """Return the gaps whose own interval excludes 0, and the adjusted one does not."""
    uncertain = [
        f"{row.unprivileged}, {measure_name(row.measure)} {gap_text(row)}"
        for row in gaps
        if not _is_sure(row) and (row.low > 0 or row.high < 0)
    ]
    if not uncertain:
        return ""
    n_hidden = len(uncertain) - MAX_NAMED
    listed = "; ".join(uncertain[:MAX_NAMED]) + (f"; and {n_hidden} more" if n_hidden > 0 else "")
    n_expected = round(ALPHA * len(gaps))
    count = f"about {n_expected}" if n_expected else "fewer than 1"
    chance = f"By chance {count} of {len(gaps)} gaps would lie so far from 0"
    return f"Not after adjustment: {listed}. {chance}."


def _base_rate_warning(rows: Sequence[GapRow], gaps: Sequence[GapRow], label: str) -> str:
    """Warn if base rates differ and move a gap, and say which precision they alone would give."""
    values = {
        (row.measure, row.group): row.value
        for row in rows
        if row.kind == "value" and not isnan(row.value)
    }
    rates = {group: v for (name, group), v in values.items() if name == "base_rate"}
    rates.pop(ALL, None)
    shown = dict.fromkeys(row.measure for row in gaps if row.expected_from_base_rates != 0)
    moved = [name for name in shown if name in _MOVED_BY_BASE_RATES]
    if not moved or len(rates) < 2 or max(rates.values()) - min(rates.values()) < _LARGE_DIFFERENCE:
        return ""
    low, high = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    names = " and ".join(map(measure_name, moved))
    text = (
        f"Base rates differ: {rates[low]:.0%} of the items of “{low}” are {label},"
        f" {rates[high]:.0%} of those of “{high}”. That alone moves {names}."
    )
    recall, fpr = (values.get((name, ALL), nan) for name in ("recall", "fpr"))
    at_low, at_high = (_precision(rates[name], recall, fpr) for name in (low, high))
    if "precision" in moved and not isnan(at_low + at_high):
        numbers = [format_number(rate) for rate in (recall, fpr, at_low, at_high)]
        text += (
            f" Suppose recall ({numbers[0]}) and false positive rate ({numbers[1]}) were the same"
            f" for both. Then precision would be {numbers[2]} and {numbers[3]}. Compare recall and"
            " false positive rate first."
        )
    return text


def _precision(base_rate: float, recall: float, fpr: float) -> float:
    """Compute the precision; NaN where nothing is flagged."""
    true_positives, false_positives = base_rate * recall, (1 - base_rate) * fpr
    flagged = true_positives + false_positives
    return true_positives / flagged if flagged else nan
