r"""Gaps of an encoder between the male and the female wording of documents.

    similarity = mean over queries of cos(query, male wording) - cos(query, female wording)
    first = share of queries whose male wording is nearer - 1/2

Both are positive if the male wording lies nearer, 0 if neither does; ``similarity`` lies in
[-2, 2], ``first`` in [-.5, .5]. ``stereotype_similarity`` and ``stereotype_first`` compare the
stereotypical with the other wording, over the queries that have a stereotype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.files import InputError
from biasbridge.intrinsic.resampling import resampled_means, times_drawn
from biasbridge.stats.intervals import UNDEFINED, Estimate, mean_estimate
from biasbridge.stats.proportions import share_estimate

if TYPE_CHECKING:
    from biasbridge.files.documents import RetrievalQuery
    from biasbridge.files.models.encoder import Encodes
    from biasbridge.stats.arrays import Floats

_WORDINGS = ("male", "female")
_BY_STEREOTYPE = ("stereotypical", "counter-stereotypical")
_TIE = 1e-6  # smaller differences of cosines of float32 vectors are ties
_SIGNS = {"male": 1.0, "female": -1.0, "": 0.0}


def retrieval_rows(
    queries: Sequence[RetrievalQuery],
    encoder: Encodes,
    *,
    level: float = 0.95,
    min_support: int = 10,
) -> list[GapRow]:
    """Compute the utility and the gaps of an encoder, as rows of the extrinsic table.

    Parameters
    ----------
    queries : sequence of RetrievalQuery
        With a male and a female wording of each document.
    encoder : Encodes
        Any encoder of texts.
    level : float, default=0.95
        Confidence level, in (0, 1).
    min_support : int, default=10
        Queries below which, and below two, a row is NaN, with its reason.

    Returns
    -------
    list of GapRow
        ``support`` counts queries, those of one cluster as one. Kind ``value``, measure
        ``relevance``: how often a relevant document lies nearer its query than an irrelevant one,
        in [0, 1]; .5: chance. Then the gaps ``similarity`` and ``first``, over the queries with a
        stereotype and over all. Intervals are over queries: t for means (NaN if the encoder does
        not distinguish wordings), Wilson's for shares. ``resampled``: over 200 resamples of the
        queries, the same for every encoder.

    Raises
    ------
    InputError
        No queries, a cluster with two stereotypes, or a vector that is not finite.
    """
    comparison = _compare_wordings(queries, encoder)
    min_queries = max(min_support, 2)  # one query has no interval
    relevance = comparison.relevance[~np.isnan(comparison.relevance)]
    rows = [_utility(relevance, level, min_queries)]
    if (has_stereotype := comparison.stereotype != 0).any():
        towards = _towards_stereotype(comparison, has_stereotype)
        rows += _gaps(towards, "stereotype", _BY_STEREOTYPE, level, min_queries)
    return rows + _gaps(comparison, "", _WORDINGS, level, min_queries)


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


def _compare_wordings(queries: Sequence[RetrievalQuery], encoder: Encodes) -> WordingComparison:
    """Compare the wordings of all documents; the cosine with a zero vector is 0.

    Raises ``InputError`` for no queries, for a cluster with two stereotypes, and for a
    vector that is not finite.
    """
    if not queries:
        raise InputError("no queries; give a source that has some")
    clusters: dict[str, list[tuple[float, ...]]] = {}
    for query, cosines in zip(queries, _cosines(queries, encoder), strict=True):
        row = (*_query_values(query, cosines), _SIGNS[query.stereotype])
        clusters.setdefault(query.cluster or query.text, []).append(row)
    for name, rows in clusters.items():
        if len({row[-1] for row in rows}) > 1:
            raise InputError(f"the queries of {name!r} have several stereotypes; give them one")
    means = np.array([np.mean(rows, axis=0) for rows in clusters.values()], dtype=np.float64)
    return WordingComparison((*clusters,), *means.T)


def _towards_stereotype(
    comparison: WordingComparison, has_stereotype: NDArray[np.bool_]
) -> WordingComparison:
    queries = np.flatnonzero(has_stereotype)
    sign = comparison.stereotype[queries]
    return WordingComparison(
        tuple(comparison.names[query] for query in queries),
        sign * comparison.similarity[queries],
        0.5 + sign * (comparison.first[queries] - 0.5),
        comparison.relevance[queries],
        sign,
    )


def _utility(shares: Floats, level: float, min_queries: int) -> GapRow:
    reason = _low_support_reason(len(shares), "queries with an irrelevant document", min_queries)
    value = UNDEFINED if reason else share_estimate(shares, level)
    return GapRow("value", "relevance", ALL, **value._asdict(), support=len(shares), reason=reason)


def _gaps(
    comparison: WordingComparison,
    prefix: str,
    wordings: tuple[str, str],
    level: float,
    min_queries: int,
) -> list[GapRow]:
    measures: tuple[tuple[str, Floats, Callable[[Floats, float], Estimate]], ...] = (
        ("similarity", comparison.similarity, mean_estimate),
        ("first", comparison.first - 0.5, _share_from_half),
    )
    n = len(comparison.names)
    queries = f"queries with a {prefix}" if prefix else "queries"
    reason = _low_support_reason(n, queries, min_queries)
    times = times_drawn(comparison.names)
    rows = []
    for measure, values, estimate in measures:
        value = UNDEFINED if reason else estimate(values, level)
        rows.append(
            GapRow(
                "gap",
                f"{prefix}_{measure}" if prefix else measure,
                privileged=wordings[0],
                unprivileged=wordings[1],
                **value._asdict(),
                support=n,
                reason=reason,
                resampled=() if reason else resampled_means(values, times),
            )
        )
    return rows


def _low_support_reason(n: int, items: str, min_queries: int) -> str:
    return f"{n} {items}, fewer than {min_queries}" if n < min_queries else ""


def _share_from_half(values: Floats, level: float) -> Estimate:
    value, low, high = share_estimate(values + 0.5, level)
    return Estimate(value - 0.5, low - 0.5, high - 0.5)


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
    return float(np.mean(np.where(np.abs(differences) < _TIE, 0.5, differences > 0)))
