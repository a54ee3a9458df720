"""One line of the table of benchmarks."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, and what it must reach: ``<= 0.3``, or empty."""

    what: str
    measured: float
    unit: str
    target: str = ""
