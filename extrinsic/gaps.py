r"""Performance gaps between groups, from predictions (Goldfarb-Tarrant et al., 2021, section 2.2).

    gap = measure(privileged) - measure(unprivileged)      of precision, recall and F1
    gap = fpr(unprivileged) - fpr(privileged)              of the false positive rate

so that every gap is positive where the unprivileged group fares worse. The precision gap is their
Predictive Parity, the recall gap Equality of Opportunity. Gaps of 0 in recall and false positive
rate together are Equalised Odds (their appendix A, which calls equal false positive rates
Predictive Parity).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from extrinsic.measures import MEASURES, UNDEFINED, Counts, Estimate, difference
from extrinsic.resampling import resampled_counts
from files import InputError, choice, nearest
from files.choice import Fileless, Whole

ALL = "all"


@choice
class Gaps(Fileless):
    """Whose performance is compared, on how many items at least, at which level of confidence.

    ``least_support``: the fewest items (of a measure's denominator) that give a group a value; 0
    takes any. Of two groups with rates near .9 and 10 items each, the default, the gap is known to
    within .3; with 5 each to within .45, nearly half of what there is.
    """

    privileged: str = "male"
    unprivileged: str = "female"
    least_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95

    name: ClassVar[str] = "gaps"
    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged group are both {self.privileged!r}; name two"
                " groups"
            )


class Row(NamedTuple):
    """A measure of a group, or a gap between two groups, with its interval; see ``gap_table``."""

    kind: Literal["value", "gap"]
    measure: str
    group: str
    privileged: str
    unprivileged: str
    value: float
    low: float
    high: float
    support: int
    support_privileged: int | None
    support_unprivileged: int | None
    reason: str
    resampled: list[float]


DEFAULT = Gaps()


def gap_table(predictions: pd.DataFrame, gaps: Gaps = DEFAULT) -> pd.DataFrame:
    """Precision, recall, F1 and false positive rate of every group and their gaps, with intervals.

    ``predictions`` needs the columns ``label`` and ``prediction`` (0 or 1) and ``group``; a row
    without a group counts in "all" only. Folds of a cross-validation are pooled. A gap is signed,
    in [-1, 1]: positive = worse for the unprivileged group, 0 = equal.

    One row per measure (precision, recall, f1, fpr) and group, "all" included (``kind`` "value"),
    then one per gap (``kind`` "gap"), which has ``privileged`` and ``unprivileged`` and no
    ``group``; columns as in ``Row``. The ``support`` of a measure is the number of items in its
    denominator: predicted positives (precision), actual positives (recall), either (F1), actual
    negatives (fpr). The support of a gap is the smaller of its groups' two. Where it is below
    ``least_support`` the value is NaN, and ``reason`` says why.

    ``low`` and ``high`` are Wilson's score interval, of a gap Newcombe's: see
    ``extrinsic.measures``. They answer for the choice of test items, not of the training run.

    ``resampled`` holds, where ``predictions`` has the column ``id``, a gap over 200 resamples of
    the items within groups: the same for all who predict the same items, in whatever order (see
    ``extrinsic.resampling``). It is NaN where a resample lacks support, and empty for values and
    undefined gaps.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, a missing id, and a
    group without rows.
    """
    return as_table(gap_rows(predictions, gaps))


def gap_rows(predictions: pd.DataFrame, gaps: Gaps, *more: str) -> list[Row]:
    """The rows of ``gap_table``; gaps between the privileged group and each of ``more`` follow."""
    compared = [gaps.privileged, gaps.unprivileged, *more]
    names = _group_names(predictions, compared)
    cell = 2 * binary(predictions, "label") + binary(predictions, "prediction")
    groups = compared + sorted({*names.dropna()} - {*compared})
    # A missing group has code -1
    code = pd.Categorical(names, categories=groups).codes.astype(np.int64)
    by_group = np.bincount((4 * code + cell)[code >= 0], minlength=4 * len(groups)).reshape(-1, 4)
    cells = zip([*groups, ALL], [*by_group, np.bincount(cell, minlength=4)], strict=True)
    values = [[_value(measure, name, of, gaps) for measure in MEASURES] for name, of in cells]
    resampled = _resample(predictions, code, cell, len(compared))
    return [row for rows in values for row in rows] + [
        _gap(*pair, resampled[[0, other]])
        for other in range(1, len(compared))
        for pair in zip(values[0], values[other], strict=True)
    ]


def as_table(rows: list[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing."""
    supports = ("support", "support_privileged", "support_unprivileged")
    return pd.DataFrame(rows, columns=list(Row._fields)).astype(dict.fromkeys(supports, "Int64"))


def binary(table: pd.DataFrame, column: str) -> Counts:
    """A column of 0 and 1 (also text or booleans) as integers; ``InputError`` for anything else."""
    values = column_of(table, column)
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    bad = ~numbers.isin([0.0, 1.0]).to_numpy()
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        raise InputError(
            f"column {column!r} holds {examples} in {bad.sum()} of {len(values)} rows; it must be 0"
            " or 1 in every row"
        )
    return np.asarray(numbers, dtype=np.int64)


def column_of(table: pd.DataFrame, column: str) -> pd.Series:
    """A column by name; ``InputError`` with the nearest name where there is none."""
    if column not in table.columns:
        present = ", ".join(repr(name) for name in table.columns)
        raise InputError(
            f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        )
    return table[column]


def _group_names(predictions: pd.DataFrame, compared: Sequence[str]) -> pd.Series[str]:
    names = column_of(predictions, "group").astype("string")
    present = sorted(names.dropna().unique())
    if ALL in present:
        raise InputError(
            f"a group is called {ALL!r}, the name of the rows over all items; rename it"
        )
    for wanted in compared:
        if wanted not in present:
            listed = ", ".join(repr(name) for name in present) or "none"
            raise InputError(
                f"no rows of group {wanted!r}{nearest(wanted, present)}; groups present: {listed}"
            )
    return names


def _resample(predictions: pd.DataFrame, code: Counts, cell: Counts, n: int) -> Counts:
    """The cells of the first n groups over the resamples, (n, 200, 4); (n, 0, 4) without ids."""
    if "id" not in predictions:
        return np.zeros((n, 0, 4), dtype=np.int64)
    ids = predictions["id"].astype("string")
    if missing := int(ids.isna().sum()):
        raise InputError(f"{missing} of {len(ids)} rows have no id; give each, or drop the column")
    kept = (code >= 0) & (code < n)
    counts = resampled_counts(ids[kept].tolist(), (4 * code + cell)[kept], 4 * n)
    return counts.reshape(-1, n, 4).swapaxes(0, 1)


def _value(measure: str, group: str, cells: Counts, gaps: Gaps) -> Row:
    spec = MEASURES[measure]
    support = int(spec.support(cells))
    reason = _lacks(spec.item, group, support, gaps.least_support)
    estimate = UNDEFINED if reason else spec.estimate(cells, gaps.level)
    return Row("value", measure, group, "", "", *estimate, support, None, None, reason, [])


def _lacks(item: str, group: str, support: int, least: int) -> str:
    """Why there is no value; empty where there is one."""
    if not support:
        return f"no {item} of group {group}"
    few = f"{support} {item}{'s' if support > 1 else ''} of group {group}, fewer than {least}"
    return few if support < least else ""


def _gap(privileged: Row, unprivileged: Row, resampled: Counts) -> Row:
    spec = MEASURES[privileged.measure]
    a, b = (Estimate(row.value, row.low, row.high) for row in (privileged, unprivileged))
    gap = difference(a, b) if spec.larger_is_better else difference(b, a)
    samples = spec.values(resampled)
    lost = samples[0] - samples[1] if spec.larger_is_better else samples[1] - samples[0]
    supports = privileged.support, unprivileged.support
    return Row(
        "gap",
        privileged.measure,
        "",
        privileged.group,
        unprivileged.group,
        *gap,
        min(supports),
        *supports,
        "; ".join(filter(None, (privileged.reason, unprivileged.reason))),
        [] if np.isnan(gap.value) else lost.tolist(),
    )
