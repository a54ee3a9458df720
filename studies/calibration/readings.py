"""What instruments read where the truth is known: a table of readings by seed and planted level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import numbers, texts
from analysis.naming import GAP, SCORE, row_names
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.results import Tables

SCORE_SETTINGS = ("embedding", "sentences", "dim")
SETTINGS = ("embedding", "classifier", "sentences", "dim", "posts")  # all, in order of tables
GAP_SETTINGS = ("embedding", "classifier", "posts")
LABEL_BIAS = "label_bias"
CORRELATION_P = "t"  # the p of a correlation of 0, which is no test of an unbiased embedding


@dataclass(frozen=True)
class Readings:
    """What one instrument (a metric with its query, or the gap in a measure) reads in one setting.

    ``setting``: by column, such as sentences and dim. ``levels``: what was planted, ascending
    (levels,). ``read``: shape (seeds, levels); NaN where there is none. ``p``: p-values of no
    bias; ``excluded``: 1 where the 95% interval of a reading excludes ``unbiased``, else 0; both of
    the same shape, NaN where not known.
    """

    instrument: str
    setting: dict[str, str]
    levels: Floats
    read: Floats
    p: Floats
    excluded: Floats
    unbiased: float

    @property
    def at_zero(self) -> Floats:
        """The readings where nothing was planted, (seeds,)."""
        return self.read[:, 0]


def read_instruments(tables: Tables, planted: str) -> list[Readings]:
    """The readings of every instrument in every setting: of the gaps where ``planted`` is
    ``label_bias``, else of the scores.

    Rows that agree in instrument, setting, level and seed count by their mean. Raises
    ``InputError`` where the points lack the column ``planted``, or no level is 0.
    """
    points = tables.points[tables.points["status"] == "done"]
    if not np.isfinite(numbers(points, planted)).any():
        raise InputError(f"the points have no number in {planted!r}; plant something known")
    rows = (_gaps if planted == LABEL_BIAS else _scores)(tables)
    added = [name for name in points if name == "point" or name not in rows]
    joined = rows.merge(points[added], on="point")
    joined = joined[numbers(joined, planted) >= 0]
    levels = np.unique(numbers(joined, planted))
    if len(levels) < 2 or levels[0] != 0:
        raise InputError(f"{planted} has no level 0 with others above it; plant 0 and more")
    names = GAP_SETTINGS if planted == LABEL_BIAS else SCORE_SETTINGS
    settings = [name for name in names if name in joined]
    return [
        _pivot(str(key[0]), dict(zip(settings, map(str, key[1:]), strict=True)), part, planted)
        for key, part in joined.groupby(["instrument", *settings], sort=False)
    ]


def _scores(tables: Tables) -> pd.DataFrame:
    rows = tables.intrinsic
    rows = rows[np.isfinite(numbers(rows, "unbiased"))]
    names = row_names(rows, _varied(rows, SCORE))
    p = np.where(
        np.array(texts(rows, "p_method")) == CORRELATION_P, np.nan, numbers(rows, "p_value")
    )
    return rows.assign(instrument=names, p=p)


def _gaps(tables: Tables) -> pd.DataFrame:
    rows = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    names = [f"{measure} gap" for measure in row_names(rows, _varied(rows, GAP))]
    return rows.assign(instrument=names, p=np.nan, unbiased=0.0)


def _varied(rows: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    rest = [name for name in columns[1:] if len(set(texts(rows, name))) > 1]
    return [columns[0], *rest]


def _pivot(instrument: str, setting: dict[str, str], rows: pd.DataFrame, planted: str) -> Readings:
    low, high, unbiased = (numbers(rows, name) for name in ("low", "high", "unbiased"))
    outside = np.where(np.isfinite(low), (low > unbiased) | (high < unbiased), np.nan)
    rows = rows.assign(outside=outside, value=numbers(rows, "value"))
    values, chances, excluded = (
        rows.pivot_table(index="seed", columns=planted, values=name, dropna=False)
        for name in ("value", "p", "outside")
    )
    return Readings(
        instrument,
        setting,
        np.asarray(values.columns, dtype=float),
        values.to_numpy(dtype=float),
        chances.to_numpy(dtype=float),
        excluded.to_numpy(dtype=float),
        float(unbiased[0]),
    )
