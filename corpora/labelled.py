"""Labelled posts from tables: a file with columns of any name, or anything ``datasets`` reads.

Rows come in a shuffled order with new ids, so that neither can carry the order of a
collection to a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import pandas as pd
from annotated_types import Ge, Lt

from corpora.hub import HubData
from corpora.kinds import SPLITS, Collected, OneFile
from corpora.tweets import tokenise_tweet
from files import InputError, choice, nearest
from files.choice import FieldError
from files.language import UNDETERMINED
from files.tables import read_table

CROSS_VALIDATE = "all"
DEV_NAMES = ("validation", "valid", "val")
NO_LABEL = ("", "nan", "None")
WITHOUT_TEXT = "without_text"  # of a table's attrs: how many posts have no text and are not in it

TestShare = Annotated[float, Ge(0), Lt(1)]


class MayLackSplit(Collected):
    """Base of sources whose posts may come without a split.

    ``test_share``: of such posts, the share that is held out as the split ``test``, the same ones
    for every seed (see ``hold_out``); at 0 all are cross-validated.
    """

    test_share: float

    @property
    def has_split(self) -> bool:
        """Whether the posts come with a split of their own."""
        return False

    @property
    def cross_validated(self) -> bool:
        """Whether every post is a test item, one fold after the other."""
        return not self.has_split and not self.test_share

    def keyed(self) -> Mapping[str, object]:
        """``test_share``, where posts are held out."""
        return {"test_share": self.test_share} if self.test_share else {}

    def prepare(
        self, table: pd.DataFrame, source: str, positive: Sequence[str | int], *, seed: int
    ) -> pd.DataFrame:
        """See ``prepare_posts``."""
        share = self.test_share
        return prepare_posts(table, positive=positive, source=source, seed=seed, test_share=share)

    def __post_init__(self) -> None:
        if self.has_split and self.test_share:
            raise FieldError(f"test_share={self.test_share:g}: the posts have a split; give 0")


class NamedColumns:
    """Base of posts whose columns the user names: ``label``, with the labels that count as 1, and
    maybe ``group``.
    """

    label: str
    group: str | None
    positive: tuple[str | int, ...]

    @property
    def grouped(self) -> bool:
        """Whether a column of groups is named."""
        return self.group is not None

    @property
    def positive_class(self) -> str:
        """The labels that count as 1 and their column: ``'yes' or 'toxic' in column 'label'``."""
        labels = " or ".join(repr(str(each)) for each in self.positive or (1,))
        return f"{labels} in column {self.label!r}"


@choice
class TableSource(OneFile, NamedColumns, MayLackSplit):
    """Posts from a file that ``files.tables.read_table`` reads, columns named by the user.

    ``positive``: the labels that count as 1, all others as 0; empty: the labels are 0 and 1
    already. ``group`` and ``split`` name columns that a file need not have. ``separator`` is by
    default what the ending says, such as a tab for ``.tsv``; ``quoted=False`` reads quotation marks
    as text. ``language`` is that of the posts (see ``files.language``), ``test_share`` as in
    ``MayLackSplit``.
    """

    path: str
    text: str = "text"
    label: str = "label"
    group: str | None = None
    split: str | None = None
    positive: tuple[str | int, ...] = ()
    separator: str | None = None
    quoted: bool = True
    language: str = UNDETERMINED
    test_share: TestShare = 0.0

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "language", "test_share")  # see keyed

    @property
    def has_split(self) -> bool:
        """Whether a column of splits is named."""
        return self.split is not None

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        return self.prepare(self._read(), self.path, self.positive, seed=seed)

    def check(self) -> pd.DataFrame:
        """The posts as they are read; see ``corpora.kinds.CheckedSource``."""
        posts = self._read()
        posts["label"] = _labels(posts["label"], self.positive, self.path)
        if self.group is not None:
            posts["group"] = _groups(posts["group"], self.path)
        if self.split is not None:
            _splits(posts["split"], self.path)
        return posts

    def _read(self) -> pd.DataFrame:
        table = read_table(self.path, separator=self.separator, quoted=self.quoted)
        columns = {"text": self.text, "label": self.label, "group": self.group, "split": self.split}
        return pick_columns(table, columns, self.path)


@choice
class DatasetSource(HubData, NamedColumns, MayLackSplit):
    """Posts from anything ``datasets.load_dataset`` reads.

    ``dev`` and ``test`` name splits; where ``test`` is None the posts of ``train`` are
    cross-validated, where ``dev`` is None the classifier sets a share of train aside. The first
    fields are those of ``corpora.hub.HubData``; ``text`` to ``positive``, ``language`` and
    ``test_share`` as in ``TableSource``.
    """

    text: str = "text"
    label: str = "label"
    group: str | None = None
    positive: tuple[str | int, ...] = ()
    train: str = "train"
    dev: str | None = None
    test: str | None = None
    language: str = UNDETERMINED
    test_share: TestShare = 0.0

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = (*HubData.unkeyed, "language", "test_share")  # see keyed

    @property
    def has_split(self) -> bool:
        """Whether a test split is named."""
        return self.test is not None

    def keyed(self) -> Mapping[str, object]:
        """What is read, and ``test_share`` where posts are held out."""
        return {**HubData.keyed(self), **MayLackSplit.keyed(self)}

    @property
    def name(self) -> str:
        """Stands for the source in the tables: the last part of ``path``."""
        return Path(self.path).name

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        given = {"train": self.train, "dev": self.dev, "test": self.test}
        splits = given if self.test else {"": self.train}
        columns = {"text": self.text, "label": self.label, "group": self.group}
        parts = [
            pick_columns(self.table(name), columns, self.path).assign(
                **({"split": split} if split else {})
            )
            for split, name in splits.items()
            if name
        ]
        posts = pd.concat(parts, ignore_index=True)
        return self.prepare(posts, self.path, self.positive, seed=seed)


def pick_columns(
    table: pd.DataFrame, columns: Mapping[str, str | None], source: str
) -> pd.DataFrame:
    """The columns named, under their roles' names; ``InputError`` for one that is not there."""
    for role, name in columns.items():
        if name is not None and name not in table:
            columns_there = f"columns: {', '.join(map(str, table.columns))}"
            close = nearest(name, table.columns)
            raise InputError(f"{source} has no column {name!r} for {role}{close}; {columns_there}")
    return pd.DataFrame({role: table[name] for role, name in columns.items() if name is not None})


