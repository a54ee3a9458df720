"""What all metrics share: queries, options by convention, a row a score. Each adds an equation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Le, doc

from files import InputError, choice
from files.choice import Share, Whole
from files.digest import digest_of
from intrinsic.conventions import ByConvention
from intrinsic.conventions import Convention as Convention
from intrinsic.found_query import FoundQuery as FoundQuery
from intrinsic.found_query import find_query
from intrinsic.frequent_words import forget_frequent
from intrinsic.lookup import Case
from intrinsic.score import About as About
from intrinsic.score import Measured, Score, make_row, percentiles
from intrinsic.wordsets import Query, in_language, load_queries, queries_with, read_wordsets
from intrinsic.wordsets.wordset import MORE_GROUPS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

UNKNOWN = "und"
MOST_RESAMPLES = 1_000_000
OPEN = "from_"  # begins the names of queries whose words come with a run

MinFound = Annotated[Share, doc("share of each word set that must be found")]


WEFE = Convention(
    "wefe", "WEFE 1.0: as the default, with its rule for lost words.", {"min_found": 0.8}
)
SNEYD = Convention(
    "sneyd",
    "Zhang, Sneyd & Stevenson (2020): as the default, on whatever words are found.",
    {"min_found": 0.0},
)


@choice
class Metric(ByConvention):
    """A metric over several queries: a choice whose fields are its options, with the values of the
    default convention; ``by`` makes one by another convention.

    A new metric gives ``about`` and ``measure``; its further fields are options of its own, each
    annotated with ``doc``, and ``others`` lists its conventions but for the default. The options in
    which it departs from its convention are in the row's ``convention``, for example
    ``wefe,case=lower``; ``unlabelled`` names the fields that are not options in this sense.
    """

    unlabelled: ClassVar[tuple[str, ...]] = (
        "queries",
        "convention",
        "words",
        "language",
        "resamples",
    )
    unkeyed: ClassVar[tuple[str, ...]] = ("words",)
    needs: ClassVar[str] = "vectors"
    version: ClassVar[int] = 3
    seeded: ClassVar[bool] = True

    queries: Annotated[
        tuple[str, ...], doc("built-in ones or those of the file words; none: those of an audit")
    ] = ()
    convention: str = field(default="default", init=False)
    case: Annotated[Case, doc("lower: a word is looked up as written, then in lower case")] = (
        "exact"
    )
    min_found: MinFound = 0.5
    words: Annotated[str | None, doc("file of one's own queries, YAML or JSON")] = None
    language: Annotated[
        str | None, doc("that of the vectors, queries in another are refused; null: any")
    ] = None
    resamples: Annotated[
        Whole,
        Le(MOST_RESAMPLES),
        doc("number of resamples of the words for the 95% interval; 0: none"),
    ] = 0

    def __post_init__(self) -> None:
        if not self.asked and not self.open:
            raise InputError(
                f"{self.name} has no query of its own in {self.language or 'en'!r}; name one in"
                " queries, or give words"
            )

    @classmethod
    def configured(
        cls, *, convention: str | None = None, usual: Sequence[str] | None = None, **values: Any
    ) -> Self:
        """As ``by``, from the flat keys of a configuration: null leaves the convention's value.

        ``usual``: the built-in queries asked where neither ``queries`` nor ``words`` are given, in
        ``language`` where that is known; without it those of an audit.
        """
        given = {name: value for name, value in values.items() if value is not None}
        if given.get("language") == UNKNOWN:
            del given["language"]
        if not given.get("queries") and not given.get("words"):
            language = given.get("language")
            usual = usual or queries_with(cls.about.asks, "en")
            given["queries"] = in_language(usual, language) if usual and language else usual
        return cls.by(convention or "default", **given)

    @cached_property
    def asked(self) -> list[Query]:
        """The queries. ``InputError`` for one unknown, without a role, or in another language."""
        named = [name for name in self.queries if name not in self.open]
        names = named if self.queries else self.usual(self.words, self.language or "en")
        return self._check(load_queries(names, self.words))

    @cached_property
    def open(self) -> tuple[str, ...]:
        """The queries whose words are not known yet: those named ``from_...``, see ``given``."""
        return tuple(name for name in self.queries if name.startswith(OPEN))

    def given(self, words: Mapping[str, Query]) -> Self:
        """The metric with the words of its open queries. Raises ``InputError`` as ``asked`` does,
        and for a query that stays open.
        """
        if lacking := [name for name in self.open if name not in words]:
            raise self._without_words(lacking[0])
        asked = {query.name: query for query in self.asked}
        asked |= {query.name: query for query in self._check(map(words.__getitem__, self.open))}
        filled = copy(self)
        # Both are computed once and then kept, so that to fill them is to write what is kept
        vars(filled).update(open=(), asked=[asked[name] for name in self.queries])
        return filled

    def _without_words(self, name: str) -> InputError:
        return InputError(f"query {name!r} has words only in a run that draws them; name another")

    def _check(self, queries: Iterable[Query]) -> list[Query]:
        found = list(queries)
        for query in found:
            if missing := self.lacking(query):
                needs = f"{self.name} asks about {', '.join(self.about.required)}"
                remedy = f"add them to the query, or leave {self.name} out"
                lack = f"query {query.name!r} has no {', '.join(missing)}"
                raise InputError(f"{lack}; {needs}: {remedy}")
            if self.language and query.language not in (self.language, UNKNOWN):
                raise InputError(
                    f"query {query.name!r} is in {query.language!r} and the vectors are in"
                    f" {self.language!r}; choose another query, or state another language"
                )
        return found

    @classmethod
    def usual(cls, words: str | None, language: str) -> list[str]:
        """Those asked unless named: the file's that it can ask, or an audit's in the language."""
        if words:
            queries = read_wordsets(words).queries
            return [name for name, query in queries.items() if cls.can_ask(query)]
        return queries_with(cls.about.asks, language)

    @classmethod
    def can_ask(cls, query: Query) -> bool:
        """Whether the query has every word set that the metric needs."""
        return not cls.lacking(query)

    @classmethod
    def lacking(cls, query: Query) -> list[str]:
        """The roles that the metric needs and the query has not."""
        return [role for role in cls.about.required if role not in query.sets]

    def remarks(self) -> list[str]:
        """Remarks on the queries asked: further groups that the metric does not compare."""
        found = []
        for query in self.asked:
            more = [role for role in query.sets if MORE_GROUPS.fullmatch(role)]
            if unused := [role for role in more if not self.about.takes(role)]:
                sets = f"{', '.join(unused)} of query {query.name!r}"
                found.append(f"{self.name} compares two groups and leaves {sets} out")
        return found

    def files(self) -> list[Path]:
        """The files the score depends on."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def keyed(self) -> Mapping[str, object]:
        """The words asked about, wherever they are listed."""
        return {"asked": digest_of([query.decisive() for query in self.asked])}

    def score(self, vectors: KeyedVectors, *, seed: int) -> list[Score]:
        """One row a score: of each query, or of each of its parts."""
        forget_frequent(vectors)
        return [row for row, _ in self.detailed(vectors, seed=seed)]

    def detailed(
        self, vectors: KeyedVectors, *, seed: int
    ) -> list[tuple[Score, Mapping[str, float]]]:
        """As ``score``, with the single scores (by word, pair or group) that each summarises."""
        if self.open:
            raise self._without_words(self.open[0])
        rows = []
        for query in self.asked:
            found = find_query(vectors, query, self.about.takes, case=self.case)
            used = self.use(found)
            lacking = found.shortages(self.min_found, self.about.fewest)
            reason = "; ".join([*lacking, *used.overlaps()])
            parts = {"": Measured(math.nan, reason=reason)} if reason else self._parts(used, seed)
            rows += [
                (make_row(self.about, self.label, used, part, one), one.each)
                for part, one in parts.items()
            ]
        return rows

    def measure(self, words: FoundQuery, seed: int) -> Measured | Mapping[str, Measured]:
        """The score of a query, or its parts' by name; ``InputError``: NaN, with the reason."""
        raise NotImplementedError

    def use(self, found: FoundQuery) -> FoundQuery:
        """The items used of those found."""
        return found

    def intervals(self, words: FoundQuery, seed: int) -> Mapping[str, tuple[float, float]]:
        """The 95% percentile interval of each part, every word set drawn anew with replacement.

        It answers how far the score depends on which words stand for the concepts; not on the
        corpus or the training. NaN where fewer than nine in ten resamples have a score, or all have
        the same.
        """
        rng = np.random.default_rng(seed)
        drawn = self.on_each((words.resampled(rng) for _ in range(self.resamples)), seed)
        return {part: percentiles(values, self.resamples) for part, values in drawn.items()}

    def resampled(self, words: FoundQuery) -> Mapping[str, Sequence[float]]:
        """Each part's score over ``intrinsic.resampling``'s resamples; NaN where it has none."""
        return self.on_each(words.joint_resamples(), 0)

    def on_each(self, drawn: Iterable[FoundQuery], seed: int) -> dict[str, list[float]]:
        """Each part's values on what was drawn of a query, in order; NaN where it has none."""
        found = [self._values(words, seed) for words in drawn]
        parts = dict.fromkeys(part for values in found for part in values)
        return {part: [values.get(part, math.nan) for values in found] for part in parts}

    def _values(self, words: FoundQuery, seed: int) -> dict[str, float]:
        """The parts' values; none where there is no score."""
        try:
            if words.shortages(0, self.about.fewest):
                return {}
            return {part: one.value for part, one in _by_part(self.measure(words, seed)).items()}
        except InputError:
            return {}

    def _parts(self, words: FoundQuery, seed: int) -> Mapping[str, Measured]:
        """Every part with its interval; or NaN with the reason."""
        try:
            words.require_directions()
            parts = _by_part(self.measure(words, seed))
            bounds = self.intervals(words, seed) if self.resamples else {}
            resampled = self.resampled(words) if self.resamples else {}
        except InputError as error:
            return {"": Measured(math.nan, reason=str(error))}
        return {
            part: dataclasses.replace(
                one,
                interval=bounds.get(part, one.interval),
                resampled=tuple(resampled.get(part, ())),
            )
            for part, one in parts.items()
        }


def _by_part(measured: Measured | Mapping[str, Measured]) -> Mapping[str, Measured]:
    return {"": measured} if isinstance(measured, Measured) else measured
