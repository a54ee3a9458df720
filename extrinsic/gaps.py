r"""Performance gaps between groups, from predictions (Goldfarb-Tarrant et al., 2021, section 2.2).

    gap = measure(privileged) - measure(unprivileged)      of what is better the larger it is
    gap = measure(unprivileged) - measure(privileged)      of the false positive and negative rates

so that every gap is positive where the unprivileged group fares worse. The precision gap is their
Predictive Parity, the recall gap Equality of Opportunity. Gaps of 0 in recall and false positive
rate together are Equalised Odds (their appendix A, which calls equal false positive rates
Predictive Parity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from extrinsic.measures import MEASURES, UNDEFINED, Counts, Floats
from extrinsic.ranking import RANKINGS
from extrinsic.resampling import resampled_counts
from extrinsic.sample import (
    ALL,
    REST,
    Figure,
    Measured,
    Sample,
    Side,
    Spreading,
    both_reasons,
    item_codes,
    larger_is_better,
)
from extrinsic.spread import DIFFERENCE, RATIO, Block, Spread, estimate_spread
from files import InputError, choice, nearest
from files.choice import Fileless, Whole

Comparison = Literal["pair", "each", "rest", "largest"]
Kind = Literal["value", "gap", "largest", "ratio", "term_gap", "equality_difference", "flips"]

CRITERIA: Mapping[str, tuple[str, ...]] = {
    "demographic_parity": ("selection_rate",),
    "equalised_odds": ("recall", "fpr"),
}
EVERY_MEASURE = (*MEASURES, *RANKINGS, *CRITERIA)


@choice
class Gaps(Fileless):
    """Which groups are compared in which measures, on how many items at least, at which level of
    confidence.

    ``compare``: the privileged and the unprivileged group (``pair``); the privileged and each other
    group (``each``); all other items and each group (``rest``: without it, those of no group
    included); the two groups that are furthest apart (``largest``: their difference, and the ratio
    of the smaller value to the larger). ``groups``: those compared with the rest, with the
    privileged and with one another; empty: all that there are.

    ``measures``: of ``extrinsic.measures.MEASURES``, ``extrinsic.ranking.RANKINGS`` (which need
    scores; those against the background are values only, for they compare a group with all others
    already) and ``CRITERIA`` (``largest`` only: the largest difference, and the smallest ratio, of
    the measures that each is about).

    ``least_support``: the fewest items (of a measure's denominator) that give a group a value; 0
    takes any. Of two groups with rates near .9 and 10 items each, the default, the gap is known to
    within .3; with 5 each to within .45, nearly half of what there is.
    """

    privileged: str = "male"
    unprivileged: str = "female"
    least_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    measures: tuple[str, ...] = ("precision", "recall", "f1", "fpr")
    compare: tuple[Comparison, ...] = ("pair",)
    groups: tuple[str, ...] = ()

    name: ClassVar[str] = "gaps"
    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    # Keyed where they say more than two groups and four measures, so that the results of those who
    # ask for no more keep their names
    unkeyed: ClassVar[tuple[str, ...]] = ("measures", "compare", "groups")

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged group are both {self.privileged!r}; name two"
                " groups"
            )
        for name, known in (("measures", EVERY_MEASURE), ("compare", ()), ("groups", ())):
            _once(name, getattr(self, name), known)
        criteria = [each for each in self.measures if each in CRITERIA]
        if criteria and "largest" not in self.compare:
            raise InputError(
                f"measures={criteria[0]} is about the largest difference between groups; add"
                " largest to compare"
            )

    def keyed(self) -> Mapping[str, object]:
        """What is asked for beyond the default."""
        asked = {name: list(getattr(self, name)) for name in self.unkeyed}
        default = {name: list(getattr(Gaps, name)) for name in self.unkeyed}
        return {name: value for name, value in asked.items() if value != default[name]}

    @property
    def named(self) -> tuple[str, ...]:
        """The groups that must have items."""
        pair = self.privileged, self.unprivileged
        return pair if "pair" in self.compare else pair[: "each" in self.compare]


def _once(field: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise ``InputError`` for a name given twice, and for one that is not known where some are."""
    if len({*names}) < len(names):
        raise InputError(f"{field}={list(names)}: name each once")
    for name in names:
        if known and name not in known:
            raise InputError(
                f"{field}={name!r}{nearest(name, known)}; measures: {', '.join(known)}"
            )


class Row(NamedTuple):
    """A measure of a group, a gap between two groups, or what lies between the two groups furthest
    apart, with its interval; see ``gap_table``.
    """

    kind: Kind
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
    subset: str = ""
    classifier: str = ""


DEFAULT = Gaps()
OPTIONAL = ("subset", "classifier")


def gap_table(predictions: pd.DataFrame, gaps: Gaps = DEFAULT) -> pd.DataFrame:
    """The measures of every group and the gaps between groups that ``gaps`` asks for, with
    intervals.

    ``predictions`` needs the columns ``label`` and ``prediction`` (0 or 1) and ``group``, and
    ``score`` for AUCs; a row without a group counts in "all" and in the rest only. Folds of a
    cross-validation are pooled. A gap is signed, in [-1, 1]: positive = worse for the unprivileged
    group, 0 = equal. To be selected (predicted 1) counts as the better for a group.

    One row per measure and group, "all" included (``kind`` "value"), then one per gap (``kind``
    "gap"), which has ``privileged`` ("rest": all other items) and ``unprivileged`` and no
    ``group``, then the largest difference (``kind`` "largest", in [0, 1], 0 = equal) and the
    ratio of the smallest value to the largest (``kind`` "ratio", in [0, 1], 1 = equal), which name
    the groups that fare best (``privileged``) and worst; columns as in ``Row``. The ``support`` of
    a measure is the number of items in its denominator: predicted positives (precision), actual
    positives (recall, fnr), either (F1), actual negatives (fpr), all (accuracy, selection rate),
    the smaller class (AUCs). The support of a gap is the smaller of its groups' two. Where it is
    below ``least_support`` the value is NaN, and ``reason`` says why; of "largest" and "ratio",
    ``reason`` names the groups that are left out for it.

    ``low`` and ``high`` are Wilson's score interval, of a gap Newcombe's: see
    ``extrinsic.measures``; of an AUC see ``extrinsic.ranking``; of "largest" and "ratio", which
    know that a maximum was taken, ``extrinsic.spread``. They answer for the choice of test items,
    not of the training run. Where ``predictions`` has the column ``unit``, items of one unit (such
    as phrases that differ in one term) are taken as drawn together: groups are then compared
    within units, as far as they share them.

    ``resampled`` holds, where ``predictions`` has the column ``id``, a gap over 200 resamples of
    the items within groups: the same for all who predict the same items, in whatever order (see
    ``extrinsic.resampling``). It is NaN where a resample lacks support, and empty for values, AUCs
    and undefined gaps.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, a missing id, and a
    privileged or unprivileged group without rows.
    """
    return as_table(gap_rows(predictions, gaps))


def gap_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """The rows of ``gap_table``."""
    sample = read_sample(predictions, gaps)
    return sample_rows(sample, gaps)


def sample_rows(sample: Spreading, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """All rows of some predictions."""
    rows = value_rows(sample, gaps, measures) + difference_rows(sample, gaps, measures)
    return rows + spread_rows(sample, gaps, measures)


def read_sample(predictions: pd.DataFrame, gaps: Gaps) -> Sample:
    """The predictions as arrays; those that ``gaps`` cannot be made of are refused."""
    names = _group_names(predictions, gaps)
    present = {*names.dropna()}
    groups = list(dict.fromkeys((*gaps.named, *gaps.groups, *sorted(present))))
    groups += [name for name in _empty_categories(predictions) if name not in groups]
    # A missing group has code -1
    code = pd.Categorical(names, categories=groups).codes.astype(np.int64)
    cell = 2 * binary(predictions, "label") + binary(predictions, "prediction")
    score = _scores(predictions) if {*gaps.measures} & {*RANKINGS} else None
    unit = item_codes(predictions["unit"]) if "unit" in predictions else None
    drawn = _resample(predictions, code, cell, len(groups))
    return Sample(groups, code, cell, score, unit, drawn, gaps.level, gaps.least_support)


def value_rows(sample: Measured, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """The measures (by default all that are asked for) of each group and of all items."""
    return [
        _value(measure, group, sample.figure(measure, Side(group)))
        for group in (*sample.groups, ALL)
        for measure in (gaps.measures if measures is None else measures)
        if measure not in (*CRITERIA, *(BACKGROUND if group == ALL else ()))
    ]


def difference_rows(
    sample: Measured, gaps: Gaps, measures: Sequence[str] | None = None
) -> list[Row]:
    """The gaps of each two sides, in the measures asked for (by default all)."""
    asked = gaps.measures if measures is None else measures
    kept = [name for name in asked if name not in (*CRITERIA, *BACKGROUND)]
    return [gap_row(sample, name, *sides) for sides in pairs(sample, gaps) for name in kept]


def spread_rows(sample: Spreading, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """The largest differences, then the ratios, where ``gaps`` asks for them."""
    asked = gaps.measures if measures is None else measures
    kept = [name for name in asked if name not in BACKGROUND] if "largest" in gaps.compare else []
    spreads = [_spread_rows(sample, name, gaps) for name in kept]
    return [row for kind in zip(*spreads, strict=True) for row in kind]


# What compares a group with all others already
BACKGROUND = [name for name, each in RANKINGS.items() if not all(each[:2])]


def pairs(sample: Measured, gaps: Gaps) -> list[tuple[Side, Side]]:
    """The sides of each gap, the privileged one first."""
    privileged = Side(gaps.privileged)
    found = [(privileged, Side(gaps.unprivileged))] if "pair" in gaps.compare else []
    among = gaps.groups or sample.groups
    if "each" in gaps.compare:
        found += [(privileged, Side(name)) for name in among if name != gaps.privileged]
    if "rest" in gaps.compare:
        found += [(Side(name, rest=True), Side(name)) for name in among]
    return list(dict.fromkeys(found))


def as_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing; ``subset`` and ``classifier``
    only where a row has one.
    """
    supports = ("support", "support_privileged", "support_unprivileged")
    table = pd.DataFrame(list(rows), columns=list(Row._fields))
    empty = [name for name in OPTIONAL if not table[name].ne("").any()]
    return table.drop(columns=empty).astype(dict.fromkeys(supports, "Int64"))


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


def _scores(predictions: pd.DataFrame) -> Floats:
    values = column_of(predictions, "score")
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        examples = ", ".join(repr(value) for value in values[bad].unique().tolist()[:3])
        rows = f"{bad.sum()} of {len(values)} rows"
        raise InputError(f"column 'score' holds {examples} in {rows}; give a number in every row")
    return numbers


def _group_names(predictions: pd.DataFrame, gaps: Gaps) -> pd.Series[str]:
    names = column_of(predictions, "group").astype("string")
    present = sorted(names.dropna().unique())
    taken = {ALL: "the rows over all items"}
    if "rest" in gaps.compare:
        taken[REST] = "all items but those of a group"
    for name, what in taken.items():
        if name in present:
            raise InputError(f"a group is called {name!r}, the name of {what}; rename it")
    for wanted in gaps.named:
        if wanted not in present:
            listed = ", ".join(repr(name) for name in present) or "none"
            raise InputError(
                f"no rows of group {wanted!r}{nearest(wanted, present)}; groups present: {listed}"
            )
    return names


def _empty_categories(predictions: pd.DataFrame) -> list[str]:
    """Groups that the column knows of, whether or not an item is of them."""
    kind = predictions["group"].dtype
    return sorted(map(str, kind.categories)) if isinstance(kind, pd.CategoricalDtype) else []


def _resample(predictions: pd.DataFrame, code: Counts, cell: Counts, n: int) -> Counts | None:
    """The cells of each group, and of the items without one, over the resamples, (n + 1, 200, 4);
    None without ids.
    """
    if "id" not in predictions:
        return None
    ids = predictions["id"].astype("string")
    if missing := int(ids.isna().sum()):
        raise InputError(f"{missing} of {len(ids)} rows have no id; give each, or drop the column")
    place = np.where(code < 0, n, code)
    counts = resampled_counts(ids.tolist(), 4 * place + cell, 4 * (n + 1))
    return counts.reshape(-1, n + 1, 4).swapaxes(0, 1)


def _value(measure: str, group: str, found: Figure) -> Row:
    return Row(
        "value",
        measure,
        group,
        "",
        "",
        *found.estimate,
        found.support,
        None,
        None,
        found.reason,
        [],
    )


def gap_row(sample: Measured, measure: str, privileged: Side, unprivileged: Side) -> Row:
    """The gap of two sides in a measure."""
    a, b = (sample.figure(measure, side) for side in (privileged, unprivileged))
    sides = (privileged, unprivileged)
    one, other = sides if larger_is_better(measure) else sides[::-1]
    reason = both_reasons((a, b))
    return Row(
        "gap",
        measure,
        "",
        privileged.name,
        unprivileged.name,
        *sample.difference(measure, one, other),
        min(a.support, b.support),
        a.support,
        b.support,
        reason,
        [] if reason else sample.resampled_difference(measure, one, other),
    )


def _spread_rows(sample: Spreading, name: str, gaps: Gaps) -> list[Row]:
    """The largest difference and the ratio among the groups that have a value."""
    among = gaps.groups or sample.groups
    measures = CRITERIA.get(name, (name,))
    reasons = [sample.figure(each, Side(group)).reason for each in measures for group in among]
    lacking = "; ".join(filter(None, reasons))
    kept = {
        each: [group for group in among if not sample.figure(each, Side(group)).reason]
        for each in measures
    }
    if min(map(len, kept.values())) < 2:
        why = lacking or "a difference needs two groups"
        return [_no_spread(spread, name, why) for spread in (DIFFERENCE, RATIO)]
    blocks = {each: sample.block(each, groups) for each, groups in kept.items()}
    left_out = f"left out: {lacking}" if lacking else ""
    return [
        _spread_row(sample, name, spread, blocks, kept, left_out)
        if not any(map(spread.undefined, blocks.values()))
        else _no_spread(spread, name, "; ".join(filter(None, ("all values are 0", left_out))))
        for spread in (DIFFERENCE, RATIO)
    ]


def _spread_row(
    sample: Spreading,
    name: str,
    spread: Spread,
    blocks: Mapping[str, Block],
    kept: Mapping[str, Sequence[str]],
    left_out: str,
) -> Row:
    found = estimate_spread(list(blocks.values()), spread, sample.level)
    decisive = max(blocks, key=lambda each: spread.order(blocks[each]))
    values = {
        group: sample.figure(decisive, Side(group)).estimate.value for group in kept[decisive]
    }
    ends = (
        min(values, key=lambda group: values[group]),
        max(values, key=lambda group: values[group]),
    )
    worst, best = ends if larger_is_better(decisive) else ends[::-1]
    n, m = (sample.figure(decisive, Side(group)).support for group in (best, worst))
    return Row(spread.kind, name, "", best, worst, *found, min(n, m), n, m, left_out, [])


def _no_spread(spread: Spread, name: str, reason: str) -> Row:
    return Row(spread.kind, name, "", "", "", *UNDEFINED, 0, None, None, reason, [])
