"""The sets of items that come with the project, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from files import InputError, nearest
from intrinsic.items.inflect import inflect
from intrinsic.items.item import TERM, Item, ItemSet, cross, fill_template, plain_line

FOLDER = Path(__file__).parent.parent / "itemsets"


@cache
def library() -> dict[str, ItemSet]:
    """Every set of the YAML files in ``intrinsic/itemsets``; a name occurs once."""
    found: dict[str, ItemSet] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for each in _sets(yaml.safe_load(path.read_text(encoding="utf-8"))):
            assert each.name not in found, f"{path} repeats {each.name}"
            found[each.name] = each
    return found


def load_items(names: Sequence[str]) -> list[ItemSet]:
    """The built-in sets of these names. Raises ``InputError`` for an unknown one."""
    known = library()
    for name in names:
        if name not in known:
            there = f"there are {', '.join(known)}"
            raise InputError(f"unknown set of items {name!r}{nearest(name, known)}; {there}")
    return [known[name] for name in names]


def _sets(content: dict[str, Any]) -> Iterator[ItemSet]:
    """The sets of a file: ``groups`` of terms in ``templates``, or in the templates of each kind of
    word, ``groups: {X: {TEMPLATES: [words]}}`` with ``templates: {TEMPLATES: {name: text}}``; there
    a template may ask for forms of the word (``intrinsic.items.inflect``), ``{child: children}``
    gives an irregular plural, and ``without: {X: [sentences]}`` or ``only`` says what is left out.
    Or plain ``lines``.
    """
    for name, entry in content.items():
        if name.startswith("_"):  # what entries share by YAML's anchors
            continue
        groups, templates = entry.get("groups", {}), entry.get("templates", {})
        if "lines" in entry:
            items = tuple(map(plain_line, entry["lines"]))
        elif all(isinstance(each, str) for each in templates.values()):
            items = cross({group: tuple(words) for group, words in groups.items()}, templates)
        else:
            items = tuple(_chosen(_by_kind(groups, templates), entry))
        fillers = tuple((one, other) for one, other in entry.get("fillers", ()))
        about = {key: entry.get(key, "") for key in ("title", "source")}
        yield ItemSet(name, entry["language"], **about, items=items, fillers=fillers)


def _by_kind(
    groups: Mapping[str, Mapping[str, Sequence[Any]]], templates: Mapping[str, Mapping[str, str]]
) -> Iterator[Item]:
    """Every word in the templates of its kind."""
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
    own = form if form != word else ""
    return Item(text.replace(TERM, word), group, word, name, fills=False, form=own)


def _chosen(items: Iterator[Item], entry: Mapping[str, Any]) -> Iterator[Item]:
    """The items but for those left out; each that an entry names is there."""
    without, only = (
        {(group, each) for group, texts in entry.get(key, {}).items() for each in texts}
        for key in ("without", "only")
    )
    groups, named = entry.get("only", {}), without | only
    for item in items:
        sentence = (item.group, item.sentence)
        named.discard(sentence)
        if sentence not in without and (item.group not in groups or sentence in only):
            yield item
    assert not named, f"no such sentences: {named}"
