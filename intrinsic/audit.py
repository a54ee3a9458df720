"""Audit of vectors by every metric, as one table, and ranks of several files of vectors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from biasbridge.files import InputError, nearest
from biasbridge.files.language import (
    UNDETERMINED,
    guess_language,
    known_form,
    language_in_name,
    lower_forms,
)
from biasbridge.intrinsic.lookup import clear_frequent_words, is_by_frequency
from biasbridge.intrinsic.metrics.utility import SemanticQuality
from biasbridge.intrinsic.registry import METRICS
from biasbridge.intrinsic.score import ALL_CONVENTIONS
from biasbridge.intrinsic.words import load_queries, read_wordsets

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.score import ByConvention, Score
    from biasbridge.intrinsic.words import Query

_N_FREQUENT = 200  # words from which a language is guessed
# What stands before, after or around words in some vocabularies: en:he, he_PRON, he@en, "he"
_AFFIXES = tuple(
    map(re.compile, (r"(.*[\W_])(.+)()", r"()(.+?)([\W_].*)", r"([\W_]+)(.+?)([\W_]+)"))
)


class AuditedScore(NamedTuple):
    """A score of named vectors; ``single_scores``: what its value summarises.

    kind: ``vectors``, ``masked``, ``causal``, ``encoder`` or ``random``. gender_words: the language
    of the words for women and men compared, empty if it compares others. certificate: how the score
    follows a planted bias. called_bias: whether it may be called bias. architecture: of a language
    model, with its size. above: what a score above the unbiased value says. title: of the query or
    of the items.
    """

    vectors: str
    score: Score
    single_scores: Mapping[str, float]
    kind: str = "vectors"
    gender_words: str = ""
    certificate: str = ""
    called_bias: bool = True
    architecture: str = ""
    above: str = ""
    title: str = ""


def choose_metrics(
    names: Sequence[str] = (),
    *,
    queries: Sequence[str] = (),
    words: str | None = None,
    convention: str | None = None,
    language: str = "en",
    similarity: Sequence[str] = (),
    case: str | None = None,
    min_found: float | None = None,
    resamples: int = 0,
) -> list[Metric]:
    """Return the metrics of an audit, each with its queries.

    ``names``: by default all metrics that accept a query. ``queries``: built-in ones or those of
    the file ``words``; by default all of the file, or each metric's default ones in the language.
    Metrics without the convention are left out; ``case`` and ``min_found`` override it.
    ``similarity``: files for ``sq``. Raises ``InputError`` for an unknown metric or convention, a
    query in another language, and queries that no metric accepts.
    """
    for name in names:
        if name not in METRICS:
            hint = f"{nearest(name, METRICS)}; there are {', '.join(METRICS)}"
            raise InputError(f"unknown metric {name!r}{hint}")
    selected = _select_queries(queries, words, language)
    metrics: list[Metric] = []
    for metric_class in [METRICS[name] for name in names or METRICS]:
        make = partial(metric_class.configured, case=case, min_found=min_found, resamples=resamples)
        if metric_class is SemanticQuality:
            metrics += [make(file=path) for path in similarity]
            continue
        if selected:
            accepted = [n for n, query in selected.items() if names or metric_class.accepts(query)]
        else:
            accepted = metric_class.default_queries(None, language)
        settings = {"queries": tuple(accepted), "words": words, "language": language}
        if accepted:
            labels = select_conventions(metric_class, convention)
            metrics += [make(convention=label, **settings) for label in labels]
    if not metrics:
        raise InputError(_no_metric(names, list(selected), convention, language))
    return metrics


def select_conventions(
    metric: type[ByConvention], name: str | None, model_kind: str = ""
) -> list[str]:
    """Return the conventions of a metric by a name, ``all`` that apply to the model, or None."""
    if name == ALL_CONVENTIONS:
        conventions = metric.conventions().values()
        return [each.name for each in conventions if not each.kinds or model_kind in each.kinds]
    return [label for label in metric.conventions() if label == (name or "default")]


def score_metrics(
    vectors: KeyedVectors, metrics: Sequence[Metric], *, seed: int = 0
) -> list[tuple[Score, Mapping[str, float]]]:
    """Return the scores of every metric, each with the single scores it summarises."""
    if not 0 <= seed < 2**32:
        raise InputError(f"seed={seed}: give a whole number from 0 to 2**32 - 1")
    clear_frequent_words(vectors)
    return [row for metric in metrics for row in metric.score_with_singles(vectors, seed=seed)]


def score_table(audited: Iterable[AuditedScore]) -> pd.DataFrame:
    """Return a row per score: ``vectors``, and the columns of ``Score`` without ``resampled``."""
    table = pd.DataFrame(map(score_row, audited)).drop(columns="resampled", errors="ignore")
    has_settings = "settings" in table and table["settings"].any()
    return table if has_settings else table.drop(columns="settings", errors="ignore")


def score_row(audited: AuditedScore) -> dict[str, object]:
    """Return the cells of a score, with ``p`` and ``n``, short for ``p_value`` and ``n_found``."""
    cells = {"vectors": audited.vectors, **audited.score._asdict()}
    short = {"p": audited.score.p_value, "n": audited.score.n_found}
    return {**cells, **short, "certificate": audited.certificate}


def rank_files(table: pd.DataFrame) -> pd.DataFrame:
    """Rank files by metric, convention, query and part (rows); 1: value nearest to the unbiased.

    Equal distances share their mean rank. Left out: scores of utility, and scores without a value
    for every file. ``table`` has these columns, and vectors, value and unbiased.
    """
    distance = (table["value"] - table["unbiased"]).abs()
    index = ["metric", "convention", "query", "part"]
    wide = table.assign(distance=distance).pivot_table("distance", index, "vectors", sort=False)
    files = table["vectors"].unique().tolist()  # some may have no value at all
    return wide.reindex(columns=files).dropna().rank(axis=1)


def rank_correlations(ranked: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's correlation of metrics over files, by mean rank; noisy for few files."""
    return ranked.groupby("metric", sort=False).mean().T.corr(method="spearman")


