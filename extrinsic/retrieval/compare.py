"""How near a query lies to the two wordings of its documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from files import InputError

if TYPE_CHECKING:
    from extrinsic.intervals import Floats
    from files.models.encodes import Encodes
    from files.retrieval import RetrievalQuery

TIE = 1e-6  # below it two cosines of float32 vectors are equal
SIGNS = {"male": 1.0, "female": -1.0, "": 0.0}


class Compared(NamedTuple):
    """n clusters of queries as an encoder has them, each the mean of its queries; a query without a
    cluster is one of its own. All but ``names`` (n,).

    similarity: cos(query, male wording) - cos(query, female wording), the mean over its relevant
    documents. first: the share of these whose male wording is the nearer one, ties half. relevance:
    the share of pairs of a relevant and an irrelevant document, in any wording, of which the
    relevant one is nearer, ties half; NaN without irrelevant ones. stereotype: 1 male, -1 female, 0
    none.
    """

    names: tuple[str, ...]
    similarity: Floats
    first: Floats
    relevance: Floats
    stereotype: Floats


def compare(queries: Sequence[RetrievalQuery], encoder: Encodes) -> Compared:
    """The queries as an encoder has them; the cosine with a vector of zeros is 0.

    Raises ``InputError`` where there is no query, for a cluster with two stereotypes, and for a
    vector that is not finite.
    """
    if not queries:
        raise InputError("there is no query; give a source that has some")
    clusters: dict[str, list[tuple[float, ...]]] = {}
    for query, cosines in zip(queries, _cosines(queries, encoder), strict=True):
        row = (*_of_query(query, cosines), SIGNS[query.stereotype])
        clusters.setdefault(query.cluster or query.text, []).append(row)
    for name, rows in clusters.items():
        if len({row[-1] for row in rows}) > 1:
            raise InputError(f"the queries of {name!r} have several stereotypes; give them one")
    means = np.array([np.mean(rows, axis=0) for rows in clusters.values()], dtype=np.float64)
    return Compared((*clusters,), *means.T)


def _cosines(queries: Sequence[RetrievalQuery], encoder: Encodes) -> list[Floats]:
    """Of each query with its documents, (documents, 2): the male and the female wording."""
    texts = [
        text
        for query in queries
        for text in (query.text, *(t for each in query.documents for t in (each.male, each.female)))
    ]
    places = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    unit = _unit_rows(list(places), encoder)
    found = []
    for query in queries:
        wordings = [(places[each.male], places[each.female]) for each in query.documents]
        found.append(unit[np.array(wordings)] @ unit[places[query.text]])
    return found


def _unit_rows(texts: Sequence[str], encoder: Encodes) -> Floats:
    vectors = np.asarray(encoder.encode(texts), dtype=np.float64)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        text = texts[int(np.argmin(finite))]
        raise InputError(f"the encoder's vector of {text!r} is not finite; check its weights")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _of_query(query: RetrievalQuery, cosines: Floats) -> tuple[float, float, float]:
    """Its similarity, first and relevance."""
    relevant = np.array([each.relevant for each in query.documents])
    male, female = cosines[relevant].T
    beats = np.nan
    if not relevant.all():
        beats = _share_above(np.subtract.outer(cosines[relevant].ravel(), cosines[~relevant]))
    return float((male - female).mean()), _share_above(male - female), beats


def _share_above(differences: Floats) -> float:
    """The share above 0, ties half."""
    return float(np.mean(np.where(np.abs(differences) < TIE, 0.5, differences > 0)))
