"""One's own data, told from their content: posts, a corpus, words, vectors; and the overrides of a
run on them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from files import InputError, read_lines
from files.language import UNDETERMINED, guess_language
from files.tables import SEPARATORS, read_table, require_columns
from files.text import OPENERS, open_plain
from intrinsic.wordsets import Query, read_wordsets

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

TEXT_NAMES = ("text", "texto", "tweet", "post", "comment", "comment_text", "sentence")
LABEL_NAMES = ("label", "class", "hateful", "hate", "odio", "hs", "toxic", "target")
GROUP_NAMES = ("group", "grupo", "gender", "identity", "target_group")
BINARY = {"0", "1", "0.0", "1.0", "True", "False"}
LOOKED_AT = 20_000  # lines of a corpus, words of vectors


class Arguments(argparse.Namespace):
    """What both ``check`` and ``init`` are given."""

    data: list[Path]
    text: str | None
    label: str | None
    group: str | None
    language: str | None
    trusted: bool


def add_arguments(options: argparse.ArgumentParser) -> None:
    """The arguments that both share."""
    add = options.add_argument
    told = "labelled posts (a table), a corpus (text), words (YAML, JSON or CSV), vectors"
    add("data", nargs="+", type=Path, metavar="DATA", help=told)
    add("--text", metavar="COL", help="column of the posts' text (default: as its name tells)")
    add("--label", metavar="COL", help="column of the labels, 0 and 1")
    add("--group", metavar="COL", help="column of the groups; without one words tell them")
    add("--language", metavar="CODE", help="of the data (default: what they look like)")
    trusted = "open gensim's own format, a pickle, which can run any code: only of files you made"
    add("--trusted", action="store_true", help=trusted)


@dataclass
class Data:
    """What was found in the files given, each under its kind."""

    posts: pd.DataFrame | None = None
    vectors: KeyedVectors | None = None
    queries: list[Query] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)  # lines of the corpus
    paths: dict[str, Path] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    language: str = UNDETERMINED
    trusted: bool = False

    def overrides(self) -> list[str]:
        """What a run on them is asked for."""
        found = [f"language={self.language}"] if self.language != UNDETERMINED else []
        if "vectors" in self.paths:
            found += ["embedding=pretrained", f"embedding.path={self.paths['vectors']}"]
            found += ["embedding.trusted=true"] * self.trusted
        if "corpus" in self.paths:
            found += ["corpus=text", f"corpus.path={self.paths['corpus']}"]
        if "posts" in self.paths:
            found += ["source=csv", f"source.path={self.paths['posts']}"]
            found += [f"source.{role}={name}" for role, name in self.columns.items()]
        else:
            found.append("source=none")
        if "words" in self.paths:
            found.append(f"intrinsic.weat.words={self.paths['words']}")
        whole = [query.name for query in self.queries if {"X", "Y", "A", "B"} <= query.sets.keys()]
        if whole:
            found += ["words=file", f"words.file={self.paths['words']}", f"words.query={whole[0]}"]
        return found


def read_data(given: Arguments) -> Data:
    """Read every file as what it is. Raises ``InputError`` for one that is nothing of this, for two
    of a kind, and as the reader of its kind does.
    """
    data = Data(trusted=given.trusted)
    for path in given.data:
        kind = kind_of(path)
        if kind in data.paths:
            raise InputError(f"{data.paths[kind]} and {path} are both {kind}; give one of them")
        data.paths[kind] = path
    if (words := data.paths.get("words")) is not None:
        data.queries = list(read_wordsets(words).queries.values())
    if (posts := data.paths.get("posts")) is not None:
        data.posts = read_table(posts)
        data.columns = _columns(data.posts, given, posts)
    if (corpus := data.paths.get("corpus")) is not None:
        data.sample = list(islice(read_lines(corpus), LOOKED_AT))
    if (vectors := data.paths.get("vectors")) is not None:
        from files.vectors import read_vectors  # loads gensim

        data.vectors = read_vectors(vectors, trusted=given.trusted)
    data.language = given.language or _language(data)
    return data


def kind_of(path: Path) -> str:
    """``posts``, ``corpus``, ``words`` or ``vectors``, by the name's ending and the content."""
    from files.vectors import detect_format  # loads gensim

    if path.is_dir():
        return "vectors"
    open_plain(path).close()
    plain = path.with_suffix("") if path.suffix in OPENERS else path
    if plain.suffix in (".yaml", ".yml", ".json"):
        return "words"
    if plain.suffix == ".parquet":
        return "posts"
    if plain.suffix in (".csv", ".tsv", ".tab"):
        names = {str(name) for name in read_table(path)}
        return "words" if {"role", "word"} <= names or {"X", "Y"} <= names else "posts"
    try:
        detect_format(path)
    except InputError:
        if plain.suffix in (*SEPARATORS, ".text", ".tok"):
            return "corpus"
        raise
    return "vectors"


def tokens_of(data: Data) -> Iterator[str]:
    """The lower-case tokens of the posts, or else of the corpus."""
    texts: Iterable[str] = data.sample
    if data.posts is not None:
        texts = data.posts[data.columns["text"]].astype(str)
    return (token for text in texts for token in text.lower().split())


def _language(data: Data) -> str:
    """The first that can be told: of posts or corpus, of words, of the vectors' frequent words."""
    told = {query.language for query in data.queries} - {UNDETERMINED}
    seen = guess_language(tokens_of(data))
    if seen == UNDETERMINED and len(told) == 1:
        return told.pop()
    if seen == UNDETERMINED and data.vectors is not None:
        return guess_language(data.vectors.index_to_key[:200])
    return seen


def _columns(posts: pd.DataFrame, given: Arguments, path: Path) -> dict[str, str]:
    """The columns of a run by their roles; ``InputError`` where one must be named."""
    named = {"text": given.text, "label": given.label, "group": given.group}
    found = {role: name for role, name in named.items() if name is not None}
    require_columns(posts, found.values(), str(path))
    names = [str(name) for name in posts]
    guesses = {
        "text": _named(names, TEXT_NAMES) or _longest(posts),
        "label": _named([name for name in names if _binary(posts[name])], LABEL_NAMES),
        "group": _named(names, GROUP_NAMES),
    }
    binary = [name for name in names if _binary(posts[name])]
    if not guesses["label"] and len(binary) == 1:
        guesses["label"] = binary[0]
    found = {role: name for role, name in guesses.items() if name} | found
    if "label" not in found:
        told = f"{path}: no column is known to be the label; it has {', '.join(names)}"
        raise InputError(f"{told}; name it with --label")
    return {role: found[role] for role in named if role in found}


def _named(names: Sequence[str], known: Sequence[str]) -> str:
    return next((name for each in known for name in names if name.lower() == each), "")


def _longest(posts: pd.DataFrame) -> str:
    """The column with the longest texts."""
    lengths = {str(name): posts[name].astype(str).str.len().mean() for name in posts}
    return max(lengths, key=lambda name: lengths[name])


def _binary(cells: pd.Series) -> bool:
    return set(map(str, Counter(cells.astype(str)))) <= BINARY
