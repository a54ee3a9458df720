"""A query as a file of one's own, to read, edit and use again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from files import InputError, atomic_path
from intrinsic.wordsets.wordset import Query, WordSet


def write_query(query: Query, path: str | Path) -> None:
    """Write ``query`` as YAML (JSON where the name of the file ends in ``.json``), which
    ``read_query`` reads back unchanged: words, languages and sources.

    Raises ``InputError`` for two word sets of one name, and for a folder that cannot be written.
    """
    sets = {wordset.name: wordset for wordset in query.sets.values()}
    if any(sets[wordset.name] != wordset for wordset in query.sets.values()):
        raise InputError(f"two word sets of {query.name!r} have the same name; give each its own")
    entry = {"title": query.title} if query.title else {}
    entry |= {"language": query.language}
    entry |= {role: wordset.name for role, wordset in query.sets.items()}
    content = {
        "queries": {query.name: entry},
        "sets": {name: _entry(wordset) for name, wordset in sets.items()},
    }
    with atomic_path(path) as work:
        work.write_text(_spell(content, as_json=Path(path).suffix == ".json"), encoding="utf-8")


def _entry(wordset: WordSet) -> dict[str, object]:
    """A word set as the reader takes it."""
    items = [list(item) for item in wordset.items]
    entry: dict[str, object] = {"language": wordset.language, "source": wordset.source}
    if wordset.values:
        entry["values"] = dict(zip(wordset.words, wordset.values, strict=True))
    else:
        entry["words"] = items if wordset.width > 1 else list(wordset.words)
    return entry | ({"deleted": list(wordset.deleted)} if wordset.deleted else {})


def _spell(content: Mapping[str, object], *, as_json: bool) -> str:
    if as_json:
        return json.dumps(content, indent=1, ensure_ascii=False)
    return yaml.safe_dump(
        content, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120
    )
