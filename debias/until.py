"""The dose at which a score is what is wanted: full doses overshoot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from debias.attract_repel import AttractRepel
from debias.base import Axis, Direction, DosedMethod, OnVectors, PairsMethod, signed
from debias.roles import TARGETS_AND_ATTRIBUTES
from files import InputError, choice, nearest
from files.digest import digest_of
from intrinsic.wordsets import load_queries, read_wordsets

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.item_metric import ItemMetric
    from intrinsic.metric import Metric
    from intrinsic.score import Score
    from intrinsic.wordsets import Query

M = TypeVar("M", bound=DosedMethod)
K = TypeVar("K", bound="Metric | ItemMetric")
Ways = Sequence[int]  # 1: debias, -1: overbias, in the order in which they are tried
BOTH: Ways = (1, -1)
STEPS = 20  # doses looked at on each side before the crossing is closed in on
CLOSE = 1e-3  # of the score, or of the dose where the score jumps


class Wanted(NamedTuple):
    """What a command line asks: ``[METRIC:]QUERY=VALUE``; the metric is empty where not named."""

    metric: str
    query: str
    value: float

    @classmethod
    def read(cls, text: str, usual: str = "") -> Wanted:
        """``weat6b=0``, ``ect:names_professions=1``; a number alone is of the query ``usual``."""
        asked, _, value = text.rpartition("=")
        metric, _, query = (asked or usual).rpartition(":")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (query and math.isfinite(number)):
            alone = ", or a number for WEAT of the words" if usual else ""
            example = f"QUERY=VALUE or METRIC:QUERY=VALUE, as weat6b=0{alone}"
            raise InputError(f"until {text}: give {example}")
        return cls(metric, query, number)


class Goal(NamedTuple, Generic[K]):
    """A score that is wanted: that of a metric on a query, or on items."""

    metric: K
    query: str
    value: float

    @property
    def name(self) -> str:
        """The metric and the query."""
        return f"{self.metric.name} of {self.query}"

    @staticmethod
    def of(metric: str, query: str, value: float, words: str | None = None) -> Goal[Metric]:
        """The goal on vectors by names; ``words`` is a file that the query may come from.

        Raises ``InputError`` for an unknown metric or query, and where it cannot be asked.
        """
        from intrinsic.metrics.every import METRICS

        if metric not in METRICS:
            known = f"{nearest(metric, METRICS)}; there are {', '.join(METRICS)}"
            raise InputError(f"unknown metric {metric!r}{known}")
        asked = METRICS[metric].configured(queries=(query,), words=words, case="lower")
        return Goal(asked, asked.asked[0].name, value)

    @staticmethod
    def read(text: str, words: str | None = None, usual: str = "") -> Goal[Metric]:
        """The goal as a command line has it; a number alone is WEAT of the query ``usual``."""
        wanted = Wanted.read(text, usual)
        return Goal.of(wanted.metric or "weat", wanted.query, wanted.value, words)

    def score(self, given: KeyedVectors) -> float:
        """The score of what the metric needs. Raises ``InputError`` where it has none."""
        return self.value_of(self.metric.score(given, seed=0))

    def value_of(self, rows: Sequence[Score]) -> float:
        """The first of the metric's scores. Raises ``InputError`` where it is NaN."""
        if math.isnan(rows[0].value):
            raise InputError(f"{self.name} has no value here: {rows[0].reason}")
        return rows[0].value

    def ways(self, start: float, *, directed: bool) -> Ways:
        """Which side of dose 0 is tried first for a score that starts at ``start``. Methods with a
        direction of their own lower it by debiasing; erasers bring it nearer to no bias.
        """
        if directed:
            return BOTH if start > self.value else BOTH[::-1]
        unbiased = self.metric.about.unbiased or 0.0
        return BOTH if abs(self.value - unbiased) <= abs(start - unbiased) else BOTH[::-1]


