"""Every metric on any vectors: one table; and several files of vectors side by side, ranked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from files import InputError, nearest
from intrinsic.metric import Metric
from intrinsic.metrics import METRICS
from intrinsic.metrics.utility import SemanticQuality
from intrinsic.wordsets import load_queries, query_names, read_wordsets

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

LANGUAGES = ("de", "en", "es", "hr", "it", "ru", "tr")
NAMED = re.compile(r"(?:^|[._-])(" + "|".join(LANGUAGES) + r")(?=[._-]|$)")


def language_of(path: str | Path) -> str:
    """The language that a file name states, as in ``cc.es.300.vec``; English where it states
    none.
    """
    found = NAMED.search(Path(path).name)
    return found.group(1) if found else "en"


def choose_metrics(
    names: Sequence[str] = (),
    *,
    queries: Sequence[str] = (),
    words: str | None = None,
    convention: str | None = None,
    language: str = "en",
    similarity: Sequence[str] = (),
    **settings: Any,
) -> list[Metric]:
    """The metrics of an audit, each with its queries.

    names: metrics; none: all that have a query to ask. queries: built-in ones or those of the file
    ``words``; none: those of the file, or else each metric's usual ones in the language. A
    convention is taken by the metrics that have it. Word similarity is measured on the files
    ``similarity``. Raises ``InputError`` for an unknown name, a query in another language, one that
    no metric can ask, and a convention that none has.
    """
    for name in names:
        if name not in METRICS:
            raise InputError(
                f"unknown metric {name!r}{nearest(name, METRICS)}; there are {', '.join(METRICS)}"
            )
    asked = {
        query.name: query
        for query in load_queries(
            list(queries) or (list(read_wordsets(words).queries) if words else []), words
        )
    }
    for query in asked.values():
        if query.language not in (language, "und"):
            raise InputError(
                f"query {query.name!r} is in {query.language!r} and the vectors are taken to be in"
                f" {language!r}; give --language {query.language} if they are"
            )
    chosen: list[Metric] = []
    for kind in [METRICS[name] for name in names] if names else METRICS.values():
        if kind is SemanticQuality:
            chosen += [SemanticQuality(file=path) for path in similarity]
            continue
        mine = (
            [name for name, query in asked.items() if names or kind.can_ask(query)]
            if asked
            else kind.usual(None, language)
        )
        if not mine or (convention and convention not in kind.conventions()):
            continue
        shared: dict[str, Any] = {
            "queries": tuple(mine),
            "words": words,
            "language": language,
            **settings,
        }
        if convention:
            shared["convention"] = convention
        chosen.append(kind(**shared))
    if not chosen:
        raise InputError(_nothing(names, list(asked), convention, language))
    return chosen


def audit(
    vectors: KeyedVectors, metrics: Sequence[Metric], *, seed: int = 0
) -> list[tuple[dict[str, Any], Mapping[str, float]]]:
    """The rows of every metric (see ``Metric.score``), each with the single scores that its value
    summarises.
    """
    return [row for metric in metrics for row in metric.detailed(vectors, seed=seed)]


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The rank of every file for every metric and query: 1 is the least biased, by the distance of
    its value from the unbiased one.

    Equal distances share their mean rank. Queries without a value for every file, and scores of
    utility, are left out. Shape: one row for each metric and query, one column for each file;
    ``table`` has the columns metric, query, vectors, value and unbiased.
    """
    distance = (table["value"] - table["unbiased"]).abs()
    wide = table.assign(distance=distance).pivot_table(
        index=["metric", "query"], columns="vectors", values="distance", sort=False
    )
    return wide[list(dict.fromkeys(table["vectors"]))].dropna().rank(axis=1)


def rank_correlations(ranked: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation between metrics over files, each metric by the mean rank of its
    queries; NaN where one ties all files.

    1: two metrics order the files alike. The files are few, so most such numbers are noise: read
    them with the number of files beside.
    """
    return ranked.groupby("metric", sort=False).mean().T.corr(method="spearman")


def _nothing(
    names: Sequence[str], asked: Sequence[str], convention: str | None, language: str
) -> str:
    about = ", ".join(names) or "any metric"
    if convention:
        every = dict.fromkeys(name for kind in METRICS.values() for name in kind.conventions())
        return (
            f"{about} has no convention {convention!r}{nearest(convention, every)}; there are"
            f" {', '.join(every)}"
        )
    if asked:
        return (
            f"no metric can ask {', '.join(asked)}: each lacks a set of words that the metrics need"
            " (see --list)"
        )
    if names == ["sq"]:
        return "sq measures word similarity on a file; give one with --similarity"
    return (
        f"there is no query for {about} in {language!r}; give your own with --words, or choose from"
        f" {', '.join(query_names())}"
    )
