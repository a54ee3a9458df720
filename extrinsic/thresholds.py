"""The gaps of a classifier at every threshold of its score: predicted 1 is a score at or above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from extrinsic.gap_table import WITHOUT_GAP, difference_rows
from extrinsic.gate import format_number, require_gap
from extrinsic.grouped_predictions import ALL, GroupedPredictions, GroupOrRest
from extrinsic.measures import MEASURES, Counts
from extrinsic.predictions import read_grouped_predictions
from extrinsic.request import DEFAULT_MEASURES, GapRequest
from extrinsic.terminal import name_measure
from files import InputError
from files.printable import printable

if TYPE_CHECKING:
    from stats.arrays import Floats

MAX_THRESHOLDS = 101
AT_THRESHOLD = tuple(name for name in MEASURES if name not in WITHOUT_GAP)
COLUMNS = (
    *("measure", "privileged", "unprivileged", "value", "low", "high", "low_simultaneous"),
    *("high_simultaneous", "support", "reason"),
)


@dataclass(frozen=True)
class CountedPredictions(GroupedPredictions):
    """Predictions of groups that share no item and no unit: their ``counts`` tell all."""

    counts: Counts = field(kw_only=True)


def threshold_table(options: dict[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Compute the gaps at each of at most ``MAX_THRESHOLDS`` quantiles of the score.

    ``options``: of ``GapRequest``, with one ``score`` and without ``pred``. Columns: ``threshold``,
    ``f1`` over all items, and those of ``extrinsic.gap_table.Row``.
    """
    measures = options["measures"] or [name for name in DEFAULT_MEASURES if name in AT_THRESHOLD]
    if lacking := [name for name in measures if name not in AT_THRESHOLD]:
        listed = f"measures that have: {', '.join(AT_THRESHOLD)}"
        raise InputError(f"{lacking[0]} has no gap that depends on a threshold; {listed}")
    require_gap(options["compare"])
    unused = " ".join(["prediction at no threshold of", *options["score"]])
    request = GapRequest(**options | {"pred": [unused], "measures": measures})
    by_name, gaps = request.read(table.assign(**{unused: 0}))
    [predictions] = by_name.values()
    sample = read_grouped_predictions(predictions, replace(gaps, measures=(*measures, "auc")))
    thresholds, rows = choose_thresholds(sample.score), []
    for threshold, at_threshold in zip(thresholds, at_thresholds(sample, thresholds), strict=True):
        f1 = at_threshold.group_measure("f1", GroupOrRest(ALL)).estimate.value
        rows += [(threshold, f1, row) for row in difference_rows(at_threshold, gaps)]
    columns = {name: [getattr(row, name) for _, _, row in rows] for name in COLUMNS}
    thresholds_and_f1 = {"threshold": [row[0] for row in rows], "f1": [row[1] for row in rows]}
    return pd.DataFrame(thresholds_and_f1 | columns)


def choose_thresholds(score: Floats) -> Floats:
    """Return all scores, or quantiles of them if they are more than ``MAX_THRESHOLDS``."""
    distinct = np.unique(score)
    if len(distinct) > MAX_THRESHOLDS:
        shares = np.linspace(0, 1, MAX_THRESHOLDS)
        distinct = np.unique(np.quantile(score, shares, method="lower"))
    return distinct


