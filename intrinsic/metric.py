"""Base of metrics on word vectors, scores by base pair, and the protocols of metrics and probes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from annotated_types import Le, doc

from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Share, Whole
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.lookup import LetterCase, clear_frequent_words, find_set, resolve_query
from biasbridge.intrinsic.lookup import ResolvedQuery as ResolvedQuery
from biasbridge.intrinsic.score import ByConvention, MetricResult, Score, make_row, percentiles
from biasbridge.intrinsic.score import Convention as Convention
from biasbridge.intrinsic.score import MetricInfo as MetricInfo
from biasbridge.intrinsic.words import (
    MORE_GROUPS,
    Query,
    WordSet,
    find_queries,
    load_queries,
    read_wordsets,
    require_queries,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.stats.arrays import Floats


_MAX_RESAMPLES = 1_000_000
_RUN_PREFIX = "from_"  # of the names of queries whose words a run draws
_MIN_BASE_PAIRS = 2

WordItem = tuple[str, ...]

MinFound = Annotated[Share, doc("share of each word set that must be found")]


WEFE = Convention(
    "wefe", "WEFE 1.0: as the default, with its limit on missing words.", {"min_found": 0.8}
)
SNEYD = Convention(
    "sneyd",
    "Zhang, Sneyd & Stevenson (2020): as the default, however few words are found.",
    {"min_found": 0.0},
)


@choice
class Metric(ByConvention):
    """Base of a metric on word vectors; its fields are its options, see :class:`ByConvention`.

    A subclass defines ``about`` and ``measure``. Its further fields are options of its own, each
    annotated with ``doc``; ``further_conventions`` lists those except the default one. Options that
    differ from the convention are in the row's ``convention``, for example ``wefe,case=lower``;
    ``unlabelled`` names the fields that are left out there.
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
    items: ClassVar[str] = ""  # role of what ``by_pair`` scores

    queries: Annotated[
        tuple[str, ...], doc("built-in queries or those of the file words; none: those of an audit")
    ] = ()
    convention: str = field(default="default", init=False)
    case: Annotated[
        LetterCase, doc("lower: words are looked up as written, then in lower case")
    ] = "exact"
    min_found: MinFound = 0.5
    words: Annotated[str | None, doc("file of own queries, YAML or JSON")] = None
    language: Annotated[
        str | None, doc("language of the vectors, queries in another are an error; null: any")
    ] = None
    resamples: Annotated[
        Whole,
        Le(_MAX_RESAMPLES),
        doc("number of resamples of the words for the 95% interval; 0: none"),
    ] = 0

    def __post_init__(self) -> None:
        if not self.loaded_queries and not self.open_queries:
            raise InputError(
                f"{self.name} has no default query in {self.language or 'en'!r}; name one in"
                " queries, or give words"
            )

    @classmethod
    def configured(
        cls, *, convention: str | None = None, usual: Sequence[str] | None = None, **values: Any
    ) -> Self:
        """Create the metric from the flat keys of a configuration; None: the convention's value.

        ``usual``: the built-in queries used if neither ``queries`` nor ``words`` are set, in
        ``language`` if it is known; by default those of an audit.
        """
        if values.get("language") == UNDETERMINED:
            del values["language"]
        if not values.get("queries") and not values.get("words"):
            language = values.get("language")
            usual = usual or find_queries(cls.about.asks, "en")
            values["queries"] = require_queries(usual, language) if usual and language else usual
        return super().configured(convention=convention, **values)

    @cached_property
    def loaded_queries(self) -> list[Query]:
        """Queries with known words; ``InputError``: unknown, a role or the language is wrong."""
        closed = [name for name in self.queries if name not in self.open_queries]
        names = closed if self.queries else self.default_queries(self.words, self.language or "en")
        return self._check(load_queries(names, self.words))

    @cached_property
    def open_queries(self) -> tuple[str, ...]:
        """Names of the queries whose words a run draws (``from_...``), see ``with_queries``."""
        return tuple(name for name in self.queries if name.startswith(_RUN_PREFIX))

    def with_queries(self, words: Mapping[str, Query]) -> Self:
        """Return the metric with the words of its open queries; ``InputError`` if one has none."""
        if without_words := [name for name in self.open_queries if name not in words]:
            raise self._without_words(without_words[0])
        drawn = self._check(map(words.__getitem__, self.open_queries))
        queries = {query.name: query for query in [*self.loaded_queries, *drawn]}
        metric = copy(self)
        # In place of what the cached properties of a frozen class computed
        object.__setattr__(metric, "open_queries", ())
        object.__setattr__(metric, "loaded_queries", [queries[name] for name in self.queries])
        return metric

    def _without_words(self, name: str) -> InputError:
        return InputError(f"query {name!r} has words only in a run that draws them; name another")

    def _check(self, queries: Iterable[Query]) -> list[Query]:
        checked = list(queries)
        for query in checked:
            if missing := self.missing_roles(query):
                needs = f"{self.name} needs {', '.join(self.about.required)}"
                remedy = f"add them to the query, or leave {self.name} out"
                raise InputError(
                    f"query {query.name!r} has no {', '.join(missing)}; {needs}: {remedy}"
                )
            if self.language and query.language not in (self.language, UNDETERMINED):
                raise InputError(
                    f"query {query.name!r} is in {query.language!r} and the vectors are in"
                    f" {self.language!r}; choose another query, or state another language"
                )
        return checked

    @classmethod
    def default_queries(cls, words: str | None, language: str) -> list[str]:
        """Return the default queries: those of the file with all roles, else those of an audit."""
        if words:
            queries = read_wordsets(words).queries
            return [name for name, query in queries.items() if cls.accepts(query)]
        return find_queries(cls.about.asks, language)

    @classmethod
    def accepts(cls, query: Query) -> bool:
        """Test whether the query has every word set that the metric needs."""
        return not cls.missing_roles(query)

    @classmethod
    def missing_roles(cls, query: Query) -> list[str]:
        """Return the required roles that the query does not have."""
        return [role for role in cls.about.required if role not in query.sets]

    def remarks(self) -> list[str]:
        """Return warnings about groups of the queries that the metric does not compare."""
        warnings = []
        for query in self.loaded_queries:
            further_groups = [role for role in query.sets if MORE_GROUPS.fullmatch(role)]
            if unused := [role for role in further_groups if not self.about.takes(role)]:
                sets = f"{', '.join(unused)} of query {query.name!r}"
                warnings.append(f"{self.name} compares two groups and ignores {sets}")
        return warnings

    def files(self) -> list[Path]:
        """Return the files the score depends on."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words of the queries, wherever they are listed."""
        return {"queries": digest_of([query.key_fields() for query in self.loaded_queries])}

    def score(self, vectors: KeyedVectors, *, seed: int) -> list[Score]:
        """Return a row per query, or per part of a query."""
        clear_frequent_words(vectors)
        return [row for row, _ in self.score_with_singles(vectors, seed=seed)]

    def score_with_singles(
        self, vectors: KeyedVectors, *, seed: int
    ) -> list[tuple[Score, Mapping[str, float]]]:
        """Return each row with the single scores (by word, pair or group) that it summarises."""
        if self.open_queries:
            raise self._without_words(self.open_queries[0])
        rows = []
        for resolved, shortages in self.look_up(vectors):
            query, words = resolved.query, self.select_words(resolved)
            reason = "; ".join([*shortages, *words.overlaps()])
            results = (
                {"": MetricResult(math.nan, reason=reason)}
                if reason
                else self._results(words, seed)
            )
            lost = [word for word_set in words.word_sets.values() for word in word_set.lost]
            n_found = sum(len(word_set.words) for word_set in words.word_sets.values())
            for part, result in results.items():
                row = make_row(
                    self.about,
                    self.label,
                    part,
                    result,
                    query=query.name,
                    language=query.language,
                    n_found=n_found + len(words.cut),
                    n_oov=len(lost),
                    oov=lost,
                    truncated=words.cut,
                    dim=vectors.vector_size,
                )
                rows.append((row, result.single_scores))
        return rows

    def look_up(self, vectors: KeyedVectors) -> Iterator[tuple[ResolvedQuery, list[str]]]:
        """Yield the words of each query in the vectors, and the word sets with too few of them."""
        for query in self.loaded_queries:
            resolved = resolve_query(vectors, query, self.about.takes, case=self.case)
            yield resolved, resolved.shortages(self.min_found, self.about.fewest)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult | Mapping[str, MetricResult]:
        """Compute the score of a query, or of its parts by name; ``InputError``: NaN, its reason.

        Parameters
        ----------
        words : ResolvedQuery
            The word sets of the query with their vectors, by role: ``words["X"].matrix`` (unit
            length) or ``.raw``, of shape (n_words, dim), (n_pairs, 2, dim) for pairs.
        seed : int
            Seed of whatever the metric draws.
        """
        raise NotImplementedError

    def select_words(self, words: ResolvedQuery) -> ResolvedQuery:
        """Return the items used of those found, of base pairs maybe the first alone."""
        is_along_first = getattr(self, "along", "") == "first"
        return words.truncated({"pairs": 1}) if is_along_first else words

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Score every item under each base pair, (items, pairs); above 0: to its first word."""
        raise NotImplementedError

    def intervals(self, words: ResolvedQuery, seed: int) -> Mapping[str, tuple[float, float]]:
        """Compute the 95% percentile interval of each part, resampling every word set.

        It covers the choice of words for the concepts, not the corpus or the training. NaN if fewer
        than 9 in 10 resamples have a score, or all have the same.
        """
        rng = np.random.default_rng(seed)
        resamples = (words.resampled(rng) for _ in range(self.resamples))
        values_by_part = self.values_on(resamples, seed)
        return {part: percentiles(v, self.resamples) for part, v in values_by_part.items()}

    def resampled(self, words: ResolvedQuery) -> Mapping[str, Sequence[float]]:
        """Return each part's score in every joint resample; NaN: no score."""
        return self.values_on(words.joint_resamples(), 0)

    def values_on(self, queries: Iterable[ResolvedQuery], seed: int) -> dict[str, list[float]]:
        """Return each part's values on the queries, in order; NaN: no score."""
        results = [self._values(words, seed) for words in queries]
        parts = dict.fromkeys(part for values in results for part in values)
        return {part: [values.get(part, math.nan) for values in results] for part in parts}

    def _values(self, words: ResolvedQuery, seed: int) -> dict[str, float]:
        """Return the value of each part; empty if there is no score."""
        if words.shortages(0, self.about.fewest):
            return {}
        try:
            return {part: result.value for part, result in self._measure(words, seed).items()}
        except InputError:
            return {}

    def _measure(self, words: ResolvedQuery, seed: int) -> Mapping[str, MetricResult]:
        result = self.measure(words, seed)
        return {"": result} if isinstance(result, MetricResult) else result

    def _results(self, words: ResolvedQuery, seed: int) -> Mapping[str, MetricResult]:
        """Return the result of every part with its interval; or NaN with the reason."""
        try:
            words.require_directions()
            results = self._measure(words, seed)
            if not self.resamples:
                return results
            bounds, resampled = self.intervals(words, seed), self.resampled(words)
        except InputError as error:
            return {"": MetricResult(math.nan, reason=str(error))}
        return {
            part: dataclasses.replace(
                result,
                interval=bounds.get(part, result.interval),
                resampled=tuple(resampled.get(part, ())),
            )
            for part, result in results.items()
        }


