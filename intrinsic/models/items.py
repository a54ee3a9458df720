"""Sets of items: texts with a slot, plain lines, pairs of sentences; built-in ones and files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import yaml

from biasbridge.files import Choice, InputError, nearest
from biasbridge.files.language import UNDETERMINED, language_of_texts, whole_word
from biasbridge.intrinsic.word_forms import inflect

SLOT = "[MASK]"  # in a text: the word to predict
# Other forms in a user's file: <mask>, [BLANK], ___, <extra_id_0>
_SLOTS = re.compile(r"\[(?:mask|blank)\]|<(?:mask|blank|extra_id_0)>|_{3,}", re.IGNORECASE)
TERM = "{}"  # in a template: the term
# What precedes the first word of a sentence: nothing or the end of another one, and opening marks
_BEFORE_SENTENCE = re.compile(r"(^|[^.][.!?]['\"’”»)\]]*\s+)[\s¿¡'\"‘“„«(\[]*$")
FillerGroups = tuple[
    tuple[str, ...], ...
]  # words for the first group, the second, and further ones
_ITEMSETS = Path(__file__).parent.parent / "itemsets"
_SLOT_COLUMNS = ("text", "group", "term", "template")
_PAIR_COLUMNS = ("stereo", "anti")
# Languages without gendered pronouns, such as Turkish, have none
_PRONOUN_PAIRS = {
    "de": (("er", "sie"),),
    "en": (("he", "she"),),
    "es": (("él", "ella"),),
    "hr": (("on", "ona"),),
    "it": (("lui", "lei"),),
    "ru": (("он", "она"),),
}


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
    fillers: FillerGroups = ()

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
    fillers: FillerGroups = ()

    def fillers_of(self, item: Item) -> FillerGroups:
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
        """The pairs, or for each text of one of two groups its filler and that of the other."""
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
        """Load the sets of items, with unique names. Raises ``InputError``."""


@cache
def library() -> dict[str, ItemSet]:
    """Read the sets of all YAML files in ``intrinsic/itemsets``; names are unique."""
    sets: dict[str, ItemSet] = {}
    for path in sorted(_ITEMSETS.glob("*.yaml")):
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


def read_items(
    path: str | Path, language: str = UNDETERMINED, fillers: Sequence[str] = ()
) -> ItemSet:
    """Read the items of a file, under its name.

    Columns ``text, group, term, template``: in ``text``, ``{}`` stands for the term and ``[MASK]``
    (or ``<mask>``, ``[BLANK]``, ``___``) for the slot. With one of the two, the term fills the
    slot, unless the text contains the term; then the slot is filled with the pairs in column
    ``fillers`` (``Er/Sie``, several with semicolons; ``he/she/they`` for three groups), in
    ``fillers``, or of the language, capitalised at the start of a sentence. Column ``attribute``:
    the words that a term filling the text is compared with. Columns ``stereo, anti`` and optionally
    ``cluster`` and ``group``: pairs. The default language is that of the texts, else that in the
    file's name.

    Raises ``InputError`` for other columns, an empty cell, a text with no slot or several, and
    fillers that are not pairs, given twice or without a text to fill.
    """
    from biasbridge.files.tables import read_table  # loads pandas

    table = read_table(path).astype("string").fillna("")
    name = Path(path).name.split(".")[0]
    rows = [{str(key): str(cell) for key, cell in row.items()} for row in table.to_dict("records")]
    if not rows:
        raise InputError(f"{path} has no rows")
    if {*_SLOT_COLUMNS} <= {*table.columns}:
        items = tuple(_read_item(row, f"row {n} of {path}") for n, row in enumerate(rows, 1))
        text_language = language_of_texts((row["text"] for row in rows), path, language)
        _check_fillers(path, items, fillers)
        default = _parse_fillers(fillers) or next(
            (item.fillers for item in items if item.fillers), ()
        )
        default = default or _PRONOUN_PAIRS.get(text_language, ())
        items = tuple(_with_capital(item, item.fillers or default) for item in items)
        return ItemSet(name, text_language, items=items, fillers=default)
    if {*_PAIR_COLUMNS} <= {*table.columns}:
        pairs = tuple(_read_pair(row, f"row {n} of {path}") for n, row in enumerate(rows, 1))
        _check_fillers(path, (), fillers)
        text_language = language_of_texts((pair.stereo for pair in pairs), path, language)
        return ItemSet(name, text_language, pairs=pairs)
    raise InputError(
        f"{path} has the columns {', '.join(table.columns)}; give {', '.join(_SLOT_COLUMNS)} for"
        f" texts with a slot, or {', '.join(_PAIR_COLUMNS)} (and cluster, group) for pairs"
    )


def _parse_fillers(pairs: Sequence[str]) -> FillerGroups:
    """Parse fillers such as ``Er/Sie``: a word for each group."""
    fillers: list[tuple[str, ...]] = []
    for pair in pairs:
        words = tuple(word.strip() for word in pair.split("/"))
        if len(words) < 2 or not all(words) or len({*words}) < len(words):
            raise InputError(
                f"fillers {pair!r}: give two words with a slash between, as he/she, or more"
            )
        fillers.append(words)
    if len({*map(len, fillers)}) > 1:
        raise InputError(f"fillers {', '.join(pairs)}: give a word for every group in each")
    return tuple(fillers)


def no_fillers(items: ItemSet) -> str:
    """Return why the slots of a set cannot be filled; empty if they can, or there are none."""
    open_slots = [item for item in items.items if SLOT in item.text and not item.fills]
    if all(map(items.fillers_of, open_slots)):
        return ""
    problem = f"{items.name} has no fillers for its slots"
    remedy = "--fillers A/B or a column fillers"
    if items.language == UNDETERMINED:
        return f"{problem}, and its language is unknown: give --language, {remedy}"
    if items.language in _PRONOUN_PAIRS:
        return problem
    return f"{problem}, and {items.language!r} has no default ones: give {remedy}"


def _fill_template(template: str, term: str, group: str, name: str) -> Item:
    """Fill a term into the ``{}`` of a template; without ``[MASK]``, ``{}`` becomes the slot."""
    if SLOT in template:
        return Item(template.replace(TERM, term), group, term, name, fills=False)
    return Item(template.replace(TERM, SLOT), group, term, name, fills=True)


def _fill_templates(
    groups: Mapping[str, tuple[str, ...]], templates: Mapping[str, str]
) -> tuple[Item, ...]:
    """Return an item for every term of every group in every template."""
    return tuple(
        _fill_template(template, term, group, name)
        for group, terms in groups.items()
        for term in terms
        for name, template in templates.items()
    )


def _with_capital(item: Item, fillers: FillerGroups) -> Item:
    """Return the item with a capital on fillers that begin a sentence; a term is spelt as given."""
    before, slot, _ = item.text.partition(SLOT)
    if item.fills or not slot or not _BEFORE_SENTENCE.search(before):
        return item
    pairs = tuple(tuple(word[:1].upper() + word[1:] for word in words) for words in fillers)
    return item._replace(fillers=pairs)


def _plain_line(text: str) -> Item:
    """Return an item with neither slot nor term, for metrics on whole texts."""
    return Item(text, "lines", "", "", fills=False)


def _sets(content: dict[str, Any]) -> Iterator[ItemSet]:
    """Yield the sets of a file.

    A set has ``groups`` of terms and ``templates``, or templates for each kind of word: ``groups:
    {X: {KIND: [words]}}`` with ``templates: {KIND: {name: text}}``. Then templates may contain
    inflected forms (``biasbridge.intrinsic.word_forms``), ``{child: children}`` gives an
    irregular plural, and ``without: {X: [sentences]}`` or ``only`` selects sentences. Or it has
    plain ``lines``.
    """
    for name, entry in content.items():
        if name.startswith("_"):  # YAML anchors shared by entries
            continue
        groups, templates = entry.get("groups", {}), entry.get("templates", {})
        if "lines" in entry:
            items = tuple(map(_plain_line, entry["lines"]))
        elif all(isinstance(template, str) for template in templates.values()):
            items = _fill_templates(
                {group: tuple(words) for group, words in groups.items()}, templates
            )
        else:
            items = tuple(_select(_by_kind(groups, templates), entry))
        fillers = tuple((first, second) for first, second in entry.get("fillers", ()))
        items = tuple(_with_capital(item, fillers) for item in items) if fillers else items
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
                    yield _inflected_item(template, word, plural, group, name)


def _inflected_item(template: str, word: str, plural: str, group: str, name: str) -> Item:
    text, form = inflect(template, word, plural)
    if text == template:
        return _fill_template(template, word, group, name)
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


def _check_fillers(path: str | Path, items: Sequence[Item], fillers: Sequence[str]) -> None:
    """Raise ``InputError`` for fillers given twice, for some texts only, or without a slot."""
    has_fillers = [bool(item.fillers) for item in items]
    if fillers and any(has_fillers):
        raise InputError(f"{path} has a column fillers: remove it or the other fillers")
    if any(has_fillers) and not all(has_fillers):
        row = has_fillers.index(False) + 1
        raise InputError(f"row {row} of {path} has no fillers, but other rows have")
    sizes = [len(words) for item in items for words in item.fillers[:1]]
    if row := next((n for n, size in enumerate(sizes, 1) if size != sizes[0]), 0):
        raise InputError(f"row {row} of {path} has {sizes[row - 1]} fillers, row 1 {sizes[0]}")
    if (fillers or any(has_fillers)) and (not items or any(item.fills for item in items)):
        raise InputError(f"{path} has texts without a slot for fillers: remove the fillers")


def _read_item(row: Mapping[str, str], where: str) -> Item:
    text, term = _SLOTS.sub(SLOT, row["text"].strip()), row["term"].strip()
    for name in ("text", "group", "term"):
        if not row[name].strip():
            raise InputError(f"{where} has no {name}")
    slots, terms = text.count(SLOT), text.count(TERM)
    if slots > 1 or terms > 1 or not slots + terms:
        raise InputError(f"{where}: {text!r} needs one slot, {SLOT} or {TERM}, or one of each")
    pattern = whole_word(term)
    template = row["template"].strip() or pattern.sub(TERM, text)
    if slots and terms:
        has_term, text = True, text.replace(TERM, term)
    else:
        has_term, text = bool(pattern.search(text)), text.replace(TERM, SLOT)
    fillers = _parse_fillers([*filter(str.strip, row.get("fillers", "").split(";"))])
    attribute = "" if has_term else row.get("attribute", "").strip()
    group = row["group"].strip()
    return Item(text, group, term, template, not has_term, attribute=attribute, fillers=fillers)


def _read_pair(row: Mapping[str, str], where: str) -> Pair:
    cells = {name: row.get(name, "").strip() for name in (*_PAIR_COLUMNS, "group", "cluster")}
    for name in _PAIR_COLUMNS:
        if not cells[name]:
            raise InputError(f"{where} has no {name}")
    if cells["stereo"] == cells["anti"]:
        raise InputError(f"{where}: both sentences are {cells['stereo']!r}")
    return Pair(cells["stereo"], cells["anti"], cells["group"], cells["cluster"])