def at_thresholds(sample: GroupedPredictions, thresholds: Floats) -> Iterator[GroupedPredictions]:
    """Yield the predictions at each of the ascending thresholds, from cumulative counts unless
    groups share items or units.
    """
    assert sample.score is not None
    label = sample.confusion_cell // 2
    if sample.overlapping:
        for threshold in thresholds:
            cells = 2 * label + (sample.score >= threshold)
            yield replace(sample, confusion_cell=cells, score=None).merge_equal()
        return
    n = len(thresholds) + 1
    reached = label * n + np.searchsorted(thresholds, sample.score, side="right")
    of_members, n_groups = 2 * n * sample.group_id + reached[sample.member], len(sample.groups)
    of_others = 2 * n * n_groups + reached[sample.ungrouped], 2 * n * (n_groups + 1) + reached
    bins = np.concatenate([of_members, *of_others])
    by_bin = np.bincount(bins, minlength=2 * n * (n_groups + 2)).reshape(-1, 2, n)
    predicted = by_bin[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    rest = by_bin.sum(axis=-1, keepdims=True) - predicted
    cells = np.stack([rest[:, 0], predicted[:, 0], rest[:, 1], predicted[:, 1]], axis=-1)
    none = np.zeros(0, dtype=np.int64)
    for counts in np.moveaxis(cells, 1, 0):
        yield CountedPredictions(
            sample.groups,
            none,
            none,
            none,
            level=sample.level,
            min_support=sample.min_support,
            counts=counts,
        )


def largest_gaps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest gap, of either sign, of each measure and threshold of a table.

    ``closed``: no group's simultaneous interval excludes 0, and no group lacks a value that has one
    at another threshold.
    """
    keys = ["measure", "threshold"]
    defined = table[table["value"].notna()]
    is_zero = (defined["low_simultaneous"] <= 0) & (defined["high_simultaneous"] >= 0)
    groups = defined.assign(closed=is_zero).groupby(keys, sort=False)["closed"]
    n = groups.transform("size")
    complete = n == n.groupby(defined["measure"]).transform("max")
    defined = defined.assign(closed=groups.transform("all") & complete, complete=complete)
    largest = defined["value"].abs().groupby([defined[key] for key in keys], sort=False).idxmax()
    return defined.loc[largest].reset_index(drop=True)


def describe_closing(table: pd.DataFrame) -> list[str]:
    """Say of each measure at which thresholds its gap closes, and what that costs in F1."""
    f1 = table.drop_duplicates("threshold").set_index("threshold")["f1"].fillna(-1)
    return [
        printable(f"{name_measure(str(measure))}: {_closing(rows, float(f1.idxmax()), f1.max())}.")
        for measure, rows in largest_gaps(table).groupby("measure", sort=False)
    ]


def _closing(rows: pd.DataFrame, best_threshold: float, best_f1: float) -> str:
    closed = rows[rows["closed"]]
    if closed.empty:
        complete = rows[rows["complete"]]
        chosen = complete.loc[complete["value"].abs().idxmin()]
        start = "some gap differs from 0 at every threshold; the largest is smallest at"
    else:
        chosen = closed.loc[closed["f1"].fillna(-1).idxmax()]
        low, high = map(format_number, (closed["threshold"].min(), closed["threshold"].max()))
        start = f"no gap differs from 0 at {len(closed)} of {len(rows)} thresholds, between {low}"
        start += f" and {high}; the best of these is"
    at_best = "".join(map(format_gap, rows[rows["threshold"] == best_threshold].to_dict("records")))
    return (
        f"{start} {format_number(chosen['threshold'])} ({format_gap(chosen)}), where F1 is"
        f" {format_number(chosen['f1'])}, {format_number(best_f1 - chosen['f1'])} below the best,"
        f" {format_number(best_f1)} at {format_number(best_threshold)} ({at_best or 'no value'})"
    )


def format_gap(row: Any) -> str:
    """Format ``women +.12 [.06,.18]`` with the simultaneous interval."""
    low, high = (format_number(row[f"{end}_simultaneous"]) for end in ("low", "high"))
    return f"{row['unprivileged']} {format_number(row['value'], '+')} [{low},{high}]"


def as_text(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table with a row per threshold: F1, and the largest gap of
    each measure.
    """
    largest = largest_gaps(table)
    measures = list(dict.fromkeys(largest["measure"]))
    gaps = {(row["threshold"], row["measure"]): row for row in largest.to_dict("records")}
    rows = [
        [
            *map(format_number, (threshold, f1)),
            *(
                format_gap(gaps[threshold, name]) if (threshold, name) in gaps else "-"
                for name in measures
            ),
        ]
        for threshold, f1 in table[["threshold", "f1"]].drop_duplicates().to_numpy().tolist()
    ]
    return ["threshold", "F1", *map(name_measure, measures)], rows
