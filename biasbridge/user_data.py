"""User data, recognised by content (posts, corpus, words, vectors), and the settings of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError, read_lines
from biasbridge.files.language import UNDETERMINED, guess_language
from biasbridge.files.tables import JSON_LINES, SEPARATORS, read_table, table_suffix
from biasbridge.files.text import open_plain
from biasbridge.files.vector_files import find_registered
from biasbridge.intrinsic.words import Query, read_wordsets
from biasbridge.post_columns import classes, find_columns, guess_pair
from biasbridge.published_collections import recognise

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd
    from gensim.models import KeyedVectors

Settings = dict[str, str | float | list[str]]
LOOKED_AT = 20_000  # lines of a corpus, words of vectors


@dataclass
class Data:
    """The content of the user's files by kind.

    ``positive``: labels of the positive class; empty if labels are 0 and 1, or unknown. ``pair``:
    the groups compared, if their names are known. ``sample``: lines of the corpus, all of them if
    ``is_sample_complete``. ``has_given_language``: by the user, not guessed.
    """

    posts: pd.DataFrame | None = None
    vectors: KeyedVectors | None = None
    queries: list[Query] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)
    is_sample_complete: bool = True
    paths: dict[str, Path] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    positive: list[str] = field(default_factory=list)
    pair: tuple[str, str] | None = None
    language: str = UNDETERMINED
    trusted: bool = False
    has_given_language: bool = False

    @property
    def texts(self) -> pd.Series:
        """The texts of the posts."""
        assert self.posts is not None
        return self.posts[self.columns["text"]].astype("string").fillna("")

    @property
    def groups(self) -> list[str]:
        """The annotated groups of the posts."""
        if self.posts is None or "group" not in self.columns:
            return []
        return classes(self.posts[self.columns["group"]])

    @property
    def compared(self) -> list[str]:
        """The pair of groups, or all groups; empty if words in the posts determine the group."""
        return list(self.pair or self.groups)

    def settings(self) -> Settings:
        """Return the settings of a run, by the keys of the configuration."""
        settings: Settings = {}
        if self.language != UNDETERMINED:
            settings["language"] = self.language
        if "vectors" in self.paths:
            settings |= {"embedding": "pretrained", "embedding.path": str(self.paths["vectors"])}
            if self.trusted:
                settings["embedding.trusted"] = True
        if "corpus" in self.paths:
            settings |= {"corpus": "text", "corpus.path": str(self.paths["corpus"])}
        elif "vectors" not in self.paths and self.language in (UNDETERMINED, "en"):
            settings["corpus"] = "generated"
        settings |= self._post_settings() if "posts" in self.paths else {"source": "none"}
        if "words" in self.paths:
            settings["intrinsic.weat.words"] = str(self.paths["words"])
        weat_queries = [
            query.name for query in self.queries if {"X", "Y", "A", "B"} <= query.sets.keys()
        ]
        if weat_queries:
            file = str(self.paths["words"])
            settings |= {"words": "file", "words.file": file, "words.query": weat_queries[0]}
        return settings

    def _post_settings(self) -> Settings:
        settings: Settings = {"source": "csv", "source.path": str(self.paths["posts"])}
        settings |= {f"source.{role}": name for role, name in self.columns.items()}
        if self.positive:
            settings["source.positive"] = self.positive
        settings["task.name"] = self.paths["posts"].stem
        if self.pair:
            settings |= {"gaps.privileged": self.pair[0], "gaps.unprivileged": self.pair[1]}
        elif self.groups:
            settings["gaps.compare"] = ["one-vs-rest"]
        return settings


def read_data(args: Namespace) -> Data:
    """Read every file by its kind. Raise ``InputError`` for other files and two of one kind."""
    data = Data(trusted=args.trusted)
    for path in args.data:
        kind = kind_of(path)
        if kind in data.paths:
            sweep = f", and both to the run: embedding.path={data.paths[kind]},{path}"
            remedy = f"give one of them{sweep if kind == 'vectors' else ''}"
            raise InputError(f"{data.paths[kind]} and {path} are both {kind}; {remedy}")
        data.paths[kind] = path
    if (words := data.paths.get("words")) is not None:
        data.queries = list(read_wordsets(words).queries.values())
    if (posts := data.paths.get("posts")) is not None:
        _read_posts(data, args, posts)
    if (corpus := data.paths.get("corpus")) is not None:
        lines = read_lines(corpus)
        data.sample = list(islice(lines, LOOKED_AT))
        data.is_sample_complete = next(lines, None) is None
    if (vectors := data.paths.get("vectors")) is not None:
        from biasbridge.files.vectors import read_vectors  # loads gensim

        data.vectors = read_vectors(vectors, trusted=args.trusted)
    data.has_given_language = args.language is not None
    data.language = args.language or _language(data)
    return data


def _read_posts(data: Data, args: Namespace, path: Path) -> None:
    data.posts = read_table(path)
    if not len(data.posts):
        raise InputError(f"{path} holds no posts")
    data.columns = find_columns(data.posts, args, path)
    data.positive = args.positive
    pair = args.privileged, args.unprivileged
    if any(pair) and not (pair[0] and pair[1] and data.groups):
        column = "" if data.groups else " and with --group, the column of the groups"
        raise InputError(f"--privileged and --unprivileged go together{column}; give both")
    data.pair = (pair[0], pair[1]) if pair[0] and pair[1] else guess_pair(data.groups)


def kind_of(path: Path) -> str:
    """Return ``posts``, ``corpus``, ``words`` or ``vectors``, by file extension and content."""
    from biasbridge.files.vectors import detect_format  # loads gensim

    if path.is_dir() or find_registered(path):
        return "vectors"
    open_plain(path).close()
    if collection := recognise(path):
        if collection.kind != "posts":
            raise InputError(f"{path} is {collection.name}, {collection.use}; leave it out")
        return "posts"
    suffix = table_suffix(path)
    if suffix in (".yaml", ".yml", ".json"):
        return "words"
    if suffix in (".parquet", JSON_LINES):
        return "posts"
    if suffix in (".csv", ".tsv", ".tab"):
        names = {str(name) for name in read_table(path)}
        return "words" if {"role", "word"} <= names or {"X", "Y"} <= names else "posts"
    may_be_corpus = suffix in (*SEPARATORS, ".text", ".tok")
    try:
        form = detect_format(path)
    except InputError:
        if may_be_corpus:
            return "corpus"
        raise
    return "corpus" if may_be_corpus and form == "glove" and _is_prose(path) else "vectors"


def _is_prose(path: Path) -> bool:
    """Test whether the first lines have different numbers of words, unlike rows of vectors."""
    with suppress(InputError):
        lines = (line.split() for line in read_lines(path))
        return len({len(words) for words in islice(filter(None, lines), 5)}) > 1
    return False


def guess_languages(data: Data) -> dict[str, str]:
    """Guess the language of each kind of data by frequent words; of words it may be stated."""
    languages: dict[str, str] = {}
    if data.posts is not None:
        languages["posts"] = guess_language(_tokens(data.texts))
    if data.sample:
        languages["corpus"] = guess_language(_tokens(data.sample))
    if data.vectors is not None:
        languages["vectors"] = guess_language(data.vectors.index_to_key[:200])
    stated_languages = {query.language for query in data.queries} - {UNDETERMINED}
    if len(stated_languages) == 1:
        languages["words"] = stated_languages.pop()
    return {kind: code for kind, code in languages.items() if code != UNDETERMINED}


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in text.lower().split())


def _language(data: Data) -> str:
    languages = guess_languages(data)
    kinds = (kind for kind in ("posts", "corpus", "words", "vectors") if kind in languages)
    return next((languages[kind] for kind in kinds), UNDETERMINED)