def assume_language(
    name: str | Path, frequent: Sequence[str] = (), query_language: str = UNDETERMINED
) -> tuple[str, str]:
    """Return the language of frequent words, file name or queries, else English, with a note."""
    file = Path(name).name
    guessed = guess_language(word.lower() for word in frequent[:_N_FREQUENT])
    if guessed != UNDETERMINED:
        language, evidence = guessed, "from its frequent words"
    elif (in_name := language_in_name(name)) != UNDETERMINED:
        language, evidence = in_name, "from its name"
    elif query_language != UNDETERMINED:
        language, evidence = query_language, "from the queries"
    else:
        language, evidence = "en", "no language given"
    note = f"{file}: assuming language {language!r} ({evidence})"
    return language, note if language == "en" else f"{note}; give the language if it is another"


def query_language(queries: Sequence[str], words: str | None) -> str:
    """Return the single language of the queries; ``und`` if unknown or more than one."""
    selected = load_queries(queries or _queries_of(words), words)
    languages = {query.language for query in selected} - {UNDETERMINED}
    return languages.pop() if len(languages) == 1 else UNDETERMINED


def missing_role_notes(metrics: Sequence[Metric], queries: Iterable[Query]) -> list[str]:
    """Return a line for each role that a query lacks, with the metrics that need it."""
    measured = {(metric.name, query.name) for metric in metrics for query in metric.loaded_queries}
    notes = []
    for query in queries:
        metrics_by_role: dict[str, list[str]] = {}
        for name, metric_class in METRICS.items():
            compares_groups = {"X", "Y", "A", "B"}.issuperset(metric_class.about.required)
            if compares_groups and (name, query.name) not in measured:
                for role in metric_class.missing_roles(query):
                    metrics_by_role.setdefault(role, []).append(name)
        for role, names in metrics_by_role.items():
            notes.append(f"query {query.name!r} has no {role}, needed by {', '.join(names)}")
    return notes


