"""What a run on one's own data would refuse, and what makes it useless, found by the code that runs
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.groups import GENDERS, doubt
from analysis.naming import LEAST_COVERAGE
from biasbridge.data import BINARY, LOOKED_AT, Data, Settings, classes, guess_languages
from corpora.tweets import tokenise_tweet
from files import InputError
from files.language import UNDETERMINED
from intrinsic.found_query import find_query
from intrinsic.metric import Metric
from train.parts.genders import ask_about_genders
from train.parts.part import Checked, Findings, Foreseen, Inspected
from train.parts.posts import coverage

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from train.point import Point


def examine(data: Data, settings: Settings) -> Findings:
    """Everything found about a run on the data by these settings."""
    found = Findings()
    _check_languages(data, found)
    if not data.paths.keys() & {"corpus", "vectors", "posts"}:
        found.problems.append("there is nothing to measure: give posts, a corpus or vectors")
    if problem := _labels_problem(data):
        found.problems.append(problem)
    if not found.problems:
        _examine_point(data, settings, found)
    if not (found.problems or data.paths.keys() & {"corpus", "vectors"}):
        alone = "no corpus and no vectors: corpus=generated trains on synthetic text; give either"
        found.warnings.append(alone)
    return found


def _check_languages(data: Data, found: Findings) -> None:
    seen = guess_languages(data)
    if data.language == UNDETERMINED:
        unknown = "the language is not stated; English words are taken: give --language"
        found.warnings.append(unknown)
    elif {*seen.values()} - {data.language}:
        looks = f"languages differ: {', '.join(f'{kind} {code!r}' for kind, code in seen.items())}"
        if data.stated:
            found.warnings.append(f"{looks}; --language {data.language} is taken")
        else:
            remedy = "give data of one language, or --language CODE if they are in one"
            found.problems.append(f"{looks}; {remedy}")


def _labels_problem(data: Data) -> str:
    """What is missing for labels that are not 0 and 1; empty where nothing is."""
    if data.posts is None or data.positive:
        return ""
    labels = [label for label in classes(data.posts[data.columns["label"]]) if label]
    if BINARY.issuperset(labels):
        return ""
    several = f"; a sweep is about {'one class' if len(labels) > 2 else 'one'} against the rest"
    listed = ", ".join([*labels[:10], *(["..."] if len(labels) > 10 else [])])
    return (
        f"the labels are {listed}: name with --positive which count as 1 (source.positive){several}"
    )


def _examine_point(data: Data, settings: Settings, found: Findings) -> None:
    """What one point of the run meets."""
    from train.front.compose import compose_point
    from train.front.spell import format_override

    try:
        point = compose_point([format_override(key, value) for key, value in settings.items()])
        if isinstance(point.task, Checked):
            point.task.check(point.queries)
        if isinstance(point.task, Inspected):
            point.task.inspect(found)
        if ask_about_genders(point.queries) and (unlike := doubt(GENDERS, data.compared)):
            remedy = "Give a file of words about these groups, too"
            found.warnings.append(f"{unlike} {remedy}")
        vectors = _foreseen_vectors(data, point)
    except InputError as error:
        found.problems.append(str(error))
        return
    if vectors is not None:
        _check_queries(point, vectors, data, found)
        if data.posts is not None:
            _check_coverage(data, vectors, found)


def _foreseen_vectors(data: Data, point: Point) -> KeyedVectors | None:
    """The vectors, or words as vectors for those that would be trained on the corpus; None where
    neither is given.
    """
    if data.vectors is not None or "corpus" not in data.paths:
        return data.vectors
    from files.vectors import keyed

    assert isinstance(point.subject, Foreseen)
    words = point.subject.foresee_words(LOOKED_AT)
    return keyed(words, np.ones((len(words), 1), dtype=np.float32))


def _check_queries(point: Point, vectors: KeyedVectors, data: Data, found: Findings) -> None:
    """The words that queries find; too few of a set give no score."""
    lacking: list[str] = []
    asked = 0
    for metric in (each for each in point.metrics if isinstance(each, Metric)):
        for query in metric.asked:
            words = find_query(vectors, query, metric.about.takes, case=metric.case)
            shares = [
                f"{role} {len(each.items)} of {len(each.items) + len(each.lost)}"
                for role, each in words.sets.items()
            ]
            found.lines.append(f"query {query.name!r}, words found: {', '.join(shares)}")
            asked += 1
            if short := words.shortages(metric.min_found, metric.about.fewest):
                lacking.append(f"query {query.name!r} has no score: {'; '.join(short)}")
    if data.vectors is None and lacking:
        read = "" if data.whole else f", of which the first {LOOKED_AT:,} lines were looked at"
        rare = "lower corpus.min_count and size.min_count, or give a larger corpus"
        lacking = [f"{each}, as often as it takes in the corpus{read}; {rare}" for each in lacking]
    nothing = len(lacking) == asked and (data.vectors is not None or data.whole)
    (found.problems if nothing else found.warnings).extend(lacking)


def _check_coverage(data: Data, vectors: KeyedVectors, found: Findings) -> None:
    texts = [" ".join(tokenise_tweet(text)) for text in data.texts]
    share = coverage(texts, vectors.key_to_index)
    found.lines.append(f"{share:.2f} of the posts' tokens have a vector")
    if share < LEAST_COVERAGE:
        few = f"less than {LEAST_COVERAGE} of the posts' tokens have a vector"
        remedy = "take vectors, or a corpus, of such texts"
        found.warnings.append(f"{few}; {remedy}")
