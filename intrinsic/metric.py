"""What every metric shares: queries, look-up, coverage, conventions, and one row a score. A metric
adds its equation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from files import InputError, nearest
from intrinsic.directions import pair_differences
from intrinsic.lookup import CASES, Found, find_set, losses, shortage
from intrinsic.permutation import PValue
from intrinsic.wordsets import Query, load_queries, queries_with, read_wordsets
from intrinsic.wordsets.wordset import MORE_GROUPS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Floats = NDArray[np.float64]

UNKNOWN = "und"


@dataclass(frozen=True)
class About:
    """What a score means, as data.

    roles: what each word set stands for; a role that ends in ``?`` may be absent. low, high: the
    range. unbiased: the value of an embedding without the bias; None where the score measures
    something else (utility). fewest: items a role needs, one where it is not named.
    """

    name: str
    title: str
    formula: str
    sign: str
    low: float
    high: float
    unbiased: float | None
    source: str
    roles: Mapping[str, str]
    fewest: Mapping[str, int] = field(default_factory=dict)
    # The built-in queries of an audit in English; elsewhere those of the same name in that language
    asks: tuple[str, ...] = ()

    @property
    def needs(self) -> list[str]:
        """The roles that a query must have."""
        return [role for role in self.roles if not role.endswith("?")]

    def takes(self, role: str) -> bool:
        """Whether a word set in this role is used."""
        return (
            role in self.roles
            or f"{role}?" in self.roles
            or (bool(MORE_GROUPS.fullmatch(role)) and f"{role[0]}3?" in self.roles)
        )


@dataclass(frozen=True)
class Convention:
    """One way to compute a metric, by name; ``options`` are those in which it differs from the
    default.
    """

    name: str
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A value, and what comes with it. ``each``: the score of every word, pair or group that the
    value summarises.
    """

    value: float
    statistic: float = math.nan
    test: PValue | None = None
    reason: str = ""
    each: Mapping[str, float] = field(default_factory=dict)
    unbiased: float | None = None  # where it is not what ``About`` says
    interval: tuple[float, float] = (math.nan, math.nan)  # 95%, over resampled words


class Words(dict[str, Found]):
    """What was found of a query, by role; and the vectors it was found in."""

    def __init__(self, found: Mapping[str, Found], vectors: KeyedVectors, query: Query) -> None:
        super().__init__(found)
        self.vectors, self.query = vectors, query

    def targets(self) -> list[Found]:
        """The groups of target words: X, Y, X3, ..."""
        return [found for role, found in self.items() if role in "XY" or role.startswith("X")]

    def attributes(self) -> list[Found]:
        """The groups of attribute words: A, B, A3, ..."""
        return [found for role, found in self.items() if role in "AB" or role.startswith("A")]


