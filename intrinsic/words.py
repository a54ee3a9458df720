"""Word sets, and queries: word sets in the roles of a metric; the built-in ones and those of files.

Needs neither numpy nor gensim.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import yaml

from biasbridge.files import InputError, atomic_path, nearest, read_lines
from biasbridge.files.errors import CONTROL
from biasbridge.files.language import UNDETERMINED, lower_forms, normalise_text
from biasbridge.files.text import read_nested

_log = logging.getLogger(__name__)
# Roles of a query, with the number of words in an item of its word set.
ROLES = {
    "X": 1,  # targets: two groups, or more as X3, X4, ...
    "Y": 1,
    "A": 1,  # attributes: two groups, or more as A3, A4, ...
    "B": 1,
    "words": 1,  # words measured singly
    "pairs": 2,  # base pairs, which span a direction from the second word to the first
    "counterparts": 2,  # words swapped in a counterfactual text
    "partners": 2,  # pairs of words whose similarity is measured
    "rows": 8,  # a definition, two pairs of neither kind, and a stereotype
    "equalise": 2,  # pairs that debiasing makes equidistant from every other word
    "specific": 1,  # gendered by definition: unchanged by debiasing
    "excluded": 1,  # words excluded from the searched vocabulary
}
MORE_GROUPS = re.compile(r"[XA](?:[3-9]|[1-9]\d+)")
_EXCHANGED = str.maketrans("XYAB", "ABXY")
_FILE_KEYS = ("version", "language", "source", "licence", "sets", "queries")
_SET_KEYS = ("words", "values", "file", "union", "deleted", "language", "source")
_QUERY_METADATA = ("title", "language", "source")
_MOST_WORDS = 500_000
MORE = "(and X3, A3, ... for more groups)"
_ROLE_KEYS = f"a query takes {', '.join(ROLES)} {MORE}, and {', '.join(_QUERY_METADATA)}"
EXAMPLE = '{"mine": {"X": [...], "Y": [...], "A": [...], "B": [...]}}'
_TABLES = (".csv", ".tsv")
COMMENT = re.compile(r"[#;]+(?:\s|$)")
Defaults = Mapping[str, str]  # default language and source of entries
_FORM = f'the short form is {EXAMPLE}, the full form has "sets" and "queries"'
_T = TypeVar("_T")
_WORDSETS = Path(__file__).parent / "wordsets"


def width_of(role: str) -> int | None:
    """Return the number of words in an item of a role; None for an unknown role."""
    return 1 if MORE_GROUPS.fullmatch(role) else ROLES.get(role)


@dataclass(frozen=True)
class WordSet:
    """Words that stand for one concept, or items of ``width`` words (pairs, rows).

    ``words``: the words in use, in original order and case, item by item. ``values``: a number for
    each item, or empty. ``deleted``: words of the original list that its authors left out, so
    ``words + deleted`` is the full list. ``language``: an ISO 639 code (``und`` if none was given).
    ``source``: the citation.
    """

    name: str
    words: tuple[str, ...]
    language: str
    source: str
    deleted: tuple[str, ...] = ()
    width: int = 1
    values: tuple[float, ...] = ()

    @property
    def items(self) -> list[tuple[str, ...]]:
        """Items of ``width`` words."""
        return [self.words[i : i + self.width] for i in range(0, len(self.words), self.width)]

    def lowered(self, keep: Container[str] = ()) -> WordSet:
        """Return the set in lower case but ``keep``, without duplicates; itself if unchanged."""
        index_of: dict[tuple[str, ...], int] = {}
        for n, item in enumerate(self.items):
            lowered = (w if w in keep else next(iter(lower_forms(w))) for w in item)
            index_of.setdefault(tuple(lowered), n)
        words = tuple(word for item in index_of for word in item)
        if words == self.words:
            return self
        values = tuple(self.values[n] for n in index_of.values()) if self.values else ()
        return replace(self, name=f"{self.name}_lower", words=words, values=values)


@dataclass(frozen=True, repr=False)
class Query:
    """Word sets by role, ``query["X"]``.

    Target words are ``X`` and ``Y``, attribute words ``A`` and ``B`` (Caliskan et al., 2017). By
    convention X goes with A and Y with B in the stereotype, so a positive score is stereotypical.
    ``ROLES`` lists all roles.
    """

    name: str
    sets: Mapping[str, WordSet]
    language: str
    title: str = ""

    def __repr__(self) -> str:
        roles = "; ".join(
            f"{role} {words.name}, {len(words.items)}: {' '.join(words.words[:3])} ..."
            for role, words in self.sets.items()
        )
        return f"Query {self.name} ({self.language}) {roles}"

    def __getitem__(self, role: str) -> WordSet:
        return self.sets[role]

    def key_fields(self) -> dict[str, object]:
        """Return the fields that can change a result (all but titles and sources), as JSON."""
        sets = {
            role: [words.name, words.language, words.words, words.width, words.values]
            for role, words in self.sets.items()
        }
        return {"name": self.name, "language": self.language, "sets": sets}

    def lowered(self, keep: Container[str] = ()) -> Query:
        """Return the query in lower case but ``keep``; itself if nothing changes."""
        sets = {role: wordset.lowered(keep) for role, wordset in self.sets.items()}
        return self if sets == self.sets else replace(self, name=f"{self.name}_lower", sets=sets)

    def swapped(self) -> Query:
        """Return the query with targets and attributes swapped: X and A, Y and B, X3 and A3, ..."""
        sets = {role.translate(_EXCHANGED): wordset for role, wordset in self.sets.items()}
        return replace(self, name=f"{self.name}_swapped", sets=sets)


@dataclass(frozen=True)
class WordFile:
    """Word sets and queries of one file, by name."""

    sets: Mapping[str, WordSet]
    queries: Mapping[str, Query]
    files: tuple[Path, ...] = ()  # word lists it refers to


def query_names() -> list[str]:
    """Return the names of the built-in queries."""
    return list(_library().queries)


def find_queries(names: Sequence[str], language: str) -> list[str]:
    """Return the names, or names with ``_{language}``, of built-in queries in a language."""
    queries = _library().queries
    candidates = [candidate for name in names for candidate in (name, f"{name}_{language}")]
    return [name for name in candidates if name in queries and queries[name].language == language]


def require_queries(names: Sequence[str], language: str) -> list[str]:
    """Return ``find_queries``; raise ``InputError`` if there are none."""
    if matching := find_queries(names, language):
        return matching
    queries = _library().queries
    available = [name for name, query in queries.items() if query.language == language]
    if not available:
        languages = sorted({query.language for query in queries.values()} - {UNDETERMINED})
        problem = f"there is no built-in query in {language!r}, but in {', '.join(languages)}"
        raise InputError(f"{problem}; give your own words")
    problem = f"{', '.join(names)}: not in {language!r}, which has {', '.join(available)}"
    raise InputError(f"{problem}; name one of these, or give your own words")


def load_wordset(name: str) -> WordSet:
    """Return a built-in word set; raise ``InputError`` for an unknown name."""
    sets = _library().sets
    return _look_up("word set", name, sets, f"choose from {', '.join(sets)}")


def load_query(name: str) -> Query:
    """Return a built-in query (``weat6b``); raise ``InputError`` for an unknown name."""
    return load_queries([name])[0]


def load_queries(names: Sequence[str], path: str | Path | None = None) -> list[Query]:
    """Return queries by name, built-in or of a user's file, in order. Raises ``InputError``."""
    user_queries = read_wordsets(path).queries if path else {}
    queries = {**_library().queries, **user_queries}
    remedy = f"{path} has {', '.join(user_queries)}; " if user_queries else ""
    remedy += "biasbridge audit --list shows the built-in ones"
    return [_look_up("query", name, queries, remedy) for name in names]


