r"""The gaps of an encoder between the male and the female wording of documents.

    similarity = mean over queries of cos(query, male wording) - cos(query, female wording)
    first = share of queries whose male wording is the nearer one - 1/2

Both are positive where the male wording lies nearer, 0 where neither does; ``similarity`` lies in
[-2, 2], ``first`` in [-.5, .5]. ``stereotype_similarity`` and ``stereotype_first`` are the same of
the stereotypical minus the other wording, over the queries that have a stereotype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from extrinsic.gap_table import Row
from extrinsic.intervals import UNDEFINED, Estimate, Floats, mean_estimate, share_estimate
from extrinsic.retrieval.compare import Compared, compare
from extrinsic.sample import ALL
from intrinsic.resampling import times_drawn

if TYPE_CHECKING:
    from files.models.encodes import Encodes
    from files.retrieval import RetrievalQuery

WORDINGS = ("male", "female")
BY_STEREOTYPE = ("stereotypical", "counter-stereotypical")


def retrieval_rows(
    queries: Sequence[RetrievalQuery],
    encoder: Encodes,
    *,
    level: float = 0.95,
    least_support: int = 10,
) -> list[Row]:
    """Rows of the extrinsic table; ``support`` counts queries, those of one cluster as one.

    One of kind ``value``, measure ``relevance``: how often a relevant document lies nearer its
    query than an irrelevant one, in [0, 1]; .5: no better than chance. Then the gaps
    ``similarity`` and ``first``, over all queries and over those with a stereotype. Intervals are
    over queries: t for a mean, Wilson's for shares (see ``extrinsic.intervals``). ``resampled``:
    over 200 resamples of the queries, the same for every encoder.

    Below ``least_support`` queries, and below two, a row is NaN, with its reason; where the encoder
    tells no wordings apart the interval of ``similarity`` is. Raises ``InputError`` as ``compare``
    does.
    """
    found = compare(queries, encoder)
    least = max(least_support, 2)  # one query has no interval
    rows = [_utility(found.relevance[~np.isnan(found.relevance)], level, least)]
    if (leaning := found.stereotype != 0).any():
        turned = _towards_stereotype(found, leaning)
        rows += _gaps(turned, "stereotype", BY_STEREOTYPE, level, least)
    return rows + _gaps(found, "", WORDINGS, level, least)


def _towards_stereotype(found: Compared, leaning: NDArray[np.bool_]) -> Compared:
    names = tuple(name for name, kept in zip(found.names, leaning, strict=True) if kept)
    sign = found.stereotype[leaning]
    similarity = sign * found.similarity[leaning]
    first = 0.5 + sign * (found.first[leaning] - 0.5)
    return Compared(names, similarity, first, found.relevance[leaning], sign)


def _utility(shares: Floats, level: float, least: int) -> Row:
    reason = _lacks(len(shares), "queries with an irrelevant document", least)
    value = UNDEFINED if reason else share_estimate(shares, level)
    return Row("value", "relevance", ALL, **value._asdict(), support=len(shares), reason=reason)


def _gaps(
    found: Compared, of: str, wordings: tuple[str, str], level: float, least: int
) -> list[Row]:
    measures: tuple[tuple[str, Floats, Callable[[Floats, float], Estimate]], ...] = (
        ("similarity", found.similarity, mean_estimate),
        ("first", found.first - 0.5, _share_from_half),
    )
    n = len(found.names)
    reason = _lacks(n, f"queries with a {of}" if of else "queries", least)
    drawn = times_drawn(found.names)
    rows = []
    for measure, values, estimate in measures:
        value = UNDEFINED if reason else estimate(values, level)
        rows.append(
            Row(
                "gap",
                f"{of}_{measure}" if of else measure,
                privileged=wordings[0],
                unprivileged=wordings[1],
                **value._asdict(),
                support=n,
                reason=reason,
                resampled=() if reason else _resampled(values, drawn),
            )
        )
    return rows


def _lacks(found: int, items: str, least: int) -> str:
    return f"{found} {items}, fewer than {least}" if found < least else ""


def _share_from_half(values: Floats, level: float) -> Estimate:
    value, low, high = share_estimate(values + 0.5, level)
    return Estimate(value - 0.5, low - 0.5, high - 0.5)


def _resampled(values: Floats, drawn: NDArray[np.intp]) -> list[float]:
    """The mean of values (n,) over resamples (n, 200); NaN of an empty one."""
    with np.errstate(invalid="ignore"):
        means: list[float] = (values @ drawn / drawn.sum(axis=0)).tolist()
    return means
