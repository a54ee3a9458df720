"""Numbers as text, without the zero before the point, an estimate beside its interval."""

from __future__ import annotations

import re
from math import isfinite, nan
from typing import Literal

NOTHING = "-"

Sign = Literal["", "+"]


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