def reach(score_at: Callable[[float], float], goal: Goal[K], ways: Ways) -> float:
    """The dose nearest 0, on the first side that has one, at which the score is the goal's value,
    to ``CLOSE``.

    The score is followed from dose 0 in ``STEPS`` steps to where it crosses the value, and the
    crossing is halved. Raises ``InputError`` where it comes to the value on no side.
    """

    def beyond(dose: float) -> float:
        return score_at(dose) - goal.value

    at_zero = beyond(0.0)
    if abs(at_zero) <= CLOSE:
        return 0.0
    ends = []
    for way in ways:
        low, at_low = 0.0, at_zero
        for step in range(1, STEPS + 1):
            high = way * step / STEPS
            at_high = beyond(high)
            if at_low * at_high <= 0:
                return _crossing(beyond, low, high, at_low)
            low, at_low = high, at_high
        ends.append(f"{at_low + goal.value:.4f} at dose {way}")
    start = f"{at_zero + goal.value:.4f}"
    if len(ways) == 1:
        raise InputError(
            f"{goal.name} does not come to {goal.value:g}: it goes from {start} at dose 0 to"
            f" {ends[0]}; take the other direction, or words that are in the query"
        )
    raise InputError(
        f"{goal.name} comes to {goal.value:g} in neither direction; take a value nearer to {start},"
        f" which it is ({', '.join(ends)}), or words that are in the query"
    )


def find_dose(axis: Axis, vectors: KeyedVectors, goal: Goal[Metric], ways: Ways) -> float:
    """As ``reach``, of vectors. Only the words of the query are moved and looked at, unless the
    score depends on others.
    """
    sets = [each for query in goal.metric.asked for each in query.sets.values()]
    asked = [word for each in sets for word in each.words]
    words = [*asked, *map(str.lower, asked)]
    some = None
    with suppress(InputError):  # too few words alone
        alone = goal.score(axis.at(0.0, words))
        some = words if math.isclose(goal.score(vectors), alone, abs_tol=1e-9) else None
    return reach(lambda dose: goal.score(axis.at(dose, some)), goal, ways)


def find_method(
    method: M,
    vectors: KeyedVectors,
    query: Query,
    goal: Goal[Metric],
    direction: Direction | None = None,
    *,
    seed: int,
) -> tuple[M, Axis]:
    """The method by the dose at which the score is the goal's value, and what it has fitted.

    Without a ``direction`` the score says which is tried first, and where that does not lead there,
    the other one is. Raises ``InputError`` as ``reach`` does.
    """
    axis = method.along(vectors, query, seed=seed)
    ways = goal.ways(goal.score(vectors), directed=isinstance(method, PairsMethod))
    if direction is not None:
        ways = (-1,) if direction == "overbias" else (1,)
    return method.by(find_dose(axis, vectors, goal, ways)), axis


def _crossing(beyond: Callable[[float], float], low: float, high: float, at_low: float) -> float:
    """Where the sign changes between two doses."""
    while abs(high - low) > CLOSE * CLOSE:
        middle = (low + high) / 2
        at_middle = beyond(middle)
        if abs(at_middle) <= CLOSE:
            return middle
        if at_low * at_middle > 0:
            low, at_low = middle, at_middle
        else:
            high = middle
    return high


@choice
class AttractRepelUntil(OnVectors):
    """Attract-Repel by the dose at which ``metric`` of ``query`` is ``value``; see ``reach``.

    ``words``: a file of one's own that the query may come from.
    """

    direction: Direction = "debias"
    metric: str = "weat"
    query: str = "weat6b"
    value: float = 0.0
    words: str | None = None

    version: ClassVar[int] = 2
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
        """A copy moved that far. Raises ``InputError`` as ``reach`` does."""
        method = AttractRepel(self.direction)
        goal = Goal.of(self.metric, self.query, self.value, self.words)
        found, axis = find_method(method, vectors, query, goal, self.direction, seed=seed)
        return axis.at(signed(found))
