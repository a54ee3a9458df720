"""Spearman's rho of two numbers of every word over nested subsets of the words (ECT)."""

from __future__ import annotations

import math

import numpy as np

from intrinsic.lookup import Floats, means, unit_rows
from intrinsic.metrics.set_distances import ranks
from studies.silhouettes.subsets import Places, Subsets, running_sums


def ect_of_attributes(x: Floats, y: Floats, a: Floats, subsets: Subsets) -> Floats:
    """Coherence of subsets of A, (runs, steps); NaN where it is 0 / 0."""
    cosines = unit_rows(means((x, y))) @ a.T
    # Equal values have one place
    placed = [np.unique(each, return_inverse=True)[1] for each in cosines]
    counts = subsets.counts["A"]
    return np.array([running_rho(placed, order, counts) for order in subsets.orders["A"]])


def ect_of_targets(x: Floats, y: Floats, a: Floats, subsets: Subsets) -> Floats:
    """Coherence of subsets of X and Y, (runs, steps). The length of a mean changes no rank."""
    rows = {"X": x @ a.T, "Y": y @ a.T}
    return np.array(
        [
            [
                _rho(*(ranks(each) - (len(a) + 1) / 2 for each in pair))
                for pair in zip(*sums, strict=True)
            ]
            for sums in running_sums(rows, subsets)
        ]
    )


def running_rho(placed: list[Places], order: Places, counts: Places) -> Floats:
    """Spearman's rho of the first items of an order, (steps,), for several numbers of them.

    ``placed``: the place of every item's value among the sorted different values, of both. A rank
    is a count of the items present at places up to its own: nothing is sorted again.
    """
    present = [np.zeros(int(place.max()) + 1, dtype=np.int32) for place in placed]
    ordered = [place[order] for place in placed]
    tied = [len(counted) < len(order) for counted in present]
    found = np.empty(len(counts))
    before = 0
    for step, count in enumerate(counts.tolist()):
        centred = []
        for place, counted, has_ties in zip(ordered, present, tied, strict=True):
            np.add.at(counted, place[before:count], 1)
            now = place[:count]
            doubled = 2 * counted.cumsum()[now] - count
            # Equal values share their mean rank
            centred.append((doubled - counted[now] if has_ties else doubled - 1).astype(float))
        found[step] = _rho(*centred)
        before = count
    return found


def _rho(first: Floats, second: Floats) -> float:
    """The correlation of centred ranks."""
    spread = math.sqrt(float(first @ first) * float(second @ second))
    return min(1.0, max(-1.0, float(first @ second) / spread)) if spread else math.nan
