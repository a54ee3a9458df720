"""Every metric on any vectors: one table; and several files of vectors side by side, ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from files import InputError, nearest
from files.language import UNDETERMINED, guess_language, language_in_name
from intrinsic.conventions import EVERY
from intrinsic.frequent_words import forget_frequent
from intrinsic.metrics.every import METRICS
from intrinsic.metrics.utility import SemanticQuality
from intrinsic.wordsets import load_queries, read_wordsets

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.conventions import ByConvention
    from intrinsic.metric import Metric
    from intrinsic.score import Score
    from intrinsic.wordsets import Query

FREQUENT = 200  # words from which a language is guessed


class Audited(NamedTuple):
    """A score of the vectors of this name, with the single scores that its value summarises; the
    ``kind`` of model (``vectors``, ``masked``, ``causal``, ``encoder``, ``random``); the language
    of the words for women and men that it compares, empty where it compares others; what is known
    of such scores on models with a planted bias; and whether they may be called bias.
    """

    vectors: str
    score: Score
    each: Mapping[str, float]
    kind: str = "vectors"
    gender_words: str = ""
    certificate: str = ""
    called_bias: bool = True


def language_of(
    name: str | Path, frequent: Sequence[str] = (), asked: str = UNDETERMINED
) -> tuple[str, str]:
    """The language that vectors are taken to be in, and a remark on how it is known: that in the
    name of a file, as in ``cc.es.300.vec``, else that of the grammar among the ``frequent`` words,
    else the one ``asked`` in, else English.
    """
    file = Path(name).name
    seen = guess_language(word.lower() for word in frequent[:FREQUENT])
    if (named := language_in_name(name)) != UNDETERMINED:
        language, how = named, "by its name"
    elif seen != UNDETERMINED:
        language, how = seen, "by its frequent words"
    elif asked != UNDETERMINED:
        language, how = asked, "as the queries are"
    else:
        language, how = "en", "for nothing says otherwise"
    known = f"{file} is taken to be in {language!r}, {how}"
    return language, known if language == "en" else f"{known}; give the language if it is another"


def language_asked(queries: Sequence[str], words: str | None) -> str:
    """The one language that the queries asked are in; ``und`` where none is known, or several."""
    asked = load_queries(queries or _queries_of(words), words)
    known = {query.language for query in asked} - {UNDETERMINED}
    return known.pop() if len(known) == 1 else UNDETERMINED


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
    """The metrics of an audit, each with its queries.

    names: metrics; none: all that have a query to ask. queries: built-in ones or those of the file
    ``words``; none: those of the file, or else each metric's usual ones in the language. A
    convention is taken by the metrics that have it; ``case`` and ``min_found`` go before it. Word
    similarity is measured on the files ``similarity``. Raises ``InputError`` for an unknown name, a
    query in another language, one that no metric can ask, and a convention that none has.
    """
    for name in names:
        if name not in METRICS:
            known = f"{nearest(name, METRICS)}; there are {', '.join(METRICS)}"
            raise InputError(f"unknown metric {name!r}{known}")
    asked = _asked(queries, words, language)
    chosen: list[Metric] = []
    for kind in [METRICS[name] for name in names or METRICS]:
        make = partial(kind.configured, case=case, min_found=min_found, resamples=resamples)
        if kind is SemanticQuality:
            chosen += [make(file=path) for path in similarity]
            continue
        mine = [name for name, query in asked.items() if names or kind.can_ask(query)]
        mine = mine if asked else kind.usual(None, language)
        words_asked = {"queries": tuple(mine), "words": words, "language": language}
        if mine:
            named = conventions_of(kind, convention)
            chosen += [make(convention=each, **words_asked) for each in named]
    if not chosen:
        raise InputError(_nothing(names, list(asked), convention, language))
    return chosen


def conventions_of(kind: type[ByConvention], asked: str | None) -> list[str]:
    """The conventions of a metric that are asked for by name: the default one without a name, every
    one by ``all``, none where it has none of that name.
    """
    if asked == EVERY:
        return list(kind.conventions())
    return [name for name in kind.conventions() if name == (asked or "default")]


def not_asked(metrics: Sequence[Metric], queries: Iterable[Query]) -> list[str]:
    """Why queries on targets and attributes are not asked by metrics about such.

    A query without B, say, is passed over by every metric that needs B: a line for each query.
    """
    asking = {(metric.name, query.name) for metric in metrics for query in metric.asked}
    found = []
    for query in queries:
        lacking: dict[str, list[str]] = {}
        for kind in METRICS.values():
            about_groups = {"X", "Y", "A", "B"}.issuperset(kind.about.required)
            if about_groups and (kind.about.name, query.name) not in asking:
                for role in kind.lacking(query):
                    lacking.setdefault(role, []).append(kind.about.name)
        for role, names in lacking.items():
            found.append(f"query {query.name!r} has no {role}, which {', '.join(names)} ask about")
    return found


def suggest_lower_case(name: str, vectors: KeyedVectors, metrics: Iterable[Metric]) -> list[str]:
    """Return a line where vectors have no capital letters and lack words for want of lower case."""
    index = vectors.key_to_index
    wordsets = (
        wordset
        for metric in metrics
        if metric.case == "exact"
        for query in metric.asked
        for wordset in query.sets.values()
    )
    words = {word for wordset in wordsets for item in wordset.items for word in item}
    n_lower = sum(word not in index and word.lower() in index for word in words)
    if not n_lower or any(word != word.lower() for word in index):
        return []
    which = f"{n_lower} of the words asked about" if n_lower > 1 else "a word asked about"
    remedy = 'give case="lower" (--case lower)'
    return [f"{name} has no capital letters, and has {which} in lower case only: {remedy}"]


def audit(
    vectors: KeyedVectors, metrics: Sequence[Metric], *, seed: int = 0
) -> list[tuple[Score, Mapping[str, float]]]:
    """The scores of every metric, each with the single ones that its value summarises.

    Raises ``InputError`` for a seed outside what random generators take.
    """
    if not 0 <= seed < 2**32:
        raise InputError(f"seed={seed}: give a whole number from 0 to 2**32 - 1")
    forget_frequent(vectors)
    return [row for metric in metrics for row in metric.detailed(vectors, seed=seed)]


def as_table(audited: Iterable[Audited]) -> pd.DataFrame:
    """One row a score: the file in the column ``vectors``, then the columns of ``Score`` but
    ``resampled``, and ``settings`` where a row has such.
    """
    table = pd.DataFrame(map(as_row, audited)).drop(columns="resampled", errors="ignore")
    of_models = "settings" in table and table["settings"].any()
    return table if of_models else table.drop(columns="settings", errors="ignore")


def as_row(one: Audited) -> dict[str, object]:
    """The cells of a score, with ``p`` and ``n``, short for ``p_value`` and ``n_found``."""
    cells = {"vectors": one.vectors, **one.score._asdict()}
    short = {"p": one.score.p_value, "n": one.score.n_found}
    return {**cells, **short, "certificate": one.certificate}


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Each file's rank by metric, query and part: 1: least biased, its value nearest the unbiased.

    Equal distances share their mean rank. Scores without a value for every file, and scores of
    utility, are left out. Shape: one row for each metric, query and part, one column for each file;
    ``table`` has the columns metric, query, part, vectors, value and unbiased.
    """
    distance = (table["value"] - table["unbiased"]).abs()
    wide = table.assign(distance=distance).pivot_table(
        index=["metric", "query", "part"], columns="vectors", values="distance", sort=False
    )
    files = table["vectors"].unique().tolist()  # of which some may have no value at all
    return wide.reindex(columns=files).dropna().rank(axis=1)