def prepare_posts(
    table: pd.DataFrame,
    *,
    positive: Sequence[str | int],
    source: str,
    seed: int,
    test_share: float = 0.0,
    option: str = "source",
) -> pd.DataFrame:
    """Posts (see ``corpora.kinds.Source``) from a table with ``text``, ``label`` and maybe
    ``group``, ``split`` and what a ``PostChallenge`` has: checked, tokenised as tweets are, and
    shuffled; ``raw`` is the text as it was. ``option`` is what a command line calls the source.

    Posts without text are left out (``WITHOUT_TEXT`` of its attrs). Posts without a group belong to
    the group ``none``; of those without a split ``test_share`` are held out, at 0 all are to be
    cross-validated. Raises ``InputError`` for labels that cannot be read as 0 and 1, one class
    only, posts without text, an unknown split, and a group column that is empty in every row.
    """
    table = table.sample(frac=1, random_state=seed).astype(object).fillna("")
    texts = [" ".join(tokenise_tweet(str(text))) for text in table["text"]]
    if not any(texts):
        raise InputError(f"{source}: the text column is empty; name another column")
    posts = pd.DataFrame({"id": [str(number) for number in range(len(table))], "text": texts})
    posts["raw"] = table["text"].astype(str).to_list()
    posts["label"] = _labels(table["label"], positive, source, option)
    if "group" in table:
        posts["group"] = _groups(table["group"], source)
    for name in ("term", "frame"):
        if name in table:
            posts[name] = _texts(table[name])
    if "split" in table:
        posts["split"] = _splits(table["split"], source)
    else:
        posts["split"] = hold_out(texts, test_share) if test_share else CROSS_VALIDATE
    kept = posts[posts["text"] != ""].reset_index(drop=True)
    kept.attrs[WITHOUT_TEXT] = len(posts) - len(kept)
    return kept


def hold_out(texts: Iterable[str], share: float) -> list[str]:
    """``test`` for about a share of the texts, ``train`` for the others.

    A text is a test item where its hash, as a number from 0 to 1, is below the share: whatever
    the seed, the order and the other texts; equal texts go together, and a larger share holds out
    what a smaller one does.
    """
    hashes = (hashlib.sha256(text.encode()).digest()[:8] for text in texts)
    return ["test" if int.from_bytes(each) < share * 2**64 else "train" for each in hashes]


def _labels(
    cells: Iterable[object], positive: Sequence[str | int], source: str, option: str = "source"
) -> list[int]:
    """0 and 1 from labels of any spelling; ``1``, ``1.0`` and ``True`` are one label."""
    found = _texts(cells)
    if not found:
        raise InputError(f"{source} holds no posts")
    if missing := sum(label in NO_LABEL for label in found):
        raise InputError(f"{source}: {missing} posts have no label; remove them")
    plain = [_plain(label) for label in found]
    wanted = {_plain(label) for label in _texts(positive)} or {"1"}
    if not positive and (unknown := sorted({*plain} - {"0", "1"})):
        beyond = f"labels beyond 0 and 1: {', '.join(unknown[:5])}"
        such = f"""'{option}.positive=["{unknown[-1]}"]'"""
        named = f"name those that count as 1 in {option}.positive, such as {such}"
        raise InputError(f"{source}: {beyond}; {named}")
    if positive and (unknown := sorted(wanted - {*plain})):
        there = f"labels: {', '.join(sorted({*plain})[:10])}"
        raise InputError(f"{source}: no post has the label {', '.join(unknown)}; {there}")
    labels = [int(label in wanted) for label in plain]
    if len({*labels}) < 2:
        same = f"all {len(labels)} labels are {labels[0]}"
        raise InputError(f"{source}: {same}; a classifier needs posts of both classes")
    return labels


def _texts(cells: Iterable[object]) -> list[str]:
    return [str(cell).strip() for cell in cells]


def _plain(label: str) -> str:
    return {"True": "1", "False": "0"}.get(label, label.removesuffix(".0"))


def _groups(cells: Iterable[object], source: str) -> list[str]:
    groups = _texts(cells)
    if not any(groups):
        raise InputError(
            f"{source}: the group column is empty in every row; name another, or none to tag groups"
            " by gender words"
        )
    return [group or "none" for group in groups]


def _splits(cells: Iterable[object], source: str) -> list[str]:
    splits = ["dev" if name in DEV_NAMES else name for name in _texts(cells)]
    found = {*splits}
    if found == {CROSS_VALIDATE}:
        return splits
    if unknown := sorted(found - {*SPLITS}):
        names = ", ".join(map(repr, unknown[:5]))
        raise InputError(f"{source}: unknown split {names}; a row belongs to {', '.join(SPLITS)}")
    for needed in ("train", "test"):
        if needed not in found:
            remedy = "leave out the split column to cross-validate"
            raise InputError(f"{source}: no row belongs to the split {needed!r}; {remedy}")
    return splits
