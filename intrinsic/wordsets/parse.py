"""From the YAML or JSON of a word file to word sets and queries; every way to get it wrong has its
own message.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from files import InputError, nearest, read_lines
from intrinsic.wordsets.wordset import ROLES, Query, WordSet, width_of

FILE_KEYS = ("version", "language", "source", "licence", "sets", "queries")
SET_KEYS = ("words", "values", "file", "deleted", "language", "source")
QUERY_FACTS = ("title", "language", "source")
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ROLE_KEYS = (
    f"a query takes {', '.join(ROLES)} (and X3, A3, ... for more groups), and"
    f" {', '.join(QUERY_FACTS)}"
)
FORM = (
    'the short form is {"mine": {"X": [...], "Y": [...], "A": [...], "B": [...]}}, the full form'
    ' has "sets" and "queries"'
)


@dataclass(frozen=True)
class WordFile:
    """The word sets and queries of one file, each under its name."""

    sets: Mapping[str, WordSet]
    queries: Mapping[str, Query]
    files: tuple[Path, ...] = ()  # lists of words that it names


def parse_file(path: str | Path, known: Mapping[str, WordSet]) -> WordFile:
    """The content of a word file; a query may name sets of the file or of ``known``, or list its
    words in place.

    Raises ``InputError`` naming the file and the entry for anything that is not a word set or
    query.
    """
    content = _mapping(_decode(path), str(path))
    if not content.keys() & {"sets", "queries"}:
        content = {"queries": content}
    _check_keys(content, FILE_KEYS, str(path))
    defaults = {
        "language": str(content.get("language", "und")),
        "source": str(content.get("source", Path(path).name)),
    }
    content, files = _with_lists(content, Path(path).parent)
    sets = {
        str(name): _wordset(str(name), entry, defaults, f"set {str(name)!r} in {path}")
        for name, entry in _mapping(content.get("sets", {}), f"'sets' in {path}").items()
    }
    queries = {
        str(name): _query(
            str(name), entry, {**known, **sets}, defaults, f"query {str(name)!r} in {path}"
        )
        for name, entry in _mapping(content.get("queries", {}), f"'queries' in {path}").items()
    }
    return WordFile(sets, queries, files)


def _with_lists(
    content: Mapping[Any, Any], folder: Path
) -> tuple[Mapping[Any, Any], tuple[Path, ...]]:
    """The content with ``{"file": "words.txt"}`` replaced by the words of that file, and the files
    read.

    A list has one word a line; empty lines and lines that start with ``;`` or ``#`` are left out.
    Paths are relative to the word file.
    """
    files: list[Path] = []

    def read(entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        if isinstance(entry.get("file"), str) and "words" not in entry:
            files.append(folder / entry["file"])
            lines = (line.strip() for line in read_lines(files[-1]))
            return {key: value for key, value in entry.items() if key != "file"} | {
                "words": [line for line in lines if line and line[0] not in ";#"]
            }
        return {key: read(value) for key, value in entry.items()}

    return read(content), tuple(files)


def _decode(path: str | Path) -> object:
    """The file as plain Python values; JSON by its suffix, else YAML."""
    text = "\n".join(read_lines(path))
    try:
        return json.loads(text) if Path(path).suffix == ".json" else yaml.load(text, Loader=Loader)
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        kind = "JSON" if isinstance(error, json.JSONDecodeError) else "YAML"
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None


def _wordset(name: str, entry: object, defaults: Mapping[str, str], where: str) -> WordSet:
    """A word set from a list of words or of pairs of words, or from a mapping with ``words`` or
    ``values`` and what is said about them.
    """
    fields = {"words": entry} if isinstance(entry, list) else _mapping(entry, where)
    _check_keys(fields, SET_KEYS, where)
    if ("words" in fields) == ("values" in fields):
        raise InputError(
            f"{where} needs either 'words', a list, or 'values', a number for each word, or 'file',"
            " a list with one word a line"
        )
    numbered = _mapping(fields.get("values", {}), where)
    items = _items(list(numbered) if numbered else fields.get("words"), where)
    if not items:
        raise InputError(f"{where} has no words; list at least one")
    return WordSet(
        name=name,
        words=tuple(word for item in items for word in item),
        language=str(fields.get("language", defaults["language"])),
        source=str(fields.get("source", defaults["source"])),
        deleted=_words(fields.get("deleted", []), where),
        width=len(items[0]),
        values=tuple(_number(value, word, where) for word, value in numbered.items()),
    )


def _query(
    name: str, entry: object, known: Mapping[str, WordSet], defaults: Mapping[str, str], where: str
) -> Query:
    """A query whose roles are each the name of a word set or a list of words."""
    fields = _mapping(entry, where)
    defaults = {key: str(fields.get(key, default)) for key, default in defaults.items()}
    roles = [role for role in fields if role not in QUERY_FACTS]
    for role in roles:
        if not isinstance(role, str) or width_of(role) is None:
            raise InputError(
                f"{where}: unknown key {role!r}{nearest(str(role), ROLES)}; {ROLE_KEYS}"
            )
    if not roles:
        raise InputError(f"{where} names no words; {ROLE_KEYS}")
    sets = {
        role: _role(name, role, fields[role], known, defaults, f"{role} of {where}")
        for role in roles
    }
    return Query(
        name=name, sets=sets, language=defaults["language"], title=str(fields.get("title", ""))
    )


def _role(
    name: str,
    role: str,
    entry: object,
    known: Mapping[str, WordSet],
    defaults: Mapping[str, str],
    where: str,
) -> WordSet:
    """The word set that plays a role of a query."""
    if not isinstance(entry, str):
        found = _wordset(f"{name}.{role}", entry, defaults, where)
    elif entry in known:
        found = known[entry]
    else:
        raise InputError(
            f"{where}: unknown word set {entry!r}{nearest(entry, known)}; name a set of the file or"
            " a built-in one"
        )
    if found.width != width_of(role):
        raise InputError(
            f"{where}: {role} takes items of {width_of(role)} words, and {found.name!r} has items"
            f" of {found.width}"
        )
    return found


def _items(entry: object, where: str) -> list[tuple[str, ...]]:
    """A list of words, or of lists of equally many words."""
    if isinstance(entry, list) and any(isinstance(item, list) for item in entry):
        items = [_words(item, where) for item in entry]
        for item in items:
            if len(item) != len(items[0]) or not item:
                raise InputError(
                    f"{where}: {list(item)} has {len(item)} words, the first item {len(items[0])};"
                    " make them equal"
                )
        return items
    return [(word,) for word in _words(entry, where)]


def _number(value: object, word: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{where}: the value of {word!r} is {value!r}; give a finite number")
    return float(value)


def _words(entry: object, where: str) -> tuple[str, ...]:
    """A list of words. YAML reads an unquoted ``no`` or ``on`` as a truth value: better to say so
    than to lose the word.
    """
    if not isinstance(entry, list):
        raise InputError(f"{where}: expected a list of words, not {entry!r}")
    for word in entry:
        if not isinstance(word, str):
            raise InputError(
                f"{where}: {word!r} is not a word but {type(word).__name__}; put the word in"
                " quotation marks"
            )
        if not word.strip():
            raise InputError(f"{where} holds an empty word; remove it")
    return tuple(entry)


def _mapping(entry: object, where: str) -> Mapping[Any, Any]:
    if not isinstance(entry, dict):
        raise InputError(
            f"{where}: expected names with their content, not {type(entry).__name__}; {FORM}"
        )
    return entry


def _check_keys(fields: Iterable[object], allowed: tuple[str, ...], where: str) -> None:
    for key in fields:
        if key not in allowed:
            raise InputError(
                f"{where}: unknown key {key!r}{nearest(str(key), allowed)}; allowed are"
                f" {', '.join(allowed)}"
            )