def rank_correlations(ranked: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of metrics over files, each by its mean rank; NaN where one ties all.

    1: two metrics order the files alike. The files are few, so most such numbers are noise: read
    them with the number of files beside.
    """
    return ranked.groupby("metric", sort=False).mean().T.corr(method="spearman")


def _asked(queries: Sequence[str], words: str | None, language: str) -> dict[str, Query]:
    """The queries named, or else those of the file ``words``, by name."""
    asked = {query.name: query for query in load_queries(queries or _queries_of(words), words)}
    for query in asked.values():
        if query.language not in (language, "und"):
            taken = f"is in {query.language!r} and the vectors are taken to be in {language!r}"
            option = f"--language {query.language} (language={query.language!r} in Python)"
            remedy = f"give {option} if they are"
            raise InputError(f"query {query.name!r} {taken}; {remedy}")
    return asked


def _queries_of(words: str | None) -> list[str]:
    return list(read_wordsets(words).queries) if words else []


def _nothing(
    names: Sequence[str], asked: Sequence[str], convention: str | None, language: str
) -> str:
    about = ", ".join(names) or "any metric"
    if convention:
        every = dict.fromkeys(name for kind in METRICS.values() for name in kind.conventions())
        known = f"{nearest(convention, every)}; there are {', '.join(every)}"
        return f"{about} has no convention {convention!r}{known}"
    if names == ["sq"]:
        return "sq measures word similarity on a file; give one with --similarity"
    if asked:
        return f"no metric can ask {', '.join(asked)}: each lacks a set of words (see --list)"
    remedy = "give your own with --words, or choose from those of --list"
    return f"there is no query for {about} in {language!r}; {remedy}"
