"""How long coreference is scored: a test set the size of OntoNotes', and one long document."""

from __future__ import annotations

import timeit
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.row import Row
from extrinsic.coreference.scorer import counts

if TYPE_CHECKING:
    from files.documents import Cluster

DOCUMENTS, MENTIONS, LONG = 348, 20_000, 5_000


def rows() -> list[Row]:
    """Seconds for all metrics of 348 documents with 20,000 mentions together, and of one document
    with 5,000; one mention in five is missed, one invented, one put into another cluster.
    """
    rng = np.random.default_rng(0)
    several = [drawn(rng, MENTIONS // DOCUMENTS) for _ in range(DOCUMENTS)]
    one = [drawn(rng, LONG)]
    counts(*one[0])  # imports scipy
    measured = [
        min(timeit.repeat(lambda: [counts(*pair) for pair in pairs], number=1, repeat=3))  # noqa: B023
        for pairs in (several, one)
    ]
    what = "coreference scores, all metrics:"
    return [
        Row(f"{what} 348 documents of 20,000 mentions", measured[0], "s", "<= 5"),
        Row(f"{what} one document of 5,000 mentions", measured[1], "s"),
    ]


def drawn(
    rng: np.random.Generator, n_mentions: int
) -> tuple[tuple[Cluster, ...], tuple[Cluster, ...]]:
    """A key with four mentions an entity on average, and a response with its mistakes."""
    n_entities = max(1, n_mentions // 4)
    key = rng.integers(0, n_entities, n_mentions)
    moved = rng.random(n_mentions) < 0.2
    response = np.where(moved, rng.integers(0, n_entities, n_mentions), key)
    there = rng.choice(2 * n_mentions, n_mentions, replace=False)
    found = np.where(rng.random(n_mentions) < 0.2, there + 2 * n_mentions, there)
    return clusters(key, there), clusters(response, found)


def clusters(owners: npt.NDArray[np.int64], mentions: npt.NDArray[np.int64]) -> tuple[Cluster, ...]:
    """The mentions by owner."""
    by_owner: dict[int, list[tuple[int, int]]] = {}
    for owner, mention in zip(owners.tolist(), mentions.tolist(), strict=True):
        by_owner.setdefault(owner, []).append((mention, mention + 1))
    return tuple(map(tuple, by_owner.values()))
