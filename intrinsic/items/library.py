"""Built-in sets of items, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from biasbridge.files import InputError, nearest
from biasbridge.intrinsic.items.inflect import inflect
from biasbridge.intrinsic.items.item import (
    TERM,
    Item,
    ItemSet,
    cross,
    fill_template,
    plain_line,
    with_capital,
)

FOLDER = Path(__file__).parent.parent / "itemsets"


@cache
def library() -> dict[str, ItemSet]:
    """Read the sets of all YAML files in ``intrinsic/itemsets``; names are unique."""
    sets: dict[str, ItemSet] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for items in _sets(yaml.safe_load(path.read_text(encoding="utf-8"))):
            assert items.name not in sets, f"{path} repeats {items.name}"
            sets[items.name] = items
    return sets


def load_items(names: Sequence[str]) -> list[ItemSet]:
    """Return the built-in sets of these names; raise ``InputError`` for an unknown name."""
    sets = library()
    for name in names:
        if name not in sets:
            remedy = f"choose from {', '.join(sets)}"
            raise InputError(f"unknown set of items {name!r}{nearest(name, sets)}; {remedy}")
    return [sets[name] for name in names]


def _sets(content: dict[str, Any]) -> Iterator[ItemSet]:
    """Yield the sets of a file.

    A set has ``groups`` of terms and ``templates``, or templates for each kind of word: ``groups:
    {X: {KIND: [words]}}`` with ``templates: {KIND: {name: text}}``. Then templates may contain
    inflected forms (``biasbridge.intrinsic.items.inflect``), ``{child: children}`` gives an
    irregular plural, and ``without: {X: [sentences]}`` or ``only`` selects sentences. Or it has
    plain ``lines``.
    """
    for name, entry in content.items():
        if name.startswith("_"):  # YAML anchors shared by entries
            continue
        groups, templates = entry.get("groups", {}), entry.get("templates", {})
        if "lines" in entry:
            items = tuple(map(plain_line, entry["lines"]))
        elif all(isinstance(template, str) for template in templates.values()):
            items = cross({group: tuple(words) for group, words in groups.items()}, templates)
        else:
            items = tuple(_select(_by_kind(groups, templates), entry))
        fillers = tuple((first, second) for first, second in entry.get("fillers", ()))
        items = tuple(with_capital(item, fillers) for item in items) if fillers else items
        metadata = {key: entry.get(key, "") for key in ("title", "source")}
        yield ItemSet(name, entry["language"], **metadata, items=items, fillers=fillers)


def _by_kind(
    groups: Mapping[str, Mapping[str, Sequence[Any]]], templates: Mapping[str, Mapping[str, str]]
) -> Iterator[Item]:
    for group, kinds in groups.items():
        for kind, words in kinds.items():
            for entry in words:
                [(word, plural)] = entry.items() if isinstance(entry, dict) else [(entry, "")]
                for name, template in templates[kind].items():
                    yield _item(template, word, plural, group, name)


def _item(template: str, word: str, plural: str, group: str, name: str) -> Item:
    text, form = inflect(template, word, plural)
    if text == template:
        return fill_template(template, word, group, name)
    spelling = form if form != word else ""
    return Item(text.replace(TERM, word), group, word, name, fills=False, form=spelling)


def _select(items: Iterator[Item], entry: Mapping[str, Any]) -> Iterator[Item]:
    """Yield the items that ``without`` and ``only`` keep; their sentences must exist."""
    without, only = (
        {(group, text) for group, texts in entry.get(key, {}).items() for text in texts}
        for key in ("without", "only")
    )
    groups, unmatched = entry.get("only", {}), without | only
    for item in items:
        sentence = (item.group, item.sentence)
        unmatched.discard(sentence)
        if sentence not in without and (item.group not in groups or sentence in only):
            yield item
    assert not unmatched, f"no such sentences: {unmatched}"
