"""The scorer against the definitions, written as loops over mentions, links and alignments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import numpy as np
import pytest

from biasbridge.extrinsic.coreference.scorer import COUNTERS, counts
from biasbridge.files.documents import Cluster, Span
from tests.extrinsic.clusterings import pairs

Clustering = Sequence[Cluster]
Link = frozenset[Span]
Similarity = Callable[[set[Span], set[Span]], float]


def literal_muc(one: Clustering, other: Clustering) -> tuple[float, float]:
    found, total = 0, 0
    for cluster in one:
        pieces = [set(cluster) & set(each) for each in other]
        left = set(cluster) - {mention for each in other for mention in each}
        found += len(cluster) - (sum(1 for piece in pieces if piece) + len(left))
        total += len(cluster) - 1
    return found, total


def literal_b3(one: Clustering, other: Clustering) -> tuple[float, float]:
    found, total = 0.0, 0
    for cluster in one:
        for mention in cluster:
            theirs: set[Span] = next((set(each) for each in other if mention in each), set())
            found += len(set(cluster) & theirs) / len(cluster)
            total += 1
    return found, total


def literal_lea(one: Clustering, other: Clustering) -> tuple[float, float]:
    found, total = 0.0, 0
    for cluster in one:
        total += len(cluster)
        if len(cluster) == 1:
            found += sum(1 for each in other if set(each) == set(cluster))
            continue
        own = links(cluster)
        resolved = sum(len(own & links(each)) for each in other)
        found += len(cluster) * resolved / len(own)
    return found, total


def links(cluster: Cluster) -> set[Link]:
    return {frozenset(pair) for pair in combinations(cluster, 2)}


def coreferent(clustering: Clustering) -> set[Link]:
    return {link for cluster in clustering for link in links(cluster)}


def not_coreferent(clustering: Clustering) -> set[Link]:
    mentions = tuple(mention for cluster in clustering for mention in cluster)
    return links(mentions) - coreferent(clustering)


def literal_ceaf(key: Clustering, response: Clustering, similarity: Similarity) -> float:
    few, many = sorted(([set(each) for each in side] for side in (key, response)), key=len)
    return max(
        sum(similarity(one, other) for one, other in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


def phi_3(one: set[Span], other: set[Span]) -> float:
    return len(one & other)


def phi_4(one: set[Span], other: set[Span]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def literal_counts(key: Clustering, response: Clustering) -> list[list[float]]:
    rows: list[list[float]] = []
    mentions = [{mention for cluster in side for mention in cluster} for side in (key, response)]
    common = len(mentions[0] & mentions[1])
    rows.append([common, len(mentions[0]), common, len(mentions[1])])
    rows.append([*literal_muc(key, response), *literal_muc(response, key)])
    rows.append([*literal_b3(key, response), *literal_b3(response, key)])
    for similarity in (phi_3, phi_4):
        best = literal_ceaf(key, response, similarity)
        ideal = [sum(similarity(set(each), set(each)) for each in side) for side in (key, response)]
        rows.append([best, ideal[0], best, ideal[1]])
    rows.append([*literal_lea(key, response), *literal_lea(response, key)])
    for of in (coreferent, not_coreferent):
        both = len(of(key) & of(response))
        rows.append([both, len(of(key)), both, len(of(response))])
    return rows


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_counts_are_the_definitions(start: int) -> None:
    for key, response in pairs(400)[start : start + 100]:
        np.testing.assert_allclose(
            counts(key, response), literal_counts(key, response), err_msg=f"{key} {response}"
        )


def test_alignment_of_many_clusters_is_that_of_the_whole_table() -> None:
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(3)
    owners = rng.integers(0, 60, (2, 400))
    key, response = (
        [tuple((int(m), int(m) + 1) for m in np.flatnonzero(side == each)) for each in set(side)]
        for side in owners.tolist()
        for side in [np.array(side)]
    )
    table = np.array([[phi_4(set(one), set(other)) for other in response] for one in key])
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    row = counts(key, response)[list(COUNTERS).index("ceaf_e")]
    np.testing.assert_allclose(row, [best, len(key), best, len(response)])
