"""The rows of what lies between the two groups furthest apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from extrinsic.gaps import CRITERIA, Gaps
from extrinsic.intervals import UNDEFINED
from extrinsic.measured import Side, Spreading, larger_is_better
from extrinsic.ranking import BACKGROUND
from extrinsic.rows import Row
from extrinsic.spread import DIFFERENCE, RATIO, Block, Spread, estimate_spread


def spread_rows(sample: Spreading, gaps: Gaps, measures: Sequence[str] | None = None) -> list[Row]:
    """The largest differences, then the ratios, where ``gaps`` asks for them."""
    asked = gaps.measures if measures is None else measures
    kept = [name for name in asked if name not in BACKGROUND] if "largest" in gaps.compare else []
    spreads = [_spread_rows(sample, name, gaps) for name in kept]
    return [row for kind in zip(*spreads, strict=True) for row in kind]


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
