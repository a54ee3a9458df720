"""Intervals of items in three groups at random, in clusters or not, against the rest and none.

Coverage of the recall gap (4,000 sets, 20 items a cluster), by clusters and intraclass correlation:

               rest, a   rest, b   none, a   none, b
    10, 0      .950      .949      .949      .946
    10, .1     .960      .952      .959      .954
    10, .3     .963      .958      .959      .964
    60, 0      .947      .947      .956      .953
"""

from __future__ import annotations

import numpy as np
import pytest

from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest

GROUPS = ("a", "b", "c")
SHARE, COST, MEAN = 0.4, 0.15, 0.7
# Recall: MEAN, COST less for items of group a; membership in the three groups is independent
TRUTH = {"rest a": COST, "rest b": 0.0, "none a": COST, "none b": SHARE * COST}
SIDES = {
    f"{side} {name}": (
        GroupOrRest(name, rest=True) if side == "rest" else GroupOrRest("none"),
        GroupOrRest(name),
    )
    for side in ("rest", "none")
    for name in "ab"
}


def draw(n_clusters: int, size: int, icc: float, rng: np.random.Generator) -> GroupedPredictions:
    """Items with label 1 in clusters, each of a recall of its own, or of one if ``icc`` is 0."""
    n = n_clusters * size
    member = rng.random((n, len(GROUPS))) < SHARE
    scale = (1 / icc - 1) if icc else np.inf
    # Beta on [.4, 1]: mean .7
    rates = (
        0.4 + 0.6 * rng.beta(scale / 2, scale / 2, n_clusters) if icc else np.full(n_clusters, MEAN)
    )
    chance = np.repeat(rates, size) - COST * member[:, 0]
    item, group_id = np.nonzero(member)
    unit = np.repeat(np.arange(n_clusters), size) if icc else None
    cells = 2 + (rng.random(n) < chance).astype(int)
    return GroupedPredictions(GROUPS, item, group_id, cells, unit=unit)


def coverage(n_clusters: int, icc: float, sets: int) -> dict[str, float]:
    rng, held = np.random.default_rng(n_clusters), dict.fromkeys(TRUTH, 0)
    for _ in range(sets):
        sample = draw(n_clusters, 20, icc, rng)
        for name, sides in SIDES.items():
            low, high = sample.difference("recall", *sides)[1:]
            held[name] += low <= TRUTH[name] <= high
    return {name: count / sets for name, count in held.items()}


@pytest.mark.parametrize("icc", [0.0, 0.1])
@pytest.mark.parametrize("n_clusters", [10, 60])
def test_intervals_of_overlapping_groups_hold_the_truth(n_clusters: int, icc: float) -> None:
    """Within two standard errors of .93 to .97."""
    error = 2 * np.sqrt(0.05 * 0.95 / 400)
    for name, held in coverage(n_clusters, icc, 400).items():
        assert 0.93 - error <= held <= 0.97 + error, name


@pytest.mark.stress
@pytest.mark.parametrize("icc", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("n_clusters", [10, 60])
def test_intervals_of_overlapping_groups_at_full_size(n_clusters: int, icc: float) -> None:
    found = coverage(n_clusters, icc, 4000)
    print(icc, n_clusters, found)
    assert all(0.93 <= held <= 0.97 for held in found.values())
