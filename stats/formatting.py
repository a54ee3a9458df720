"""Numbers with intervals as text, and the order of groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf, isfinite, isnan, nan
from typing import Any, Literal, TypeAlias

from biasbridge.stats.intervals import quantile
from biasbridge.stats.measure_facts import FLAGGED, MISSED

NOTHING = "-"
_Sign = Literal["", "+"]
ChangeRow: TypeAlias = Mapping[Any, Any]
MAX_NAMED = 5  # in a sentence or list
# What groups are compared with
_ALL = "all"
IN_WORDS = {"rest": "all others", "none": "items in no group"}
_POWER_QUANTILE = quantile(0.6) / quantile(0.95)  # of power .8, in half widths of an interval


def capitalise(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def format_number(value: float, digits: int = 2, *, sign: _Sign = "") -> str:
    """Format as ``.31``, ``-.05`` or ``1.25``, with ``sign`` as ``+.31``; ``-`` where undefined."""
    if not isfinite(value):
        return NOTHING
    text = f"{value:{sign}.{digits}f}"
    text = text.lstrip("+-") if float(text) == 0 else text
    return re.sub(r"\b0\.", ".", text)


def format_trimmed(number: float, sign: _Sign = "") -> str:
    """Format with up to three decimals: ``-.05``."""
    return format_number(number, 3, sign=sign).rstrip("0").rstrip(".") or "0"


def format_estimate(
    value: float, low: float = nan, high: float = nan, digits: int = 2, *, sign: _Sign = ""
) -> str:
    """Format as ``.31 [-.09,.62]``; without an interval where an end is undefined."""
    interval = f" [{format_number(low, digits)},{format_number(high, digits)}]"
    number = format_number(value, digits, sign=sign)
    return number + (interval if isfinite(value + low + high) else "")


def format_p(p: float) -> str:
    """Format a p-value with four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else format_number(p, 4)


def detectable_change(row: ChangeRow) -> float:
    """Return the change that is shown after adjustment in four of five samples of this size."""
    joint_half, half = ((row[f"high{end}"] - row[f"low{end}"]) / 2 for end in ("_simultaneous", ""))
    return float(joint_half + _POWER_QUANTILE * half)


def order_groups(rows: Sequence[ChangeRow]) -> list[str]:
    """Return the groups of a table of gaps, the one with the largest gap first.

    By the gaps of the last version in recall and error rates, else in other measures. Groups
    without a gap come last.
    """
    single = [row for row in rows if not row.get("earlier")]
    last = single[-1].get("classifier", "") if single else ""
    gaps = [row for row in single if row["kind"] == "gap" and row.get("classifier", "") == last]
    gaps = [row for row in gaps if row["measure"] in (*MISSED, *FLAGGED)] or gaps
    found: dict[str, list[float]] = {}
    for row in gaps:
        if not isnan(row["value"]):
            found.setdefault(row["unprivileged"], []).append(-row["value"])
    groups = dict.fromkeys(row["group"] for row in rows if row["kind"] == "value")
    return sorted((x for x in groups if x != _ALL), key=lambda x: sorted(found.get(x, [inf])))
