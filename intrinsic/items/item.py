"""A text with a slot or without, a pair of sentences, and a set of either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import NamedTuple, Protocol, runtime_checkable

from files import Choice

SLOT = "[MASK]"  # in a text: what is left open
TERM = "{}"  # in a template: where the term goes


Fillers = tuple[tuple[str, str], ...]  # pairs: for the first group, for the second


class Item(NamedTuple):
    """A text with the slot ``[MASK]``.

    ``fills``: the term stands for its group and goes into the slot (``[MASK] is here``, term
    ``John``). Otherwise the text holds the term, and what is asked for in the slot are the fillers
    of the set (``[MASK] is a nurse``, term ``nurse``, fillers ``he`` and ``she``). ``template``:
    the text without its term, by name; items of one template, and those of one term, are no
    independent observations. ``form``: the term as the text writes it, where that differs.
    ``attribute``: in a text that the term fills, the words that it is held against (``nurse``).
    ``fillers``: its own, where the set's do not suit it (``He``, at the beginning of a text).

    A plain line has neither slot nor term.
    """

    text: str
    group: str
    term: str
    template: str
    fills: bool
    form: str = ""
    attribute: str = ""
    fillers: Fillers = ()

    @property
    def word(self) -> str:
        """The term as the sentence writes it."""
        return self.form or self.term

    @property
    def sentence(self) -> str:
        """The text with its term in the slot; as it is where the slot is for the fillers."""
        return self.text.replace(SLOT, self.term) if self.fills else self.text


class Pair(NamedTuple):
    """A sentence with a stereotype and one against it, which differ in a few words.

    ``group``: the kind of pair. ``cluster``: pairs that are no independent observations, such as
    those of one template. ``term``: what they are about. ``unrelated``: the same sentence without
    sense, where there is one. ``frame``: the sentences with ``[MASK]`` in the place where they
    differ, where it is one place.
    """

    stereo: str
    anti: str
    group: str = ""
    cluster: str = ""
    term: str = ""
    unrelated: str = ""
    frame: str = ""
    rating: float = nan


@dataclass(frozen=True)
class ItemSet:
    """Items, or pairs, under one name.

    fillers: what goes into the slot of items that hold their term, for the first group and for the
    second: ``(("he", "she"),)``. roles: what the names of the groups stand for in the notation of
    WEAT (X, Y, A, B), where they have such roles.
    """

    name: str
    language: str
    title: str = ""
    source: str = ""
    items: tuple[Item, ...] = ()
    pairs: tuple[Pair, ...] = ()
    fillers: Fillers = ()

    def fillers_of(self, item: Item) -> Fillers:
        """Return what goes into the slot of an item that holds its term."""
        return item.fillers or self.fillers

    @property
    def groups(self) -> list[str]:
        """The names of the groups, in the order in which they occur."""
        groups = [each.group for each in self.items] + [each.group for each in self.pairs]
        return list(dict.fromkeys(groups))

    @property
    def lines(self) -> list[str]:
        """The texts, where they are plain lines."""
        plain = not any(item.term or SLOT in item.text for item in self.items)
        return [item.text for item in self.items] if plain else []

    @property
    def paired(self) -> tuple[Pair, ...]:
        """The pairs; of texts that hold a term of one of two groups, each with the filler of its
        own group and with that of the other, those of one term as one cluster.
        """
        asked = [item for item in self.items if not item.fills]
        if self.pairs or not self.fillers or len(asked) < len(self.items) or len(self.groups) != 2:
            return self.pairs
        first = self.groups[0]
        return tuple(
            Pair(
                item.text.replace(SLOT, own),
                item.text.replace(SLOT, other),
                "",
                item.term,
                item.term,
            )
            for item in asked
            for one, two in self.fillers_of(item)
            for own, other in [(one, two) if item.group == first else (two, one)]
        )

    def by_group(self) -> dict[str, list[Item]]:
        """The items of each group."""
        return {name: [each for each in self.items if each.group == name] for name in self.groups}

    def decisive(self) -> dict[str, object]:
        """What can change a result, as JSON: all but title and source."""
        items = [item if item.fillers else item[:-1] for item in self.items]
        rows = {"items": items, "pairs": self.pairs, "fillers": self.fillers}
        return {"name": self.name, "language": self.language, **rows}


@runtime_checkable
class ItemSource(Choice, Protocol):
    """Where items come from."""

    def load(self) -> list[ItemSet]:
        """The sets, each under a name of its own. Raises ``InputError`` for what cannot be read."""


def fill_template(template: str, term: str, group: str, name: str) -> Item:
    """The item of a template and a term: ``{}`` is where the term goes, ``[MASK]`` what is asked
    for; a template without ``[MASK]`` asks for the term itself.
    """
    if SLOT in template:
        return Item(template.replace(TERM, term), group, term, name, fills=False)
    return Item(template.replace(TERM, SLOT), group, term, name, fills=True)


def plain_line(text: str) -> Item:
    """A text about which nothing is asked but its likelihood."""
    return Item(text, "lines", "", "", fills=False)


def cross(groups: Mapping[str, tuple[str, ...]], templates: Mapping[str, str]) -> tuple[Item, ...]:
    """Every term of every group in every template."""
    return tuple(
        fill_template(template, term, group, name)
        for group, terms in groups.items()
        for term in terms
        for name, template in templates.items()
    )
