"""The table of the measures of every group and the gaps between groups, from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from extrinsic.gaps import CRITERIA, DEFAULT, Gaps, larger_is_better
from extrinsic.intervals import correlation_of, effective_size
from extrinsic.predictions import read_sample
from extrinsic.ranking import BACKGROUND as AGAINST_ALL_OTHERS
from extrinsic.sample import ALL, Figure, Sample, Side, both_reasons
from extrinsic.spread import DIFFERENCE, RATIO, Block, estimate_spread

if TYPE_CHECKING:
    from extrinsic.combined import Combined

Kind = Literal["value", "gap", "largest", "ratio", "term_gap", "equality_difference", "flips"]
OPTIONAL = ("subset", "classifier")
# Measures without a gap: one that compares with all others already, one of the items alone
WITHOUT_GAP = (*AGAINST_ALL_OTHERS, "base_rate")


class Row(NamedTuple):
    """A measure of a group, a gap between two groups, or what lies between the two groups furthest
    apart, with its interval; see ``gap_table``.
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
    constant: float = nan
    from_base_rates: float = nan
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


def gap_table(predictions: pd.DataFrame, gaps: Gaps = DEFAULT) -> pd.DataFrame:
    """The measures of every group and the gaps between groups that ``gaps`` asks for, with
    intervals.

    ``predictions`` needs the columns ``label`` and ``prediction`` (0 or 1) and ``group``, and
    ``score`` for AUCs; a row without a group counts in "all" and in the rest only. Rows of one
    ``id``, where there is such a column, are one item that is in several groups: it counts once in
    "all" and in the rest. Folds of a cross-validation are pooled. A gap is signed, in [-1, 1]:
    positive = worse for the unprivileged group, 0 = equal. To be selected (predicted 1) counts as
    the better for a group.

    One row per measure and group, "all" included (``kind`` "value"), then one per gap (``kind``
    "gap"), which has ``privileged`` ("rest": all other items) and ``unprivileged`` and no
    ``group``, then the largest difference (``kind`` "largest", in [0, 1], 0 = equal) and the
    ratio of the smallest value to the largest (``kind`` "ratio", in [0, 1], 1 = equal), which name
    the groups that fare best (``privileged``) and worst; columns as in ``Row``. The ``support`` of
    a measure is the number of items in its denominator: predicted positives (precision), actual
    positives (recall, fnr), either (F1), actual negatives (fpr), all (accuracy, selection rate,
    base rate), the smaller class (AUCs). The support of a gap is the smaller of its groups' two.
    Where it is below ``least_support`` the value is NaN, and ``reason`` says why; of "largest" and
    "ratio", ``reason`` names the groups that are left out for it.

    ``constant``, of the F1 and accuracy of a group: what calling all its items the same reaches.
    ``from_base_rates``, of a gap: what it would be if both groups had the recall and false positive
    rate of both together, so that only their base rates differed.

    ``low`` and ``high`` are Wilson's score interval (see ``extrinsic.measures``), of a gap
    Newcombe's (``extrinsic.intervals``), of an AUC see ``extrinsic.ranking``; of "largest" and
    "ratio", which know that a maximum was taken, ``extrinsic.spread``. They hold for the choice
    of test items, not of the training run. Where ``predictions`` has the column ``unit``, items of
    one unit (such as phrases that differ in one term) are taken as drawn together: groups are then
    compared within units, as far as they share them, as within items (``extrinsic.intervals``).

    ``resampled`` holds, where ``predictions`` has the column ``resampled_by``, a gap over 200
    resamples of the items within groups: the same for all who predict items of the same
    ``resampled_by``, in whatever order (see ``intrinsic.resampling``). It is NaN where a resample
    lacks support, and empty for values, AUCs and undefined gaps.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, a missing id, rows of
    one id that differ or are of one group, a privileged or unprivileged group without rows, and
    another that ``gaps`` names and the column does not know.
    """
    return as_table(gap_rows(predictions, gaps))


