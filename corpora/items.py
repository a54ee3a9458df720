"""Sources of items: sets that come with the project, published ones, and one's own files."""

from __future__ import annotations

import os
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from files import InputError, choice
from files.choice import Fileless
from files.language import UNDETERMINED, language_of_texts
from files.nested import read_nested
from files.tables import read_table, require_columns
from intrinsic.items.item import SLOT, Item, ItemSet, Pair
from intrinsic.items.library import library, load_items
from intrinsic.items.read import read_items
from intrinsic.sentences.similarity import read_sts

DATA = "BIASBRIDGE_DATA"

if TYPE_CHECKING:
    from collections.abc import Hashable

    from intrinsic.items.item import ItemSource


@choice
class BuiltInItems(Fileless):
    """Sets that come with the project, by name."""

    sets: tuple[str, ...]

    name: ClassVar[str] = "built_in"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for an unknown name."""
        return load_items(self.sets)


@choice
class OwnItems:
    """One's own file; ``intrinsic.items.read`` has the columns, and what ``fillers`` are."""

    path: str
    language: str = UNDETERMINED
    fillers: tuple[str, ...] = ()

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    def files(self) -> list[Path]:
        """The file."""
        return [Path(self.path)]

    def load(self) -> list[ItemSet]:
        """Its one set. Raises ``InputError`` for what is no table of items."""
        return [read_items(self.path, self.language, self.fillers)]


def own_items(
    path: str, language: str | None = None, fillers: Sequence[str] = ()
) -> FromFile | OwnItems:
    """Return the source of a user's file: a published one where it has the columns of that.

    Raises ``InputError`` for fillers of a published one.
    """
    stated = language or UNDETERMINED
    kind = _published_kind(path)
    if kind and fillers:
        raise InputError(f"{path} is {kind.name}, which takes no fillers; leave them out")
    return kind(path, stated) if kind else OwnItems(path, stated, tuple(fillers))


def _published_kind(path: str) -> type[FromFile] | None:
    if Path(path).suffix == ".json":
        return StereoSet
    if Path(path).name.startswith("sts-"):
        return StsBenchmark
    columns = {*read_table(path).columns}
    kinds = {"sent_more": CrowsPairs, "Sent_TM": BecPro, "template_masked": Honest}
    return next((kind for column, kind in kinds.items() if column in columns), None)


@choice
class FromFile:
    """Base of a source that is one published file; ``name`` begins the names of its sets. A
    language that is not stated is that of its texts, else that in its name.
    """

    path: str
    language: str = UNDETERMINED

    name: ClassVar[str]
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        """The file."""
        return [Path(self.path)]

    def load(self) -> list[ItemSet]:
        """The sets in it. Raises ``InputError`` for another file."""
        raise NotImplementedError

    def spoken(self, texts: Iterable[str]) -> str:
        """Return the language of the texts."""
        return language_of_texts(texts, self.path, self.language)

    def rows(self, *columns: str, quoted: bool = True) -> list[dict[str, str]]:
        """The rows of its table. Raises ``InputError`` where it lacks a column, or has no row."""
        table = read_table(self.path, quoted=quoted)
        require_columns(table, columns, self.path)
        rows = [{str(key): str(cell) for key, cell in row.items()} for row in _records(table)]
        if not rows:
            raise InputError(f"{self.path} has no rows")
        return rows


def _records(table: Any) -> list[dict[Hashable, Any]]:
    found: list[dict[Hashable, Any]] = table.to_dict("records")
    return found


