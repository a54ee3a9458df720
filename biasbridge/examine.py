"""What a run on one's own data would refuse, and what makes it useless, found by the code that runs
it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from analysis.naming import LEAST_COVERAGE, label_told
from biasbridge.data import LOOKED_AT, Data, Settings, recognised
from biasbridge.labels import classes, is_binary
from corpora.corpus import TextCorpus
from corpora.tweets import UNKNOWN, tokenise_tweet
from extrinsic.cnn import CNN
from extrinsic.crossval import read_posts, split_posts
from extrinsic.linear import Linear
from files import InputError, read_lines
from files.language import UNDETERMINED
from intrinsic.found_query import find_query
from train.embed import Word2Vec
from train.parts.classify_posts import coverage, without_vector
from train.parts.hatespeech import HateSpeech
from train.parts.posts import oddities
from train.parts.static import StaticVectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from train.point import Point


@dataclass
class Examined:
    """What stands in the way of a run, what it would do in silence, and what else is to be told."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def examine(data: Data, settings: Settings) -> Examined:
    """Everything found about a run on the data by these settings."""
    found = Examined()
    _languages(data, found)
    if not data.paths.keys() & {"corpus", "vectors", "posts"}:
        found.problems.append("there is nothing to measure: give posts, a corpus or vectors")
    elif not data.paths.keys() & {"corpus", "vectors"}:
        alone = "no corpus and no vectors: embeddings of the generated world would be used"
        found.warnings.append(alone)
    if told := _labels(data):
        found.problems.append(told)
    if not found.problems:
        _point(data, settings, found)
    return found


def _languages(data: Data, found: Examined) -> None:
    seen = recognised(data)
    if data.language == UNDETERMINED:
        untold = "the language is not told; English words are taken: give --language"
        found.warnings.append(untold)
    elif {*seen.values()} - {data.language}:
        looks = f"languages differ: {', '.join(f'{kind} {code!r}' for kind, code in seen.items())}"
        if data.stated:
            found.warnings.append(f"{looks}; --language {data.language} is taken")
        else:
            remedy = "give data of one language, or --language CODE if they are in one"
            found.problems.append(f"{looks}; {remedy}")


def _labels(data: Data) -> str:
    """What is missing for labels that are not 0 and 1; empty where nothing is."""
    if data.posts is None or data.positive:
        return ""
    labels = [label for label in classes(data.posts[data.columns["label"]]) if label]
    if is_binary(labels):
        return ""
    several = f"; a sweep is about {'one class' if len(labels) > 2 else 'one'} against the rest"
    listed = ", ".join([*labels[:10], *(["..."] if len(labels) > 10 else [])])
    return (
        f"the labels are {listed}: name with --positive which count as 1 (source.positive){several}"
    )


def _point(data: Data, settings: Settings, found: Examined) -> None:
    """What one point of the run meets."""
    from train.front.compose import compose_point
    from train.front.spell import format_override

    try:
        point = compose_point([format_override(key, value) for key, value in settings.items()])
        if isinstance(point.task, HateSpeech):
            point.task.check()
            _posts(data, point.task, found)
    except InputError as error:
        found.problems.append(str(error))
        return
    if (vectors := _vocabulary(data, point, found)) is not None:
        _queries(point, vectors, data, found)
        if data.posts is not None:
            _coverage(data, vectors, found)


