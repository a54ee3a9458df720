"""The threshold of a score that errs least, or costs least, among those whose gaps keep to bounds.

At each threshold every bounded gap must keep to its bound by the upper end of its interval. To find
one for which all do takes no adjustment over gaps, as each gap must pass (intersection-union test;
Berger, 1982). Over thresholds the order of tests is fixed before the gaps are seen (fixed-sequence
test; Angelopoulos et al., 2021, "Learn then test"). There are four sequences:

    from the lowest threshold up, from the highest down, where all groups have gaps near 0
    from the middle up and down: where as large a share of positives as of negatives is right

Each stops at its first failure and is tested at a quarter of ``ALPHA``, one-sided. So the chance
that any threshold passes with a gap above its bound is at most ``ALPHA``, whichever of those that
pass is chosen. ``tests/extrinsic/test_threshold_choice.py`` simulates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from biasbridge.extrinsic.gap_table import difference_rows
from biasbridge.extrinsic.gate import describe_gap, format_trimmed, require_bounds, require_gap
from biasbridge.extrinsic.grouped_predictions import (
    ALL,
    GroupedPredictions,
    GroupOrRest,
    WeightedSum,
)
from biasbridge.extrinsic.measures import FN, FP, MEASURES, TP
from biasbridge.extrinsic.thresholds import (
    AT_THRESHOLD,
    at_thresholds,
    format_threshold,
    read_scored,
)
from biasbridge.files import InputError
from biasbridge.files.errors import printable
from biasbridge.stats.formatting import format_estimate
from biasbridge.stats.intervals import ALPHA, UNDEFINED, Estimate
from biasbridge.stats.measure_facts import measure_heading

if TYPE_CHECKING:
    from biasbridge.extrinsic.gap_table import GapRow

_N_SEQUENCES = 4
_PER_ITEMS = 100  # costs are of so many items
_ERRORS = {"fn": FN, "fp": FP}
ONE_THRESHOLD = (
    "one threshold holds for all groups: a threshold by group treats people differently by their"
    " group, which is often unlawful"
)


@dataclass(frozen=True)
class ThresholdChoice:
    """Choice of a threshold for each score, true where every score has one.

    ``choices`` has a row per score: the ``threshold``, NaN where none passes, its ``f1``, ``cost``
    of 100 items and share of ``flagged`` ones, and those of the best threshold without bounds,
    ``unbounded``, with 95% intervals (``f1_low``); ``price``: the cost of the first minus that of
    the second. ``decision`` and ``details`` say so. ``thresholds`` has a row per score and
    threshold: ``excess``, the largest upper end of a gap minus its bound, and whether it
    ``passed``. ``sentence`` says all.
    """

    passed: bool
    sentence: str
    choices: pd.DataFrame
    thresholds: pd.DataFrame

    def __bool__(self) -> bool:
        return self.passed


def choose_thresholds(
    options: dict[str, Any],
    table: pd.DataFrame,
    bound: Mapping[str, float],
    cost: Mapping[str, float],
) -> ThresholdChoice:
    """Choose a threshold of each of ``options["score"]``; false passes of all scores together are
    at most ``ALPHA``.
    """
    _check_rules(bound, cost, options["compare"])
    scores: Sequence[str] = options["score"]
    rows, by_threshold = [], []
    for score in scores:
        row, tests = _choose(options | {"score": [score]}, table, bound, cost, ALPHA / len(scores))
        rows.append({"score": score, **row})
        by_threshold.append(tests.assign(score=score))
    choices = pd.DataFrame(rows)
    sentences = [" ".join(lines) for lines in choices[["decision", "details"]].to_numpy().tolist()]
    return ThresholdChoice(
        bool(choices["threshold"].notna().all()),
        "\n".join(map(printable, sentences)),
        choices,
        pd.concat(by_threshold, ignore_index=True),
    )


def find_passing(holds: Sequence[bool], middle: int) -> list[bool]:
    """Return whether each threshold passes: it, and all before it in one of the sequences, holds.

    Of no more thresholds than sequences each is its own sequence.
    """
    n = len(holds)
    if n <= _N_SEQUENCES:
        return list(holds)
    orders = (range(n), range(n - 1, -1, -1), range(middle, n), range(middle, -1, -1))
    passed = {i for order in orders for i in takewhile(holds.__getitem__, order)}
    return [i in passed for i in range(n)]


def expected_cost(
    sample: GroupedPredictions, cost: Mapping[str, float], threshold: float, *minus: float
) -> Estimate:
    """Estimate the cost of 100 items at a threshold, or its difference to that at another."""
    assert sample.score is not None
    samples, weights = [], []
    for place, sign in ((threshold, 1), *((other, -1) for other in minus)):
        cells = 2 * (sample.confusion_cell // 2) + (sample.score >= place)
        for error, price in cost.items():
            # An item is "selected" where it is this error
            is_error = (cells == _ERRORS[error]).astype(np.int64)
            samples.append(replace(sample, confusion_cell=is_error, score=None, min_support=0))
            weights.append(sign * _PER_ITEMS * price)
    return WeightedSum(samples, weights).group_measure("selection_rate", GroupOrRest(ALL)).estimate


def _check_rules(
    bound: Mapping[str, float], cost: Mapping[str, float], compare: Sequence[str]
) -> None:
    """Raise ``InputError`` for bounds and costs that no threshold has."""
    if not bound and not cost:
        raise InputError("nothing to choose by; give bounds such as recall=.1, or costs fn=5,fp=1")
    if bound:
        if unknown := [name for name in bound if name not in AT_THRESHOLD]:
            measures = f"give a bound for any of {', '.join(AT_THRESHOLD)}"
            raise InputError(f"{unknown[0]!r} has no bound here; {measures}; {ONE_THRESHOLD}")
        require_gap(bound, compare, AT_THRESHOLD)
        require_bounds(bound)
    if cost and {*cost} != {*_ERRORS}:
        raise InputError(f"costs for {', '.join(cost)}; give both, such as fn=5,fp=1")
    for error, price in cost.items():
        if not isinstance(price, int | float) or not 0 <= price < inf:
            raise InputError(f"the cost of {error} is {price!r}; give a number of at least 0")
    if cost and not any(cost.values()):
        raise InputError("both errors cost 0; give one of them a cost")


def _choose(
    options: dict[str, Any],
    table: pd.DataFrame,
    bound: Mapping[str, float],
    cost: Mapping[str, float],
    alpha: float,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the choice for a score, and the tests of all its thresholds."""
    sample, gaps, thresholds, _ = read_scored(options | {"measures": [*bound] or ["f1"]}, table)
    level = 1 - 2 * alpha / min(_N_SEQUENCES, len(thresholds))
    cells, f1, nearest = [], [], []
    for at_threshold in at_thresholds(sample, thresholds):
        rows = difference_rows(at_threshold.at_level(level), gaps) if bound else []
        nearest.append(max(rows, key=lambda row: _excess(row, bound), default=None))
        cells.append(at_threshold.cells(GroupOrRest(ALL)))
        f1.append(at_threshold.group_measure("f1", GroupOrRest(ALL)).estimate)
    if bound and nearest[0] is None:
        raise InputError("no group is compared with another; name a further group")
    counts = np.stack(cells)
    excess = np.array([_excess(row, bound) if row else -inf for row in nearest])
    recall, fpr = (MEASURES[measure].values(counts) for measure in ("recall", "fpr"))
    middle = int(np.argmin(np.nan_to_num(np.abs(recall + fpr - 1), nan=1)))
    passed = find_passing((excess <= 0).tolist(), middle)
    costs = sum((cost[name] * counts[:, _ERRORS[name]] for name in cost), np.zeros(len(counts)))
    loss = costs if cost else -np.array([-1 if isnan(one.value) else one.value for one in f1])
    flagging_none = cost["fn"] * counts[0, [FN, TP]].sum() if cost else inf
    is_useful = loss < min(loss[0], flagging_none)  # the lowest threshold flags all items
    usable = is_useful & passed
    chosen = int(np.where(usable, loss, inf).argmin()) if usable.any() else None
    unbounded = int(loss.argmin())

    def describe(number: int | None, prefix: str) -> dict[str, float]:
        estimates = dict.fromkeys(("f1", *(["cost"] if cost else [])), UNDEFINED)
        if number is not None:
            estimates["f1"] = f1[number]
        if number is not None and cost:
            estimates["cost"] = expected_cost(sample, cost, float(thresholds[number]))
        return {
            f"{prefix}{measure}{end}": value
            for measure, estimate in estimates.items()
            for end, value in zip(("", "_low", "_high"), estimate, strict=True)
        }

    places = {"threshold": chosen, "unbounded": unbounded}
    row: dict[str, Any] = {
        name: nan if number is None else float(thresholds[number])
        for name, number in places.items()
    }
    if cost:
        price = UNDEFINED if chosen is None else expected_cost(sample, cost, *row.values())
        row |= {"price": price.value, "price_low": price.low, "price_high": price.high}
    row |= describe(chosen, "") | describe(unbounded, "unbounded_")
    flagged = counts[:, [FP, TP]].sum(axis=-1) / counts[0].sum()
    row |= {
        "flagged": nan if chosen is None else float(flagged[chosen]),
        "unbounded_flagged": float(flagged[unbounded]),
    }
    shown = int(np.where(is_useful | ~is_useful.any(), excess, inf).argmin())
    shown = shown if chosen is None else chosen
    tested = options["score"][0], float(thresholds[shown]), nearest[shown]
    row["decision"], row["details"] = _describe(row, *tested, bound)
    tests = {"threshold": thresholds, "f1": [one.value for one in f1]}
    tests |= {"cost": costs * _PER_ITEMS / counts[0].sum()} if cost else {}
    return row, pd.DataFrame({**tests, "excess": excess, "passed": passed})


