"""Coverage of BBQ's intervals over templates, by simulation.

25 templates of unequal size are drawn from a population of templates, whose shares of named, of
biased and of right answers vary as they do in UnifiedQA's answers (RACE and ARC). Coverage of
accuracy and score in ambiguous, then disambiguated contexts (2,500 sets):

    race       .953   .954   .939   .950
    arc        .945   .949   .944   .945
    unbiased   .949   .953   .945   .952

Where few templates hold nearly all answers that are not unknown, it is lower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.extrinsic.bbq.scores import estimate_scores

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

SETS = 2_000
SIZES = (16, 40, 60, 100, 200)
# Mean and concentration of the shares: right if disambiguated, named if ambiguous, biased of named
WORLDS = {
    "race": ((0.93, 20), (0.45, 4), (0.7, 3)),
    "arc": ((0.9, 10), (0.66, 4), (0.87, 4)),
    "unbiased": ((0.8, 8), (0.5, 8), (0.5, 6)),
}


def draw(world: str, k: int, rng: np.random.Generator) -> Floats:
    """Draw counts of k templates, (k, contexts, 4)."""
    right, share_named, share_biased = (
        rng.beta(mean * m, (1 - mean) * m, k) for mean, m in WORLDS[world]
    )
    n = rng.choice(SIZES, k)
    named = rng.binomial(n, share_named)
    ambiguous = [n, n - named, named, rng.binomial(named, share_biased)]
    correct = rng.binomial(n, right)
    named = correct + rng.binomial(n - correct, 0.5)
    lean = rng.binomial(named, 0.5 + (share_biased - 0.5) / 5)
    return np.stack([np.stack(ambiguous, -1), np.stack([n, correct, named, lean], -1)], 1) * 1.0


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_cover_as_they_say(world: str) -> None:
    rng = np.random.default_rng(3)
    truth = estimate_scores(draw(world, 100_000, rng), "paper")
    covered = np.zeros((2, 2))
    for _ in range(SETS):
        estimates = estimate_scores(draw(world, 25, rng), "paper")
        for place, (accuracy, score, _) in enumerate(estimates):
            true_accuracy, true_score, _ = truth[place]
            pairs = ((accuracy, true_accuracy), (score, true_score))
            for number, (estimate, true) in enumerate(pairs):
                covered[place, number] += estimate.low <= true.value <= estimate.high
    assert (covered / SETS >= 0.93).all(), covered / SETS
    assert (covered / SETS <= 0.97).all(), covered / SETS
