"""Parser of word files (YAML, JSON, CSV) into word sets and queries, with error messages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from biasbridge.files import InputError, nearest, read_lines
from biasbridge.files.names import normalise_text
from biasbridge.files.nested import LARGEST, read_nested
from biasbridge.files.printable import CONTROL
from biasbridge.intrinsic.wordsets.wordset import ROLES, Query, WordSet, width_of

FILE_KEYS = ("version", "language", "source", "licence", "sets", "queries")
SET_KEYS = ("words", "values", "file", "union", "deleted", "language", "source")
QUERY_METADATA = ("title", "language", "source")
MOST_WORDS = 500_000
MORE = "(and X3, A3, ... for more groups)"
ROLE_KEYS = f"a query takes {', '.join(ROLES)} {MORE}, and {', '.join(QUERY_METADATA)}"
EXAMPLE = '{"mine": {"X": [...], "Y": [...], "A": [...], "B": [...]}}'
TABLES = (".csv", ".tsv")
COMMENT = re.compile(r"[#;]+(?:\s|$)")
Defaults = Mapping[str, str]  # default language and source of entries
FORM = f'the short form is {EXAMPLE}, the full form has "sets" and "queries"'


@dataclass(frozen=True)
class WordFile:
    """Word sets and queries of one file, by name."""

    sets: Mapping[str, WordSet]
    queries: Mapping[str, Query]
    files: tuple[Path, ...] = ()  # word lists it refers to


def parse_file(path: str | Path, wordsets: Mapping[str, WordSet]) -> WordFile:
    """Parse a word file; its queries may refer to its own sets and to those of ``wordsets``.

    Raises ``InputError`` with file and entry for anything that is not a word set or query.
    """
    read = _table if Path(path).suffix in TABLES else read_nested
    content = _mapping(read(path), str(path))
    roles = content.keys() - {"language", "source", "title"}
    if roles and all(width_of(str(name)) for name in roles):  # a single query
        content = {"queries": {Path(path).stem: content}}
    if not content.keys() & {"sets", "queries"}:
        content = {"queries": content}
    _check_keys(content, FILE_KEYS, str(path))
    defaults = {
        "language": _one_line(content.get("language", "und"), str(path)),
        "source": _one_line(content.get("source", Path(path).name), str(path)),
    }
    parser = _Parser(Path(path), wordsets)
    sets = {
        name: parser.add_set(name, entry, defaults)
        for name, entry in _entries(content, "sets", path)
    }
    entries = _entries(content, "queries", path)
    queries = {name: parser.parse_query(name, entry, defaults) for name, entry in entries}
    return WordFile(sets, queries, tuple(parser.lists))


def _table(path: str | Path) -> Mapping[object, object]:
    """Read the queries of a table: columns ``role``, ``word`` and optionally ``query``, or a column
    for each role with words or empty cells.
    """
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

    def add_set(self, name: str, entry: object, defaults: Defaults) -> WordSet:
        """Parse a set; later sets and queries may refer to it."""
        self.wordsets[name] = self._parse_set(name, entry, defaults, f"set {name!r} in {self.path}")
        return self.wordsets[name]

    def parse_query(self, name: str, entry: object, defaults: Defaults) -> Query:
        """Parse a query, whose roles are names of word sets or lists of words."""
        where = f"query {name!r} in {self.path}"
        fields = _mapping(entry, where)
        defaults = {
            key: _one_line(fields.get(key, default), where) for key, default in defaults.items()
        }
        roles = {role: value for role, value in fields.items() if role not in QUERY_METADATA}
        for role in roles:
            if not isinstance(role, str) or width_of(role) is None:
                unknown = f"unknown key {role!r}{nearest(role, ROLES)}"
                raise InputError(f"{where}: {unknown}; {ROLE_KEYS}")
        if not roles:
            raise InputError(f"{where} has no words; {ROLE_KEYS}")
        sets = {
            str(role): self._parse_role(name, str(role), roles[role], defaults) for role in roles
        }
        return Query(
            name, sets, defaults["language"], title=_one_line(fields.get("title", ""), where)
        )

    def _parse_role(self, query: str, role: str, entry: object, defaults: Defaults) -> WordSet:
        where = f"{role} of query {query!r} in {self.path}"
        if isinstance(entry, str):
            wordset = self._look_up(entry, where)
        else:
            wordset = self._parse_set(f"{query}.{role}", entry, defaults, where)
        if wordset.width != width_of(role):
            expected = f"{role} takes items of {width_of(role)} words"
            actual = f"{wordset.name!r} has items of {wordset.width}"
            raise InputError(f"{where}: {expected}, and {actual}")
        return wordset

    def _parse_set(self, name: str, entry: object, defaults: Defaults, where: str) -> WordSet:
        """Parse a list of words, pairs or rows, or a mapping with ``SET_KEYS``."""
        fields = _mapping({"words": entry} if isinstance(entry, list) else entry, where)
        _check_keys(fields, SET_KEYS, where)
        if isinstance(fields.get("file"), str) and "words" not in fields:
            fields = {**fields, "words": self._read_list(str(fields["file"]))}
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
        if self.count > MOST_WORDS:
            problem = f"its word sets and queries have more than {MOST_WORDS:,} words in all"
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
        """Read a word list in the file's folder, one word per line; skip empty lines and comments,
        a ``#`` or ``;`` before a blank: ``#girlboss`` is a word.
        """
        folder = self.path.parent
        path = folder / name
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            outside = f"file: {name!r} is not in the folder of the word file, {folder}"
            raise InputError(f"{outside}; copy it there, and name it by its path from there")
        if path not in self.lists:
            lines = map(normalise_text, read_lines(path, largest=LARGEST))
            self.lists[path] = [line for line in lines if line and not COMMENT.match(line)]
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
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
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
        raise InputError(f"{where}: expected names with their content, not {kind}; {FORM}")
    return entry


def _check_keys(fields: Iterable[object], allowed: tuple[str, ...], where: str) -> None:
    for key in fields:
        if key not in allowed:
            unknown = f"unknown key {key!r}{nearest(key, allowed)}"
            raise InputError(f"{where}: {unknown}; allowed are {', '.join(allowed)}")
