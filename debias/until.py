"""The search for the dose at which a score reaches a target value; full doses overshoot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from biasbridge.debias.base import Direction, DoseAxis, VectorsMethod
from biasbridge.files import InputError, nearest

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.score import Score
    from biasbridge.intrinsic.words import Query

M = TypeVar("M", bound=VectorsMethod)
K = TypeVar("K", bound="Metric | ItemMetric")
_SearchOrder = Sequence[int]  # 1: debias, -1: overbias, in the order of the search
_BOTH: _SearchOrder = (1, -1)
_STEPS = 20  # doses per side that bracket the crossing
_CLOSE = 1e-3  # tolerance of the score; of the dose, if the score jumps, its square


class TargetScore(NamedTuple):
    """A target ``[METRIC:]QUERY=VALUE`` on a command line; the metric may be empty."""

    metric: str
    query: str
    value: float

    @classmethod
    def read(cls, text: str, default_query: str = "") -> TargetScore:
        """Parse ``weat6b=0``, ``ect:names_professions=1``, or a number for ``default_query``."""
        score_name, _, value = text.rpartition("=")
        metric, _, query = (score_name or default_query).rpartition(":")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (query and math.isfinite(number)):
            number_form = ", or a number for WEAT of the words" if default_query else ""
            allowed = f"QUERY=VALUE or METRIC:QUERY=VALUE, such as weat6b=0{number_form}"
            raise InputError(f"until {text}: give {allowed}")
        return cls(metric, query, number)


class Goal(NamedTuple, Generic[K]):
    """A target value of a metric on a query, or on items."""

    metric: K
    query: str
    value: float

    @property
    def name(self) -> str:
        """Metric and query."""
        return f"{self.metric.name} of {self.query}"

    @staticmethod
    def of(
        metric: str, query: str, value: float, words: str | None = None, *, case: str = "exact"
    ) -> Goal[Metric]:
        """Build the goal of a metric on a query, built-in or of the word file."""
        from biasbridge.intrinsic.registry import METRICS

        if metric not in METRICS:
            allowed = f"{nearest(metric, METRICS)}; there are {', '.join(METRICS)}"
            raise InputError(f"unknown metric {metric!r}{allowed}")
        configured = METRICS[metric].configured(queries=(query,), words=words, case=case)
        return Goal(configured, configured.loaded_queries[0].name, value)

    @staticmethod
    def read(
        text: str, words: str | None = None, default_query: str = "", *, case: str = "exact"
    ) -> Goal[Metric]:
        """Parse a goal of a command line; a number alone is WEAT of ``default_query``."""
        target = TargetScore.read(text, default_query)
        return Goal.of(target.metric or "weat", target.query, target.value, words, case=case)

    def score(self, vectors: KeyedVectors) -> float:
        """Compute the score of vectors. Raises ``InputError`` if it is NaN."""
        return self.value_of(self.metric.score(vectors, seed=0))

    def value_of(self, rows: Sequence[Score]) -> float:
        """Return the first score of the metric. Raises ``InputError`` if it is NaN."""
        if math.isnan(rows[0].value):
            raise InputError(f"{self.name} has no value here: {rows[0].reason}")
        return rows[0].value

    def ways(self, start: float, *, directed: bool) -> _SearchOrder:
        """Return the directions in the order to search; debiasing lowers a directed score."""
        if directed:
            return _BOTH if start > self.value else _BOTH[::-1]
        unbiased = self.metric.about.unbiased or 0.0
        return _BOTH if abs(self.value - unbiased) <= abs(start - unbiased) else _BOTH[::-1]


def dose_for_goal(score_at: Callable[[float], float], goal: Goal[K], ways: _SearchOrder) -> float:
    """Return the dose nearest 0, in the first direction that has one, at which the score equals the
    goal's value within ``_CLOSE``.

    ``_STEPS`` doses from 0 bracket the crossing of the value, which is then bisected. Where the
    score jumps over the value, the dose of the jump. Raises ``InputError`` if no direction reaches
    the value.
    """

    def excess(dose: float) -> float:
        return score_at(dose) - goal.value

    excess_at_zero = excess(0.0)
    if abs(excess_at_zero) <= _CLOSE:
        return 0.0
    ends = []
    for way in ways:
        low, excess_at_low = 0.0, excess_at_zero
        for step in range(1, _STEPS + 1):
            high = way * step / _STEPS
            excess_at_high = excess(high)
            if excess_at_low * excess_at_high <= 0:
                return _crossing(excess, low, high, excess_at_low)
            low, excess_at_low = high, excess_at_high
        ends.append(f"{excess_at_low + goal.value:.4f} at dose {way}")
    start = f"{excess_at_zero + goal.value:.4f}"
    if len(ways) == 1:
        raise InputError(
            f"{goal.name} does not reach {goal.value:g}: it goes from {start} at dose 0 to"
            f" {ends[0]}; use the other direction, or words of the query"
        )
    raise InputError(
        f"{goal.name} reaches {goal.value:g} in neither direction; choose a value nearer to"
        f" {start} (dose 0), another method, or words of the query. It is {', '.join(ends)}"
    )


def find_dose(
    axis: DoseAxis, vectors: KeyedVectors, goal: Goal[Metric], ways: _SearchOrder
) -> float:
    """Return the dose at which vectors reach the goal, moving only the words that it depends on."""
    word_sets = [
        word_set for query in goal.metric.loaded_queries for word_set in query.sets.values()
    ]
    cased_words = [word for word_set in word_sets for word in word_set.words]
    query_words = [*cased_words, *map(str.lower, cased_words)]
    moved_words = None
    with suppress(InputError):  # the query's words may be too few
        restricted_score = goal.score(axis.at(0.0, query_words))
        if math.isclose(goal.score(vectors), restricted_score, abs_tol=1e-9):
            moved_words = query_words
    return dose_for_goal(lambda dose: goal.score(axis.at(dose, moved_words)), goal, ways)


def find_method(
    method: M,
    vectors: KeyedVectors,
    query: Query,
    goal: Goal[Metric],
    direction: Direction | None = None,
    *,
    seed: int,
) -> tuple[M, DoseAxis]:
    """Return the method at the goal's dose, and its axis; without a direction search both ways."""
    axis = method.dose_axis(vectors, query, seed=seed)
    ways = goal.ways(goal.score(vectors), directed=method.moves_pairs)
    if direction is not None:
        ways = (-1,) if direction == "overbias" else (1,)
    return method.with_dose(find_dose(axis, vectors, goal, ways)), axis


def _crossing(
    excess: Callable[[float], float], low: float, high: float, excess_at_low: float
) -> float:
    """Bisect the sign change between two doses."""
    while abs(high - low) > _CLOSE * _CLOSE:
        middle = (low + high) / 2
        excess_at_middle = excess(middle)
        if abs(excess_at_middle) <= _CLOSE:
            return middle
        if excess_at_low * excess_at_middle > 0:
            low, excess_at_low = middle, excess_at_middle
        else:
            high = middle
    return high