def suggest_lower_case(name: str, vectors: KeyedVectors, metrics: Iterable[Metric]) -> list[str]:
    """Suggest ``case="lower"`` if vectors have no capitals and would find more words that way."""
    index = vectors.key_to_index
    words = _query_words(metric for metric in metrics if metric.case == "exact")
    n_lower = sum(known_form(word, index) != word for word in words)
    if not n_lower or any(word != word.lower() for word in index):
        return []
    are_lower = f"{n_lower} query words are" if n_lower > 1 else "1 query word is"
    remedy = 'give case="lower" (--case lower)'
    return [f"{name} has no capital letters: {are_lower} in lower case only; {remedy}"]


def name_affix(name: str, vectors: KeyedVectors, metrics: Iterable[Metric]) -> list[str]:
    """Name what stands around the words of vectors that hold no query word, as ``@en``."""
    words = _query_words(metrics)
    words |= {form for word in words for form in lower_forms(word)}
    if any(word in vectors.key_to_index for word in words):
        return []
    examples: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for key in vectors.index_to_key:
        for affix in _AFFIXES:
            if (match := affix.fullmatch(key)) and match[2] in words:
                examples[match[1], match[3]].append(key)
    if not examples:
        return []
    before, after = max(examples, key=lambda affix: len(examples[affix]))
    places = [f"begin with {before!r}"] * bool(before) + [f"end with {after!r}"] * bool(after)
    example = examples[before, after][0]
    problem = f"no query word is found: words {' and '.join(places)}, as {example!r}"
    return [f"{name}: {problem}; remove it from the file"]


def doubt_order(name: str, vectors: KeyedVectors, methods: Iterable[str]) -> list[str]:
    """Return a note if methods take the order of rows for frequency, which it cannot be."""
    names = ", ".join(dict.fromkeys(methods))
    if not names or is_by_frequency(vectors):
        return []
    problem = f"rows are not in order of frequency, which {names} assume"
    return [f"{name}: {problem}; sort them by the words' counts in the corpus"]


def _query_words(metrics: Iterable[Metric]) -> set[str]:
    queries = (query for metric in metrics for query in metric.loaded_queries)
    wordsets = (wordset for query in queries for wordset in query.sets.values())
    return {word for wordset in wordsets for word in wordset.words}


def _select_queries(queries: Sequence[str], words: str | None, language: str) -> dict[str, Query]:
    selected = {query.name: query for query in load_queries(queries or _queries_of(words), words)}
    for query in selected.values():
        if query.language not in (language, "und"):
            option = f"--language {query.language} (language={query.language!r} in Python)"
            raise InputError(
                f"query {query.name!r} is in {query.language!r}, but the vectors are assumed to be"
                f" in {language!r}; give {option} if they are in {query.language!r}"
            )
    return selected


def _queries_of(words: str | None) -> list[str]:
    return list(read_wordsets(words).queries) if words else []


def _no_metric(
    names: Sequence[str], queries: Sequence[str], convention: str | None, language: str
) -> str:
    metrics = ", ".join(names) or "any metric"
    if convention:
        conventions = dict.fromkeys(
            name for metric_class in METRICS.values() for name in metric_class.conventions()
        )
        hint = f"{nearest(convention, conventions)}; there are {', '.join(conventions)}"
        return f"{metrics} has no convention {convention!r}{hint}"
    if names == ["sq"]:
        return "sq needs a file of word similarity; give one with --similarity"
    if queries:
        return f"no metric accepts {', '.join(queries)}: each lacks a word set (see --list)"
    remedy = "give your own with --words, or choose from those of --list"
    return f"no query in {language!r} for {metrics}; {remedy}"
