"""A search for the vectors at which a score is smallest: random steps that adapt their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intrinsic.lookup import Floats
from studies.score_properties.made_up_words import unit

Loss = Callable[[Floats], float]
LONGER, SHORTER = 1.5, 0.9  # in balance where a fifth of the steps succeed
LONGEST, SHORTEST = 1.0, 1e-10
BRANCHES = 3  # of the starts, the best are followed


class Lowest(NamedTuple):
    """Where the loss was lowest, and at how many places it was looked up."""

    loss: float
    matrix: Floats
    evaluations: int


def unchanged(matrix: Floats) -> Floats:
    """The matrix as it is."""
    return matrix


def lowest(
    loss: Loss,
    starts: Sequence[Floats],
    free: NDArray[np.intp],
    evaluations: int,
    *,
    enough: float = -np.inf,
    rng: np.random.Generator,
    repair: Callable[[Floats], Floats] = unchanged,
) -> Lowest:
    """The lowest loss found: at all starts, then by an evolution strategy (1+1) from the best.

    A step moves one free row of the matrix (words, dim), or all, on the unit sphere; its length
    grows when it succeeds and shrinks when it fails. ``repair`` brings a matrix back to where the
    search may look. A loss that is not finite is worse than any. Ends after ``evaluations`` steps,
    or where the loss is ``enough``.
    """
    found = sorted(((_finite(loss(m := repair(start))), i, m) for i, start in enumerate(starts)))
    count = len(starts)
    best_loss, _, best = found[0]
    share = evaluations // min(BRANCHES, len(found))
    for value, _, start in found[:BRANCHES]:
        if best_loss <= enough:
            break
        at, here, reach = start, value, 0.3
        for _ in range(share):
            rows = free if rng.random() < 0.5 else rng.choice(free, size=1)
            there = at.copy()
            there[rows] = unit(at[rows] + reach * rng.normal(size=at[rows].shape))
            there = repair(there)
            now, count = _finite(loss(there)), count + 1
            better = now < here
            reach = min(max(reach * (LONGER if better else SHORTER), SHORTEST), LONGEST)
            if now <= here:
                at, here = there, now
            if reach == SHORTEST:
                reach = 0.3
            if here <= enough:
                break
        if here < best_loss:
            best_loss, best = here, at
    return Lowest(best_loss, best, count)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.inf
