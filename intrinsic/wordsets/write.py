"""A query as a file of one's own, to read, edit and use again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from files import InputError, atomic_path

if TYPE_CHECKING:
    from intrinsic.wordsets.wordset import Query, WordSet


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
