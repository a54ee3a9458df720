"""The rows of the tables of gaps."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Literal, NamedTuple

import pandas as pd

Kind = Literal["value", "gap", "largest", "ratio", "term_gap", "equality_difference", "flips"]
OPTIONAL = ("subset", "classifier")


class Row(NamedTuple):
    """A measure of a group, a gap between two groups, or what lies between the two groups furthest
    apart, with its interval; see ``extrinsic.gap_table``.
    """

    kind: Kind
    measure: str
    group: str = ""
    privileged: str = ""
    unprivileged: str = ""
    value: float = nan
    low: float = nan
    high: float = nan
    support: int = 0
    support_privileged: int | None = None
    support_unprivileged: int | None = None
    reason: str = ""
    resampled: Sequence[float] = ()
    subset: str = ""
    classifier: str = ""


def as_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing; ``subset`` and ``classifier``
    only where a row has one.
    """
    supports = ("support", "support_privileged", "support_unprivileged")
    lists = [row._replace(resampled=list(row.resampled)) for row in rows]
    table = pd.DataFrame(lists, columns=list(Row._fields))
    empty = [name for name in OPTIONAL if not table[name].ne("").any()]
    return table.drop(columns=empty).astype(dict.fromkeys(supports, "Int64"))