@dataclass(frozen=True)
class PairScores:
    """A metric that scores any items of these vectors under any base pairs.

    resolved: the items and the base pairs (at least two) of a query in the vectors. Words left out
    of neighbours are those of this query, whatever is scored.
    """

    metric: Metric
    resolved: ResolvedQuery

    @classmethod
    def resolve(cls, metric: Metric, vectors: KeyedVectors, query: Query) -> PairScores:
        """Look up the query. Raises ``InputError`` if no item has a score by pair."""
        if not metric.items:
            raise InputError(
                f"{metric.name} has no score of a single word under a single base pair; use"
                " pair_bias, ripa, nbm, direct_bias or unrelated_analogies"
            )
        resolved = resolve_query(vectors, query, metric.about.takes, case=metric.case)
        needed = {**metric.about.fewest, "pairs": _MIN_BASE_PAIRS}
        if shortages := resolved.shortages(metric.min_found, needed):
            raise InputError("; ".join(shortages))
        pairs = resolved["pairs"]
        for (a, b), (first, second) in zip(pairs.items, pairs.raw, strict=True):
            if a == b or not np.any(first != second):
                problem = "is one word twice" if a == b else "has two words with the same vector"
                raise InputError(f"base pair {a}:{b} {problem}, so it has no direction; remove it")
        resolved.require_directions()
        return cls(metric, resolved)

    @property
    def pairs(self) -> list[WordItem]:
        """Base pairs found."""
        return self.resolved["pairs"].items

    def has(self, *words: str) -> bool:
        """Test whether all words are in the vocabulary."""
        return all(word in self.resolved.vectors for word in words)

    def __call__(self, items: Sequence[WordItem], pairs: Sequence[WordItem]) -> Floats:
        """Score these items, all in the vocabulary, (items, pairs)."""
        unique_items = list(dict.fromkeys(items))
        sets = {}
        for role, role_items in ((self.metric.items, unique_items), ("pairs", pairs)):
            words = tuple(word for item in role_items for word in item)
            wordset = WordSet("", words, UNDETERMINED, "", width=len(role_items[0]))
            sets[role] = find_set(self.resolved.vectors, wordset)
        query = dataclasses.replace(self.resolved, sets={**self.resolved.sets, **sets})
        index = {item: i for i, item in enumerate(unique_items)}
        scores: Floats = self.metric.by_pair(query)[[index[item] for item in items]]
        return scores


