"""Labelled posts from tables: a file with columns of any name, or anything ``datasets`` reads.

Every source gives a ``datasets.Dataset`` with the columns ``id`` (str), ``text`` (tokenised as
tweets are, tokens joined by spaces), ``label`` (0 or 1), ``group`` (str; left out where the source
knows no target group) and ``split`` (``train``, ``dev``, ``test``; or ``all`` in every row:
cross-validate).

Rows come in a shuffled order with ids made anew, so that neither can carry the order of a
collection to a model.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from corpora.corpus import load_split, local_files
from corpora.tweets import tokenise
from files import InputError, nearest

if TYPE_CHECKING:
    from datasets import Dataset

SPLITS = ("train", "dev", "test")
CROSS_VALIDATE = "all"


@dataclass(frozen=True)
class TableSource:
    """Posts from a CSV or TSV file (also .gz, .bz2, .xz), columns named by the user.

    ``positive``: the labels that count as 1, all others as 0; empty: the labels are 0 and 1
    already. ``group`` and ``split`` name columns that a file need not have. ``separator`` is by
    default a tab for ``.tsv`` and a comma otherwise; ``quoted=False`` reads quotation marks as
    text.
    """

    path: str
    text: str = "text"
    label: str = "label"
    group: str | None = None
    split: str | None = None
    positive: tuple[str | int, ...] = ()
    separator: str | None = None
    quoted: bool = True

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def name(self) -> str:
        """Stands for the source in the tables: the file's name without its endings."""
        return Path(self.path).name.split(".")[0]

    def files(self) -> list[Path]:
        """The file read."""
        return [Path(self.path)]

    def load(self, *, seed: int) -> Dataset:
        """The posts; see the module."""
        table = read_csv(self.path, separator=self.separator, quoted=self.quoted)
        columns = {"text": self.text, "label": self.label, "group": self.group, "split": self.split}
        return labelled(
            _pick(table, columns, self.path), positive=self.positive, source=self.path, seed=seed
        )


@dataclass(frozen=True)
class DatasetSource:
    """Posts from anything ``datasets.load_dataset`` reads: a hub name, a local folder, or a builder
    such as ``json``.

    ``dev`` and ``test`` name splits; where ``test`` is None the posts of ``train`` are
    cross-validated, where ``dev`` is None the classifier sets a share of train aside. Other fields
    as in ``TableSource`` and ``corpora.corpus.DatasetCorpus``.
    """

    path: str
    config: str | None = None
    data_files: str | tuple[str, ...] | None = None
    revision: str | None = None
    text: str = "text"
    label: str = "label"
    group: str | None = None
    positive: tuple[str | int, ...] = ()
    train: str = "train"
    dev: str | None = None
    test: str | None = None

    version: ClassVar[int] = 1
    generated: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Stands for the source in the tables."""
        return Path(self.path).name

    def files(self) -> list[Path]:
        """Local files that are read; none for a hub name."""
        return local_files(self.path, self.data_files)

    def load(self, *, seed: int) -> Dataset:
        """The posts; see the module."""
        splits = (
            {"train": self.train, "dev": self.dev, "test": self.test}
            if self.test
            else {CROSS_VALIDATE: self.train}
        )
        columns = {"text": self.text, "label": self.label, "group": self.group, "split": None}
        frames = []
        for split, name in splits.items():
            if name:
                rows = load_split(
                    self.path, self.config, self.data_files, self.revision, name, streaming=False
                )
                frames.append(_pick(rows.to_pandas(), columns, self.path).assign(split=split))
        return labelled(
            pd.concat(frames, ignore_index=True),
            positive=self.positive,
            source=self.path,
            seed=seed,
        )


def read_csv(
    path: str | Path, *, separator: str | None = None, quoted: bool = True
) -> pd.DataFrame:
    """A table of text cells. Raises ``InputError`` for a missing, empty, non-UTF-8 or ragged
    file.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    separator = separator or ("\t" if ".tsv" in path.suffixes else ",")
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    try:
        return pd.read_csv(
            path, sep=separator, quoting=quoting, dtype=str, keep_default_na=False, encoding="utf-8"
        )
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 ({error.reason} at byte {error.start}); convert the file, for"
            " example with iconv"
        ) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, EOFError, OSError) as error:
        hint = "; where quotation marks are text, set quoted to false" if quoted else ""
        raise InputError(
            f"{path} is no table with separator {separator!r}: {' '.join(str(error).split())}{hint}"
        ) from error


