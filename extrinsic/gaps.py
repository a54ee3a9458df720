r"""Performance gaps between two groups, from anybody's predictions (Goldfarb-Tarrant et al., 2021,
section 2.2).

From the confusion cells of a group (tn, fp, fn, tp):

    precision = tp / (tp + fp)      recall = tp / (tp + fn)      F1 = 2 tp / (2 tp + fp + fn)

    gap = measure(privileged) - measure(unprivileged)

The precision gap is their Predictive Parity, the recall gap Equality of Opportunity. (Their
appendix A writes Predictive Parity as equal false positive rates; the precision gap of section 2.2
is what they measure, and so do we.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from files import InputError, nearest

ALL = "all"
TOLERATED = 0.05


class Measure(NamedTuple):
    """A ratio of two weighted sums over the cells (tn, fp, fn, tp), and what is missing where the
    denominator is 0.
    """

    numerator: tuple[int, int, int, int]
    denominator: tuple[int, int, int, int]
    missing: str

    def value(self, cells: np.ndarray) -> np.ndarray:
        """The measure in [0, 1] of counts shaped (..., 4); NaN where it is undefined."""
        below = cells @ np.array(self.denominator)
        return np.where(below > 0, cells @ np.array(self.numerator) / np.maximum(below, 1), np.nan)

    def support(self, cells: np.ndarray) -> int:
        """The number of items in the denominator; 0 exactly where the measure is undefined."""
        return int(cells @ (np.array(self.denominator) > 0))


MEASURES = {
    "precision": Measure((0, 0, 0, 1), (0, 1, 0, 1), "no item predicted positive"),
    "recall": Measure((0, 0, 0, 1), (0, 0, 1, 1), "no actual positive"),
    "f1": Measure((0, 0, 0, 2), (0, 1, 1, 2), "no actual or predicted positive"),
}


class Group(NamedTuple):
    """The confusion cells of a group (4,) and of its bootstrap resamples (resamples, 4)."""

    cells: np.ndarray
    resampled: np.ndarray


def gap_table(
    predictions: pd.DataFrame,
    *,
    privileged: str = "male",
    unprivileged: str = "female",
    resamples: int = 1000,
    level: float = 0.95,
    seed: int,
) -> pd.DataFrame:
    """Precision, recall and F1 of every group and their gaps, with percentile bootstrap intervals.

    ``predictions`` needs the columns ``label`` and ``prediction`` (0 or 1) and ``group``; a row
    without a group counts in "all" only. Folds of a cross-validation are pooled. A gap is signed,
    in [-1, 1]: positive = worse for the unprivileged group, 0 = equal.

    One row per (measure, group): measures precision, recall, f1 for every group and for "all";
    precision_gap, recall_gap, f1_gap for the group "privileged-unprivileged". Columns ``measure,
    group, value, low, high, support, support_privileged, support_unprivileged, reason``. The
    support of a measure is the number of items in its denominator: predicted positives (precision),
    actual positives (recall), either (F1). The support of a gap is the smaller of its groups' two.
    A value without support is NaN, and ``reason`` says why.

    The interval resamples the items with replacement within each group, so that group sizes stay as
    they are; it answers for the choice of test items, not of the training run. Resamples in which a
    measure is undefined are left out; past 5 % ``reason`` tells their share. Where all items of a
    support agree the interval has zero width, whatever the support: read the two together.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, and a group without
    rows.
    """
    if resamples < 1 or not 0 < level < 1:
        raise InputError(
            f"resamples={resamples}, level={level}: resamples must be at least 1 and level between"
            " 0 and 1"
        )
    names = _group_names(predictions)
    _check_groups(names, privileged, unprivileged)
    groups = _resample(predictions, names, resamples, seed)
    order = [
        privileged,
        unprivileged,
        *(name for name in groups if name not in (privileged, unprivileged, ALL)),
        ALL,
    ]
    rows = [
        _group_row(measure, name, groups[name], level) for name in order for measure in MEASURES
    ]
    rows += [_gap_row(measure, privileged, unprivileged, groups, level) for measure in MEASURES]
    supports = ["support", "support_privileged", "support_unprivileged"]
    table = pd.DataFrame(
        rows, columns=["measure", "group", "value", "low", "high", *supports, "reason"]
    )
    return table.astype(dict.fromkeys(supports, "Int64"))


def binary(table: pd.DataFrame, column: str) -> np.ndarray:
    """A column of 0 and 1 (also as text or booleans) as integers; ``InputError`` when it is missing
    or holds anything else.
    """
    values = _column(table, column)
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    bad = ~numbers.isin([0.0, 1.0]).to_numpy()
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        raise InputError(
            f"column {column!r} holds {examples} in {bad.sum()} of {len(values)} rows; it must be 0"
            " or 1 in every row"
        )
    return numbers.to_numpy(dtype=np.int64)


def _column(table: pd.DataFrame, column: str) -> pd.Series:
    if column not in table.columns:
        present = ", ".join(repr(name) for name in table.columns)
        raise InputError(
            f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        )
    return table[column]


def _group_names(predictions: pd.DataFrame) -> pd.Series:
    names = _column(predictions, "group").astype("string")
    if names.eq(ALL).any():
        raise InputError(
            f"a group is called {ALL!r}, the name of the rows over all items; rename it"
        )
    return names


def _check_groups(names: pd.Series, privileged: str, unprivileged: str) -> None:
    present = sorted(names.dropna().unique())
    for wanted in (privileged, unprivileged):
        if wanted not in present:
            listed = ", ".join(repr(name) for name in present) or "none"
            raise InputError(
                f"no rows of group {wanted!r}{nearest(wanted, present)}; groups present: {listed}"
            )
    if privileged == unprivileged:
        raise InputError(
            f"the privileged and the unprivileged group are both {privileged!r}; name two groups"
        )


def _resample(
    predictions: pd.DataFrame, names: pd.Series, resamples: int, seed: int
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
        strata.append(
            Group(cells, rng.multinomial(cells.sum(), cells / cells.sum(), size=resamples))
        )
    everyone = Group(
        np.sum([group.cells for group in strata], axis=0),
        np.sum([group.resampled for group in strata], axis=0),
    )
    return dict(zip(present, strata, strict=False)) | {ALL: everyone}


def _group_row(measure: str, name: str, group: Group, level: float) -> dict[str, Any]:
    spec = MEASURES[measure]
    support = spec.support(group.cells)
    row = {
        "measure": measure,
        "group": name,
        **_interval(spec.value(group.cells), spec.value(group.resampled), level),
    }
    row |= {"support": support, "support_privileged": pd.NA, "support_unprivileged": pd.NA}
    return row | {"reason": row["reason"] if support else spec.missing}


def _gap_row(
    measure: str, privileged: str, unprivileged: str, groups: dict[str, Group], level: float
) -> dict[str, Any]:
    spec = MEASURES[measure]
    better, worse = groups[privileged], groups[unprivileged]
    supports = {privileged: spec.support(better.cells), unprivileged: spec.support(worse.cells)}
    value = spec.value(better.cells) - spec.value(worse.cells)
    samples = spec.value(better.resampled) - spec.value(worse.resampled)
    row = {
        "measure": f"{measure}_gap",
        "group": f"{privileged}-{unprivileged}",
        **_interval(value, samples, level),
    }
    row |= {"support": min(supports.values())}
    row |= {
        "support_privileged": supports[privileged],
        "support_unprivileged": supports[unprivileged],
    }
    missing = "; ".join(
        f"{name}: {spec.missing}" for name, support in supports.items() if not support
    )
    return row | {"reason": missing or row["reason"]}


def _interval(value: np.ndarray, samples: np.ndarray, level: float) -> dict[str, Any]:
    """Value, percentile interval over the defined resamples, and a reason where many were
    undefined.
    """
    defined = samples[~np.isnan(samples)]
    low, high = np.nan, np.nan
    if defined.size and not np.isnan(value):
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    lost = 1 - defined.size / samples.size
    reason = (
        f"undefined in {lost:.0%} of resamples, which the interval leaves out"
        if lost > TOLERATED
        else ""
    )
    return {"value": float(value), "low": float(low), "high": float(high), "reason": reason}