@choice
class CrowsPairs(FromFile):
    """CrowS-Pairs (Nangia et al., 2020), ``crows_pairs_anonymized.csv``: ``crows_pairs`` and a set
    for each type of bias, ``crows_pairs_gender``.

    ``stereo`` is ``sent_more`` in every row: the sentence with the stereotype, where
    ``stereo_antistereo`` says ``stereo``; where it says ``antistereo``, the sentence about the
    disadvantaged group, against its stereotype. That is the sentence that published scores count as
    preferred. The group of a pair is what ``stereo_antistereo`` says.
    """

    name: ClassVar[str] = "crows_pairs"

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for another table."""
        columns = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
        rows = self.rows(*columns)
        pairs = [
            (row["bias_type"], Pair(row["sent_more"], row["sent_less"], row["stereo_antistereo"]))
            for row in rows
        ]
        source = "Nangia et al. (2020)"
        return _by_kind(self, "CrowS-Pairs", source, pairs)


@choice
class StereoSet(FromFile):
    """StereoSet within sentences (Nadeem et al., 2021), ``dev.json`` or ``test.json``:
    ``stereoset`` and a set for each domain, ``stereoset_gender``.

    A sentence is the context with the word of the sentence that stands at ``BLANK``, as in the
    authors' code.
    """

    name: ClassVar[str] = "stereoset"

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for another file."""
        content: Any = read_nested(self.path)
        try:
            found = [_stereoset(each) for each in content["data"]["intrasentence"]]
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{self.path} is no file of StereoSet ({error!r}); give its dev.json or test.json"
            ) from error
        return _by_kind(self, "StereoSet", "Nadeem et al. (2021)", found)


def _stereoset(each: Any) -> tuple[str, Pair]:
    context = str(each["context"])
    place = next(n for n, word in enumerate(context.split(" ")) if "BLANK" in word)
    said = {}
    for sentence in each["sentences"]:
        word = sentence["sentence"].split(" ")[place].strip(string.punctuation)
        said[sentence["gold_label"]] = context.replace("BLANK", word)
    return each["bias_type"], Pair(
        said["stereotype"],
        said["anti-stereotype"],
        each["bias_type"],
        term=each["target"],
        unrelated=said["unrelated"],
        frame=context.replace("BLANK", SLOT),
    )


def _by_kind(of: FromFile, title: str, source: str, pairs: list[tuple[str, Pair]]) -> list[ItemSet]:
    """All pairs, and those of each kind."""
    every = tuple(pair for _, pair in pairs)
    language = of.spoken(pair.stereo for pair in every)
    sets = [ItemSet(of.name, language, title, source, pairs=every)]
    for kind in dict.fromkeys(kind for kind, _ in pairs):
        own = tuple(pair for each, pair in pairs if each == kind)
        name = f"{of.name}_{kind.replace('-', '_')}"
        sets.append(ItemSet(name, language, f"{title}, {kind}", source, pairs=own))
    return sets


@choice
class StsBenchmark(FromFile):
    """The STS Benchmark (Cer et al., 2017), ``sts-train.csv``, ``sts-dev.csv`` or ``sts-test.csv``:
    pairs of sentences with a rating from 0 to 5, as ``sts_b_test`` by the file's name.
    """

    name: ClassVar[str] = "sts_b"

    def load(self) -> list[ItemSet]:
        """The one set. Raises ``InputError`` for another file."""
        pairs = tuple(
            Pair(each.first, each.second, rating=each.score) for each in read_sts(self.path)
        )
        split = Path(self.path).stem.removeprefix("sts-")
        title = f"STS Benchmark, {split}"
        language = self.spoken(pair.stereo for pair in pairs)
        return [ItemSet(f"{self.name}_{split}", language, title, "Cer et al. (2017)", pairs=pairs)]