def read_query(path: str | Path, name: str | None = None) -> Query:
    """Read the query of that name from a user's file, by default the only one in it.

    Raises ``InputError`` for an unknown name, for several queries without a name, and as
    ``read_wordsets`` does.
    """
    queries = read_wordsets(path).queries
    if not queries:
        raise InputError(f"{path} has word sets but no query; add one, such as {EXAMPLE}")
    if name is None:
        if len(queries) > 1:
            raise InputError(f"{path} has the queries {', '.join(queries)}; name one")
        [name] = queries
    if name not in queries:
        remedy = f"name one of {', '.join(queries)}"
        raise InputError(f"{path} has no query {name!r}{nearest(name, queries)}; {remedy}")
    return queries[name]


def read_wordsets(path: str | Path) -> WordFile:
    """Read the word sets and queries of a user's YAML, JSON, CSV or TSV file.

    The full form is that of the built-in files. The short form has queries only: ``{"mine": {"X":
    [...], "Y": [...], "A": [...], "B": [...]}}``. A role is a list of words, the name of a word set
    (of the file or built-in), or a union, ``{"union": ["career", "math"]}``.

    Raises ``InputError`` for a missing or malformed file, and for a query with the name of another,
    built-in query.
    """
    library = _library()
    file = _parse_file(path, library.sets)
    built_in = library.queries
    conflicts = [name for name, query in file.queries.items() if built_in.get(name, query) != query]
    if conflicts:
        problem = f"the query name {', '.join(sorted(conflicts))} is taken by a built-in query"
        raise InputError(f"{path}: {problem}; choose another")
    return file


