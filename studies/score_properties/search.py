"""Search for the vectors at which a score is lowest: random steps that adapt their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.stats.arrays import Floats
from biasbridge.studies.score_properties.synthetic_words import unit

Loss = Callable[[Floats], float]
GROW, SHRINK = 1.5, 0.9  # in balance where a fifth of the steps succeed
FIRST_STEP, LONGEST_STEP, SHORTEST_STEP = 0.3, 1.0, 1e-10
BRANCHES = 3  # best starts that are followed


class Lowest(NamedTuple):
    """Lowest loss, the vectors that reach it, and the number of evaluations."""

    loss: float
    matrix: Floats
    evaluations: int


def unchanged(matrix: Floats) -> Floats:
    """Return the matrix unchanged."""
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
    """Minimise a loss: evaluate all starts, then follow the best by an evolution strategy (1+1).

    A step moves one ``free`` row of the matrix (words, dim), or all, on the unit sphere; its length
    grows when it succeeds and shrinks when it fails. ``repair`` maps a matrix to one that the
    search may evaluate. A loss that is not finite is worse than any other. The search ends at the
    loss ``enough``, or after this many ``evaluations`` beyond the starts.
    """
    evaluated_starts = sorted(
        ((_finite(loss(m := repair(start))), i, m) for i, start in enumerate(starts))
    )
    count = len(starts)
    best_loss, _, best = evaluated_starts[0]
    n_steps = evaluations // min(BRANCHES, len(evaluated_starts))
    for start_loss, _, start in evaluated_starts[:BRANCHES]:
        if best_loss <= enough:
            break
        current, current_loss, step = start, start_loss, FIRST_STEP
        for _ in range(n_steps):
            rows = free if rng.random() < 0.5 else rng.choice(free, size=1)
            candidate = current.copy()
            candidate[rows] = unit(current[rows] + step * rng.normal(size=current[rows].shape))
            candidate = repair(candidate)
            candidate_loss, count = _finite(loss(candidate)), count + 1
            factor = GROW if candidate_loss < current_loss else SHRINK
            step = min(max(step * factor, SHORTEST_STEP), LONGEST_STEP)
            if candidate_loss <= current_loss:
                current, current_loss = candidate, candidate_loss
            if step == SHORTEST_STEP:
                step = FIRST_STEP
            if current_loss <= enough:
                break
        if current_loss < best_loss:
            best_loss, best = current_loss, current
    return Lowest(best_loss, best, count)


def _finite(loss: float) -> float:
    return loss if np.isfinite(loss) else np.inf
