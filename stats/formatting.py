"""Results in words: numbers with intervals, effects of clusters, changes between classifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isnan, nan
from typing import Any, Literal, TypeAlias

from biasbridge.stats.intervals import ALPHA, quantile
from biasbridge.stats.measure_facts import less_is_better

NOTHING = "-"
Sign = Literal["", "+"]
ChangeRow: TypeAlias = Mapping[Any, Any]
Claim: TypeAlias = tuple[str, str]  # the claim, and its interval
MAX_NAMED = 5  # in a sentence or list
# What groups are compared with
_ALL = "all"
IN_WORDS = {"rest": "all others", "none": "items in no group"}
_POWER_QUANTILE = quantile(0.6) / quantile(0.95)  # of power .8, in half widths of an interval


def format_number(value: float, digits: int = 2, *, sign: Sign = "") -> str:
    """Format as ``.31``, ``-.05`` or ``1.25``, with ``sign`` as ``+.31``; ``-`` where undefined."""
    if not isfinite(value):
        return NOTHING
    text = f"{value:{sign}.{digits}f}"
    text = text.lstrip("+-") if float(text) == 0 else text
    return re.sub(r"\b0\.", ".", text)


def format_estimate(
    value: float, low: float = nan, high: float = nan, digits: int = 2, *, sign: Sign = ""
) -> str:
    """Format as ``.31 [-.09,.62]``; without an interval where an end is undefined."""
    interval = f" [{format_number(low, digits)},{format_number(high, digits)}]"
    number = format_number(value, digits, sign=sign)
    return number + (interval if isfinite(value + low + high) else "")


def describe_clusters(n_clusters: Sequence[int], widening: Sequence[float]) -> str:
    """Return how many clusters there are, the most of any row, and how many times wider than those
    of independent items the intervals of gaps became; empty without gaps.
    """
    if not widening:
        return ""
    widths = [f"{width:.2f}".removeprefix("0") for width in sorted(widening)]
    return (
        f"{max(n_clusters):,} clusters: intervals of gaps are {widths[len(widths) // 2]} times as"
        f" wide as those of independent items. The factor goes from {widths[0]} to {widths[-1]}."
    )


def describe_changes(
    rows: Sequence[ChangeRow], title: Callable[[str], str], label: str = ""
) -> list[Claim]:
    """Return what changed from one classifier to another on the same items: values of groups, then
    gaps, that differ from 0 after adjustment.

    ``rows`` are those of a pair in ``biasbridge.extrinsic.gap_table.classifier_rows``; ``title``
    returns a measure in words; ``label`` names the positive class, empty for label 1. The largest
    change comes first: a claim, and its interval in points (hundredths). Without a change that
    differs from 0: how large a change could be missed, with power .8.
    """
    values = [row for row in rows if row["kind"] == "value"]
    gaps = [row for row in rows if row["kind"] == "gap"]
    return [
        *_describe_family(values, "change", lambda row: _value_claim(row, title, label)),
        *_describe_family(gaps, "change of a gap", lambda row: _gap_claim(row, title)),
    ]


def _describe_family(
    rows: Sequence[ChangeRow], subject: str, claim: Callable[[ChangeRow], str]
) -> list[Claim]:
    """Return the claims of rows that are tested together."""
    tested = [row for row in rows if not isnan(row["p_holm"])]
    if not tested:
        return [("", f"No {subject} can be measured: {row['reason']}.") for row in rows[:1]]
    versions = f"from {tested[0]['earlier']} to {_later(tested[0])}"
    significant = sorted(
        (row for row in tested if row["p_holm"] < ALPHA), key=lambda row: -abs(row["value"])
    )
    adjusted = f"after adjustment over {len(tested)} comparisons (Holm)"
    if not significant:
        sizes = sorted(map(detectable_change, tested))
        ends = f"{_points(sizes[0])} to {_points(sizes[-1])}"
        missed = f"Depending on group and measure, changes below {ends} points could be missed."
        return [(f"No {subject} {versions} is shown", f" {adjusted}. {missed}")]
    lines = []
    for row in significant[:MAX_NAMED]:
        low, high = sorted((abs(row["low"]), abs(row["high"])))
        lines.append((claim(row), f" [{_points(low)}, {_points(high)}]."))
    n_more = len(significant) - MAX_NAMED
    hidden = f" {n_more} more {'are' if n_more > 1 else 'is'} in the tables." if n_more > 0 else ""
    subject = "These changes are" if len(significant) > 1 else "This change is"
    return [*lines, ("", f"{subject} shown {adjusted}.{hidden}")]


def _value_claim(row: ChangeRow, title: Callable[[str], str], label: str) -> str:
    """Format ``v2 misses 21 points more positive items of women than v1``."""
    measure, later, earlier = str(row["measure"]), _later(row), row["earlier"]
    whose = "overall" if row["group"] == "all" else f"of {row['group']}"
    size, rises = _size(row["value"]), row["value"] > 0
    if measure == "recall":
        missed = f"{'fewer' if rises else 'more'} {label or 'positive'} items {whose}"
        return f"{later} misses {size} {missed} than {earlier}"
    if measure == "fpr":
        items = f"items {whose} as {label}" if label else f"negative items {whose}"
        verb = "wrongly flags" if label else "flags"
        return f"{later} {verb} {size} {'more' if rises else 'fewer'} {items} than {earlier}"
    name, direction = title(measure), "higher" if rises else "lower"
    return f"{name[0].upper()}{name[1:]} {whose} is {size} {direction} with {later} than {earlier}"


def _gap_claim(row: ChangeRow, title: Callable[[str], str]) -> str:
    """Format ``Compared with all others, women fare 25 points worse in recall with v2 than v1``."""
    others = IN_WORDS.get(row["privileged"], row["privileged"])
    direction = "worse" if row["value"] > 0 else "better"
    fare = f"{row['unprivileged']} fare {_size(row['value'])} {direction}"
    versions = f"with {_later(row)} than {row['earlier']}"
    return f"Compared with {others}, {fare} in {title(row['measure'])} {versions}"


def _later(row: ChangeRow) -> str:
    return str(row["classifier"]).removesuffix(f" - {row['earlier']}")


def _size(value: float) -> str:
    points = _points(value)
    return f"{points} point{'s' * (points != '1')}"


def _points(value: float) -> str:
    """Format the size in points, below 1 with a decimal."""
    size = abs(100 * value)
    return f"{size:.{0 if size >= 1 else 1}f}"


def detectable_change(row: ChangeRow) -> float:
    """Return the change that is shown after adjustment in four of five samples of this size."""
    joint_half, half = ((row[f"high{end}"] - row[f"low{end}"]) / 2 for end in ("_simultaneous", ""))
    return float(joint_half + _POWER_QUANTILE * half)


def harm_sign(measure: str) -> int:
    """Return 1 where a larger value is worse for a group, else -1."""
    return 1 if less_is_better(measure) else -1


def order_groups(rows: Sequence[ChangeRow]) -> list[str]:
    """Return the groups of a table of gaps, the one that fares worst first.

    By the largest harm in recall and error rates, else in other measures: of later versions against
    the first, or of a group against what it is compared with. Groups without a value come last.
    """
    first = next((row["earlier"] for row in rows if row.get("earlier")), "")
    kind = "value" if first else "gap"
    rated = [row for row in rows if row["kind"] == kind and (row.get("earlier") or "") == first]
    rated = [row for row in rated if row["measure"] in ("recall", "fpr", "fnr")] or rated
    worst: dict[str, float] = {}
    for row in rated:
        sign = harm_sign(row["measure"]) if first else 1
        group, harm = row["group"] or row["unprivileged"], sign * row["value"]
        if not isnan(harm):
            worst[group] = max(worst.get(group, -inf), harm)
    groups = dict.fromkeys(row["group"] for row in rows if row["kind"] == "value")
    return sorted((name for name in groups if name != _ALL), key=lambda x: -worst.get(x, -inf))
