"""``biasbridge check DATA``: what one's posts, corpus, words and vectors are, and what a run on
them would do; nothing is written.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from biasbridge.data import Arguments, Data, add_arguments, read_data
from files import InputError
from files.language import UNDETERMINED
from files.options import Parser
from files.printable import printable
from intrinsic.lookup import find_set
from intrinsic.wordsets import Query, in_language, load_queries, queries_with

LEAST_COVERAGE = 0.8


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for what there is, and warnings; 1 where there are any."""
    options = Parser(prog="biasbridge check", description=__doc__)
    add_arguments(options)
    data = read_data(options.parse_args(arguments, Arguments()))
    told = [*_files(data), *_matches(data)]
    warnings = _warnings(data)
    for line in [*told, *(f"warning: {line}" for line in warnings)]:
        print(printable(line))
    print(f"this would run it: biasbridge train {shlex.join(data.overrides())}")
    return 1 if warnings else 0


def _files(data: Data) -> list[str]:
    """What is in each file."""
    lines = []
    if data.posts is not None:
        labels = data.posts[data.columns["label"]].astype(str).value_counts().to_dict()
        counts = ", ".join(f"{count} {label}" for label, count in labels.items())
        columns = ", ".join(f"{role} {name!r}" for role, name in data.columns.items())
        lines.append(f"posts {data.paths['posts']}: {len(data.posts)}, {columns}; {counts}")
    if "corpus" in data.paths:
        words = sum(len(line.split()) for line in data.sample)
        lines.append(f"corpus {data.paths['corpus']}: {len(data.sample)} lines read, {words} words")
    for query in data.queries:
        roles = ", ".join(f"{role} {len(each.items)}" for role, each in query.sets.items())
        lines.append(f"words {data.paths['words']}: query {query.name!r}, {roles}")
    if data.vectors is not None:
        size = f"{len(data.vectors)} words, {data.vectors.vector_size} dimensions"
        lines.append(f"vectors {data.paths['vectors']}: {size}")
    return [*lines, f"language: {data.language}"]


def _matches(data: Data) -> list[str]:
    """How the files go together: groups found in posts, words and posts found in the vectors."""
    lines = []
    if data.posts is not None:
        lines += _groups(data)
    if data.vectors is not None:
        for query in _queries(data):
            shares = [
                f"{role} {len(find_set(data.vectors, each, case='lower').items)} of"
                f" {len(each.items)}"
                for role, each in query.sets.items()
            ]
            lines.append(f"query {query.name!r}, words found: {', '.join(shares)}")
        if data.posts is not None:
            lines.append(f"{coverage_of(data):.2f} of the posts' tokens have a vector")
    return lines


def _queries(data: Data) -> Sequence[Query]:
    language = "en" if data.language == UNDETERMINED else data.language
    return data.queries or load_queries(queries_with(("weat6b", "weat7", "weat8"), language))


def coverage_of(data: Data) -> float:
    """The share of the posts' tokens that have a vector."""
    from corpora.tweets import tokenise_tweet
    from train.parts.classify_posts import coverage

    assert data.posts is not None
    assert data.vectors is not None
    texts = data.posts[data.columns["text"]].astype(str)
    return coverage((" ".join(tokenise_tweet(text)) for text in texts), data.vectors.key_to_index)


def _groups(data: Data) -> list[str]:
    """How many posts each group has, by its column or by the words of the language."""
    from corpora.tweets import tokenise_tweet
    from extrinsic.tagger import MentionTagger

    assert data.posts is not None
    if "group" in data.columns:
        groups, how = data.posts[data.columns["group"]].astype(str), f"{data.columns['group']!r}"
    else:
        language = "en" if data.language == UNDETERMINED else data.language
        try:
            [query] = in_language(["gender_mentions"], language)
        except InputError as error:
            return [f"groups: no words tell them: {error}"]
        texts = data.posts[data.columns["text"]].astype(str)
        posts = data.posts.assign(text=[" ".join(tokenise_tweet(text)) for text in texts])
        groups, how = MentionTagger(query).tag(posts)["group"], f"the words of {query}"
    counts = ", ".join(f"{count} {name}" for name, count in groups.value_counts().head(10).items())
    return [f"groups by {how}: {counts}"]


def _warnings(data: Data) -> list[str]:
    """What a run would stumble over, or do in silence."""
    found = []
    if data.language == UNDETERMINED:
        found.append("the language is not told; English words are taken: give --language")
    if data.posts is not None and not data.paths.keys() & {"corpus", "vectors"}:
        found.append("no corpus and no vectors: embeddings of the generated world would be used")
    if data.posts is not None and data.vectors is not None and coverage_of(data) < LEAST_COVERAGE:
        found.append(f"less than {LEAST_COVERAGE} of the posts' tokens have a vector")
    if not data.paths.keys() & {"corpus", "vectors", "posts"}:
        found.append("there is nothing to measure: give posts, a corpus or vectors")
    return found
