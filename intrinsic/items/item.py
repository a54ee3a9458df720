"""Texts with a slot, plain lines, pairs of sentences, and sets of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import NamedTuple, Protocol, runtime_checkable

from biasbridge.files import Choice

SLOT = "[MASK]"  # in a text: the word to predict
TERM = "{}"  # in a template: the term
# What precedes the first word of a sentence: nothing or the end of another one, and opening marks
BEFORE_SENTENCE = re.compile(r"(^|[^.][.!?]['\"’”»)\]]*\s+)[\s¿¡'\"‘“„«(\[]*$")
Fillers = tuple[tuple[str, ...], ...]  # words for the first group, the second, and further ones


class Item(NamedTuple):
    """A text with the slot ``[MASK]``.

    ``fills``: the term stands for its group and fills the slot (``[MASK] is here``, term ``John``).
    Otherwise the text contains the term, and the fillers of the set fill the slot (``[MASK] is a
    nurse``, term ``nurse``, fillers ``he`` and ``she``). ``template``: name of the text without its
    term; items with the same template or term are not independent. ``form``: the term as spelt in
    the text, if that differs. ``attribute``: in a text that the term fills, the words it is
    compared with (``nurse``). ``fillers``: replace the set's (``He`` at the start of a text).

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
        """The term as spelt in the sentence."""
        return self.form or self.term

    @property
    def sentence(self) -> str:
        """The text, with the term in the slot if the term fills it."""
        return self.text.replace(SLOT, self.term) if self.fills else self.text


class Pair(NamedTuple):
    """A stereotypical and an anti-stereotypical sentence, which differ in a few words.

    ``group``: the kind of pair. ``cluster``: label of pairs that are not independent, such as those
    of one template. ``term``: the topic. ``unrelated``: the sentence with an unrelated word, if
    any. ``frame``: the sentence with ``[MASK]`` where the others differ, if in one place.
    ``rating``: similarity rated by people, NaN if none.
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
    """Named items or pairs.

    fillers: words for the slot of items that contain their term, for the first group, for the
    second, and for further ones: ``(("he", "she"),)``.
    """

    name: str
    language: str
    title: str = ""
    source: str = ""
    items: tuple[Item, ...] = ()
    pairs: tuple[Pair, ...] = ()
    fillers: Fillers = ()

    def fillers_of(self, item: Item) -> Fillers:
        """Return the words for the slot of an item that contains its term."""
        return item.fillers or self.fillers

    @property
    def groups(self) -> list[str]:
        """Names of the groups in order of occurrence."""
        groups = [item.group for item in self.items] + [pair.group for pair in self.pairs]
        return list(dict.fromkeys(groups))

    @property
    def lines(self) -> list[str]:
        """The texts, if they are plain lines."""
        plain = not any(item.term or SLOT in item.text for item in self.items)
        return [item.text for item in self.items] if plain else []

    @property
    def paired(self) -> tuple[Pair, ...]:
        """The pairs, or pairs made of texts that contain a term of one of two groups.

        Such a text gets the filler of the term's group (stereo) and of the other group (anti).
        Pairs of one term form a cluster.
        """
        fillable = [item for item in self.items if not item.fills]
        if (
            self.pairs
            or not self.fillers
            or len(fillable) < len(self.items)
            or len(self.groups) != 2
            or len(self.fillers[0]) != 2
        ):
            return self.pairs
        pairs = []
        for item in fillable:
            for fillers in self.fillers_of(item):
                order = fillers if item.group == self.groups[0] else fillers[::-1]
                stereo, anti = (item.text.replace(SLOT, filler) for filler in order)
                pairs.append(Pair(stereo, anti, "", item.term, item.term))
        return tuple(pairs)

    def by_group(self) -> dict[str, list[Item]]:
        """Return the items of each group."""
        return {name: [item for item in self.items if item.group == name] for name in self.groups}

    def key_fields(self) -> dict[str, object]:
        """Return the fields that can change a result (all but title and source), as JSON."""
        items = [item if item.fillers else item[:-1] for item in self.items]
        rows = {"items": items, "pairs": self.pairs, "fillers": self.fillers}
        return {"name": self.name, "language": self.language, **rows}


@runtime_checkable
class ItemSource(Choice, Protocol):
    """A source of items."""

    def load(self) -> list[ItemSet]:
        """Load the sets of items.

        Returns
        -------
        list of ItemSet
            Sets with unique names.

        Raises
        ------
        InputError
            The items cannot be read.
        """


def fill_template(template: str, term: str, group: str, name: str) -> Item:
    """Fill a term into the ``{}`` of a template; without ``[MASK]``, ``{}`` becomes the slot."""
    if SLOT in template:
        return Item(template.replace(TERM, term), group, term, name, fills=False)
    return Item(template.replace(TERM, SLOT), group, term, name, fills=True)


def with_capital(item: Item, fillers: Fillers) -> Item:
    """Return the item with a capital on fillers that begin a sentence; a term is spelt as given."""
    before, slot, _ = item.text.partition(SLOT)
    if item.fills or not slot or not BEFORE_SENTENCE.search(before):
        return item
    pairs = tuple(tuple(word[:1].upper() + word[1:] for word in words) for words in fillers)
    return item._replace(fillers=pairs)


def plain_line(text: str) -> Item:
    """Return an item with neither slot nor term, for metrics on whole texts."""
    return Item(text, "lines", "", "", fills=False)


def cross(groups: Mapping[str, tuple[str, ...]], templates: Mapping[str, str]) -> tuple[Item, ...]:
    """Return an item for every term of every group in every template."""
    return tuple(
        fill_template(template, term, group, name)
        for group, terms in groups.items()
        for term in terms
        for name, template in templates.items()
    )