def write_query(query: Query, path: str | Path) -> None:
    """Write a query as YAML or JSON, which ``read_query`` reads back. Raises ``InputError``."""
    sets = {wordset.name: wordset for wordset in query.sets.values()}
    if any(sets[wordset.name] != wordset for wordset in query.sets.values()):
        raise InputError(f"two word sets of {query.name!r} have the same name; give each its own")
    defaults = {"language": query.language, "source": next(iter(sets.values())).source}
    entry = {"title": query.title} if query.title else {}
    entry |= {role: wordset.name for role, wordset in query.sets.items()}
    content: dict[str, object] = {
        **defaults,
        "queries": {query.name: entry},
        "sets": {name: _entry(wordset, defaults) for name, wordset in sets.items()},
    }
    if Path(path).suffix == ".json":
        text = json.dumps(content, indent=1, ensure_ascii=False)
    else:
        text = yaml.safe_dump(
            content, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120
        )
    with atomic_path(path) as work:
        work.write_text(text, encoding="utf-8")


@cache
def _library() -> WordFile:
    """Read all YAML files of ``intrinsic/wordsets`` as one; names are unique."""
    sets: dict[str, WordSet] = {}
    queries: dict[str, Query] = {}
    first = [
        _WORDSETS / "bolukbasi.yaml",
        _WORDSETS / "weat.yaml",
    ]  # the others refer to their sets
    for path in dict.fromkeys([*first, *sorted(_WORDSETS.glob("*.yaml"))]):
        file = _parse_file(path, sets)
        duplicates = (sets.keys() & file.sets.keys()) | (queries.keys() & file.queries.keys())
        if duplicates:
            problem = f"{path} repeats {', '.join(sorted(duplicates))}"
            raise InputError(f"{problem}; every word set and query needs a unique name")
        sets.update(file.sets)
        queries.update(file.queries)
    return WordFile(sets, queries)


def _look_up(kind: str, name: str, entries: Mapping[str, _T], remedy: str) -> _T:
    name = normalise_text(name)
    if name not in entries:
        raise InputError(f"unknown {kind} {name!r}{nearest(name, entries)}; {remedy}")
    return entries[name]


def _entry(wordset: WordSet, defaults: dict[str, str]) -> dict[str, object]:
    """Return a word set as a file entry, without the fields that equal the file's ``defaults``."""
    metadata = {"language": wordset.language, "source": wordset.source}
    entry: dict[str, object] = {
        key: value for key, value in metadata.items() if value != defaults[key]
    }
    if wordset.values:
        entry["values"] = dict(zip(wordset.words, wordset.values, strict=True))
    else:
        items = [list(item) for item in wordset.items]
        entry["words"] = items if wordset.width > 1 else list(wordset.words)
    return entry | ({"deleted": list(wordset.deleted)} if wordset.deleted else {})


def _parse_file(path: str | Path, wordsets: Mapping[str, WordSet]) -> WordFile:
    """Parse a word file, whose queries may use its own sets and ``wordsets``."""
    read = _table if Path(path).suffix in _TABLES else read_nested
    content = _mapping(read(path), str(path))
    roles = content.keys() - {"language", "source", "title"}
    if roles and all(width_of(str(name)) for name in roles):  # a single query
        content = {"queries": {Path(path).stem: content}}
    if not content.keys() & {"sets", "queries"}:
        content = {"queries": content}
    _check_keys(content, _FILE_KEYS, str(path))
    defaults = {
        "language": _one_line(content.get("language", UNDETERMINED), str(path)),
        "source": _one_line(content.get("source", Path(path).name), str(path)),
    }
    parser = _Parser(Path(path), wordsets)
    sets = {}
    for name, entry in _entries(content, "sets", path):
        wordset = parser.parse_set(name, entry, defaults, f"set {name!r} in {path}")
        sets[name] = parser.wordsets[name] = wordset
    queries = {
        name: parser.parse_query(name, entry, defaults)
        for name, entry in _entries(content, "queries", path)
    }
    return WordFile(sets, queries, tuple(parser.lists))


