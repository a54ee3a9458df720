"""The rows of the table of a challenge set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd


class Row(NamedTuple):
    """A measure of a group, a gap, a ratio or a correlation; see
    ``extrinsic.coreference.challenge.gaps``.
    """

    kind: Literal["value", "gap", "ratio", "correlation"]
    measure: str
    subset: str
    group: str = ""
    privileged: str = ""
    unprivileged: str = ""
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    support: int = 0
    support_privileged: int | None = None
    support_unprivileged: int | None = None
    mention_recall: float = np.nan
    mention_recall_privileged: float | None = None
    mention_recall_unprivileged: float | None = None
    reason: str = ""
    resampled: Sequence[float] = ()


def as_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing."""
    supports = ("support", "support_privileged", "support_unprivileged")
    recalls = ("mention_recall_privileged", "mention_recall_unprivileged")
    types = dict.fromkeys(supports, "Int64") | dict.fromkeys(recalls, "float64")
    return pd.DataFrame(rows, columns=list(Row._fields)).astype(types)
