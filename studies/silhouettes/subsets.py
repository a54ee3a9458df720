"""Nested random subsets of word lists: each larger one extends the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from intrinsic.found_query import FoundQuery
    from intrinsic.lookup import Floats, Found
    from intrinsic.metric import Metric

Places = NDArray[np.intp]


class Subsets(NamedTuple):
    """Subsets of the items of several roles, of several random orders of them.

    ``orders``: by role, the places of its items in the order of every run, (runs, items).
    ``counts``: by role, how many of them each step has, (steps,), never falling. ``sizes``: the
    words of all roles in each step, (steps,).
    """

    orders: Mapping[str, Places]
    counts: Mapping[str, Places]
    sizes: Places

    @property
    def shape(self) -> tuple[int, int]:
        """Runs and steps."""
        return len(next(iter(self.orders.values()))), len(self.sizes)

    def drawn(self, words: FoundQuery) -> Iterator[FoundQuery]:
        """The query with every subset in the place of its items, run by run.

        Items stay in the order of their list, for some metrics ask about the first pair there is.
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


def nested_subsets(lists: Mapping[str, Found], step: int, runs: int, *, seed: int) -> Subsets:
    """As Spliethöver & Wachsmuth (2021) draw them: all lists grow together by about ``step`` words
    until the longest is whole; a shorter one stays whole from its end on.

    Each list grows by step / lists words, rounded down, but by one item at least (a base pair is
    one of two words). The last step has all words. The order of a run depends on ``seed``, the
    number of the run and of the list alone: the first runs are the same however many there are.
    """
    widths = {
        role: found.raw.shape[1] if found.raw.ndim > 2 else 1 for role, found in lists.items()
    }
    grow = {role: max(1, step // len(lists) // width) for role, width in widths.items()}
    steps = max(-(-len(found.items) // grow[role]) for role, found in lists.items())
    counts = {
        role: np.minimum(np.arange(1, steps + 1) * grow[role], len(found.items))
        for role, found in lists.items()
    }
    orders = {
        role: np.array(
            [
                np.random.default_rng((seed, run, place)).permutation(len(found.items))
                for run in range(runs)
            ]
        )
        for place, (role, found) in enumerate(lists.items())
    }
    sizes = sum((counts[role] * width for role, width in widths.items()), np.zeros(steps, np.intp))
    return Subsets(orders, counts, sizes)


def values_on(
    metric: Metric, words: FoundQuery, subsets: Subsets, *, seed: int
) -> dict[str, Floats]:
    """Each part's value on every subset, (runs, steps); NaN where it has none.

    Raises ``InputError`` where a vector or base pair has no direction.
    """
    words.require_directions()
    found = metric.on_each(subsets.drawn(words), seed)
    return {part: np.array(values).reshape(subsets.shape) for part, values in found.items()}
