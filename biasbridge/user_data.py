"""User data, recognised by content (posts, corpus, words, vectors), and the settings of a run.

The columns of a table of posts, and the pair of groups compared, are guessed by name and content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError, read_lines
from biasbridge.files.language import UNDETERMINED, guess_language
from biasbridge.files.tables import (
    JSON_LINES,
    SEPARATORS,
    read_table,
    require_columns,
    table_suffix,
)
from biasbridge.files.text import open_plain
from biasbridge.files.vector_files import find_registered
from biasbridge.intrinsic.words import Query, read_wordsets
from biasbridge.published_collections import (
    GROUP_NAMES,
    LABEL_NAMES,
    TEXT_NAMES,
    recognise,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

Settings = dict[str, str | float | list[str]]
LOOKED_AT = 20_000  # lines of a corpus, words of vectors
_AMBIGUOUS = "target"  # the label if it holds 0 and 1, else the group
BINARY = {"0", "1", "0.0", "1.0", "True", "False"}
# The first is privileged: the gap is positive where the second fares worse
_PAIRS = (
    ("male", "female"),
    ("man", "woman"),
    ("men", "women"),
    ("m", "f"),
    ("hombre", "mujer"),
    ("hombres", "mujeres"),
    ("masculino", "femenino"),
    ("local", "migrant"),
)


@dataclass(frozen=True)
class DataOptions:
    """What the user says of the data; by default all is guessed. See :func:`check`."""

    text: str | None = None
    label: str | None = None
    positive: Sequence[str] = ()
    group: str | None = None
    privileged: str | None = None
    unprivileged: str | None = None
    language: str | None = None
    trusted: bool = False


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


def read_data(paths: Iterable[Path], options: DataOptions) -> Data:
    """Read every file by its kind. Raise ``InputError`` for other files and two of one kind."""
    data = Data(trusted=options.trusted)
    for path in paths:
        kind = kind_of(path)
        if kind in data.paths:
            sweep = f", and both to the run: embedding.path={data.paths[kind]},{path}"
            remedy = f"give one of them{sweep if kind == 'vectors' else ''}"
            raise InputError(f"{data.paths[kind]} and {path} are both {kind}; {remedy}")
        data.paths[kind] = path
    if (words := data.paths.get("words")) is not None:
        data.queries = list(read_wordsets(words).queries.values())
    if (posts := data.paths.get("posts")) is not None:
        _read_posts(data, options, posts)
    if (corpus := data.paths.get("corpus")) is not None:
        lines = read_lines(corpus)
        data.sample = list(islice(lines, LOOKED_AT))
        data.is_sample_complete = next(lines, None) is None
    if (vectors := data.paths.get("vectors")) is not None:
        from biasbridge.files.vectors import read_vectors  # loads gensim

        data.vectors = read_vectors(vectors, trusted=options.trusted)
    data.has_given_language = options.language is not None
    data.language = options.language or _language(data)
    return data


def _read_posts(data: Data, options: DataOptions, path: Path) -> None:
    data.posts = read_table(path)
    if not len(data.posts):
        raise InputError(f"{path} holds no posts")
    data.columns = _find_columns(data.posts, options, path)
    data.positive = list(options.positive)
    pair = options.privileged, options.unprivileged
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


def _find_columns(posts: pd.DataFrame, options: DataOptions, path: Path) -> dict[str, str]:
    """Return columns by role, given or guessed by name. Raise ``InputError`` for unknown ones."""
    given = {"text": options.text, "label": options.label, "group": options.group}
    require_columns(posts, filter(None, given.values()), str(path))
    columns: dict[str, str] = {}
    for role, column in given.items():
        if column in columns.values():
            other_role = next(name for name in columns if columns[name] == column)
            raise InputError(f"--{other_role} and --{role} are both {column!r}; name two columns")
        columns |= {role: column} if column else {}
    for role, guess in (("label", _guess_label), ("group", _guess_group), ("text", guess_text)):
        unused = posts[[name for name in posts if name not in columns.values()]]
        if role not in columns and (column := guess(unused)):
            columns[role] = column
        elif role not in columns and role != "group":
            names = ", ".join(map(str, posts))
            problem = f"{path}: no column is recognised as the {role} ({names})"
            raise InputError(f"{problem}; name it with --{role}")
    return {role: columns[role] for role in given if role in columns}


def _guess_label(posts: pd.DataFrame) -> str:
    """Return the label column by name, or the only one of 0 and 1; else an empty string."""
    named = _columns_named(posts, LABEL_NAMES)
    binary = [str(name) for name in posts if _is_binary(posts[name])]
    named = [name for name in named if name.lower() != _AMBIGUOUS or name in binary]
    return named[0] if named else binary[0] if len(binary) == 1 else ""


def _guess_group(posts: pd.DataFrame) -> str:
    for name in _columns_named(posts, GROUP_NAMES):
        if name.lower() != _AMBIGUOUS or not _is_binary(posts[name]):
            return name
    return ""


def guess_text(posts: pd.DataFrame) -> str:
    """Return the text column, else an empty string.

    In this order: by name, if its cells hold spaces, which ids do not; the only column of mostly
    distinct cells with spaces; by name alone.
    """
    with_spaces = [str(name) for name in posts if _holds_spaces(posts[name])]
    named = _columns_named(posts, TEXT_NAMES)
    distinct = [name for name in with_spaces if posts[name].nunique() > len(posts) / 2]
    candidates = [name for name in named if name in with_spaces]
    candidates += distinct if len(distinct) == 1 else []
    candidates += [] if distinct else named
    return candidates[0] if candidates else ""


def _columns_named(posts: pd.DataFrame, names: Iterable[str]) -> list[str]:
    return [str(column) for name in names for column in posts if str(column).lower() == name]


def _holds_spaces(cells: pd.Series) -> bool:
    """Test whether most cells hold a space."""
    return bool(cells.astype(str).str.strip().str.contains(r"\s").mean() > 0.5)


def _is_binary(cells: pd.Series) -> bool:
    labels = set(classes(cells))
    return len(labels) == 2 and labels <= BINARY


def classes(cells: pd.Series) -> list[str]:
    """Return the distinct labels, sorted; empty cells have none."""
    return sorted({str(cell).strip() for cell in cells.dropna()} - {""})


def guess_pair(groups: Collection[str]) -> tuple[str, str] | None:
    """Return the privileged and the unprivileged group, if their names are known."""
    by_name = {group.lower(): group for group in groups}
    pairs = ((by_name[a], by_name[b]) for a, b in _PAIRS if a in by_name and b in by_name)
    return next(pairs, None)
