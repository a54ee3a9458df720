"""Contingency table of the clusters of key and response, from which all metrics are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster, Span

Counts = npt.NDArray[np.int64]


class Overlap(NamedTuple):
    """Sparse contingency table.

    ``keys`` and ``responses`` are the sizes of the clusters. Cell c says that cluster ``rows[c]``
    of the key and ``columns[c]`` of the response share ``shared[c]`` mentions, at least one.
    """

    keys: Counts
    responses: Counts
    rows: Counts
    columns: Counts
    shared: Counts


class Count(NamedTuple):
    """Recall ``recall_hits / key`` and precision ``precision_hits / response``.

    All four are summed over documents before the division, as in the reference scorer.
    """

    recall_hits: float
    key: float
    precision_hits: float
    response: float


def overlap(key: Sequence[Cluster], response: Sequence[Cluster]) -> Overlap:
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


def _sizes(clusters: Sequence[Cluster]) -> Counts:
    return np.array([len(cluster) for cluster in clusters], dtype=np.int64)
