"""The word sets and queries that come with the project, by name; a user's own, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml

from files import InputError, atomic_path, nearest
from intrinsic.wordsets.parse import EXAMPLE, WordFile, parse_file

if TYPE_CHECKING:
    from intrinsic.wordsets.wordset import Query, WordSet

T = TypeVar("T")

FOLDER = Path(__file__).parent


@cache
def _library() -> WordFile:
    """Every YAML file beside this module as one; a name may occur once."""
    sets: dict[str, WordSet] = {}
    queries: dict[str, Query] = {}
    first = [FOLDER / "bolukbasi.yaml", FOLDER / "weat.yaml"]  # the others name their sets
    for path in dict.fromkeys([*first, *sorted(FOLDER.glob("*.yaml"))]):
        file = parse_file(path, sets)
        twice = (sets.keys() & file.sets.keys()) | (queries.keys() & file.queries.keys())
        if twice:
            repeated = f"{path} repeats {', '.join(sorted(twice))}"
            raise InputError(f"{repeated}; every word set and query needs a name of its own")
        sets.update(file.sets)
        queries.update(file.queries)
    return WordFile(sets, queries)


def wordset_names() -> list[str]:
    """The names of the built-in word sets."""
    return list(_library().sets)


def query_names() -> list[str]:
    """The names of the built-in queries."""
    return list(_library().queries)


def queries_with(names: Sequence[str], language: str) -> list[str]:
    """The queries of these names in a language, where there is one: ``weat7``, ``weat7_es``."""
    queries = _library().queries
    both = [each for name in names for each in (name, f"{name}_{language}")]
    return [name for name in both if name in queries and queries[name].language == language]


def in_language(names: Sequence[str], language: str) -> list[str]:
    """``queries_with``; ``InputError`` with the queries of the language where it has none."""
    if found := queries_with(names, language):
        return found
    queries = _library().queries
    there = [name for name, query in queries.items() if query.language == language]
    if not there:
        languages = sorted({query.language for query in queries.values()} - {"und"})
        lacks = f"there is no built-in query in {language!r}, but in {', '.join(languages)}"
        raise InputError(f"{lacks}; give words of your own")
    lacks = f"{', '.join(names)}: not in {language!r}, which has {', '.join(there)}"
    raise InputError(f"{lacks}; name one of these, or give words of your own")


def load_wordset(name: str) -> WordSet:
    """The built-in word set of that name. Raises ``InputError`` for an unknown name."""
    sets = _library().sets
    return _named("word set", name, sets, f"there are {', '.join(sets)}")


def load_query(name: str) -> Query:
    """The built-in query of that name (``weat6b``). Raises ``InputError`` for an unknown name."""
    return load_queries([name])[0]


def load_queries(names: Sequence[str], path: str | Path | None = None) -> list[Query]:
    """The queries of these names, built-in or of the user's file at ``path``, in the order given.

    Raises ``InputError`` for an unknown name, and as ``read_wordsets`` does.
    """
    own = read_wordsets(path).queries if path else {}
    queries = {**_library().queries, **own}
    there = f"{path} has {', '.join(own)}; " if own else ""
    there += "biasbridge audit --list names those built in"
    return [_named("query", name, queries, there) for name in names]


def _named(kind: str, name: str, known: Mapping[str, T], there: str) -> T:
    if name not in known:
        raise InputError(f"unknown {kind} {name!r}{nearest(name, known)}; {there}")
    return known[name]


def read_query(path: str | Path, name: str | None = None) -> Query:
    """The query of that name in a user's own file, or the only one in it.

    Raises ``InputError`` naming the queries of the file where that leaves a choice, and as
    ``read_wordsets`` does.
    """
    queries = read_wordsets(path).queries
    if not queries:
        raise InputError(f"{path} has word sets and no query; add one, such as {EXAMPLE}")
    if name is None:
        if len(queries) > 1:
            raise InputError(f"{path} has the queries {', '.join(queries)}; name one")
        [name] = queries
    if name not in queries:
        remedy = f"name one of {', '.join(queries)}"
        raise InputError(f"{path} has no query {name!r}{nearest(name, queries)}; {remedy}")
    return queries[name]


def read_wordsets(path: str | Path) -> WordFile:
    """The word sets and queries of a user's own YAML or JSON file.

    The full form is that of the built-in files. The short form is ``{"mine": {"X": [...], "Y":
    [...], "A": [...], "B": [...]}}``: queries alone. In both, a letter of a query holds a list of
    words, the name of a word set, the file's own or a built-in one, or the union of several,
    ``{"union": ["career", "math"]}``.

    Raises ``InputError`` for a missing or malformed file, and for a query that takes the name of a
    built-in one and is another.
    """
    library = _library()
    file = parse_file(path, library.sets)
    built_in = library.queries
    taken = [name for name, query in file.queries.items() if built_in.get(name, query) != query]
    if taken:
        names = f"the query name {', '.join(sorted(taken))} is taken by a built-in query"
        raise InputError(f"{path}: {names}; choose another")
    return file


def write_query(query: Query, path: str | Path) -> None:
    """Write ``query`` as YAML, or JSON (``.json``); ``read_query`` reads it back unchanged.

    Raises ``InputError`` for two word sets of one name, and for a folder that cannot be written.
    """
    sets = {wordset.name: wordset for wordset in query.sets.values()}
    if any(sets[wordset.name] != wordset for wordset in query.sets.values()):
        raise InputError(f"two word sets of {query.name!r} have the same name; give each its own")
    facts = {"language": query.language, "source": next(iter(sets.values())).source}
    entry = {"title": query.title} if query.title else {}
    entry |= {role: wordset.name for role, wordset in query.sets.items()}
    content: dict[str, object] = {
        **facts,
        "queries": {query.name: entry},
        "sets": {name: _entry(wordset, facts) for name, wordset in sets.items()},
    }
    if Path(path).suffix == ".json":
        text = json.dumps(content, indent=1, ensure_ascii=False)
    else:
        text = yaml.safe_dump(
            content, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120
        )
    with atomic_path(path) as work:
        work.write_text(text, encoding="utf-8")


def _entry(wordset: WordSet, facts: dict[str, str]) -> dict[str, object]:
    """A word set as the reader takes it; what is as in ``facts`` stands at the head of the file."""
    own = {"language": wordset.language, "source": wordset.source}
    entry: dict[str, object] = {key: own[key] for key in own if own[key] != facts[key]}
    if wordset.values:
        entry["values"] = dict(zip(wordset.words, wordset.values, strict=True))
    else:
        items = [list(item) for item in wordset.items]
        entry["words"] = items if wordset.width > 1 else list(wordset.words)
    return entry | ({"deleted": list(wordset.deleted)} if wordset.deleted else {})
