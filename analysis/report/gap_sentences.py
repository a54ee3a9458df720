"""The sentences of the page of gaps: who fares worse, by how much, and whether by chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.analysis.gap_charts import ALL
from biasbridge.analysis.naming import capitalise, measure_title
from biasbridge.analysis.report.gap_tables import (
    Row,
    detectable_gap,
    group_names,
    measure_names,
    row_estimate,
)
from biasbridge.stats.changes import IN_WORDS, MAX_NAMED
from biasbridge.stats.formatting import format_number
from biasbridge.stats.multiple_testing import LEVEL, describe_adjusted

if TYPE_CHECKING:
    import pandas as pd

Line = tuple[str, str]  # in bold, and the rest
ERROR_RATES = ("fpr", "fnr")  # lower is better
MOVED_BY_BASE_RATES = ("precision", "f1", "accuracy", "selection_rate")
LARGE_DIFFERENCE = 0.1  # of base rates; from here precision gaps need a caution


class ExplainedGaps(NamedTuple):
    """Gaps whose intervals exclude 0, and how many were tested.

    By simultaneous intervals ``significant``, largest first, and ``by_base_rates``, which
    unequal base rates alone can cause, differ from 0; ``not_significant`` do not.
    """

    significant: list[Row]
    by_base_rates: list[Row]
    not_significant: list[Row]
    n_tested: int


def many_sentences(
    block: pd.DataFrame, gaps: pd.DataFrame, *, base_rates_differ: bool
) -> tuple[str, list[Line]]:
    """Return the headline and the sentences: differences beyond chance, then possible chance.

    Differences that unequal base rates make by themselves come between.
    """
    rows = gaps[gaps["value"].notna()].to_dict("records")
    rate_measures = MOVED_BY_BASE_RATES if base_rates_differ else ()
    explained = _explain(rows, rate_measures)
    lines = [*_worse_lines(explained.significant, block), *_uncertain_lines(explained)]
    labels = [
        f"{row['unprivileged']}, {measure_title(row['measure'])}"
        f" {format_number(row['value'], 2)} {_simultaneous(row)}"
        for row in rows
    ]
    return describe_adjusted(labels, [row["p"] for row in rows]), lines


def _simultaneous(row: Row) -> str:
    low, high = (format_number(row[f"{end}_simultaneous"], 2) for end in ("low", "high"))
    return f"[{low},{high}]"


def _explain(rows: Sequence[Row], rate_measures: Sequence[str]) -> ExplainedGaps:
    apart = [row for row in rows if _excludes_zero(row)]
    still_apart = [row for row in apart if row["p"] * len(rows) < LEVEL]
    by_rates = [row for row in still_apart if row["measure"] in rate_measures]
    significant = [row for row in still_apart if row not in by_rates]
    return ExplainedGaps(
        sorted(significant, key=lambda row: -abs(row["value"])),
        by_rates,
        [row for row in apart if row not in still_apart],
        len(rows),
    )


def _excludes_zero(row: Row) -> bool:
    return bool(row["low"] > 0 or row["high"] < 0)


def _worse_lines(significant: Sequence[Row], block: pd.DataFrame) -> list[Line]:
    worse = [row for row in significant if row["value"] > 0]
    better = [row for row in significant if row["value"] < 0]
    lines = [_group_sentence(row, block) for row in worse[:MAX_NAMED]]
    if len(worse) > MAX_NAMED:
        lines.append(("", f"Worse too: {_listed(worse[MAX_NAMED:])}."))
    if better:
        lines.append(("", f"Better than others: {_listed(better)}."))
    return lines


def _uncertain_lines(explained: ExplainedGaps) -> list[Line]:
    lines = []
    if rows := explained.by_base_rates:
        names = f"{capitalise(measure_names(rows))} differ for {group_names(rows)}"
        lines.append(("", f"{names}, which unequal base rates alone can cause (below)."))
    if rows := explained.not_significant:
        expected = round(LEVEL * explained.n_tested)
        count = f"about {expected}" if expected else "fewer than 1"
        chance = (
            f"Of {explained.n_tested} comparisons {count} would look like these if all groups were"
            " treated alike."
        )
        lines.append(("", f"May be chance: {_listed(rows)}. {chance}"))
    return lines


def _group_sentence(row: Row, block: pd.DataFrame) -> Line:
    """Format ``False positive rate is worse for x: .24, others .08; gap .17 [.13,.21] (n 434)``."""
    values = block[(block["kind"] == "value") & (block["measure"] == row["measure"])]
    value = dict(zip(values["group"], values["value"], strict=True)).get(row["unprivileged"], nan)
    other_value = value - row["value"] if row["measure"] in ERROR_RATES else value + row["value"]
    others = IN_WORDS.get(row["privileged"], str(row["privileged"])).removeprefix("all ")
    return (
        f"{capitalise(measure_title(row['measure']))} is worse for {row['unprivileged']}",
        f": {format_number(value)}, {others} {format_number(other_value)}; gap"
        f" {row_estimate(row)} (n {row['support_unprivileged']:,}).",
    )


def pair_sentence(row: Row) -> Line:
    """Format ``Recall is worse for female by .19 [.03,.29]``, or that no difference is seen."""
    name = capitalise(measure_title(str(row["measure"])))
    if isnan(row["value"]):
        return "", f"{name}: no value, {row['reason']}."
    n = f"n {row['support_privileged']:,} and {row['support_unprivileged']:,}"
    if not (row["low"] > 0 or row["high"] < 0):
        missed = f"A gap below about {format_number(detectable_gap(row))} could be missed."
        estimate = row_estimate(row, plus=True)
        return f"{name}: no difference seen", f", {estimate} ({n}). {missed}"
    if row["value"] > 0:
        return f"{name} is worse for {row['unprivileged']}", f" by {row_estimate(row)} ({n})."
    flipped: Row = {"value": -row["value"], "low": -row["high"], "high": -row["low"]}
    return f"{name} is worse for {row['privileged']}", f" by {row_estimate(flipped)} ({n})."


def _listed(rows: Sequence[Row]) -> str:
    texts = [
        f"{row['unprivileged']}, {measure_title(row['measure'])} {row_estimate(row, plus=True)}"
        f" (n {row['support_unprivileged']:,})"
        for row in rows[:MAX_NAMED]
    ]
    n_hidden = len(rows) - len(texts)
    return "; ".join(texts) + (f"; and {n_hidden} more in the tables" if n_hidden else "")


def base_rate_warning(block: pd.DataFrame, label: str) -> str:
    """Warn if base rates differ, with the precision that they alone would give."""
    values = block[(block["kind"] == "value") & block["value"].notna()]
    by_measure = {
        name: values[values["measure"] == name].set_index("group")["value"]
        for name in ("base_rate", "recall", "fpr")
    }
    rates = by_measure["base_rate"].drop(ALL, errors="ignore")
    if len(rates) < 2 or rates.max() - rates.min() < LARGE_DIFFERENCE:
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
            f" A classifier with the same recall ({numbers[0]}) and false positive rate"
            f" ({numbers[1]}) for both would have a precision of {numbers[2]} and"
            f" {numbers[3]}. Compare recall and false positive rate first."
        )
    return text


def _precision(base_rate: float, recall: float, fpr: float) -> float:
    true_positives = base_rate * recall
    return true_positives / (true_positives + (1 - base_rate) * fpr)
