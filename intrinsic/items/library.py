"""The sets of items that come with the project, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from files import InputError, nearest
from intrinsic.items.item import ItemSet, cross

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
    word, ``groups: {X: {TEMPLATES: [words]}}`` with ``templates: {TEMPLATES: {name: text}}``.
    """
    for name, entry in content.items():
        if name.startswith("_"):  # what entries share by YAML's anchors
            continue
        groups, templates = entry["groups"], entry["templates"]
        if all(isinstance(each, str) for each in templates.values()):
            items = cross({group: tuple(words) for group, words in groups.items()}, templates)
        else:
            items = tuple(
                item
                for group, kinds in groups.items()
                for kind, words in kinds.items()
                for item in cross({group: tuple(words)}, templates[kind])
            )
        fillers = tuple((one, other) for one, other in entry.get("fillers", ()))
        about = {key: entry.get(key, "") for key in ("title", "source")}
        yield ItemSet(name, entry["language"], **about, items=items, fillers=fillers)