def _table(path: str | Path) -> Mapping[object, object]:
    """Read queries from columns role, word and maybe query, or a column for each role."""
    from biasbridge.files.tables import read_table, require_columns  # loads pandas

    table = read_table(path).rename(columns=normalise_text)
    if all(width_of(str(name)) for name in table):
        wide = {str(role): [word for word in table[role] if word] for role in table}
        return {Path(path).name.partition(".")[0]: wide}
    require_columns(table, ["role", "word"], f"{path}: a table of words")
    names = table.get("query", [Path(path).name.partition(".")[0]] * len(table))
    queries: dict[object, dict[str, list[str]]] = {}
    for name, role, word in zip(names, table["role"], table["word"], strict=True):
        queries.setdefault(name, {}).setdefault(role, []).append(word)
    return {"queries": queries}


def _entries(
    content: Mapping[object, object], key: str, path: str | Path
) -> list[tuple[str, object]]:
    where = f"{key!r} in {path}"
    entries = _mapping(content.get(key, {}), where)
    names = {name: normalise_text(str(name)) for name in entries}
    return [(_printable(names[name], where), entry) for name, entry in entries.items()]


class _Parser:
    """Parser of the entries of one file, in order; ``wordsets``: the sets parsed so far."""

    def __init__(self, path: Path, wordsets: Mapping[str, WordSet]) -> None:
        self.path, self.wordsets = path, dict(wordsets)
        self.lists: dict[Path, list[str]] = {}
        self.count = 0

    def parse_query(self, name: str, entry: object, defaults: Defaults) -> Query:
        """Parse a query, whose roles are names of word sets or lists of words."""
        where = f"query {name!r} in {self.path}"
        fields = _mapping(entry, where)
        defaults = {
            key: _one_line(fields.get(key, default), where) for key, default in defaults.items()
        }
        roles = {role: value for role, value in fields.items() if role not in _QUERY_METADATA}
        for role in roles:
            if not isinstance(role, str) or width_of(role) is None:
                unknown = f"unknown key {role!r}{nearest(role, ROLES)}"
                raise InputError(f"{where}: {unknown}; {_ROLE_KEYS}")
        if not roles:
            raise InputError(f"{where} has no words; {_ROLE_KEYS}")
        sets = {}
        for role, value in roles.items():
            where_role = f"{role} of {where}"
            if isinstance(value, str):
                wordset = self._look_up(value, where_role)
            else:
                wordset = self.parse_set(f"{name}.{role}", value, defaults, where_role)
            if wordset.width != width_of(str(role)):
                expected = f"{role} takes items of {width_of(str(role))} words"
                actual = f"{wordset.name!r} has items of {wordset.width}"
                raise InputError(f"{where_role}: {expected}, and {actual}")
            sets[str(role)] = wordset
        title = _one_line(fields.get("title", ""), where)
        return Query(name, sets, defaults["language"], title=title)

    def parse_set(self, name: str, entry: object, defaults: Defaults, where: str) -> WordSet:
        """Parse a list of words, pairs or rows, or a mapping with ``_SET_KEYS``."""
        fields = _mapping({"words": entry} if isinstance(entry, list) else entry, where)
        _check_keys(fields, _SET_KEYS, where)
        if isinstance(fields.get("file"), str) and "words" not in fields:
            left_out = _words(fields.get("deleted", []), where)
            listed = self._read_list(str(fields["file"]))
            fields = {**fields, "words": [word for word in listed if word not in left_out]}
        if len(fields.keys() & {"words", "values", "union"}) != 1:
            raise InputError(
                f"{where} needs one of 'words', a list, 'values', a number for each word, 'union',"
                " a list of word sets, or 'file', a list with one word a line"
            )
        numbers = _mapping(fields.get("values", {}), where)
        if "union" in fields:
            items = self._unite(_words(fields["union"], where), where)
        else:
            items = _items(list(numbers) if numbers else fields.get("words"), where)
        if not items:
            raise InputError(f"{where} has no words; list at least one")
        self.count += len(items) * len(items[0])  # unions and lists multiply words
        if self.count > _MOST_WORDS:
            problem = f"its word sets and queries have more than {_MOST_WORDS:,} words in all"
            raise InputError(f"{self.path}: {problem}; split the file, or use fewer unions")
        return WordSet(
            name=name,
            words=tuple(word for item in items for word in item),
            language=_one_line(fields.get("language", defaults["language"]), where),
            source=_one_line(fields.get("source", defaults["source"]), where),
            deleted=_words(fields.get("deleted", []), where),
            width=len(items[0]),
            values=tuple(_number(value, str(word), where) for word, value in numbers.items()),
        )

    def _read_list(self, name: str) -> list[str]:
        """Read a word list beside the file, without empty lines and comments (``# ``, ``; ``)."""
        folder = self.path.parent
        path = folder / name
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            outside = f"file: {name!r} is not in the folder of the word file, {folder}"
            raise InputError(f"{outside}; copy it there, and name it by its path from there")
        if path not in self.lists:
            notes: list[str] = []
            lines = map(normalise_text, read_lines(path, notes))
            self.lists[path] = [line for line in lines if line and not COMMENT.match(line)]
            for note in notes:
                _log.warning("%s", note)
        return self.lists[path]

    def _unite(self, names: Sequence[str], where: str) -> list[tuple[str, ...]]:
        """Return the items of several word sets in order, without duplicates."""
        members = [self._look_up(name, where) for name in dict.fromkeys(names)]
        for member in members:
            if member.values:
                raise InputError(f"{where}: {member.name!r} has values, which a union cannot keep")
        if len(widths := sorted({member.width for member in members})) > 1:
            sizes = f"items of {widths[0]} and of {widths[1]} words"
            raise InputError(f"{where} has {sizes}; keep to one")
        return list(dict.fromkeys(item for member in members for item in member.items))

    def _look_up(self, name: str, where: str) -> WordSet:
        name = normalise_text(name)
        if name not in self.wordsets:
            unknown = f"unknown word set {name!r}{nearest(name, self.wordsets)}"
            remedy = "name a built-in set or one listed above; a set cannot contain itself"
            raise InputError(f"{where}: {unknown}; {remedy}")
        return self.wordsets[name]


