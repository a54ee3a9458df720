"""Counts of every metric in a document; recall, precision and F1 of their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from biasbridge.extrinsic.coreference.scorer import ceaf, links
from biasbridge.extrinsic.coreference.scorer.overlap import Count, Overlap, overlap

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster, Document
    from biasbridge.stats.arrays import Floats

COUNTERS: dict[str, Callable[[Overlap], Count]] = {
    "mentions": links.detection,
    "muc": links.muc,
    "b3": links.b_cubed,
    "ceaf_m": ceaf.ceaf_m,
    "ceaf_e": ceaf.ceaf_e,
    "lea": links.lea,
    "blanc_coreferent": links.coreferent,
    "blanc_not_coreferent": links.not_coreferent,
}
METRICS = ("mentions", "muc", "b3", "ceaf_e", "ceaf_m", "lea", "blanc", "conll")
AVERAGED = ("muc", "b3", "ceaf_e")


class Score(NamedTuple):
    """Recall, precision and F1, from 0 to 1, larger is better."""

    recall: float
    precision: float
    f1: float


def counts(key: Sequence[Cluster], response: Sequence[Cluster]) -> npt.NDArray[np.float64]:
    """Compute numerator and denominator of recall, then of precision, for ``COUNTERS``,
    shape (8, 4).

    Either side may be empty. Singletons are counted: leave them out of both sides if the key does
    not annotate them. Raises ``InputError`` for an empty cluster and for a mention twice
    in one clustering.
    """
    table = overlap(key, response)
    return np.array([count(table) for count in COUNTERS.values()])


def rates(totals: Floats) -> Floats:
    """Compute recall, precision and F1 (last axis) of each of ``METRICS`` (the axis before it).

    ``totals`` has shape (..., 8, 4), sums of :func:`counts`; the result (..., 8, 3).
    F1 = 2 P R / (P + R). 0 / 0 is 0, as in the reference scorer.

    ``blanc`` is the mean of its two halves, F1 included; if the key has no pair of one half, it is
    the other half alone. ``conll`` is the mean of MUC, B-cubed and CEAF-e, of recall and
    precision as of F1 (Pradhan et al., 2012, give that of F1).
    """
    single = _single(totals)
    table = {name: single[..., row, :] for row, name in enumerate(COUNTERS)}
    table["blanc"] = _blanc(totals, table)
    table["conll"] = np.mean([table[name] for name in AVERAGED], axis=0)
    return np.stack([table[name] for name in METRICS], axis=-2)


def score(pairs: Iterable[tuple[Document, Document]]) -> dict[str, Score]:
    """Score pairs (key, response) of documents, by metric; all 0 for no documents."""
    totals = np.zeros((len(COUNTERS), 4))
    for key, response in pairs:
        totals += counts(key.clusters, response.clusters)
    return {name: Score(*map(float, row)) for name, row in zip(METRICS, rates(totals), strict=True)}


def _single(totals: Floats) -> Floats:
    recall = _ratio(totals[..., 0], totals[..., 1])
    precision = _ratio(totals[..., 2], totals[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    return np.stack([recall, precision, f1], axis=-1)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return ``numerator / denominator``, 0 where the denominator is 0."""
    zeros = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=zeros, where=denominator != 0)


def _blanc(totals: Floats, table: dict[str, Floats]) -> Floats:
    names = ("blanc_coreferent", "blanc_not_coreferent")
    halves = np.stack([table[name] for name in names])
    in_key = np.stack([totals[..., list(COUNTERS).index(name), 1:2] > 0 for name in names])
    return _ratio(np.sum(halves * in_key, axis=0), np.sum(in_key, axis=0, dtype=np.float64))
