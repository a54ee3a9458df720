"""Built-in word sets and queries by name; reading and writing of user files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml

from biasbridge.files import InputError, atomic_path, nearest
from biasbridge.files.names import normalise_text
from biasbridge.intrinsic.wordsets.parse import EXAMPLE, WordFile, parse_file

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets.wordset import Query, WordSet

T = TypeVar("T")

FOLDER = Path(__file__).parent


@cache
def _library() -> WordFile:
    """Read all YAML files of this folder as one; names are unique."""
    sets: dict[str, WordSet] = {}
    queries: dict[str, Query] = {}
    first = [FOLDER / "bolukbasi.yaml", FOLDER / "weat.yaml"]  # the others refer to their sets
    for path in dict.fromkeys([*first, *sorted(FOLDER.glob("*.yaml"))]):
        file = parse_file(path, sets)
        duplicates = (sets.keys() & file.sets.keys()) | (queries.keys() & file.queries.keys())
        if duplicates:
            problem = f"{path} repeats {', '.join(sorted(duplicates))}"
            raise InputError(f"{problem}; every word set and query needs a unique name")
        sets.update(file.sets)
        queries.update(file.queries)
    return WordFile(sets, queries)


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
        languages = sorted({query.language for query in queries.values()} - {"und"})
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
    """Return queries by name, built-in or from the user's file at ``path``, in the order given.

    Raises ``InputError`` for an unknown name, and as ``read_wordsets`` does.
    """
    user_queries = read_wordsets(path).queries if path else {}
    queries = {**_library().queries, **user_queries}
    remedy = f"{path} has {', '.join(user_queries)}; " if user_queries else ""
    remedy += "biasbridge audit --list shows the built-in ones"
    return [_look_up("query", name, queries, remedy) for name in names]


def _look_up(kind: str, name: str, entries: Mapping[str, T], remedy: str) -> T:
    name = normalise_text(name)
    if name not in entries:
        raise InputError(f"unknown {kind} {name!r}{nearest(name, entries)}; {remedy}")
    return entries[name]


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
    file = parse_file(path, library.sets)
    built_in = library.queries
    conflicts = [name for name, query in file.queries.items() if built_in.get(name, query) != query]
    if conflicts:
        problem = f"the query name {', '.join(sorted(conflicts))} is taken by a built-in query"
        raise InputError(f"{path}: {problem}; choose another")
    return file


def write_query(query: Query, path: str | Path) -> None:
    """Write ``query`` as YAML, or JSON (``.json``); ``read_query`` reads it back unchanged.

    Raises ``InputError`` for two word sets with one name, and for a folder that is not writable.
    """
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