def labelled(
    table: pd.DataFrame, *, positive: Sequence[str | int], source: str, seed: int
) -> Dataset:
    """Posts from a table with ``text``, ``label`` and maybe ``group`` and ``split``, checked,
    tokenised and shuffled.

    Raises ``InputError`` for labels that cannot be read as 0 and 1, one class only, posts without
    text, an unknown split, and a group column that is empty in every row.
    """
    from datasets import Dataset  # slow to import

    table = table.sample(frac=1, random_state=seed).reset_index(drop=True)
    posts = pd.DataFrame({"id": [str(number) for number in range(len(table))]})
    posts["text"] = [" ".join(tokenise(str(text))) for text in table["text"].fillna("")]
    if not (posts["text"] != "").any():
        raise InputError(f"{source}: the text column is empty; name another column")
    posts["label"] = _labels(table["label"], positive, source)
    if "group" in table:
        posts["group"] = _groups(table["group"], source)
    posts["split"] = _splits(table["split"], source) if "split" in table else CROSS_VALIDATE
    return Dataset.from_pandas(posts[posts["text"] != ""], preserve_index=False)


def _pick(table: pd.DataFrame, columns: dict[str, str | None], source: str) -> pd.DataFrame:
    for role, name in columns.items():
        if name is not None and name not in table:
            hint = nearest(name, table.columns)
            raise InputError(
                f"{source} has no column {name!r} for {role}{hint}; columns:"
                f" {', '.join(map(str, table.columns))}"
            )
    return pd.DataFrame({role: table[name] for role, name in columns.items() if name is not None})


def _labels(values: pd.Series, positive: Sequence[str | int], source: str) -> pd.Series:
    """0 and 1 from labels of any spelling; ``1``, ``1.0`` and ``True`` are one label."""
    plain = values.map(_plain, na_action="ignore")
    if missing := int(plain.isin(["", "nan", "None"]).sum() + plain.isna().sum()):
        raise InputError(f"{source}: {missing} posts have no label; remove them")
    wanted = {_plain(label) for label in positive} or {"1"}
    unknown = sorted(set(plain) - {"0", "1"}) if not positive else sorted(wanted - set(plain))
    if unknown and not positive:
        raise InputError(
            f"{source}: labels beyond 0 and 1: {', '.join(unknown[:5])}; name those that count as 1"
            " in source.positive"
        )
    if unknown:
        raise InputError(
            f"{source}: no post has the label {', '.join(unknown)}; labels:"
            f" {', '.join(sorted(set(plain))[:10])}"
        )
    labels = plain.isin(wanted).astype("int64")
    if labels.nunique() < 2:
        raise InputError(
            f"{source}: all {len(labels)} labels are {labels.iloc[0]}; a classifier needs posts of"
            " both classes"
        )
    return labels


def _plain(label: object) -> str:
    text = str(label).strip()
    return {"True": "1", "False": "0"}.get(text, text.removesuffix(".0"))


def _groups(values: pd.Series, source: str) -> pd.Series:
    groups = values.astype("string").str.strip()
    groups = groups.mask(groups == "")
    if groups.isna().all():
        raise InputError(
            f"{source}: the group column is empty in every row; name another, or none to tag groups"
            " by gender words"
        )
    return groups.fillna("none")


def _splits(values: pd.Series, source: str) -> pd.Series:
    splits = (
        values.astype(str).str.strip().replace({"validation": "dev", "valid": "dev", "val": "dev"})
    )
    if (splits == CROSS_VALIDATE).all():
        return splits
    unknown = sorted(set(splits) - {*SPLITS})
    if unknown:
        raise InputError(
            f"{source}: unknown split {', '.join(map(repr, unknown[:5]))}; a row belongs to"
            f" {', '.join(SPLITS)}"
        )
    for needed in ("train", "test"):
        if not (splits == needed).any():
            raise InputError(
                f"{source}: no row belongs to the split {needed!r}; leave out the split column to"
                " cross-validate"
            )
    return splits