@choice
class BecPro(FromFile):
    """BEC-Pro (Bartl et al., 2020), ``BEC-Pro_EN.tsv``: words for women and men in the slot, held
    against the professions typed male, female and neither, ``bec_pro_male``, ``bec_pro_female``,
    ``bec_pro_balanced``; of ``BEC-Pro_DE.tsv`` ``bec_pro_de_male``. There a profession agrees with
    the person (Mechanikerin), so that no text is of both groups.

    The file masks the person inside professions too (``[MASK]ager``); there it is put back.
    """

    name: ClassVar[str] = "bec_pro"
    version: ClassVar[int] = 2

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for another table."""
        columns = ("Sent_TM", "Template", "Person", "Gender", "Profession", "Prof_Gender")
        rows = self.rows(*columns)
        language = self.spoken(row["Sent_TM"] for row in rows)
        stem = self.name if language == "en" else f"{self.name}_{language}"
        sets = []
        for typed in dict.fromkeys(row["Prof_Gender"] for row in rows):
            items = tuple(
                Item(
                    _one_slot(row["Sent_TM"], row["Person"]),
                    row["Gender"],
                    row["Person"],
                    row["Template"],
                    fills=True,
                    attribute=row["Profession"],
                )
                for row in rows
                if row["Prof_Gender"] == typed
            )
            title, source = f"Women and men, {typed} professions", "Bartl et al. (2020)"
            sets.append(ItemSet(f"{stem}_{typed}", language, title, source, items=items))
        return sets


def _one_slot(text: str, person: str) -> str:
    before, slot, after = text.partition(SLOT)
    return before + slot + after.replace(SLOT, person)


@choice
class Honest(FromFile):
    """HONEST's templates (Nozza et al., 2021, 2022): identity terms in texts with an open slot, for
    what a model adds: ``honest_binary_en`` by the file's name, and one set for each ``type``.

    Groups: ``female`` and ``male``, or ``queer`` and ``nonqueer``.
    """

    name: ClassVar[str] = "honest"

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for another table."""
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
        language = self.spoken(item.text for item in items)
        sets = [ItemSet(stem, language, "HONEST templates", source, items=tuple(items))]
        for kind in dict.fromkeys(items.values()):
            own = tuple(item for item, each in items.items() if each == kind)
            title = f"HONEST templates, {kind}"
            sets.append(ItemSet(f"{stem}_{kind}", language, title, source, items=own))
        return sets


@choice
class NamedItems:
    """Sets by name: those that come with the project, and published ones in the folder ``data``,
    laid out as that which ``BIASBRIDGE_DATA`` names.
    """

    sets: tuple[str, ...]
    data: str

    name: ClassVar[str] = "named"
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("data",)

    def files(self) -> list[Path]:
        """The published files."""
        sources = [self._source(name) for name in self.sets]
        return [file for each in dict.fromkeys(filter(None, sources)) for file in each.files()]

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for an unknown name."""
        return [self._set(name) for name in self.sets]

    def _set(self, name: str) -> ItemSet:
        source = self._source(name)
        known = {each.name: each for each in source.load()} if source else library()
        _, place = _place_of(name)
        if name not in known and place and not source:
            raise InputError(
                f"{name} is read from a published file, {Path(place).name}, which the project does"
                f" not bring: give it with --items, or as {place} in a folder that {DATA} names"
            )
        return known[name] if name in known else load_items([name])[0]

    def _source(self, name: str) -> FromFile | None:
        return None if name in library() else published(name, self.data)


# By the beginning of a set's name: what reads it, and where it lies in the folder of real data
PUBLISHED: Mapping[str, tuple[type[FromFile], str]] = {
    "crows_pairs": (CrowsPairs, "contextual/crows_pairs_anonymized.csv"),
    "bec_pro_de": (BecPro, "models/bec_pro/BEC-Pro_DE.tsv"),  # before the name that begins it
    "bec_pro": (BecPro, "models/bec_pro/BEC-Pro_EN.tsv"),
    "honest_binary_en": (Honest, "models/honest/binary_en_template.tsv"),
    "honest_binary_es": (Honest, "models/honest/binary_es_template.tsv"),
    "honest_queer": (Honest, "models/honest/queer_nonqueer_en_template.tsv"),
    "sts_b": (StsBenchmark, "models/sts_b/sts-test.csv"),
}


def _place_of(name: str) -> tuple[type[FromFile], str]:
    known = (each for begins, each in PUBLISHED.items() if name.startswith(begins))
    return next(known, (FromFile, ""))


def published(name: str, data: str) -> FromFile | None:
    """The source of a set in the folder, by its name; None where the folder has none."""
    kind, place = _place_of(name)
    path = Path(data, place)
    return kind(str(path)) if data and place and path.is_file() else None


def named_items(names: Sequence[str], *, there_only: bool = False) -> ItemSource:
    """The sets of these names; ``there_only``: those among them whose data are there."""
    data = os.environ.get(DATA, "")
    there = [name for name in names if name in library() or published(name, data)]
    return NamedItems(tuple(there if there_only else names), data)
