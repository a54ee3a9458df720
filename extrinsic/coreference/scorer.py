"""Scores of coreference: clusters of mentions (response) against the true ones (key).

All metrics are computed from the contingency table of the clusters of both (``Overlap``).
``counts`` returns numerators and denominators of one document, to be summed over documents;
``rates`` converts such sums to recall, precision and F1. A bootstrap over documents is a weighted
sum of rows: ``rates(np.einsum("bd,dmc->bmc", weights, rows))``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from biasbridge.files import InputError, nearest

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster, Document, Span
    from biasbridge.stats.arrays import Floats

__all__ = ["COUNTERS", "METRICS", "Score", "counts", "pair_documents", "rates", "score"]
Sizes = npt.NDArray[np.int64]
_Similarities = npt.NDArray[np.float64]
METRICS = ("mentions", "muc", "b3", "ceaf_e", "ceaf_m", "lea", "blanc", "conll")
_AVERAGED = ("muc", "b3", "ceaf_e")


class Overlap(NamedTuple):
    """Sparse contingency table.

    ``keys`` and ``responses`` are the sizes of the clusters. Cell c says that cluster ``rows[c]``
    of the key and ``columns[c]`` of the response share ``shared[c]`` mentions, at least one.
    """

    keys: Sizes
    responses: Sizes
    rows: Sizes
    columns: Sizes
    shared: Sizes


class Hits(NamedTuple):
    """Recall ``recall_hits / key`` and precision ``precision_hits / response``.

    All four are summed over documents before the division, as in the reference scorer.
    """

    recall_hits: float
    key: float
    precision_hits: float
    response: float


def _detection(table: Overlap) -> Hits:
    """Count mentions with both ends in key and response, and mentions of key and of response."""
    common = float(np.sum(table.shared))
    return Hits(common, float(np.sum(table.keys)), common, float(np.sum(table.responses)))


def _b_cubed(table: Overlap) -> Hits:
    """Compute B-cubed (Bagga & Baldwin, 1998) for any response, as Cai & Strube (2010) and the
    reference scorer: a mention missing on one side counts 0 on the other.

    Recall is the mean over the key's mentions m of |K(m) & R(m)| / |K(m)|, precision that over the
    response's of |K(m) & R(m)| / |R(m)|, where K(m) and R(m) are the clusters of m.
    """
    squares = np.square(table.shared)
    return Hits(
        float(np.sum(squares / table.keys[table.rows])),
        float(np.sum(table.keys)),
        float(np.sum(squares / table.responses[table.columns])),
        float(np.sum(table.responses)),
    )


def _muc(table: Overlap) -> Hits:
    """Compute MUC (Vilain et al., 1995): minimal links within clusters.

    A cluster of n mentions has n - 1 links; if the other side splits it into p parts, n - p of them
    are common. Cells of s shared mentions add s - 1 to both sides. Singletons count 0.
    """
    common = float(np.sum(table.shared - 1))
    return Hits(common, float(np.sum(table.keys - 1)), common, float(np.sum(table.responses - 1)))


def _lea(table: Overlap) -> Hits:
    """Compute LEA (Moosavi & Strube, 2016): resolved links of each entity, weighted by its size.

    Recall is sum_k |k| sum_r links(k & r) / links(k) over sum_k |k|, links(n) = n (n - 1) / 2;
    precision likewise with sides exchanged. A singleton has one link, to itself, resolved if it is
    a singleton on the other side too.
    """
    key_sizes, response_sizes = table.keys[table.rows], table.responses[table.columns]
    return Hits(
        _resolved(table.shared, key_sizes, response_sizes),
        float(np.sum(table.keys)),
        _resolved(table.shared, response_sizes, key_sizes),
        float(np.sum(table.responses)),
    )


def _coreferent(table: Overlap) -> Hits:
    """Count pairs of mentions of one cluster, for BLANC (Recasens & Hovy, 2011; for any response
    Luo et al., 2014).
    """
    common = _pairs(table.shared)
    return Hits(common, _pairs(table.keys), common, _pairs(table.responses))


def _not_coreferent(table: Overlap) -> Hits:
    """Count pairs of mentions of two clusters, for BLANC."""
    by_key = np.bincount(table.rows, table.shared, len(table.keys))
    by_response = np.bincount(table.columns, table.shared, len(table.responses))
    together = _pairs(by_key) + _pairs(by_response) - _pairs(table.shared)
    common = _all_pairs(table.shared) - together
    return Hits(
        common,
        _all_pairs(table.keys) - _pairs(table.keys),
        common,
        _all_pairs(table.responses) - _pairs(table.responses),
    )


def _ceaf_m(table: Overlap) -> Hits:
    """Compute CEAF by mentions: the similarity of clusters is the mentions they share (phi 3)."""
    best = _best_alignment(table, table.shared.astype(np.float64))
    return Hits(best, float(np.sum(table.keys)), best, float(np.sum(table.responses)))


def _ceaf_e(table: Overlap) -> Hits:
    """Compute CEAF by entities: the similarity is 2 shared / (size + size) (phi 4), so that all
    clusters have equal weight.
    """
    sizes = table.keys[table.rows] + table.responses[table.columns]
    best = _best_alignment(table, 2 * table.shared / sizes)
    return Hits(best, float(len(table.keys)), best, float(len(table.responses)))


COUNTERS: dict[str, Callable[[Overlap], Hits]] = {
    "mentions": _detection,
    "muc": _muc,
    "b3": _b_cubed,
    "ceaf_m": _ceaf_m,
    "ceaf_e": _ceaf_e,
    "lea": _lea,
    "blanc_coreferent": _coreferent,
    "blanc_not_coreferent": _not_coreferent,
}


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
    table = _cluster_overlap(key, response)
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
    table["conll"] = np.mean([table[name] for name in _AVERAGED], axis=0)
    return np.stack([table[name] for name in METRICS], axis=-2)


def score(pairs: Iterable[tuple[Document, Document]]) -> dict[str, Score]:
    """Score pairs (key, response) of documents, by metric; all 0 for no documents."""
    totals = np.zeros((len(COUNTERS), 4))
    for key, response in pairs:
        totals += counts(key.clusters, response.clusters)
    return {name: Score(*map(float, row)) for name, row in zip(METRICS, rates(totals), strict=True)}


def pair_documents(
    key: Iterable[Document], response: Iterable[Document]
) -> list[tuple[Document, Document]]:
    """Pair each document of the key, in order, with that of the same name and part in the response.

    Raises ``InputError``, naming the first difference, for a repeated or missing document, and for
    documents whose tokens differ; sentences may differ.
    """
    keys, responses = _by_title(key, "key"), _by_title(response, "response")
    for titles, opposite_titles, has, lacks in (
        (keys, responses, "key", "response"),
        (responses, keys, "response", "key"),
    ):
        if missing := [title for title in titles if title not in opposite_titles]:
            close = nearest(missing[0], opposite_titles)
            raise InputError(
                f"the {has} has {missing[0]}, the {lacks} does not{close};"
                f" {len(missing)} of {len(titles)} documents are missing"
            )
    for title, document in keys.items():
        _check_tokens(document, responses[title])
    return [(document, responses[title]) for title, document in keys.items()]


def _cluster_overlap(key: Sequence[Cluster], response: Sequence[Cluster]) -> Overlap:
    """Return the table of two clusterings; mentions are equal if both ends are.

    Raises ``InputError`` for an empty cluster and for a mention twice in one clustering.
    """
    key_numbers = _cluster_numbers(key, "key")
    cells = Counter(
        (key_numbers[mention], column)
        for mention, column in _cluster_numbers(response, "response").items()
        if mention in key_numbers
    )
    table = np.array([(*cell, n) for cell, n in cells.items()], dtype=np.int64).reshape(-1, 3)
    return Overlap(_sizes(key), _sizes(response), *table.T)


def _cluster_numbers(clusters: Sequence[Cluster], side: str) -> dict[Span, int]:
    numbers: dict[Span, int] = {}
    for number, cluster in enumerate(clusters):
        if not cluster:
            raise InputError(f"cluster {number} of the {side} has no mention; leave it out")
        for mention in cluster:
            if mention in numbers:
                raise InputError(
                    f"the {side} has the mention {mention} twice; give each mention one cluster"
                )
            numbers[mention] = number
    return numbers


def _sizes(clusters: Sequence[Cluster]) -> Sizes:
    return np.array([len(cluster) for cluster in clusters], dtype=np.int64)


def _resolved(shared: Sizes, sizes: Sizes, matched_sizes: Sizes) -> float:
    """Sum |k| links(shared) / links(k) = shared (shared - 1) / (|k| - 1) over cells."""
    weighted = shared * (shared - 1) / np.maximum(sizes - 1, 1)
    return float(np.sum(np.where(sizes == 1, matched_sizes == 1, weighted)))


def _pairs(sizes: Sizes | npt.NDArray[np.float64]) -> float:
    """Count pairs within sets of these sizes."""
    return float(np.sum(sizes * (sizes - 1)) / 2)


def _all_pairs(sizes: Sizes) -> float:
    """Count pairs within the union of sets of these sizes."""
    total = float(np.sum(sizes))
    return total * (total - 1) / 2


def _best_alignment(table: Overlap, similarities: _Similarities) -> float:
    """Return the largest sum of similarities of cells no two of which share a row or a column.

    Each connected component of the sparse table is solved separately, as clusters in different
    ones do not compete.
    """
    if not len(similarities):
        return 0.0
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    n_keys, n_responses = len(table.keys), len(table.responses)
    nodes = n_keys + n_responses
    edges = coo_array(
        (np.ones(len(similarities)), (table.rows, n_keys + table.columns)), shape=(nodes, nodes)
    )
    _, parts = connected_components(edges.tocsr(), directed=False)
    part = parts[table.rows]
    order = np.argsort(part, kind="stable")
    starts = np.flatnonzero(np.diff(part[order])) + 1
    return float(
        sum(
            _best_of_part(table.rows[cells], table.columns[cells], similarities[cells])
            for cells in np.split(order, starts)
        )
    )


def _best_of_part(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], similarities: _Similarities
) -> float:
    own_rows, row = np.unique(rows, return_inverse=True)
    own_columns, column = np.unique(columns, return_inverse=True)
    if min(len(own_rows), len(own_columns)) == 1:
        return float(np.max(similarities))
    from scipy.optimize import linear_sum_assignment  # slow to import

    dense = np.zeros((len(own_rows), len(own_columns)))
    dense[row, column] = similarities
    return float(np.sum(dense[linear_sum_assignment(dense, maximize=True)]))


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


def _by_title(documents: Iterable[Document], side: str) -> dict[str, Document]:
    by_title: dict[str, Document] = {}
    for document in documents:
        if by_title.setdefault(document.title, document) is not document:
            raise InputError(f"the {side} has {document.title} twice")
    return by_title


def _check_tokens(key: Document, response: Document) -> None:
    for number, (key_token, token) in enumerate(zip_longest(key.tokens, response.tokens)):
        if key_token != token:
            raise InputError(
                f"{key.title}, token {number}: the key {_describe(key_token)}, the response"
                f" {_describe(token)};"
                " score a response to the same text"
            )


def _describe(token: str | None) -> str:
    return "has ended" if token is None else f"has {token!r}"
