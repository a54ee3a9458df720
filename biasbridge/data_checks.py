"""Problems and warnings of a run on user data, found by the code that would run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasbridge.analysis.naming import GENDERS, MIN_COVERAGE, group_mismatch
from biasbridge.corpora.tokens import tokenise_tweet
from biasbridge.files import InputError
from biasbridge.files.columns import CLASS_NONE, binary_key, distinct_names
from biasbridge.files.language import UNDETERMINED
from biasbridge.intrinsic.lookup import placeholder
from biasbridge.intrinsic.metric import Metric
from biasbridge.train.engine.steps import (
    ChecksInput,
    DataReport,
    PredictsVocabulary,
    SupportsInspect,
)
from biasbridge.train.tasks.posts import coverage
from biasbridge.train.tasks.task_words import compares_genders
from biasbridge.user_data import BINARY, LOOKED_AT, Data, StudySettings, guess_languages

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.train.engine.point import Point


def examine(data: Data, settings: StudySettings) -> DataReport:
    """Report problems, warnings and facts of a run on the data with these settings."""
    report = DataReport()
    _check_languages(data, report)
    if not data.paths.keys() & {"corpus", "vectors", "posts"}:
        report.problems.append("there is nothing to measure: give posts, a corpus or vectors")
    if problem := _labels_problem(data):
        report.problems.append(problem)
    if not report.problems:
        _examine_point(data, settings, report)
    if not (report.problems or data.paths.keys() & {"corpus", "vectors"}):
        report.warnings.append(
            "no corpus and no vectors: a run would train on synthetic text (corpus=generated)"
        )
    return report


def _check_languages(data: Data, report: DataReport) -> None:
    languages = guess_languages(data)
    if data.language == UNDETERMINED:
        report.warnings.append("assuming English (no language given); give --language")
    elif {*languages.values()} - {data.language}:
        listed = ", ".join(f"{kind} {code!r}" for kind, code in languages.items())
        if data.has_given_language:
            report.warnings.append(f"languages differ: {listed}; using --language {data.language}")
        else:
            remedy = "give data of one language, or --language CODE if they are in one"
            report.problems.append(f"languages differ: {listed}; {remedy}")


def _labels_problem(data: Data) -> str:
    """Return what is missing for labels other than 0 and 1, or an empty string."""
    if data.posts is None or data.positive:
        return ""
    labels = distinct_names(data.posts[data.columns["label"]], CLASS_NONE)
    if BINARY.issuperset(map(binary_key, labels)):
        return ""
    scope = " A sweep compares one class with the rest" if len(labels) > 2 else ""
    listed = ", ".join(labels[:10]) + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")
    remedy = "Name the positive class with --positive (source.positive)"
    return f"the labels are {listed}. {remedy}{'.' * bool(scope)}{scope}"


def _examine_point(data: Data, settings: StudySettings, report: DataReport) -> None:
    from biasbridge.train.cli.command import format_override
    from biasbridge.train.cli.composing import compose_point

    try:
        point = compose_point([format_override(key, value) for key, value in settings.items()])
        if isinstance(point.task, ChecksInput):
            point.task.check(point.queries)
        if isinstance(point.task, SupportsInspect):
            point.task.inspect(report)
        if compares_genders(point.queries) and (mismatch := group_mismatch(GENDERS, data.compared)):
            report.warnings.append(f"{mismatch} Give words about these groups in a file")
        vectors = _expected_vectors(data, point)
    except InputError as error:
        report.problems.append(str(error))
        return
    if vectors is not None:
        _check_queries(point, vectors, data, report)
        if data.posts is not None:
            _check_coverage(data, vectors, report)


def _expected_vectors(data: Data, point: Point) -> KeyedVectors | None:
    """Return the vectors, or placeholders for the words that training on the corpus would learn.

    None if there are neither vectors nor a corpus.
    """
    if data.vectors is not None or "corpus" not in data.paths:
        return data.vectors
    assert isinstance(point.subject, PredictsVocabulary)
    return placeholder(point.subject.predict_vocabulary(LOOKED_AT))


def _check_queries(point: Point, vectors: KeyedVectors, data: Data, report: DataReport) -> None:
    """Count the words of each query in the vocabulary; too few give no score."""
    shortages: list[str] = []
    n_queries = 0
    for metric in (metric for metric in point.metrics if isinstance(metric, Metric)):
        for words, short in metric.look_up(vectors):
            counts = [
                f"{role} {len(word_set.items)} of {len(word_set.items) + len(word_set.lost)}"
                for role, word_set in words.sets.items()
            ]
            name = f"query {words.query.name!r}"
            report.lines.append(f"{name}, words in vocabulary: {', '.join(counts)}")
            n_queries += 1
            if short:
                shortages.append(f"{name} has no score: {'; '.join(short)}")
    nothing_scored = len(shortages) == n_queries and (
        data.vectors is not None or data.is_sample_complete
    )
    if data.vectors is None and shortages:
        sample = "" if data.is_sample_complete else f" (judged by its first {LOOKED_AT:,} lines)"
        remedy = "lower corpus.min_count and size.min_count, or give a larger corpus"
        shortages = [
            f"{problem}. Only words that are frequent enough in the corpus count{sample}; {remedy}"
            for problem in shortages
        ]
    (report.problems if nothing_scored else report.warnings).extend(shortages)


def _check_coverage(data: Data, vectors: KeyedVectors, report: DataReport) -> None:
    texts = [" ".join(tokenise_tweet(text)) for text in data.texts]
    proportion = coverage(texts, vectors.key_to_index)
    report.lines.append(f"{proportion:.2f} of the posts' tokens are in the vocabulary")
    if proportion < MIN_COVERAGE:
        problem = f"less than {MIN_COVERAGE} of the posts' tokens are in the vocabulary"
        report.warnings.append(f"{problem}; give vectors, or a corpus, of similar texts")
