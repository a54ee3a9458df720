"""Cosines of queries with the male and the female wording of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.files.models.encodes import Encodes
    from biasbridge.files.retrieval import RetrievalQuery
    from biasbridge.stats.arrays import Floats

TIE = 1e-6  # smaller differences of cosines of float32 vectors are ties
SIGNS = {"male": 1.0, "female": -1.0, "": 0.0}


class WordingComparison(NamedTuple):
    """Means over the queries of each of n clusters; a query without a cluster is its own. All but
    ``names`` (n,), ties count half.

    similarity: mean over relevant documents of cos(query, male wording) - cos(query, female
    wording). first: share of relevant documents whose male wording is nearer. relevance: share of
    pairs of a relevant and an irrelevant document, in any wording, in which the relevant one is
    nearer; NaN without irrelevant ones. stereotype: 1 male, -1 female, 0 none.
    """

    names: tuple[str, ...]
    similarity: Floats
    first: Floats
    relevance: Floats
    stereotype: Floats


def compare_wordings(queries: Sequence[RetrievalQuery], encoder: Encodes) -> WordingComparison:
    """Compare the wordings of all documents; the cosine with a zero vector is 0.

    Raises ``InputError`` for no queries, for a cluster with two stereotypes, and for a
    vector that is not finite.
    """
    if not queries:
        raise InputError("no queries; give a source that has some")
    clusters: dict[str, list[tuple[float, ...]]] = {}
    for query, cosines in zip(queries, _cosines(queries, encoder), strict=True):
        row = (*_query_values(query, cosines), SIGNS[query.stereotype])
        clusters.setdefault(query.cluster or query.text, []).append(row)
    for name, rows in clusters.items():
        if len({row[-1] for row in rows}) > 1:
            raise InputError(f"the queries of {name!r} have several stereotypes; give them one")
    means = np.array([np.mean(rows, axis=0) for rows in clusters.values()], dtype=np.float64)
    return WordingComparison((*clusters,), *means.T)


def _cosines(queries: Sequence[RetrievalQuery], encoder: Encodes) -> list[Floats]:
    """Return each query's cosines with the male and female wording of documents, (documents, 2)."""
    texts = [
        text
        for query in queries
        for text in (query.text, *(t for doc in query.documents for t in (doc.male, doc.female)))
    ]
    row = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    unit = _unit_rows(list(row), encoder)
    cosines = []
    for query in queries:
        wordings = [(row[document.male], row[document.female]) for document in query.documents]
        cosines.append(unit[np.array(wordings)] @ unit[row[query.text]])
    return cosines


def _unit_rows(texts: Sequence[str], encoder: Encodes) -> Floats:
    vectors = np.asarray(encoder.encode(texts), dtype=np.float64)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        text = texts[int(np.argmin(finite))]
        raise InputError(f"the encoder's vector of {text!r} is not finite; check its weights")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _query_values(query: RetrievalQuery, cosines: Floats) -> tuple[float, float, float]:
    relevant = np.array([document.relevant for document in query.documents])
    male, female = cosines[relevant].T
    relevance = np.nan
    if not relevant.all():
        relevance = _share_above(np.subtract.outer(cosines[relevant].ravel(), cosines[~relevant]))
    return float((male - female).mean()), _share_above(male - female), relevance


def _share_above(differences: Floats) -> float:
    """Return the share above 0, ties half."""
    return float(np.mean(np.where(np.abs(differences) < TIE, 0.5, differences > 0)))
