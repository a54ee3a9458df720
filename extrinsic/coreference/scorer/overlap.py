"""How many mentions each cluster of the key shares with each of the response; all that a metric
needs to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from files import InputError

if TYPE_CHECKING:
    from files.documents import Cluster, Span

Counts = npt.NDArray[np.int64]


class Overlap(NamedTuple):
    """A sparse table; all that every metric asks.

    ``keys`` and ``responses`` are the sizes of the clusters. Cell c says that cluster ``rows[c]``
    of the key and ``columns[c]`` of the response share ``shared[c]`` mentions, at least one.
    """

    keys: Counts
    responses: Counts
    rows: Counts
    columns: Counts
    shared: Counts


class Count(NamedTuple):
    """Recall is ``found / key``, precision ``right / response``.

    Over documents each of the four is summed before the division, as the reference scorer does.
    """

    found: float
    key: float
    right: float
    response: float


def overlap(key: Sequence[Cluster], response: Sequence[Cluster]) -> Overlap:
    """The table of two clusterings, mentions equal where both ends are.

    Raises ``InputError`` for an empty cluster and for a mention in two places of one clustering.
    """
    places = _places(key, "key")
    cells = Counter(
        (places[mention], column)
        for mention, column in _places(response, "response").items()
        if mention in places
    )
    table = np.array([(*cell, n) for cell, n in cells.items()], dtype=np.int64).reshape(-1, 3)
    return Overlap(_sizes(key), _sizes(response), *table.T)


def _places(clusters: Sequence[Cluster], side: str) -> dict[Span, int]:
    """The cluster of each mention."""
    places: dict[Span, int] = {}
    for number, cluster in enumerate(clusters):
        if not cluster:
            raise InputError(f"cluster {number} of the {side} has no mention; leave it out")
        for mention in cluster:
            if mention in places:
                raise InputError(
                    f"the {side} has the mention {mention} twice; give each mention one cluster"
                )
            places[mention] = number
    return places


def _sizes(clusters: Sequence[Cluster]) -> Counts:
    return np.array([len(cluster) for cluster in clusters], dtype=np.int64)
