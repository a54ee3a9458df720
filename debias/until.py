"""Attract-Repel by the dose at which a score is what is wanted: full doses overshoot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from debias.attract_repel import AttractRepel
from debias.base import Direction, OnVectors
from debias.constraints import Pair, usable_pairs
from debias.roles import TARGETS_AND_ATTRIBUTES
from files import InputError, choice, nearest
from files.digest import digest_of
from intrinsic.wordsets import load_queries, read_wordsets

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric
    from intrinsic.wordsets import Query

STEPS = 20  # doses looked at from 0 to 1 before the crossing is closed in on
CLOSE = 1e-3  # of the score, or of the dose where the score jumps


class UnreachedError(InputError):
    """A score does not come to the value that is wanted."""


class Goal(NamedTuple):
    """A score that is wanted: that of a metric on a query."""

    metric: Metric
    value: float

    @property
    def name(self) -> str:
        """The metric and the query."""
        return f"{self.metric.name} of {self.metric.asked[0].name}"

    @classmethod
    def of(cls, metric: str, query: str, value: float, words: str | None = None) -> Goal:
        """The goal by names; ``words`` is a file that the query may come from.

        Raises ``InputError`` for an unknown metric or query, and where it cannot be asked.
        """
        from intrinsic.metrics.every import METRICS

        if metric not in METRICS:
            known = f"{nearest(metric, METRICS)}; there are {', '.join(METRICS)}"
            raise InputError(f"unknown metric {metric!r}{known}")
        asked = METRICS[metric].configured(queries=(query,), words=words, case="lower")
        return cls(asked, value)

    @classmethod
    def read(cls, text: str, words: str | None = None, usual: str = "") -> Goal:
        """The goal as a command line has it: ``weat6b=0``, ``ect:names_professions=1``, or a number
        alone, of WEAT of the query ``usual``.
        """
        asked, _, value = text.rpartition("=")
        metric, _, query = (asked or usual).rpartition(":")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (query and math.isfinite(number)):
            example = (
                "QUERY=VALUE or METRIC:QUERY=VALUE, as weat6b=0, or a number for WEAT of the words"
            )
            raise InputError(f"until {text}: give {example}")
        return cls.of(metric or "weat", query, number, words)

    def score(self, vectors: KeyedVectors) -> float:
        """The score of vectors. Raises ``InputError`` where it has none."""
        row = self.metric.score(vectors, seed=0)[0]
        if math.isnan(row.value):
            raise InputError(f"{self.name} has no value on these vectors: {row.reason}")
        return row.value


def find_dose(
    method: AttractRepel,
    vectors: KeyedVectors,
    attract: list[Pair],
    repel: list[Pair],
    goal: Goal,
    *,
    seed: int,
) -> float:
    """The smallest dose at which the score is the goal's value, to ``CLOSE``.

    The score is followed from dose 0 in ``STEPS`` steps to where it crosses the value, and the
    crossing is halved. Only words of the pairs and of the query are moved and looked at. Raises
    ``InputError`` where the score does not come to the value by dose 1.
    """
    kept = usable_pairs(attract, repel, vectors.key_to_index)
    small = _restricted(vectors, kept.attract + kept.repel, goal.metric.asked[0])
    run = method.run(small, attract, repel, seed=seed)

    def beyond(dose: float) -> float:
        return goal.score(replace(method, dose=dose).at_dose(small, run)) - goal.value

    low, at_low = 0.0, beyond(0.0)
    if abs(at_low) <= CLOSE:
        return 0.0
    for step in range(1, STEPS + 1):
        high = step / STEPS
        at_high = beyond(high)
        if at_low * at_high <= 0:
            return _crossing(beyond, low, high, at_low)
        low, at_low = high, at_high
    start, end = goal.score(small), at_low + goal.value
    way = f"it goes from {start:.4f} at dose 0 to {end:.4f} at dose 1"
    raise UnreachedError(
        f"{goal.name} does not come to {goal.value:g}: {way}; take the other direction, or words"
        " that are in the query"
    )


def find_method(
    method: AttractRepel,
    vectors: KeyedVectors,
    query: Query,
    goal: Goal,
    direction: Direction | None = None,
    *,
    seed: int,
) -> AttractRepel:
    """The method with the direction and the dose at which the score is the goal's value.

    Where no ``direction`` is given, a score above the value is lowered by debiasing and one below
    it raised by overbiasing, as WEAT is; where that does not lead there (RND falls as bias grows),
    the other one is taken. Raises ``InputError`` as ``find_dose`` does.
    """
    ways: tuple[Direction, ...] = ("debias", "overbias")
    if direction is not None:
        ways = (direction,)
    elif goal.score(vectors) < goal.value:
        ways = ("overbias", "debias")
    for way in ways:
        tried = replace(method, direction=way)
        try:
            dose = find_dose(tried, vectors, *tried.constraints(query), goal, seed=seed)
        except UnreachedError:
            if direction is not None:
                raise
        else:
            return replace(tried, dose=dose)
    never = f"{goal.name} comes to {goal.value:g} in neither direction"
    nearer = f"take a value nearer to {goal.score(vectors):.4f}, which it is"
    raise UnreachedError(f"{never}; {nearer}, or words that are in the query")


def _crossing(beyond: Callable[[float], float], low: float, high: float, at_low: float) -> float:
    """Where the sign changes between two doses."""
    while high - low > CLOSE * CLOSE:
        middle = (low + high) / 2
        at_middle = beyond(middle)
        if abs(at_middle) <= CLOSE:
            return middle
        if at_low * at_middle > 0:
            low, at_low = middle, at_middle
        else:
            high = middle
    return high


def _restricted(vectors: KeyedVectors, pairs: list[Pair], query: Query) -> KeyedVectors:
    """The vectors of these words alone."""
    from files.vectors import keyed  # loads gensim

    asked = [word for each in query.sets.values() for word in each.words]
    words = dict.fromkeys([*(word for pair in pairs for word in pair), *asked])
    words |= dict.fromkeys(word.lower() for word in asked)
    there = [word for word in words if word in vectors.key_to_index]
    return keyed(there, np.array(vectors.vectors[[vectors.key_to_index[w] for w in there]]))


@choice
class AttractRepelUntil(OnVectors):
    """Attract-Repel by the dose at which ``metric`` of ``query`` is ``value``; see ``find_dose``.

    ``words``: a file of one's own that the query may come from.
    """

    direction: Direction = "debias"
    metric: str = "weat"
    query: str = "weat6b"
    value: float = 0.0
    words: str | None = None

    version: ClassVar[int] = 1
    name: ClassVar[str] = "attract_repel_until"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES
    unkeyed: ClassVar[tuple[str, ...]] = ("words",)

    def __post_init__(self) -> None:
        Goal.of(self.metric, self.query, self.value, self.words)

    def files(self) -> list[Path]:
        """The file of words and the lists it names."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def keyed(self) -> Mapping[str, object]:
        """The words of the query, wherever they are listed."""
        [query] = load_queries([self.query], self.words)
        return {"asked": digest_of(query.decisive())}

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """A copy moved that far. Raises ``InputError`` as ``find_dose`` does."""
        method = AttractRepel(self.direction)
        goal = Goal.of(self.metric, self.query, self.value, self.words)
        found = find_method(method, vectors, query, goal, self.direction, seed=seed)
        return found.modify(vectors, query, seed=seed)