def _items(entry: object, where: str) -> list[tuple[str, ...]]:
    if isinstance(entry, list) and any(isinstance(item, list) for item in entry):
        items = [_words(item, where) for item in entry]
        for item in items:
            if len(item) != len(items[0]) or not item:
                sizes = f"{list(item)} has {len(item)} words, the first item {len(items[0])}"
                raise InputError(f"{where}: {sizes}; make them equal")
        return items
    return [(word,) for word in _words(entry, where)]


def _number(value: object, word: str, where: str) -> float:
    """Return a finite number; YAML reads ``9e1``, without a point, as text."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError):
            if math.isfinite(number := float(value)):
                return number
    raise InputError(f"{where}: the value of {word!r} is {value!r}; give a finite number")


def _words(entry: object, where: str) -> tuple[str, ...]:
    """Return a list of words in their normal form; refuse YAML's unquoted ``no``."""
    if not isinstance(entry, list):
        raise InputError(f"{where}: expected a list of words, not {entry!r}")
    for word in entry:
        if not isinstance(word, str):
            problem = f"{word!r} is not a word but {type(word).__name__}"
            raise InputError(f"{where}: {problem}; put the word in quotation marks")
        if not normalise_text(word):
            raise InputError(f"{where} has an empty word; remove it")
        _printable(word, where)
    return tuple(map(normalise_text, entry))


def _one_line(value: object, where: str) -> str:
    return _printable(" ".join(str(value).split()), where)


def _printable(text: str, where: str) -> str:
    """Check that a text can be printed in tables and terminals."""
    if CONTROL.search(text):
        raise InputError(f"{where}: {text!r} has a control character; remove it")
    return text


def _mapping(entry: object, where: str) -> Mapping[object, object]:
    if not isinstance(entry, dict):
        kind = type(entry).__name__
        raise InputError(f"{where}: expected names with their content, not {kind}; {_FORM}")
    return entry


def _check_keys(fields: Iterable[object], allowed: tuple[str, ...], where: str) -> None:
    for key in fields:
        if key not in allowed:
            unknown = f"unknown key {key!r}{nearest(key, allowed)}"
            raise InputError(f"{where}: {unknown}; allowed are {', '.join(allowed)}")
