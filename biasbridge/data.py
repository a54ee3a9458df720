"""One's own data, recognised by content: posts, a corpus, words, vectors; and what a run on them is
asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.published import recognise
from files import InputError, read_lines
from files.language import UNDETERMINED, guess_language
from files.tables import JSON_LINES, SEPARATORS, read_table, require_columns
from files.text import open_plain, unpacked_name
from intrinsic.wordsets import Query, read_wordsets

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd
    from gensim.models import KeyedVectors

TEXT_NAMES = ("text", "texto", "tweet", "post", "comment", "comment_text", "sentence")
LABEL_NAMES = (
    *("label", "class", "hateful", "hate", "odio", "hs", "toxic", "etiqueta", "hd"),
    *("label_gold", "gold_label", "gold", "y_true", "target"),
)
GROUP_NAMES = (
    *("group", "grupo", "gender", "identity", "target_group", "group_gold", "gold_group"),
    "target",
)
EITHER = "target"  # a label where it holds 0 and 1, else whom a post is about
BINARY = {"0", "1", "0.0", "1.0", "True", "False"}
# The first is privileged: the gap is positive where the second fares worse
PAIRS = (
    ("male", "female"),
    ("man", "woman"),
    ("men", "women"),
    ("m", "f"),
    ("hombre", "mujer"),
    ("hombres", "mujeres"),
    ("masculino", "femenino"),
    ("local", "migrant"),
)
Settings = dict[str, str | float | list[str]]
LOOKED_AT = 20_000  # lines of a corpus, words of vectors


@dataclass
class Data:
    """What was found in the files given, each under its kind.

    ``positive``: the labels that count as 1, none where they are 0 and 1 already or not known.
    ``pair``: the groups compared, where the posts have groups of known names. ``sample``: lines of
    the corpus, all of them where it is ``whole``. ``stated``: the language was given.
    """

    posts: pd.DataFrame | None = None
    vectors: KeyedVectors | None = None
    queries: list[Query] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)
    whole: bool = True
    paths: dict[str, Path] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    positive: list[str] = field(default_factory=list)
    pair: tuple[str, str] | None = None
    language: str = UNDETERMINED
    trusted: bool = False
    stated: bool = False

    @property
    def texts(self) -> pd.Series:
        """The texts of the posts."""
        assert self.posts is not None
        return self.posts[self.columns["text"]].astype("string").fillna("")

    @property
    def groups(self) -> list[str]:
        """The groups that the posts say they are about."""
        if self.posts is None or "group" not in self.columns:
            return []
        return [group for group in classes(self.posts[self.columns["group"]]) if group]

    @property
    def compared(self) -> list[str]:
        """The pair of them, or all that there are; none where words in the posts say whom they are
        about.
        """
        return list(self.pair or self.groups)

    def settings(self) -> Settings:
        """What a run on them is asked for, by the keys of a configuration."""
        found: Settings = {}
        if self.language != UNDETERMINED:
            found["language"] = self.language
        if "vectors" in self.paths:
            found |= {"embedding": "pretrained", "embedding.path": str(self.paths["vectors"])}
            if self.trusted:
                found["embedding.trusted"] = True
        if "corpus" in self.paths:
            found |= {"corpus": "text", "corpus.path": str(self.paths["corpus"])}
        elif "vectors" not in self.paths and self.language in (UNDETERMINED, "en"):
            found["corpus"] = "generated"
        found |= self._of_posts() if "posts" in self.paths else {"source": "none"}
        if "words" in self.paths:
            found["intrinsic.weat.words"] = str(self.paths["words"])
        whole = [query.name for query in self.queries if {"X", "Y", "A", "B"} <= query.sets.keys()]
        if whole:
            file = str(self.paths["words"])
            found |= {"words": "file", "words.file": file, "words.query": whole[0]}
        return found

    def _of_posts(self) -> Settings:
        found: Settings = {"source": "csv", "source.path": str(self.paths["posts"])}
        found |= {f"source.{role}": name for role, name in self.columns.items()}
        if self.positive:
            found["source.positive"] = self.positive
        found["task.name"] = self.paths["posts"].stem
        if self.pair:
            found |= {"gaps.privileged": self.pair[0], "gaps.unprivileged": self.pair[1]}
        elif self.groups:
            found["gaps.compare"] = ["rest"]
        return found


def read_data(given: Namespace) -> Data:
    """Read every file as what it is. Raises ``InputError`` for one that is nothing of this, for two
    of a kind, and as the reader of its kind does.
    """
    data = Data(trusted=given.trusted)
    for path in given.data:
        kind = kind_of(path)
        if kind in data.paths:
            several = f", and all to the run: embedding.path={data.paths[kind]},{path}"
            remedy = f"give one of them{several if kind == 'vectors' else ''}"
            raise InputError(f"{data.paths[kind]} and {path} are both {kind}; {remedy}")
        data.paths[kind] = path
    if (words := data.paths.get("words")) is not None:
        data.queries = list(read_wordsets(words).queries.values())
    if (posts := data.paths.get("posts")) is not None:
        _read_posts(data, given, posts)
    if (corpus := data.paths.get("corpus")) is not None:
        lines = read_lines(corpus)
        data.sample = list(islice(lines, LOOKED_AT))
        data.whole = next(lines, None) is None
    if (vectors := data.paths.get("vectors")) is not None:
        from files.vectors import read_vectors  # loads gensim

        data.vectors = read_vectors(vectors, trusted=given.trusted)
    data.stated = given.language is not None
    data.language = given.language or _language(data)
    return data


def _read_posts(data: Data, given: Namespace, path: Path) -> None:
    data.posts = read_table(path)
    if not len(data.posts):
        raise InputError(f"{path} holds no posts")
    data.columns = _columns(data.posts, given, path)
    data.positive = given.positive
    pair = given.privileged, given.unprivileged
    if any(pair) and not (pair[0] and pair[1] and data.groups):
        needs = "" if data.groups else ", and --group the column of the groups"
        raise InputError(f"--privileged and --unprivileged go together{needs}; give both")
    data.pair = (pair[0], pair[1]) if pair[0] and pair[1] else _guess_pair(data.groups)


def kind_of(path: Path) -> str:
    """``posts``, ``corpus``, ``words`` or ``vectors``, by the name's ending and the content."""
    from files.vectors import detect_format  # loads gensim

    if path.is_dir():
        return "vectors"
    open_plain(path).close()
    if collection := recognise(path):
        if collection.kind != "posts":
            raise InputError(f"{path} is {collection.name}, {collection.use}; leave it out")
        return "posts"
    plain = unpacked_name(path)
    if plain.suffix in (".yaml", ".yml", ".json"):
        return "words"
    if plain.suffix in (".parquet", JSON_LINES):
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