def gap_rows(predictions: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """The rows of ``gap_table``."""
    return sample_rows(read_sample(predictions, gaps), gaps)


def sample_rows(sample: Sample | Combined, gaps: Gaps) -> list[Row]:
    """All rows of some predictions."""
    rows = value_rows(sample, gaps) + difference_rows(sample, gaps)
    return rows + _spread_rows(sample, gaps)


def value_rows(sample: Sample | Combined, gaps: Gaps) -> list[Row]:
    """The measures of each group and of all items."""
    return [
        Row(
            "value",
            name,
            group,
            **each.estimate._asdict(),
            support=each.support,
            reason=each.reason,
            constant=nan if each.reason else sample.constant(name, Side(group)),
        )
        for group in (*sample.groups, ALL)
        for name in gaps.measures
        if name not in (*CRITERIA, *(AGAINST_ALL_OTHERS if group == ALL else ()))
        for each in [sample.figure(name, Side(group))]
    ]


def difference_rows(sample: Sample | Combined, gaps: Gaps) -> list[Row]:
    """The gaps of each two sides."""
    kept = [name for name in gaps.measures if name not in (*CRITERIA, *WITHOUT_GAP)]
    return [_gap(sample, name, *sides) for sides in _pairs(sample, gaps) for name in kept]


def _pairs(sample: Sample | Combined, gaps: Gaps) -> list[tuple[Side, Side]]:
    """The sides of each gap, the privileged one first."""
    privileged = Side(gaps.privileged)
    found = [(privileged, Side(gaps.unprivileged))] if "pair" in gaps.compare else []
    among = gaps.groups or sample.groups
    if "each" in gaps.compare:
        found += [(privileged, Side(name)) for name in among if name != gaps.privileged]
    if "rest" in gaps.compare:
        found += [(Side(name, rest=True), Side(name)) for name in among]
    return list(dict.fromkeys(found))


def _gap(sample: Sample | Combined, measure: str, privileged: Side, unprivileged: Side) -> Row:
    """The gap of two sides in a measure."""
    a, b = (sample.figure(measure, side) for side in (privileged, unprivileged))
    sides = (privileged, unprivileged)
    one, other = sides if larger_is_better(measure) else sides[::-1]
    reason = both_reasons((a, b))
    return Row(
        kind="gap",
        measure=measure,
        privileged=privileged.name,
        unprivileged=unprivileged.name,
        **sample.difference(measure, one, other)._asdict(),
        support=min(a.support, b.support),
        support_privileged=a.support,
        support_unprivileged=b.support,
        reason=reason,
        from_base_rates=nan if reason else sample.from_base_rates(measure, one, other),
        resampled=() if reason else sample.resampled_difference(measure, one, other),
    )


def _spread_rows(sample: Sample | Combined, gaps: Gaps) -> list[Row]:
    """The largest differences, then the ratios, where ``gaps`` asks for them."""
    if "largest" not in gaps.compare:
        return []
    names = [name for name in gaps.measures if name not in WITHOUT_GAP]
    spreads = [_spreads_of(sample, name, gaps) for name in names]
    return [row for kind in zip(*spreads, strict=True) for row in kind]


def _spreads_of(sample: Sample | Combined, name: str, gaps: Gaps) -> list[Row]:
    """The largest difference and the ratio among the groups that have a value."""
    figures = {
        measure: {
            group: sample.figure(measure, Side(group)) for group in gaps.groups or sample.groups
        }
        for measure in CRITERIA.get(name, (name,))
    }
    lacking = "; ".join(f.reason for of in figures.values() for f in of.values() if f.reason)
    kept = {
        measure: {group: found for group, found in of.items() if not found.reason}
        for measure, of in figures.items()
    }
    if min(map(len, kept.values())) < 2:
        why = lacking or "a difference needs two groups"
        return [Row(spread.kind, name, reason=why) for spread in (DIFFERENCE, RATIO)]
    blocks = {measure: make_block(sample, measure, list(of)) for measure, of in kept.items()}
    left_out = f"left out: {lacking}" if lacking else ""
    rows = []
    for spread in (DIFFERENCE, RATIO):
        if any(map(spread.undefined, blocks.values())):
            why = "; ".join(filter(None, ("all values are 0", left_out)))
            rows.append(Row(spread.kind, name, reason=why))
            continue
        found = estimate_spread(list(blocks.values()), spread, sample.level)
        decisive = max(blocks, key=lambda measure: spread.order(blocks[measure]))
        ends = _furthest_apart(decisive, kept[decisive])
        rows.append(Row(spread.kind, name, **ends, **found._asdict(), reason=left_out))
    return rows


def make_block(sample: Sample | Combined, measure: str, groups: Sequence[str]) -> Block:
    """Return what the largest difference between groups is made of."""
    sides = [Side(group) for group in groups]
    estimates = [sample.figure(measure, side).estimate for side in sides]
    correlation = None
    if sample.overlapping:
        moved = [sample.by_unit(measure, side) for side in sides]
        correlation = correlation_of(estimates, moved, sample.level)
    sizes = [effective_size(estimate, sample.level) for estimate in estimates]
    values = [estimate.value for estimate in estimates]
    return Block(np.array(values), np.array(sizes), correlation)


def _furthest_apart(measure: str, figures: Mapping[str, Figure]) -> dict[str, Any]:
    """The groups with the best and the worst value, and their supports."""
    by_value = {group: found.estimate.value for group, found in figures.items()}
    ends = min(by_value, key=by_value.__getitem__), max(by_value, key=by_value.__getitem__)
    worst, best = ends if larger_is_better(measure) else ends[::-1]
    n, m = figures[best].support, figures[worst].support
    return {
        "privileged": best,
        "unprivileged": worst,
        "support": min(n, m),
        "support_privileged": n,
        "support_unprivileged": m,
    }
