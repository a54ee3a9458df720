"""How often, of two embeddings, the one with the less biased score has the smaller gap."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.pairwise import concordance

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints

TIE = 1e-9  # of the largest difference: closer values are equal


class RightPicks(NamedTuple):
    """The units by how biased their scores are and how large their gaps, as ranks, and with how
    many others each agrees: which of the two lies nearer to unbiased has the smaller gap; half of
    those with which it ties on a side. Shapes: (n,) each.
    """

    score: Floats
    gap: Floats
    agree: Floats

    @classmethod
    def of(cls, score: Floats, gap: Floats) -> RightPicks:
        """Of distances from unbiased: |score - unbiased| and |gap|. Shapes: (n,), (n,)."""
        sides = _graded(score), _graded(gap)
        return cls(*sides, _agreeing(*sides))

    @property
    def accuracy(self) -> float:
        """The share of pairs of units that agree, in [0, 1]; .5: the score is no help."""
        return float(self.agree.mean()) / (len(self.agree) - 1)

    def interval(self, cluster: Ints, free: int) -> tuple[float, float]:
        """accuracy +- t s, s from leaving out each cluster; cut at 0 and 1. NaN where that leaves
        no pair, or all alike. Shape of cluster: (n,).
        """
        sizes = np.bincount(cluster)
        own = np.bincount(cluster, self.agree)
        within = np.zeros(len(sizes))
        members = np.split(np.argsort(cluster, kind="stable"), np.cumsum(sizes)[:-1])
        for place in np.flatnonzero(sizes > 1):
            x, y = (side[members[place]] for side in (self.score, self.gap))
            within[place] = _agreeing(x, y).sum()
        k, rest = len(sizes), len(cluster) - sizes.astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            left: Floats = (own.sum() - 2 * own + within) / (rest * (rest - 1))
        error = sqrt((k - 1) / k * float(((left - float(left.mean())) ** 2).sum()))
        if not isfinite(error) or error == 0:
            return nan, nan
        reach = float(scipy.special.stdtrit(free, 0.975)) * error
        return max(0.0, self.accuracy - reach), min(1.0, self.accuracy + reach)


def _agreeing(x: Floats, y: Floats) -> Floats:
    return (len(x) - 1 + concordance(x, y)) / 2


def _graded(bias: Floats) -> Floats:
    """Ranks from 0 on, the same for neighbours that are as good as equal."""
    order = np.argsort(bias)
    steps = np.diff(bias[order])
    grades = np.zeros(len(bias))
    grades[order[1:]] = np.cumsum(steps > TIE * float(np.ptp(bias)))
    return grades