def _posts(data: Data, task: HateSpeech, found: Examined) -> None:
    """Groups with their posts; posts without text, and those that are there more than once. Raises
    ``InputError`` for what cannot be cross-validated.
    """
    if data.posts is None:
        return
    posts = task.source.load(seed=0)
    found.told.append(label_told(task.source.positive_class))
    found.told.extend(oddities(posts))
    if isinstance(task.classifier, Linear | CNN):
        next(split_posts(read_posts(posts), folds=task.classifier.folds, seed=0))
    if not task.source.grouped:
        posts = task.groups.tag(posts)
    how = repr(data.columns["group"]) if task.source.grouped else f"the words of {task.groups.name}"
    counts = posts["group"].value_counts()
    listed = ", ".join(f"{count} {name}" for name, count in counts.head(10).items())
    found.told.append(f"groups by {how}: {listed}")
    if task.source.grouped and "pair" not in task.gaps.compare:
        pair = "for a pair of them give --privileged GROUP --unprivileged GROUP"
        found.warnings.append(f"each group is compared with all others; {pair}")
    positive = posts.loc[posts["label"] == 1, "group"].value_counts()
    fewest = task.gaps.least_support
    for name in task.gaps.named or map(str, counts.index):
        few = f"group {name!r} has {counts.get(name, 0)} posts, {positive.get(name, 0)} labelled 1"
        remedy = f"a gap needs {fewest} (gaps.least_support)"
        if counts.get(name, 0) < max(1, fewest) and task.gaps.named:
            found.problems.append(f"{few}; {remedy}")
        elif positive.get(name, 0) < fewest:
            found.warnings.append(f"{few}; {remedy}")


def _vocabulary(data: Data, point: Point, found: Examined) -> KeyedVectors | None:
    """The vectors, or words as vectors for those that would be trained on the corpus; None where
    neither is given.
    """
    if data.vectors is not None or "corpus" not in data.paths:
        return data.vectors
    from files.vectors import keyed

    assert isinstance(point.subject, StaticVectors)
    corpus, embedding = point.subject.corpus, point.subject.embedding
    assert isinstance(corpus, TextCorpus)
    assert isinstance(embedding, Word2Vec)
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        out = Path(folder) / "corpus.txt"
        try:
            replace(corpus, limit=LOOKED_AT).write(out, seed=0)
        except InputError as error:
            found.problems.append(str(error))
            return None
        for line in read_lines(out):
            counts.update(line.split())
    words = [word for word, count in counts.items() if count >= embedding.min_count]
    if not {*words} - {UNKNOWN}:
        few = f"no word of {data.paths['corpus']} occurs {corpus.min_count} times"
        found.problems.append(f"{few}: the corpus is too small to train on; give a larger one")
        return None
    return keyed(words, np.ones((len(words), 1), dtype=np.float32))


def _queries(point: Point, vectors: KeyedVectors, data: Data, found: Examined) -> None:
    """The words that queries find; too few of a set give no score."""
    lacking: list[str] = []
    asked = 0
    for metric in point.metrics:
        for query in metric.asked:
            words = find_query(vectors, query, metric.about.takes, case=metric.case)
            shares = [
                f"{role} {len(each.items)} of {len(each.items) + len(each.lost)}"
                for role, each in words.sets.items()
            ]
            found.told.append(f"query {query.name!r}, words found: {', '.join(shares)}")
            asked += 1
            if short := words.shortages(metric.min_found, metric.about.fewest):
                lacking.append(f"query {query.name!r} has no score: {'; '.join(short)}")
    if data.vectors is None and lacking:
        read = "" if data.whole else f", of which the first {LOOKED_AT:,} lines were looked at"
        rare = "lower corpus.min_count and size.min_count, or give a larger corpus"
        lacking = [f"{each}, as often as it takes in the corpus{read}; {rare}" for each in lacking]
    nothing = len(lacking) == asked and (data.vectors is not None or data.whole)
    (found.problems if nothing else found.warnings).extend(lacking)


def _coverage(data: Data, vectors: KeyedVectors, found: Examined) -> None:
    texts = [" ".join(tokenise_tweet(text)) for text in data.texts]
    share = coverage(texts, vectors.key_to_index)
    found.told.append(f"{share:.2f} of the posts' tokens have a vector")
    if share < LEAST_COVERAGE:
        lost = ", ".join(without_vector(texts, vectors.key_to_index))
        few = f"less than {LEAST_COVERAGE} of the posts' tokens have a vector"
        found.warnings.append(f"{few}; most frequent of the others: {lost}")