@runtime_checkable
class AnyMetric(Choice, Protocol):
    """Protocol of a metric, whatever it measures; ``biasbridge.intrinsic.metric.Metric`` measures
    vectors.

    needs: the step of a subject it measures, such as ``vectors``. about: the meaning of its scores.
    """

    needs: ClassVar[str]
    about: ClassVar[MetricInfo]

    @property
    def loaded_queries(self) -> Sequence[Query]:
        """Queries with known words."""

    @property
    def open_queries(self) -> Sequence[str]:
        """Names of the queries whose words a run draws."""

    def with_queries(self, words: Mapping[str, Query]) -> Self:
        """Return the metric with the words of its open queries, by name."""

    def score(self, model: Any, /, *, seed: int) -> list[Score]:
        """Measure what the metric ``needs``; a row per score."""


@runtime_checkable
class Probe(Choice, Protocol):
    """Protocol of an examination of a subject.

    needs: the step of a subject it examines. per_metric: whether it examines every metric of the
    point, a step each; otherwise it runs once, without a metric.
    """

    needs: ClassVar[str]
    per_metric: ClassVar[bool]

    def rows(self, subject: Any, metric: Any, /, *, seed: int) -> pd.DataFrame:
        """Return the results as tidy rows, always with the same columns.

        ``subject`` is what the probe ``needs``; ``metric`` is None unless ``per_metric``.
        """
