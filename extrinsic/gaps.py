r"""Performance gaps between groups, from predictions (Goldfarb-Tarrant et al., 2021, section 2.2).

From the confusion cells of a group (tn, fp, fn, tp):

    precision = tp / (tp + fp)      recall = tp / (tp + fn)      F1 = 2 tp / (2 tp + fp + fn)

    gap = measure(privileged) - measure(unprivileged)

The precision gap is their Predictive Parity, the recall gap Equality of Opportunity. (Their
appendix A writes Predictive Parity as equal false positive rates; the precision gap of section 2.2
is what they measure, and so do we.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from files import InputError, choice, nearest
from files.choice import Count, Fileless
from files.tables import require_columns

ALL = "all"
TOLERATED = 0.05
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@choice
class Gaps(Fileless):
    """Whose performance is compared, and how finely the intervals are drawn."""

    privileged: str = "male"
    unprivileged: str = "female"
    resamples: Count = 1000
    level: Annotated[float, Gt(0), Lt(1)] = 0.95

    name: ClassVar[str] = "gaps"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            both = f"the privileged and the unprivileged group are both {self.privileged!r}"
            raise InputError(f"{both}; name two groups")


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


class Measure(NamedTuple):
    """A ratio of sums over the cells (tn, fp, fn, tp), and what is missing where it is 0 / 0."""

    numerator: tuple[int, int, int, int]
    denominator: tuple[int, int, int, int]
    missing: str

    def value(self, cells: Counts) -> Floats:
        """The measure in [0, 1] of counts shaped (..., 4); NaN where it is undefined."""
        below = cells @ np.array(self.denominator)
        return np.where(below > 0, cells @ np.array(self.numerator) / np.maximum(below, 1), np.nan)

    def support(self, cells: Counts) -> int:
        """The number of items in the denominator; 0 exactly where the measure is undefined."""
        return int(cells @ (np.array(self.denominator) > 0))


MEASURES = {
    "precision": Measure((0, 0, 0, 1), (0, 1, 0, 1), "no item predicted positive"),
    "recall": Measure((0, 0, 0, 1), (0, 0, 1, 1), "no actual positive"),
    "f1": Measure((0, 0, 0, 2), (0, 1, 1, 2), "no actual or predicted positive"),
}


class Group(NamedTuple):
    """The confusion cells of a group (4,) and of its bootstrap resamples (resamples, 4)."""

    cells: Counts
    resampled: Counts


DEFAULT = Gaps()


def gap_table(predictions: pd.DataFrame, gaps: Gaps = DEFAULT, *, seed: int) -> pd.DataFrame:
    """Precision, recall and F1 of every group and their gaps, with percentile bootstrap intervals.

    ``predictions`` needs the columns ``label`` and ``prediction`` (0 or 1) and ``group``; a row
    without a group counts in "all" only. Folds of a cross-validation are pooled. A gap is signed,
    in [-1, 1]: positive = worse for the unprivileged group, 0 = equal.

    One row per measure (precision, recall, f1) and group, "all" included (``kind`` "value"), then
    one per gap (``kind`` "gap"), which has ``privileged`` and ``unprivileged`` and no ``group``;
    columns as in ``Row``. The ``support`` of a measure is the number of items in its denominator:
    predicted positives (precision), actual positives (recall), either (F1). The support of a gap is
    the smaller of its groups' two. A value without support is NaN, and ``reason`` says why.

    The interval resamples the items with replacement within each group, so that group sizes stay as
    they are; it answers for the choice of test items, not of the training run. Resamples in which a
    measure is undefined are left out; past 5 % ``reason`` tells their share. Where all items of a
    support agree the interval has zero width, whatever the support: read the two together.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, and a group without
    rows.
    """
    return as_table(gap_rows(predictions, gaps, seed=seed))


def gap_rows(predictions: pd.DataFrame, gaps: Gaps, *, seed: int) -> list[Row]:
    """The rows of ``gap_table``."""
    names = _group_names(predictions, gaps)
    groups = _resample(predictions, names, gaps.resamples, seed)
    compared = (gaps.privileged, gaps.unprivileged)
    order = [*compared, *(name for name in groups if name not in (*compared, ALL)), ALL]
    values = [_value(of, name, groups[name], gaps.level) for name in order for of in MEASURES]
    return values + [_gap(measure, groups, gaps) for measure in MEASURES]


def as_table(rows: list[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing."""
    supports = ("support", "support_privileged", "support_unprivileged")
    return pd.DataFrame(rows, columns=list(Row._fields)).astype(dict.fromkeys(supports, "Int64"))


