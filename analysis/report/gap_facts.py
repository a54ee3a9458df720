"""The gaps of one table of predictions as blocks: sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from biasbridge.analysis.naming import ALL, capitalise, measure_title
from biasbridge.stats.formatting import (
    IN_WORDS,
    MAX_NAMED,
    describe_changes,
    describe_clusters,
    format_estimate,
    format_number,
    order_groups,
)
from biasbridge.stats.intervals import ALPHA, describe_adjusted
from biasbridge.stats.measure_facts import MEASURE_FACTS

if TYPE_CHECKING:
    import pandas as pd


Row: TypeAlias = "Mapping[Hashable, Any]"
_MISSED_FACTOR = (1.959964 + 0.841621) / 1.959964  # times half an interval: power .8 at .05
TEXT_COLUMNS = ("measure", "group", "compared with", "worst", "best", "why no value")
Line = tuple[str, str]  # in bold, and the rest
_MOVED_BY_BASE_RATES = {name for name, facts in MEASURE_FACTS.items() if facts.moved_by_base_rates}
_LARGE_DIFFERENCE = 0.1  # of base rates; from here precision gaps need a caution
LIMITS = (
    "No detected gap does not mean no gap: its interval says which gaps remain possible.",
    "The intervals cover other items of the same kind. They do not cover another training of the"
    " classifier, wrong labels, or people missing from the data.",
    "Which gap matters depends on what the classifier is used for. Equal precision and equal recall"
    " cannot both hold where base rates differ, unless the classifier makes no errors.",
)


class TextTable(NamedTuple):
    """A table as text, under a heading that may be empty."""

    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def value_table(block: pd.DataFrame, groups: Sequence[str], *, plus: bool = False) -> TextTable:
    """Return the values of each group, and of all items; ``plus`` as of ``row_estimate``."""
    values = block[block["kind"] == "value"]
    measures = list(values["measure"].unique())
    cells = {(row["group"], row["measure"]): row for row in values.to_dict("records")}
    rows = []
    for group in [*groups, ALL]:
        group_cells = [cells.get((group, measure)) for measure in measures]
        if any(group_cells):
            n = max(int(row["support"]) for row in group_cells if row)
            estimates = [row_estimate(row or {}, plus=plus) for row in group_cells]
            rows.append([group, f"{n:,}", *estimates])
    # The base rate counts every item, other measures some of them
    n_name = "n" if "base_rate" in measures else "largest n"
    return TextTable("", ["group", n_name, *map(measure_title, measures)], rows)


def gap_tables(block: pd.DataFrame, groups: Sequence[str], *, is_pair: bool) -> list[TextTable]:
    """Return one table for two groups; for more, one per measure after the largest differences."""
    gaps = block[block["kind"] == "gap"]
    if is_pair:
        measures = [measure_title(str(name)) for name in gaps["measure"]]
        return [*_largest_table(block), _gap_table("", gaps.to_dict("records"), measures)]
    rank = {name: number for number, name in enumerate(groups)}
    tables = _largest_table(block)
    for measure, gap_rows in gaps.groupby("measure", sort=False):
        rows = sorted(gap_rows.to_dict("records"), key=lambda row: rank[row["unprivileged"]])
        tables.append(_gap_table(capitalise(measure_title(str(measure))), rows))
    return tables


def _gap_matrices(block: pd.DataFrame, groups: Sequence[str]) -> list[TextTable]:
    """Return a table of gaps, groups by measures, for each side that groups are compared with."""
    gaps = block[block["kind"] == "gap"]
    measures = list(gaps["measure"].unique())
    tables = []
    for privileged, side in gaps.groupby("privileged", sort=False):
        cells = {(row["unprivileged"], row["measure"]): row for row in side.to_dict("records")}
        rows = [
            [group, *(row_estimate(cells[group, measure], plus=True) for measure in measures)]
            for group in groups
            if (group, measures[0]) in cells
        ]
        reference = IN_WORDS.get(str(privileged), str(privileged))
        heading = f"Gap to {reference} (positive: worse for the group)"
        tables.append(TextTable(heading, ["group", *map(measure_title, measures)], rows))
    return tables


def _gap_table(heading: str, rows: Sequence[Row], measures: Sequence[str] = ()) -> TextTable:
    columns: dict[str, list[str]] = {
        "measure": list(measures),
        "group": [str(row["unprivileged"]) for row in rows],
        "compared with": [IN_WORDS.get(row["privileged"], str(row["privileged"])) for row in rows],
        "gap": [row_estimate(row, plus=True) for row in rows],
        "could be missed": [format_number(_detectable_gap(row)) for row in rows],
        "n": [_count(row["support_unprivileged"]) for row in rows],
        "n compared": [_count(row["support_privileged"]) for row in rows],
        "why no value": [str(row["reason"]) for row in rows],
    }
    filled = {name: column for name, column in columns.items() if any(column)}
    return TextTable(heading, list(filled), list(zip(*filled.values(), strict=True)))


def _largest_table(block: pd.DataFrame) -> list[TextTable]:
    largest = block[(block["kind"] == "max_difference") & block["value"].notna()].to_dict("records")
    head = ["measure", "worst", "best", "difference", "n worst", "n best"]
    rows = [
        [
            measure_title(row["measure"]),
            str(row["unprivileged"]),
            str(row["privileged"]),
            row_estimate(row),
            _count(row["support_unprivileged"]),
            _count(row["support_privileged"]),
        ]
        for row in largest
    ]
    return [TextTable("Furthest apart", head, rows)] if rows else []


def _detectable_gap(row: Row) -> float:
    """Return the gap that samples of this size detect with power .8: 2.8 standard errors."""
    return float(row["high"] - row["low"]) / 2 * _MISSED_FACTOR


def row_estimate(row: Row, *, plus: bool = False) -> str:
    """Return the value of a row with its interval; ``plus`` adds the sign of a positive one."""
    value, low, high = (float(row.get(name, nan)) for name in ("value", "low", "high"))
    return format_estimate(value, low, high, sign="+" if plus else "")


def group_names(rows: Iterable[Row]) -> str:
    """Join the distinct groups of rows."""
    return ", ".join(dict.fromkeys(str(row["unprivileged"]) for row in rows))


def _count(value: object) -> str:
    return f"{int(str(value)):,}" if str(value).isdigit() else ""


# The sentences of the page of gaps: who fares worse, by how much, and whether by chance.


def _many_sentences(gaps: pd.DataFrame, *, base_rates_differ: bool) -> tuple[str, list[Line]]:
    """Return the headline and lines: differences beyond chance by simultaneous intervals, the
    largest first, then those that unequal base rates make by themselves, and possible chance.
    """
    rows = gaps[gaps["value"].notna()].to_dict("records")
    labels = [
        f"{row['unprivileged']}, {measure_title(row['measure'])}"
        f" {format_number(row['value'], 2)} {_simultaneous(row)}"
        for row in rows
    ]
    lines = []
    significant = [row for row in rows if row["p"] * len(rows) < ALPHA]
    moved = [row for row in significant if row["measure"] in _MOVED_BY_BASE_RATES]
    moved = moved if base_rates_differ else []
    for claim, sign in (("Worse", 1), ("Better", -1)):
        sure = [row for row in significant if row not in moved and sign * row["value"] > 0]
        if listed := _listed(sorted(sure, key=lambda row: -abs(row["value"]))):
            lines.append((f"{claim} than others", f": {listed}."))
    if moved:
        measures = " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in moved))
        names = f"{capitalise(measures)} differ for {group_names(moved)}."
        lines.append(("", f"{names} Unequal base rates alone can cause this (see below)."))
    if uncertain := [row for row in rows if _excludes_zero(row) and row not in significant]:
        n_expected = round(ALPHA * len(rows))
        count = f"about {n_expected}" if n_expected else "fewer than 1"
        chance = f"Of {len(rows)} comparisons {count} would look like these if all groups were"
        lines.append(("", f"May be chance: {_listed(uncertain)}. {chance} treated alike."))
    return describe_adjusted(labels, [row["p"] for row in rows]), lines


def _simultaneous(row: Row) -> str:
    low, high = (format_number(row[f"{end}_simultaneous"], 2) for end in ("low", "high"))
    return f"[{low},{high}]"


def _excludes_zero(row: Row) -> bool:
    return bool(row["low"] > 0 or row["high"] < 0)


def _pair_sentence(row: Row) -> Line:
    """Format ``Recall is worse for female by .19 [.03,.29]``, or that no difference is seen."""
    name = capitalise(measure_title(str(row["measure"])))
    if isnan(row["value"]):
        return "", f"{name}: no value, {row['reason']}."
    n = f"n {row['support_privileged']:,} and {row['support_unprivileged']:,}"
    if not _excludes_zero(row):
        missed = f"A gap below about {format_number(_detectable_gap(row))} could be missed."
        estimate = row_estimate(row, plus=True)
        return f"{name}: no difference seen", f", {estimate} ({n}). {missed}"
    is_sure = row["low_simultaneous"] > 0 or row["high_simultaneous"] < 0
    chance = "" if is_sure else " May be chance: several measures were compared."
    if row["value"] > 0:
        return (
            f"{name} is worse for {row['unprivileged']}",
            f" by {row_estimate(row)} ({n}).{chance}",
        )
    flipped: Row = {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return f"{name} is worse for {row['privileged']}", f" by {row_estimate(flipped)} ({n}).{chance}"


def _listed(rows: Sequence[Row]) -> str:
    texts = [
        f"{row['unprivileged']}, {measure_title(row['measure'])} {row_estimate(row, plus=True)}"
        f" (n {row['support_unprivileged']:,})"
        for row in rows[:MAX_NAMED]
    ]
    n_hidden = len(rows) - len(texts)
    return "; ".join(texts) + (f"; and {n_hidden} more in the tables" if n_hidden else "")


def _base_rate_warning(block: pd.DataFrame, label: str) -> str:
    """Warn if base rates differ, with the precision that they alone would give."""
    values = block[(block["kind"] == "value") & block["value"].notna()]
    by_measure = {
        name: values[values["measure"] == name].set_index("group")["value"]
        for name in ("base_rate", "recall", "fpr")
    }
    rates = by_measure["base_rate"].drop(ALL, errors="ignore")
    if len(rates) < 2 or rates.max() - rates.min() < _LARGE_DIFFERENCE:
        return ""
    low, high = str(rates.idxmin()), str(rates.idxmax())
    text = (
        f"Base rates differ: {rates[low]:.0%} of the items of “{low}” are {label},"
        f" {rates[high]:.0%} of those of “{high}”. That alone moves precision and F1."
    )
    if all(ALL in by_measure[name] for name in ("recall", "fpr")):
        recall, fpr = by_measure["recall"][ALL], by_measure["fpr"][ALL]
        at_low, at_high = (_precision(float(rates[name]), recall, fpr) for name in (low, high))
        numbers = [format_number(rate) for rate in (recall, fpr, at_low, at_high)]
        text += (
            f" Suppose recall ({numbers[0]}) and false positive rate ({numbers[1]}) were the same"
            f" for both. Then precision would be {numbers[2]} and {numbers[3]}. Compare recall and"
            " false positive rate first."
        )
    return text


def _precision(base_rate: float, recall: float, fpr: float) -> float:
    true_positives = base_rate * recall
    return true_positives / (true_positives + (1 - base_rate) * fpr)


# What a table of gaps says of each classifier and class, for pages and documents.


class GapBlock(NamedTuple):
    """Rows of one classifier and class, or of a later version minus an earlier one, in words.

    ``is_pair``: two groups are compared; ``is_change``: two versions are.
    """

    name: str
    table: pd.DataFrame
    groups: Sequence[str]
    is_pair: bool
    is_change: bool
    headline: str
    lines: Sequence[Line]
    warning: str

    @property
    def tables(self) -> list[TextTable]:
        """Tables of values and of gaps, groups by measures."""
        values = value_table(self.table, self.groups, plus=self.is_change)
        gaps = _gap_matrices(self.table, self.groups)
        return [values._replace(heading="Values by group"), *gaps]


def read_blocks(table: pd.DataFrame, label: str = "") -> list[GapBlock]:
    """Split a table of gaps by classifier and class, and describe each part.

    ``label`` names the positive class; empty for label 1. The name of a block is empty if it is the
    only one.
    """
    columns = [name for name in ("classifier", "subset") if name in table]
    groups = order_groups(table.to_dict("records"))
    if not columns:
        return [_describe("", table, label, groups)]
    prefix = {"classifier": "", "subset": "class "}
    parts = [prefix[name] + table[name].where(table[name].ne(""), "") for name in columns]
    names = parts[0] if len(parts) == 1 else parts[0] + ", " + parts[1]
    return [
        _describe(str(name), rows, label, groups) for name, rows in table.groupby(names, sort=False)
    ]


def _describe(name: str, block: pd.DataFrame, label: str, groups: Sequence[str]) -> GapBlock:
    gaps = block[block["kind"] == "gap"]
    is_pair = len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1
    is_change = "earlier" in block and bool(block["earlier"].iloc[0])
    warning = _base_rate_warning(block, label or "of label 1")
    headline: str
    lines: Sequence[Line]
    if is_change:
        [first, *lines] = describe_changes(block.to_dict("records"), measure_title, label)
        headline = "".join(first)
    elif is_pair:
        headline, lines = "", [_pair_sentence(row) for row in gaps.to_dict("records")]
    else:
        headline, lines = _many_sentences(gaps, base_rates_differ=bool(warning))
    if "n_clusters" in block:
        counts, widths = block["n_clusters"].dropna(), gaps["widening"].dropna()
        clusters = describe_clusters(counts.tolist(), widths.tolist())
        lines = [*lines, *([("", clusters)] if clusters else [])]
    return GapBlock(name, block, groups, is_pair, is_change, headline, lines, warning)
