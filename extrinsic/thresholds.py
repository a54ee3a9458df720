"""The gaps of a classifier at every threshold of its score: predicted 1 is a score at or above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from biasbridge.extrinsic.claims import require_gap
from biasbridge.extrinsic.gap_table import WITHOUT_GAP, GapRow, as_table, difference_rows
from biasbridge.extrinsic.grouped_predictions import ALL, GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.measures import MEASURES, Counts
from biasbridge.extrinsic.predictions import GapRequest, read_grouped_predictions
from biasbridge.files import InputError
from biasbridge.stats.formatting import format_trimmed
from biasbridge.stats.measure_facts import measure_heading

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_MAX_THRESHOLDS = 101
_AT_THRESHOLD = tuple(name for name in MEASURES if name not in WITHOUT_GAP)
_NOT_OF_GAPS = ["kind", "group", "majority_baseline", "resampled"]


@dataclass(frozen=True)
class _CountedPredictions(GroupedPredictions):
    """Predictions of groups that share no item and no unit: their ``counts`` tell all."""

    counts: Counts = field(kw_only=True)


def threshold_table(request: GapRequest, table: pd.DataFrame) -> pd.DataFrame:
    """Compute the gaps at each of at most ``_MAX_THRESHOLDS`` quantiles of the score.

    ``request``: of one ``score``, and one ``pred`` that is no column. Columns: ``threshold``,
    ``f1`` over all items, and those of the gaps in ``biasbridge.extrinsic.gap_table.gap_table``.
    """
    require_gap(request.measured, _AT_THRESHOLD)
    [unused] = request.pred
    classifiers, gaps = request.read(table.assign(**{unused: False}))
    with_score = replace(gaps, measures=(*request.measured, "auc"))
    sample = read_grouped_predictions(classifiers[unused], with_score)
    thresholds = _choose_thresholds(sample.score)
    rows: list[GapRow] = []
    threshold_and_f1: list[tuple[float, float]] = []
    for threshold, at_threshold in zip(thresholds, _at_thresholds(sample, thresholds), strict=True):
        rows += difference_rows(at_threshold, gaps)
        f1 = at_threshold.group_measure("f1", GroupOrRest(ALL)).estimate.value
        threshold_and_f1 += [(threshold, f1)] * (len(rows) - len(threshold_and_f1))
    if not rows:
        raise InputError("no group is compared with another; name a further group")
    first = pd.DataFrame(threshold_and_f1, columns=["threshold", "f1"])
    by_threshold = pd.concat([first, as_table(rows).drop(columns=_NOT_OF_GAPS)], axis=1)
    by_threshold.attrs["notes"] = [
        *table.attrs.get("notes", []),
        *classifiers[unused].attrs["notes"],
    ]
    return by_threshold


def threshold_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row of text per threshold: F1, and the largest gap of each measure."""
    largest = _largest_gaps(table)
    largest["text"] = [_format_gap(row) for row in largest.to_dict("records")]
    text = table[["threshold", "f1"]].drop_duplicates().map(format_trimmed)
    text["threshold"] = table["threshold"].map(_format_threshold)
    for measure in table["measure"].unique():
        gaps = largest[largest["measure"] == measure].set_index("threshold")["text"]
        text[f"gap in {measure_heading(measure)}"] = (
            table["threshold"].map(gaps).astype(object).fillna("-")
        )
    return text.rename(columns={"f1": "F1 of all"})


def _format_threshold(threshold: float) -> str:
    """Format with four digits, however small: ``.0004123``."""
    return f"{threshold:.4g}".replace("0.", ".", 1) if abs(threshold) < 1 else f"{threshold:.4g}"


def _choose_thresholds(score: Floats | None) -> Floats:
    """Return all scores, or quantiles of them if they are more than ``_MAX_THRESHOLDS``."""
    assert score is not None
    distinct = np.unique(score)
    if len(distinct) <= _MAX_THRESHOLDS:
        return distinct
    return np.unique(np.quantile(score, np.linspace(0, 1, _MAX_THRESHOLDS), method="lower"))


def _at_thresholds(sample: GroupedPredictions, thresholds: Floats) -> Iterator[GroupedPredictions]:
    """Yield the predictions at each of the ascending thresholds, from cumulative counts unless
    groups share items or units.
    """
    assert sample.score is not None
    label, n, n_groups = sample.confusion_cell // 2, len(thresholds) + 1, len(sample.numbered)
    if sample.overlapping:
        for threshold in thresholds:
            cells = 2 * label + (sample.score >= threshold)
            yield replace(sample, confusion_cell=cells, score=None).merge_equal()
        return
    reached = label * n + np.searchsorted(thresholds, sample.score, side="right")
    in_groups = 2 * n * sample.group_id + reached[sample.member]
    in_none = 2 * n * n_groups + reached[sample.ungrouped]
    bins = np.concatenate([in_groups, in_none, 2 * n * (n_groups + 1) + reached])
    by_bin = np.bincount(bins, minlength=2 * n * (n_groups + 2)).reshape(-1, 2, n)
    predicted = by_bin[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    rest = by_bin.sum(axis=-1, keepdims=True) - predicted
    cells = np.stack([rest[:, 0], predicted[:, 0], rest[:, 1], predicted[:, 1]], axis=-1)
    empty = np.zeros(0, dtype=np.int64)
    options = {name: getattr(sample, name) for name in ("level", "min_support", "unknown")}
    for counts in np.moveaxis(cells, 1, 0):
        yield _CountedPredictions(sample.groups, empty, empty, empty, counts=counts, **options)


def _largest_gaps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest gap, of either sign, of each measure and threshold of a table."""
    gaps = table[table["value"].notna()]
    sizes = gaps["value"].abs().groupby([gaps["measure"], gaps["threshold"]], sort=False)
    return gaps.loc[sizes.idxmax()].reset_index(drop=True)


def _format_gap(row: Any) -> str:
    """Format ``women +.12 [.06,.18]`` with the simultaneous interval."""
    low, high = (format_trimmed(row[f"{end}_simultaneous"]) for end in ("low", "high"))
    return f"{row['unprivileged']} {format_trimmed(row['value'], '+')} [{low},{high}]"