def binary(table: pd.DataFrame, column: str) -> Counts:
    """A column of 0 and 1 (also text or booleans) as integers; ``InputError`` for anything else."""
    require_columns(table, [column], "the table")
    values = table[column]
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    bad = ~numbers.isin([0.0, 1.0]).to_numpy()
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        holds = f"column {column!r} holds {examples} in {bad.sum()} of {len(values)} rows"
        raise InputError(f"{holds}; it must be 0 or 1 in every row")
    return np.asarray(numbers, dtype=np.int64)


def _group_names(predictions: pd.DataFrame, gaps: Gaps) -> pd.Series[str]:
    require_columns(predictions, ["group"], "the table")
    names = predictions["group"].astype("string")
    present = sorted(names.dropna().unique())
    if ALL in present:
        raise InputError(f"a group is called {ALL!r}, the name of the rows of all items; rename it")
    for wanted in (gaps.privileged, gaps.unprivileged):
        if wanted not in present:
            listed = f"groups present: {', '.join(map(repr, present)) or 'none'}"
            raise InputError(f"no rows of group {wanted!r}{nearest(wanted, present)}; {listed}")
    return names


def _resample(
    predictions: pd.DataFrame, names: pd.Series[str], resamples: int, seed: int
) -> dict[str, Group]:
    """Every group's cells and resamples, by name in sorted order, "all" last.

    Drawing n items with replacement and counting the cells is one multinomial draw. Groups draw in
    sorted order whichever is privileged, so that swapping the two mirrors the interval.
    """
    cell = 2 * binary(predictions, "label") + binary(predictions, "prediction")
    rng = np.random.default_rng(seed)
    # A missing group has code -1 and is a stratum of its own
    codes, present = pd.factorize(names, sort=True)
    strata = []
    for code in [*range(len(present)), *([-1] if (codes == -1).any() else [])]:
        cells = np.bincount(cell[codes == code], minlength=4)
        total = cells.sum()
        strata.append(Group(cells, rng.multinomial(total, cells / total, size=resamples)))
    everyone = Group(*(np.sum(parts, axis=0) for parts in zip(*strata, strict=True)))
    return dict(zip(present, strata, strict=False)) | {ALL: everyone}


def _value(measure: str, name: str, group: Group, level: float) -> Row:
    spec = MEASURES[measure]
    support = spec.support(group.cells)
    value = float(spec.value(group.cells))
    low, high, reason = _interval(value, spec.value(group.resampled), level)
    reason = reason if support else spec.missing
    return Row("value", measure, name, "", "", value, low, high, support, None, None, reason)


def _gap(measure: str, groups: Mapping[str, Group], gaps: Gaps) -> Row:
    spec = MEASURES[measure]
    compared = (gaps.privileged, gaps.unprivileged)
    better, worse = (groups[name] for name in compared)
    supports = spec.support(better.cells), spec.support(worse.cells)
    value = float(spec.value(better.cells) - spec.value(worse.cells))
    samples = spec.value(better.resampled) - spec.value(worse.resampled)
    low, high, reason = _interval(value, samples, gaps.level)
    empty = [name for name, support in zip(compared, supports, strict=True) if not support]
    reason = "; ".join(f"{name}: {spec.missing}" for name in empty) or reason
    smaller = min(supports)
    return Row("gap", measure, "", *compared, value, low, high, smaller, *supports, reason)


def _interval(value: float, samples: Floats, level: float) -> tuple[float, float, str]:
    """The percentile interval over the defined resamples, and a reason where many are not."""
    defined = samples[~np.isnan(samples)]
    low, high = np.nan, np.nan
    if defined.size and not np.isnan(value):
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    lost = 1 - defined.size / samples.size
    reason = f"undefined in {lost:.0%} of resamples, which the interval leaves out"
    return float(low), float(high), reason if lost > TOLERATED else ""