def guess_languages(data: Data) -> dict[str, str]:
    """The language of each kind of data, by their frequent words or as they state it."""
    seen: dict[str, str] = {}
    if data.posts is not None:
        seen["posts"] = guess_language(_tokens(data.texts))
    if data.sample:
        seen["corpus"] = guess_language(_tokens(data.sample))
    if data.vectors is not None:
        seen["vectors"] = guess_language(data.vectors.index_to_key[:200])
    stated = {query.language for query in data.queries} - {UNDETERMINED}
    if len(stated) == 1:
        seen["words"] = stated.pop()
    return {kind: code for kind, code in seen.items() if code != UNDETERMINED}


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in text.lower().split())


def _language(data: Data) -> str:
    """The first that is known: of posts, of the corpus, of words, of the vectors."""
    seen = guess_languages(data)
    known = (seen[kind] for kind in ("posts", "corpus", "words", "vectors") if kind in seen)
    return next(known, UNDETERMINED)


def _columns(posts: pd.DataFrame, given: Namespace, path: Path) -> dict[str, str]:
    """The columns of a run by their roles, as named or by their names; ``InputError`` where one
    must be named.
    """
    named = {"text": given.text, "label": given.label, "group": given.group}
    require_columns(posts, filter(None, named.values()), str(path))
    found: dict[str, str] = {}
    for role, column in named.items():
        if column in found.values():
            other = next(each for each in found if found[each] == column)
            raise InputError(f"--{other} and --{role} are both {column!r}; name two columns")
        found |= {role: column} if column else {}
    for role, guess in (("label", _guess_label), ("group", _guess_group), ("text", _guess_text)):
        free = posts[[name for name in posts if name not in found.values()]]
        if role not in found and (column := guess(free)):
            found[role] = column
        elif role not in found and role != "group":
            names = ", ".join(map(str, posts))
            unknown = f"{path}: no column is known to be the {role}; it has {names}"
            raise InputError(f"{unknown}; name it with --{role}")
    return {role: found[role] for role in named if role in found}


def _guess_label(posts: pd.DataFrame) -> str:
    """The column of the labels by its name, or the only one of 0 and 1; empty where none is."""
    known = _named(posts, LABEL_NAMES)
    of_two = [str(name) for name in posts if _of_two(posts[name])]
    known = [name for name in known if name.lower() != EITHER or name in of_two]
    return known[0] if known else of_two[0] if len(of_two) == 1 else ""


def _guess_group(posts: pd.DataFrame) -> str:
    named = _named(posts, GROUP_NAMES)
    return next((name for name in named if name.lower() != EITHER or not _of_two(posts[name])), "")


def _guess_text(posts: pd.DataFrame) -> str:
    """The column of the texts by its name, if its cells hold spaces, which ids do not; else the
    only one of different cells with spaces; else by its name alone. Empty where none is.
    """
    spaced = [str(name) for name in posts if _holds_spaces(posts[name])]
    named = _named(posts, TEXT_NAMES)
    texts = [name for name in spaced if posts[name].nunique() > len(posts) / 2]
    alone = texts if len(texts) == 1 else []
    both = [name for name in named if name in spaced]
    return next(iter([*both, *alone, *([] if texts else named)]), "")


def _named(posts: pd.DataFrame, known: Iterable[str]) -> list[str]:
    """The columns that have one of these names, in the order of the names."""
    return [str(name) for each in known for name in posts if str(name).lower() == each]


def _holds_spaces(cells: pd.Series) -> bool:
    """Whether most cells do."""
    return bool(cells.astype(str).str.strip().str.contains(r"\s").mean() > 0.5)


def _of_two(cells: pd.Series) -> bool:
    """Whether they are labels of 0 and 1."""
    found = {label for label in classes(cells) if label}
    return len(found) == 2 and found <= BINARY


def classes(cells: Iterable[object]) -> list[str]:
    """The different labels, in order."""
    return sorted({str(cell).strip() for cell in cells})


def _guess_pair(groups: Collection[str]) -> tuple[str, str] | None:
    """The privileged and the unprivileged of the groups, where their names say so."""
    known = {group.lower(): group for group in groups}
    return next(((known[a], known[b]) for a, b in PAIRS if a in known and b in known), None)
