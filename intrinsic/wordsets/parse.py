"""The YAML, JSON or CSV of a word file to word sets and queries; each mistake has its message."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from files import InputError, nearest, read_lines
from files.nested import LARGEST, read_nested
from files.printable import CONTROL
from intrinsic.wordsets.wordset import ROLES, Query, WordSet, width_of

FILE_KEYS = ("version", "language", "source", "licence", "sets", "queries")
SET_KEYS = ("words", "values", "file", "union", "deleted", "language", "source")
QUERY_FACTS = ("title", "language", "source")
MOST_WORDS = 500_000
MORE = "(and X3, A3, ... for more groups)"
ROLE_KEYS = f"a query takes {', '.join(ROLES)} {MORE}, and {', '.join(QUERY_FACTS)}"
EXAMPLE = '{"mine": {"X": [...], "Y": [...], "A": [...], "B": [...]}}'
TABLES = (".csv", ".tsv")
Facts = Mapping[str, str]  # language and source, where an entry has none of its own
FORM = f'the short form is {EXAMPLE}, the full form has "sets" and "queries"'


@dataclass(frozen=True)
class WordFile:
    """The word sets and queries of one file, each under its name."""

    sets: Mapping[str, WordSet]
    queries: Mapping[str, Query]
    files: tuple[Path, ...] = ()  # lists of words that it names


def parse_file(path: str | Path, known: Mapping[str, WordSet]) -> WordFile:
    """The content of a word file; a query may name sets of it or of ``known``, or list its words.

    Raises ``InputError`` naming the file and the entry for anything that is not a word set or
    query.
    """
    read = _table if Path(path).suffix in TABLES else read_nested
    content = _mapping(read(path), str(path))
    roles = content.keys() - {"language", "source", "title"}
    if roles and all(width_of(str(name)) for name in roles):  # one query alone
        content = {"queries": {Path(path).stem: content}}
    if not content.keys() & {"sets", "queries"}:
        content = {"queries": content}
    _check_keys(content, FILE_KEYS, str(path))
    facts = {
        "language": _fact(content.get("language", "und"), str(path)),
        "source": _fact(content.get("source", Path(path).name), str(path)),
    }
    parser = _Parser(Path(path), known)
    sets = {
        name: parser.add_set(name, entry, facts) for name, entry in _named(content, "sets", path)
    }
    entries = _named(content, "queries", path)
    queries = {name: parser.parse_query(name, entry, facts) for name, entry in entries}
    return WordFile(sets, queries, tuple(parser.lists))


def _table(path: str | Path) -> Mapping[object, object]:
    """The queries of a table with a row a word: columns ``role``, ``word`` and maybe ``query``; or
    a column for each role, whose cells may be empty.
    """
    from files.tables import read_table, require_columns  # loads pandas

    table = read_table(path)
    if all(width_of(str(name)) for name in table):
        wide = {str(role): [word for word in table[role] if word] for role in table}
        return {Path(path).name.partition(".")[0]: wide}
    require_columns(table, ["role", "word"], f"{path}: a table of words")
    names = table.get("query", [Path(path).name.partition(".")[0]] * len(table))
    queries: dict[object, dict[str, list[str]]] = {}
    for name, role, word in zip(names, table["role"], table["word"], strict=True):
        queries.setdefault(name, {}).setdefault(role, []).append(word)
    return {"queries": queries}


def _named(
    content: Mapping[object, object], key: str, path: str | Path
) -> list[tuple[str, object]]:
    where = f"{key!r} in {path}"
    entries = _mapping(content.get(key, {}), where)
    return [(_shown(str(name), where), entry) for name, entry in entries.items()]


class _Parser:
    """The word sets and queries of one file, in its order; ``known``: the sets there are so far."""

    def __init__(self, path: Path, known: Mapping[str, WordSet]) -> None:
        self.path, self.known = path, dict(known)
        self.lists: dict[Path, list[str]] = {}
        self.count = 0

    def add_set(self, name: str, entry: object, facts: Facts) -> WordSet:
        """A set of the file, which those after it and queries may name."""
        self.known[name] = self._parse_set(name, entry, facts, f"set {name!r} in {self.path}")
        return self.known[name]

    def parse_query(self, name: str, entry: object, facts: Facts) -> Query:
        """A query whose roles are each the name of a word set or a list of words."""
        where = f"query {name!r} in {self.path}"
        fields = _mapping(entry, where)
        facts = {key: _fact(fields.get(key, fact), where) for key, fact in facts.items()}
        roles = {role: value for role, value in fields.items() if role not in QUERY_FACTS}
        for role in roles:
            if not isinstance(role, str) or width_of(role) is None:
                unknown = f"unknown key {role!r}{nearest(role, ROLES)}"
                raise InputError(f"{where}: {unknown}; {ROLE_KEYS}")
        if not roles:
            raise InputError(f"{where} names no words; {ROLE_KEYS}")
        sets = {str(role): self._parse_role(name, str(role), roles[role], facts) for role in roles}
        return Query(name, sets, facts["language"], title=_fact(fields.get("title", ""), where))

    def _parse_role(self, query: str, role: str, entry: object, facts: Facts) -> WordSet:
        where = f"{role} of query {query!r} in {self.path}"
        if isinstance(entry, str):
            found = self._look_up(entry, where)
        else:
            found = self._parse_set(f"{query}.{role}", entry, facts, where)
        if found.width != width_of(role):
            takes = f"{role} takes items of {width_of(role)} words"
            raise InputError(f"{where}: {takes}, and {found.name!r} has items of {found.width}")
        return found

    def _parse_set(self, name: str, entry: object, facts: Facts, where: str) -> WordSet:
        """A word set from a list of words, pairs or rows, or from a mapping with ``SET_KEYS``."""
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
        self.count += len(items) * len(items[0])  # unions and lists make a small file a large one
        if self.count > MOST_WORDS:
            many = f"its word sets and queries hold more than {MOST_WORDS:,} words in all"
            raise InputError(f"{self.path}: {many}; give several files, or fewer unions")
        return WordSet(
            name=name,
            words=tuple(word for item in items for word in item),
            language=_fact(fields.get("language", facts["language"]), where),
            source=_fact(fields.get("source", facts["source"]), where),
            deleted=_words(fields.get("deleted", []), where),
            width=len(items[0]),
            values=tuple(_number(value, str(word), where) for word, value in numbers.items()),
        )

    def _read_list(self, name: str) -> list[str]:
        """The words of a list in the file's folder: one a line, but for lines that are empty or
        start with ``;`` or ``#``.
        """
        folder = self.path.parent
        path = folder / name
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            outside = f"file: {name!r} is not in the folder of the word file, {folder}"
            raise InputError(f"{outside}; copy it there, and name it by its path from there")
        if path not in self.lists:
            lines = (line.strip() for line in read_lines(path, largest=LARGEST))
            self.lists[path] = [line for line in lines if line and line[0] not in ";#"]
        return self.lists[path]

    def _unite(self, names: Sequence[str], where: str) -> list[tuple[str, ...]]:
        """The items of several word sets in order, each once."""
        members = [self._look_up(name, where) for name in dict.fromkeys(names)]
        for member in members:
            if member.values:
                raise InputError(f"{where}: {member.name!r} has values, which a union cannot keep")
        if len(widths := sorted({member.width for member in members})) > 1:
            sizes = f"items of {widths[0]} and of {widths[1]} words"
            raise InputError(f"{where} has {sizes}; keep to one")
        return list(dict.fromkeys(item for member in members for item in member.items))

    def _look_up(self, name: str, where: str) -> WordSet:
        if name not in self.known:
            unknown = f"unknown word set {name!r}{nearest(name, self.known)}"
            above = "name a built-in set or one listed above; a set cannot hold itself"
            raise InputError(f"{where}: {unknown}; {above}")
        return self.known[name]


def _items(entry: object, where: str) -> list[tuple[str, ...]]:
    """A list of words, or of lists of equally many words."""
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
    """A list of words, accents composed (NFC), as texts are tokenised.

    YAML reads an unquoted ``no`` as a truth value: it is refused, not lost.
    """
    if not isinstance(entry, list):
        raise InputError(f"{where}: expected a list of words, not {entry!r}")
    for word in entry:
        if not isinstance(word, str):
            found = f"{word!r} is not a word but {type(word).__name__}"
            raise InputError(f"{where}: {found}; put the word in quotation marks")
        if not word.strip():
            raise InputError(f"{where} holds an empty word; remove it")
        _shown(word, where)
    return tuple(unicodedata.normalize("NFC", word) for word in entry)


def _fact(value: object, where: str) -> str:
    """A language, source or title, on one line."""
    return _shown(" ".join(str(value).split()), where)


def _shown(text: str, where: str) -> str:
    """The text, which goes into tables and on terminals."""
    if CONTROL.search(text):
        raise InputError(f"{where}: {text!r} holds a control character; remove it")
    return text


def _mapping(entry: object, where: str) -> Mapping[object, object]:
    if not isinstance(entry, dict):
        given = type(entry).__name__
        raise InputError(f"{where}: expected names with their content, not {given}; {FORM}")
    return entry


def _check_keys(fields: Iterable[object], allowed: tuple[str, ...], where: str) -> None:
    for key in fields:
        if key not in allowed:
            unknown = f"unknown key {key!r}{nearest(key, allowed)}"
            raise InputError(f"{where}: {unknown}; allowed are {', '.join(allowed)}")
