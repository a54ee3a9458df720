"""The table of the measures of every group and the gaps between groups, from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extrinsic.gaps import CRITERIA, DEFAULT, Gaps
from extrinsic.measured import (
    ALL,
    Figure,
    Measured,
    Side,
    Spreading,
    both_reasons,
    larger_is_better,
)
from extrinsic.predictions import read_sample
from extrinsic.ranking import BACKGROUND as AGAINST_ALL_OTHERS
from extrinsic.rows import Row, as_table
from extrinsic.spread import DIFFERENCE, RATIO, estimate_spread

if TYPE_CHECKING:
    import pandas as pd

# Measures without a gap: one that compares with all others already, one of the items alone
WITHOUT_GAP = (*AGAINST_ALL_OTHERS, "base_rate")


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
    positives (recall, fnr), either (F1), actual negatives (fpr), all (accuracy, selection rate,
    base rate), the smaller class (AUCs). The support of a gap is the smaller of its groups' two.
    Where it is below ``least_support`` the value is NaN, and ``reason`` says why; of "largest" and
    "ratio", ``reason`` names the groups that are left out for it.

    ``low`` and ``high`` are Wilson's score interval (see ``extrinsic.measures``), of a gap
    Newcombe's (``extrinsic.intervals``), of an AUC see ``extrinsic.ranking``; of "largest" and
    "ratio", which know that a maximum was taken, ``extrinsic.spread``. They hold for the choice
    of test items, not of the training run. Where ``predictions`` has the column ``unit``, items of
    one unit (such as phrases that differ in one term) are taken as drawn together: groups are then
    compared within units, as far as they share them.

    ``resampled`` holds, where ``predictions`` has the column ``id``, a gap over 200 resamples of
    the items within groups: the same for all who predict the same items, in whatever order (see
    ``extrinsic.resampling``). It is NaN where a resample lacks support, and empty for values, AUCs
    and undefined gaps.

    Raises ``InputError`` for a missing column, a value other than 0 and 1, a missing id, a
    privileged or unprivileged group without rows, and another that ``gaps`` names and the column
    does not know.
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


def value_rows(sample: Measured, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """The measures (by default all that are asked for) of each group and of all items."""
    return [
        _value(measure, group, sample.figure(measure, Side(group)))
        for group in (*sample.groups, ALL)
        for measure in (gaps.measures if measures is None else measures)
        if measure not in (*CRITERIA, *(AGAINST_ALL_OTHERS if group == ALL else ()))
    ]


def difference_rows(
    sample: Measured, gaps: Gaps, measures: Sequence[str] | None = None
) -> list[Row]:
    """The gaps of each two sides, in the measures asked for (by default all)."""
    asked = gaps.measures if measures is None else measures
    kept = [name for name in asked if name not in (*CRITERIA, *WITHOUT_GAP)]
    return [_gap(sample, name, *sides) for sides in _pairs(sample, gaps) for name in kept]


def _pairs(sample: Measured, gaps: Gaps) -> list[tuple[Side, Side]]:
    """The sides of each gap, the privileged one first."""
    privileged = Side(gaps.privileged)
    found = [(privileged, Side(gaps.unprivileged))] if "pair" in gaps.compare else []
    among = gaps.groups or sample.groups
    if "each" in gaps.compare:
        found += [(privileged, Side(name)) for name in among if name != gaps.privileged]
    if "rest" in gaps.compare:
        found += [(Side(name, rest=True), Side(name)) for name in among]
    return list(dict.fromkeys(found))


def _value(measure: str, group: str, found: Figure) -> Row:
    estimate = found.estimate._asdict()
    return Row("value", measure, group, **estimate, support=found.support, reason=found.reason)


def _gap(sample: Measured, measure: str, privileged: Side, unprivileged: Side) -> Row:
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
        resampled=() if reason else sample.resampled_difference(measure, one, other),
    )


def spread_rows(sample: Spreading, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """The largest differences, then the ratios, where ``gaps`` asks for them."""
    asked = gaps.measures if measures is None else measures
    kept = [name for name in asked if name not in WITHOUT_GAP] if "largest" in gaps.compare else []
    spreads = [_spread_rows(sample, name, gaps) for name in kept]
    return [row for kind in zip(*spreads, strict=True) for row in kind]


def _spread_rows(sample: Spreading, name: str, gaps: Gaps) -> list[Row]:
    """The largest difference and the ratio among the groups that have a value."""
    among = gaps.groups or sample.groups
    measures = CRITERIA.get(name, (name,))
    figures = {each: {g: sample.figure(each, Side(g)) for g in among} for each in measures}
    reasons = [found.reason for each in measures for found in figures[each].values()]
    lacking = "; ".join(filter(None, reasons))
    kept = {
        each: {group: found for group, found in figures[each].items() if not found.reason}
        for each in measures
    }
    if min(map(len, kept.values())) < 2:
        why = lacking or "a difference needs two groups"
        return [Row(spread.kind, name, reason=why) for spread in (DIFFERENCE, RATIO)]
    blocks = {each: sample.block(each, list(groups)) for each, groups in kept.items()}
    left_out = f"left out: {lacking}" if lacking else ""
    rows = []
    for spread in (DIFFERENCE, RATIO):
        if any(map(spread.undefined, blocks.values())):
            why = "; ".join(filter(None, ("all values are 0", left_out)))
            rows.append(Row(spread.kind, name, reason=why))
            continue
        found = estimate_spread(list(blocks.values()), spread, sample.level)
        order = {each: spread.order(block) for each, block in blocks.items()}
        decisive = max(order, key=order.__getitem__)
        ends = _furthest_apart(decisive, kept[decisive])
        rows.append(Row(spread.kind, name, **ends, **found._asdict(), reason=left_out))
    return rows


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
