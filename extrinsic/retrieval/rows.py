r"""Gaps of an encoder between the male and the female wording of documents.

    similarity = mean over queries of cos(query, male wording) - cos(query, female wording)
    first = share of queries whose male wording is nearer - 1/2

Both are positive if the male wording lies nearer, 0 if neither does; ``similarity`` lies in
[-2, 2], ``first`` in [-.5, .5]. ``stereotype_similarity`` and ``stereotype_first`` compare the
stereotypical with the other wording, over the queries that have a stereotype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.gap_table import Row
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.extrinsic.retrieval.wording_comparison import WordingComparison, compare_wordings
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.stats.intervals import UNDEFINED, Estimate, mean_estimate, share_estimate

if TYPE_CHECKING:
    from biasbridge.files.models.encodes import Encodes
    from biasbridge.files.retrieval import RetrievalQuery
    from biasbridge.stats.arrays import Floats

WORDINGS = ("male", "female")
BY_STEREOTYPE = ("stereotypical", "counter-stereotypical")


def retrieval_rows(
    queries: Sequence[RetrievalQuery],
    encoder: Encodes,
    *,
    level: float = 0.95,
    min_support: int = 10,
) -> list[Row]:
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
    list of Row
        ``support`` counts queries, those of one cluster as one. Kind ``value``, measure
        ``relevance``: how often a relevant document lies nearer its query than an irrelevant one,
        in [0, 1]; .5: chance. Then the gaps ``similarity`` and ``first``, over the queries with a
        stereotype and over all. Intervals are over queries: t for means (NaN if the encoder does
        not distinguish wordings), Wilson's for shares. ``resampled``: over 200 resamples of the
        queries, the same for every encoder.

    Raises
    ------
    InputError
        As ``compare_wordings``.
    """
    comparison = compare_wordings(queries, encoder)
    min_queries = max(min_support, 2)  # one query has no interval
    relevance = comparison.relevance[~np.isnan(comparison.relevance)]
    rows = [_utility(relevance, level, min_queries)]
    if (has_stereotype := comparison.stereotype != 0).any():
        towards = _towards_stereotype(comparison, has_stereotype)
        rows += _gaps(towards, "stereotype", BY_STEREOTYPE, level, min_queries)
    return rows + _gaps(comparison, "", WORDINGS, level, min_queries)


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


def _utility(shares: Floats, level: float, min_queries: int) -> Row:
    reason = _low_support_reason(len(shares), "queries with an irrelevant document", min_queries)
    value = UNDEFINED if reason else share_estimate(shares, level)
    return Row("value", "relevance", ALL, **value._asdict(), support=len(shares), reason=reason)


def _gaps(
    comparison: WordingComparison,
    prefix: str,
    wordings: tuple[str, str],
    level: float,
    min_queries: int,
) -> list[Row]:
    measures: tuple[tuple[str, Floats, Callable[[Floats, float], Estimate]], ...] = (
        ("similarity", comparison.similarity, mean_estimate),
        ("first", comparison.first - 0.5, _share_from_half),
    )
    n = len(comparison.names)
    queries = f"queries with a {prefix}" if prefix else "queries"
    reason = _low_support_reason(n, queries, min_queries)
    drawn = times_drawn(comparison.names)
    rows = []
    for measure, values, estimate in measures:
        value = UNDEFINED if reason else estimate(values, level)
        rows.append(
            Row(
                "gap",
                f"{prefix}_{measure}" if prefix else measure,
                privileged=wordings[0],
                unprivileged=wordings[1],
                **value._asdict(),
                support=n,
                reason=reason,
                resampled=() if reason else resampled_means(values, drawn),
            )
        )
    return rows


def _low_support_reason(n: int, items: str, min_queries: int) -> str:
    return f"{n} {items}, fewer than {min_queries}" if n < min_queries else ""


def _share_from_half(values: Floats, level: float) -> Estimate:
    value, low, high = share_estimate(values + 0.5, level)
    return Estimate(value - 0.5, low - 0.5, high - 0.5)


def resampled_means(values: Floats, drawn: NDArray[np.intp]) -> list[float]:
    """Return the mean of values (n,) in each resample (n, 200); NaN in an empty one."""
    with np.errstate(invalid="ignore"):
        means: list[float] = (values @ drawn / drawn.sum(axis=0)).tolist()
    return means