def _excess(row: GapRow, bound: Mapping[str, float]) -> float:
    """Return how far the upper end of a gap lies above its bound; infinite without a value."""
    return inf if isnan(row.value) else row.high - bound[row.measure]


def _describe(
    row: Mapping[str, Any],
    score: str,
    threshold: float,
    nearest: GapRow | None,
    bound: Mapping[str, float],
) -> tuple[str, str]:
    """Return the decision on a score in a sentence, and its reasons."""
    best = "cheapest" if "cost" in row else "best"
    limit = format_trimmed(bound[nearest.measure]) if nearest else ""
    gap = describe_gap(pd.Series(nearest._asdict()), ("low", "high")) if nearest else ""
    unbounded = f"Without bounds the {best} threshold is {format_threshold(row['unbounded'])}."
    unbounded += f" There {_describe_numbers(row, 'unbounded_')}."
    if isnan(row["threshold"]):
        decision = f"{score}: no threshold is shown to keep every gap within its bound and to beat"
        decision += " flagging all items or none."
        if nearest is None:
            return f"{score}: no threshold beats flagging all items or none.", unbounded
        if isnan(nearest.value):
            details = (
                f"The {measure_heading(nearest.measure)} gap of {nearest.unprivileged} has no value"
            )
            details += f" ({nearest.reason}); name the groups to compare with --groups."
            return decision, f"{details} {unbounded}"
        is_above = nearest.low > bound[nearest.measure]
        verb = "is shown to be above" if is_above else "may be above"
        details = f"The nearest is {format_threshold(threshold)}. There {gap} {verb} {limit}."
        return decision, f"{details} {unbounded}"
    chosen = format_threshold(row["threshold"])
    if nearest is None:
        return f"{score}: the {best} threshold is {chosen}.", f"There {_describe_numbers(row)}."
    decision = f"{score}: threshold {chosen} is the {best} that keeps every gap within its bound."
    details = f"There {_describe_numbers(row)}."
    nearest_gap = f"Nearest to its bound, {limit}: {gap.rstrip(',')}."
    if row["threshold"] == row["unbounded"]:
        return decision, f"{details} No threshold is better, even without bounds. {nearest_gap}"
    details += f" {unbounded} {nearest_gap}"
    if "price" in row:
        price = format_estimate(row["price"], row["price_low"], row["price_high"])
        details += f" The bounds cost {price} more per {_PER_ITEMS} items."
    return decision, details


def _describe_numbers(row: Mapping[str, Any], prefix: str = "") -> str:
    """Format ``31 of 100 items are flagged. F1 is .71 [.69,.73]. 100 items cost 12.3 [11,13]``."""

    def text(measure: str) -> str:
        return format_estimate(*(row[f"{prefix}{measure}{end}"] for end in ("", "_low", "_high")))

    share = f"{_PER_ITEMS * row[f'{prefix}flagged']:.0f} of {_PER_ITEMS} items are flagged"
    cost = f". {_PER_ITEMS} items cost {text('cost')}" if "cost" in row else ""
    return f"{share}. F1 is {text('f1')}{cost}"
