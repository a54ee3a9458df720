"""Nested random subsets of word lists, each of which contains the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from biasbridge.intrinsic.lookup import ResolvedWords
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.resolved_query import ResolvedQuery
    from biasbridge.stats.arrays import Floats

Indices = NDArray[np.intp]


class Subsets(NamedTuple):
    """Subsets of the items of several roles, in several random orders. ``orders``: by role, indices
    of items in each run, (runs, items); ``counts``: by role, items in each step, (steps,), never
    falling; ``sizes``: words of all roles in each step.
    """

    orders: Mapping[str, Indices]
    counts: Mapping[str, Indices]
    sizes: Indices

    @property
    def shape(self) -> tuple[int, int]:
        """Number of runs and of steps."""
        return len(next(iter(self.orders.values()))), len(self.sizes)

    def queries(self, words: ResolvedQuery) -> Iterator[ResolvedQuery]:
        """Yield the query with every subset, run by run; items keep their order, because some
        metrics depend on the first pair.
        """
        runs, steps = self.shape
        for run in range(runs):
            for step in range(steps):
                yield words.take(
                    {
                        role: np.sort(orders[run, : self.counts[role][step]])
                        for role, orders in self.orders.items()
                    }
                )


def nested_subsets(
    lists: Mapping[str, ResolvedWords], step: int, runs: int, *, seed: int
) -> Subsets:
    """Draw nested subsets as Spliethöver & Wachsmuth (2021) do.

    All lists grow together by about ``step`` words until the longest is complete; a shorter one
    stays complete. A list grows by step / lists words, rounded down, but at least one item (a base
    pair is one item of two words). The last step has all words. A run's order depends only on the
    seed and on the numbers of the run and the list: the first ones are the same for any number.
    """
    widths = {
        role: words.raw.shape[1] if words.raw.ndim > 2 else 1 for role, words in lists.items()
    }
    growth = {role: max(1, step // len(lists) // width) for role, width in widths.items()}
    steps = max(-(-len(words.items) // growth[role]) for role, words in lists.items())
    counts = {
        role: np.minimum(np.arange(1, steps + 1) * growth[role], len(words.items))
        for role, words in lists.items()
    }
    orders = {
        role: np.array(
            [
                np.random.default_rng((seed, run, list_number)).permutation(len(words.items))
                for run in range(runs)
            ]
        )
        for list_number, (role, words) in enumerate(lists.items())
    }
    sizes = sum((counts[role] * width for role, width in widths.items()), np.zeros(steps, np.intp))
    return Subsets(orders, counts, sizes)


def subset_values(
    metric: Metric, words: ResolvedQuery, subsets: Subsets, *, seed: int
) -> dict[str, Floats]:
    """Compute a metric on every subset, by part: (runs, steps), NaN where it has no value. Raises
    ``InputError`` for a vector or base pair without direction.
    """
    words.require_directions()
    values_by_part = metric.values_on(subsets.queries(words), seed)
    return {
        part: np.array(values).reshape(subsets.shape) for part, values in values_by_part.items()
    }