@dataclass(frozen=True)
class Metric:
    """A metric over several queries.

    queries: names of built-in queries, or of queries in the file ``words`` (YAML or JSON, see
    ``wordsets.read_wordsets``); none: those that an audit asks. convention: a name in
    ``conventions()``. Every other setting takes the place of what the convention says; the row's
    ``convention`` then says so, for example ``default,case=lower``. case: how words are looked up,
    see ``lookup.find``. min_found: the share of each word set that must be found. language: that of
    the vectors; queries in another one are refused. resamples: of the words, for the 95% interval
    of the score; 0: none.
    """

    about: ClassVar[About]
    # The settings of the default convention, those that every metric has included, and the other
    # conventions.
    options: ClassVar[Mapping[str, Any]] = {}
    allowed: ClassVar[Mapping[str, Sequence[Any]]] = {}
    others: ClassVar[tuple[Convention, ...]] = ()
    default_source: ClassVar[str] = "As in the docstring."
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = True

    queries: tuple[str, ...] = ()
    convention: str = "default"
    case: str | None = None
    min_found: float | None = None
    words: str | None = None
    language: str | None = None
    resamples: int = 0

    # Set on each object: what was checked is what is asked
    _prepared: ClassVar[tuple[list[Query], SimpleNamespace]]

    def __post_init__(self) -> None:
        if isinstance(self.queries, str):
            raise InputError(f"queries is {self.queries!r}; give a list of one or more query names")
        object.__setattr__(self, "queries", tuple(self.queries))
        if self.convention not in self.conventions():
            hint = nearest(self.convention, self.conventions())
            raise InputError(
                f"unknown convention {self.convention!r}{hint}; {self.about.name} has"
                f" {', '.join(self.conventions())}"
            )
        rules = self.rules()
        if rules.case not in CASES:
            raise InputError(f"unknown case {rules.case!r}; choose from {', '.join(CASES)}")
        if not isinstance(rules.min_found, int | float) or not 0 <= rules.min_found <= 1:
            raise InputError(
                f"min_found is {rules.min_found!r}; give a share of the words between 0 and 1"
            )
        if (
            isinstance(self.resamples, bool)
            or not isinstance(self.resamples, int)
            or self.resamples < 0
        ):
            raise InputError(
                f"resamples is {self.resamples!r}; it must be a whole number of at least 0"
            )
        for name, values in self.allowed.items():
            if getattr(rules, name) not in values:
                raise InputError(
                    f"unknown {name} {getattr(rules, name)!r}; choose from"
                    f" {', '.join(map(str, values))}"
                )
        queries = self.asked()
        if not queries:
            raise InputError(
                f"{self.about.name} has no query of its own in {self.language or 'en'!r}; name one"
                " in queries, or give words"
            )
        object.__setattr__(self, "_prepared", (queries, rules))

    @classmethod
    @cache
    def conventions(cls) -> dict[str, Convention]:
        """Every convention of the metric by name."""
        return {
            each.name: each for each in (Convention("default", cls.default_source), *cls.others)
        }

    def rules(self) -> SimpleNamespace:
        """The convention's settings with this metric's own in their place, and a ``name`` that
        shows them.
        """
        base = {
            "case": "exact",
            "min_found": 0.5,
            **self.options,
            **self.conventions()[self.convention].options,
        }
        own = {name: getattr(self, name) for name in base if getattr(self, name, None) is not None}
        changed = {name: value for name, value in own.items() if value != base[name]}
        name = ",".join([self.convention, *(f"{key}={value}" for key, value in changed.items())])
        return SimpleNamespace(**base | changed, name=name)

    def asked(self) -> list[Query]:
        """The queries. Raises ``InputError`` for one that is unknown, lacks a role, or is in
        another language than the vectors.
        """
        found = load_queries(
            self.queries or self.usual(self.words, self.language or "en"), self.words
        )
        for query in found:
            missing = [role for role in self.about.needs if role not in query.sets]
            if missing:
                raise InputError(
                    f"query {query.name!r} has no {', '.join(missing)}; {self.about.name} asks"
                    f" about {', '.join(self.about.needs)}"
                )
            if self.language and query.language not in (self.language, UNKNOWN):
                raise InputError(
                    f"query {query.name!r} is in {query.language!r} and the vectors are in"
                    f" {self.language!r}; choose a query in that language or state another one for"
                    " the vectors"
                )
        return found

    @classmethod
    def usual(cls, words: str | None, language: str) -> list[str]:
        """The queries asked where none is named: those of the user's file that the metric can ask,
        or else of an audit in the language.
        """
        if words:
            return [
                name for name, query in read_wordsets(words).queries.items() if cls.can_ask(query)
            ]
        return queries_with(cls.about.asks, language)

    @classmethod
    def can_ask(cls, query: Query) -> bool:
        """Whether the query has every word set that the metric needs."""
        return all(role in query.sets for role in cls.about.needs)

    def files(self) -> list[Path]:
        """The files the score depends on."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def score(self, vectors: KeyedVectors, *, seed: int) -> list[dict[str, Any]]:
        """One row a score.

        Where the value or the p-value cannot be had it is NaN and ``reason`` says why. n_found and
        n_lost count the items of all word sets; ``lost`` names those outside the vocabulary and
        ``cut`` those found but cut by the convention.
        """
        return [row for row, _ in self.detailed(vectors, seed=seed)]

    def detailed(
        self, vectors: KeyedVectors, *, seed: int
    ) -> list[tuple[dict[str, Any], Mapping[str, float]]]:
        """As ``score``, each row with the single scores that its value summarises, by word, pair or
        group.
        """
        queries, rules = self._prepared
        return [row for query in queries for row in self._rows(query, vectors, rules, seed)]

    def measure(
        self, words: Words, rules: SimpleNamespace, seed: int
    ) -> Measured | Mapping[str, Measured]:
        """The score of one query; several by name where the metric has several. ``InputError``
        makes it NaN, with its reason.
        """
        raise NotImplementedError

    def intervals(
        self, words: Words, rules: SimpleNamespace, seed: int
    ) -> Mapping[str, tuple[float, float]]:
        """The 95% percentile interval of each value over resampled words: every word set is drawn
        anew with replacement.

        It answers how far the score depends on which words stand for the concepts; not on the
        corpus or the training. NaN where fewer than nine in ten resamples have a score.
        """
        rng = np.random.default_rng(seed)
        drawn: dict[str, list[float]] = {}
        for _ in range(self.resamples):
            again = {
                role: found.take(rng.integers(len(found.items), size=len(found.items)))
                for role, found in words.items()
                if found.items
            }
            try:
                measured = self.measure(
                    Words({**words, **again}, words.vectors, words.query), rules, seed
                )
            except InputError:
                continue
            for part, one in (
                measured if isinstance(measured, Mapping) else {"": measured}
            ).items():
                drawn.setdefault(part, []).append(one.value)
        return {part: percentiles(values, self.resamples) for part, values in drawn.items()}

    def use(self, found: dict[str, Found], rules: SimpleNamespace) -> dict[str, Found]:
        """The items used of those found."""
        return found

    def _rows(
        self, query: Query, vectors: KeyedVectors, rules: SimpleNamespace, seed: int
    ) -> list[tuple[dict[str, Any], Mapping[str, float]]]:
        sets = {role: wordset for role, wordset in query.sets.items() if self.about.takes(role)}
        found = {
            role: find_set(vectors, wordset, case=rules.case) for role, wordset in sets.items()
        }
        counted = {role: got for role, got in found.items() if role != "excluded"}
        used = self.use(counted, rules)
        reasons = [
            shortage(sets[role], got, rules.min_found, self.about.fewest.get(role, 1))
            for role, got in counted.items()
        ]
        reason = "; ".join(filter(None, [*reasons, _overlap(query, used)]))
        parts: Mapping[str, Measured]
        if reason:
            parts = {"": Measured(math.nan, reason=reason)}
        else:
            try:
                for got in used.values():
                    _ = got.matrix  # refuses a vector that has no direction
                if "pairs" in used:
                    pair_differences(used["pairs"].matrix)  # refuses a pair that has none
                words = Words({**found, **used}, vectors, query)
                measured = self.measure(words, rules, seed)
                parts = measured if isinstance(measured, Mapping) else {"": measured}
                if self.resamples:
                    bounds = self.intervals(words, rules, seed)
                    parts = {
                        part: dataclasses.replace(one, interval=bounds.get(part, one.interval))
                        for part, one in parts.items()
                    }
            except InputError as error:
                parts = {"": Measured(math.nan, reason=str(error))}
        cut = [word for role, got in counted.items() for word in got.words[len(used[role].words) :]]
        account = {
            **losses(counted.values()),
            "cut": ",".join(cut),
            "convention": rules.name,
            "language": query.language,
        }
        return [
            (self._row(query, part, one, account, vectors), one.each) for part, one in parts.items()
        ]

    def _row(
        self,
        query: Query,
        part: str,
        one: Measured,
        account: Mapping[str, Any],
        vectors: KeyedVectors,
    ) -> dict[str, Any]:
        unbiased = self.about.unbiased if one.unbiased is None else one.unbiased
        value = one.value if math.isfinite(one.value) else math.nan
        reason = one.reason or (
            "" if math.isfinite(one.value) else "the score is 0 / 0 on these vectors"
        )
        return {
            "metric": self.about.name,
            "query": f"{query.name}/{part}" if part else query.name,
            "value": value,
            "low": one.interval[0],
            "high": one.interval[1],
            "unbiased": math.nan if unbiased is None else unbiased,
            "statistic": one.statistic,
            "p_value": one.test.p if one.test else math.nan,
            "p_low": one.test.low if one.test else math.nan,
            "p_high": one.test.high if one.test else math.nan,
            "p_method": one.test.method if one.test else "none",
            "tail": one.test.tail if one.test else "",
            "strict": one.test.strict if one.test else False,
            **account,
            "dim": vectors.vector_size,
            "reason": reason,
        }


def percentiles(values: Sequence[float], resamples: int) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles of the finite values; NaN where they are fewer than nine tenths
    of ``resamples``.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 0.9 * resamples:
        return math.nan, math.nan
    low, high = np.quantile(finite, [0.025, 0.975])
    return float(low), float(high)


def _overlap(query: Query, used: Mapping[str, Found]) -> str:
    """Why two groups cannot be compared, where they share words."""
    kinds = [
        [role for role in used if role in "XY" or role[0] == "X"],
        [role for role in used if role in "AB" or role[0] == "A"],
    ]
    both = {
        (one, other): set(used[one].words) & set(used[other].words)
        for roles in kinds
        for one, other in combinations(roles, 2)
    }
    return "; ".join(
        f"{one} and {other} of query {query.name!r} share {', '.join(sorted(words))}; a word can be"
        " in one of them only"
        for (one, other), words in both.items()
        if words
    )
