"""Sources of labelled posts: tables with user-named columns, data that ``datasets`` reads, and
published hate-speech collections in the format of their release.

Rows are shuffled and get new ids, so that the order of a collection reveals no label.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from annotated_types import Ge, Lt, doc

from biasbridge.corpora.hub import HubData
from biasbridge.corpora.protocols import HATE_SPEECH, SPLITS, WITHOUT_TEXT, RealData, SingleFileData
from biasbridge.corpora.tokens import rules_of, tokenise_tweet
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import FieldError
from biasbridge.files.columns import (
    CLASS_NONE,
    binary_key,
    find_blank,
    label_key,
    positive_keys,
    restore_ranges,
    spell_alike,
    unwrap_lists,
)
from biasbridge.files.language import UNDETERMINED, LanguageCode, language_of
from biasbridge.files.places import without_commit
from biasbridge.files.tables import read_table, require_columns

_CROSS_VALIDATE = "all"
_DEV_NAMES = ("validation", "valid", "val")
TestShare = Annotated[
    float,
    Ge(0),
    Lt(1),
    doc("share of posts without a split to hold out, the same for all seeds; 0: cross-validate"),
]
# Ids of the first tweets about women: 4,500 and 500 tweets are on each side. Keywords against
# immigrants occur in .78 and .80 of the tweets before, and in 8 of the 5,000 after
_FIRST_ABOUT_WOMEN = {"train_en": 4701, "dev_en": 18701}
_CLASSES = (HATE_SPEECH, "offensive language", "neither")  # of Davidson et al., as they number them
Label = Literal["abusive", "hateful", "normal", "spam"]
LABELS = get_args(Label)


class OptionalSplit(RealData):
    """Base of sources whose posts may lack a split.

    ``test_share``: the share of such posts held out as the split ``test``, the same posts for every
    seed (see ``_hold_out``); 0: all posts are cross-validated.
    """

    test_share: float

    @property
    def has_split(self) -> bool:
        """Whether the posts come with a split."""
        return False

    @property
    def cross_validated(self) -> bool:
        """Whether the posts are cross-validated: each is a test item in one fold."""
        return not self.has_split and not self.test_share

    def keyed(self) -> Mapping[str, object]:
        """Return ``test_share`` if posts are held out, and a language with rules for words."""
        rules = rules_of(language_of(self))
        return {"test_share": self.test_share, **rules} if self.test_share else rules

    def prepare(
        self, table: pd.DataFrame, source: str, positive: Sequence[str | int], *, seed: int
    ) -> pd.DataFrame:
        """Prepare the posts as ``prepare_posts`` does, with this ``test_share`` and language."""
        return prepare_posts(
            table,
            positive=positive,
            source=source,
            seed=seed,
            test_share=self.test_share,
            language=language_of(self),
        )

    def __post_init__(self) -> None:
        if self.has_split and self.test_share:
            raise FieldError(f"test_share={self.test_share:g}: the posts have a split; give 0")


class NamedColumns:
    """Base of posts in user-named columns: ``label``, its ``positive`` labels, ``group``."""

    label: str
    group: str | None
    positive: tuple[str | int, ...]

    @property
    def grouped(self) -> bool:
        """Whether a group column is named."""
        return self.group is not None

    @property
    def positive_class(self) -> str:
        """Positive labels and their column: ``'yes' or 'toxic' in column 'label'``."""
        labels = " or ".join(repr(str(label)) for label in self.positive or (1,))
        return f"{labels} in column {self.label!r}"


@choice
class TableSource(SingleFileData, NamedColumns, OptionalSplit):
    """Posts from a file that ``biasbridge.files.tables.read_table`` reads, with columns named by
    the user.

    ``positive``: labels that become 1, all others 0; empty: the labels are 0 and 1. ``language`` is
    that of the posts (see ``biasbridge.files.language``).
    """

    path: str
    text: str = "text"
    label: str = "label"
    group: Annotated[str | None, doc("column of target groups; null: see groups")] = None
    split: Annotated[str | None, doc("column of train, dev, test; null: cross-validate")] = None
    cluster: Annotated[
        str | None,
        doc("column of authors or templates whose posts are resampled together; null: none"),
    ] = None
    positive: Annotated[
        tuple[str | int, ...], doc("positive labels; empty: labels are 0 and 1")
    ] = ()
    separator: Annotated[
        str | None,
        doc("null: by the file ending; needed for endings other than .csv, .tsv and .tab"),
    ] = None
    quoted: Annotated[bool, doc("false: quotation marks are text")] = True
    language: LanguageCode = UNDETERMINED
    test_share: TestShare = 0

    version: ClassVar[int] = 4
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "language", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/csv",)
    configuration: ClassVar[Mapping[str, object]] = {"language": "${language}"}

    @property
    def has_split(self) -> bool:
        """Whether a split column is named."""
        return self.split is not None

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        return self.prepare(self._read(), self.path, self.positive, seed=seed)

    def check(self) -> pd.DataFrame:
        """Return the posts, not tokenised; see ``biasbridge.corpora.protocols.CheckedSource``."""
        posts = self._read()
        posts["label"] = _binary_labels(posts["label"], self.positive, self.path)
        if self.group is not None:
            posts["group"] = _group_names(posts["group"], self.path)
        if self.split is not None:
            _normalise_splits(posts["split"], self.path)
        return posts

    def _read(self) -> pd.DataFrame:
        table = read_table(self.path, separator=self.separator, quoted=self.quoted)
        columns = {
            "text": self.text,
            "label": self.label,
            "group": self.group,
            "split": self.split,
            "cluster": self.cluster,
        }
        return pick_columns(table, columns, self.path)


@choice
class DatasetSource(HubData, NamedColumns, OptionalSplit):
    """Posts from data that ``datasets.load_dataset`` reads.

    ``dev`` and ``test`` name splits. If ``test`` is None, the posts of ``train`` are
    cross-validated; if ``dev`` is None, the classifier sets a share of train aside. Other fields as
    in ``biasbridge.corpora.hub.HubData`` and ``TableSource``.
    """

    text: str = "text"
    label: str = "label"
    group: str | None = None
    positive: tuple[str | int, ...] = ()
    train: str = "train"
    dev: str | None = None
    test: Annotated[str | None, doc("test split; null: cross-validate train")] = None
    language: LanguageCode = UNDETERMINED
    test_share: TestShare = 0

    version: ClassVar[int] = 4
    unkeyed: ClassVar[tuple[str, ...]] = (*HubData.unkeyed, "language", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/datasets",)
    configuration: ClassVar[Mapping[str, object]] = {"language": "${language}"}

    @property
    def has_split(self) -> bool:
        """Whether a test split is named."""
        return self.test is not None

    def keyed(self) -> Mapping[str, object]:
        """Return what identifies the data, and ``test_share`` if posts are held out."""
        return {**HubData.keyed(self), **OptionalSplit.keyed(self)}

    @property
    def name(self) -> str:
        """Name in tables: the last part of ``path``."""
        return Path(without_commit(self.path)).name

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        if self.dev and not self.test:
            raise InputError(f"source.dev={self.dev} needs source.test; give both, or neither")
        named_splits = {"train": self.train, "dev": self.dev, "test": self.test}
        splits = named_splits if self.test else {"": self.train}
        columns = {"text": self.text, "label": self.label, "group": self.group}
        parts = [
            pick_columns(self.table(name, self.text), columns, self.path).assign(
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
    """Return the named columns, renamed to their roles; ``InputError`` for a missing column."""
    named = {role: name for role, name in columns.items() if name is not None}
    require_columns(table, named.values(), source)
    posts = unwrap_lists(pd.DataFrame({role: table[name] for role, name in named.items()}))
    return restore_ranges(posts, ("group", "cluster"))[0]


def prepare_posts(
    table: pd.DataFrame,
    *,
    positive: Sequence[str | int],
    source: str,
    seed: int,
    test_share: float = 0.0,
    option: str = "source",
    language: str = UNDETERMINED,
) -> pd.DataFrame:
    """Return posts (see ``biasbridge.corpora.protocols.Source``), validated, tokenised as tweets
    and shuffled.

    ``table`` has ``text``, ``label`` and optionally ``group``, ``split``, ``term``, ``frame`` and
    ``cluster``; ``raw`` keeps the original text. ``option`` names the source's option in errors.

    Posts without text are dropped (their number: attrs ``WITHOUT_TEXT``). Posts without a group
    have None there. Without splits, ``test_share`` of the posts are held out; at 0 all are to be
    cross-validated. Raises ``InputError`` for labels other than 0 and 1, a single class, an empty
    text column, an unknown split, and a group column that is empty in every row.
    """
    named = [name for name in ("group", "term", "frame", "cluster") if name in table]
    # In the spelling that is first in the file, whatever the seed
    table = table.assign(**{name: spell_alike(table[name]) for name in named})
    table = table.sample(frac=1, random_state=seed).astype(object).fillna("")
    texts = [" ".join(tokenise_tweet(str(text), language)) for text in table["text"]]
    if not any(texts):
        raise InputError(f"{source}: the text column is empty; name another column")
    posts = pd.DataFrame({"id": [str(number) for number in range(len(table))], "text": texts})
    posts["raw"] = table["text"].astype(str).to_list()
    posts["label"] = _binary_labels(table["label"], positive, source, option)
    for name in named:
        is_group = name == "group"
        posts[name] = _group_names(table[name], source) if is_group else table[name].to_list()
    if "split" in table:
        posts["split"] = _normalise_splits(table["split"], source)
    else:
        posts["split"] = _hold_out(texts, test_share) if test_share else _CROSS_VALIDATE
    with_text = posts[posts["text"] != ""].reset_index(drop=True)
    with_text.attrs[WITHOUT_TEXT] = len(posts) - len(with_text)
    return with_text


def _hold_out(texts: Iterable[str], share: float) -> list[str]:
    """Return ``test`` for about ``share`` of the texts and ``train`` for the others.

    A text is a test item if its hash, as a number from 0 to 1, is below the share, whatever the
    seed, the order and the other texts. Equal texts get the same split; a larger share holds out
    all texts of a smaller one.
    """
    digests = (hashlib.sha256(text.encode()).digest()[:8] for text in texts)
    return ["test" if int.from_bytes(digest) < share * 2**64 else "train" for digest in digests]


@choice
class Davidson(SingleFileData, OptionalSplit):
    """Davidson et al. (2017, ICWSM), 24,783 tweets: class 0 hate speech, 1 offensive, 2 neither; no
    target group.

    83% of the posts are positive. All rows are cross-validated by default, because only some
    hundreds have male gender words.
    """

    path: str
    positive: Annotated[tuple[Literal[0, 1, 2], ...], doc("0 hate, 1 offensive, 2 neither")] = (
        0,
        1,
    )
    undersample: Annotated[
        bool, doc("true: sample the larger class down to the size of the smaller")
    ] = False
    test_share: TestShare = 0

    version: ClassVar[int] = 3
    name: ClassVar[str] = "davidson"
    language: ClassVar[str] = "en"
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/davidson",)
    configuration: ClassVar[Mapping[str, object]] = {"path": "${data:hatespeech/davidson2017.csv}"}

    @property
    def positive_class(self) -> str:
        """Names of the positive classes."""
        return " or ".join(_CLASSES[number] for number in self.positive)

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        table = pick_columns(read_table(self.path), {"text": "tweet", "label": "class"}, self.path)
        posts = self.prepare(table, self.path, self.positive, seed=seed)
        if not self.undersample:
            return posts
        size = int(posts["label"].value_counts().min())
        sample = posts.groupby("label").sample(size, random_state=seed).sort_index()
        return sample.reset_index(drop=True)


@choice
class HatEval(OptionalSplit):
    """HatEval (Basile et al., 2019, SemEval task 5): hate speech against women and immigrants.

    English: the train and dev files, and as test the tweets and labels that TweetEval (Barbieri et
    al., 2020) publishes, in ``test_folder``; ``cross_validate`` joins all three. Spanish: train and
    dev are cross-validated, or a ``test_share`` is held out; or ``test_labels``, a table of id and
    HS that others published, makes ``test_es.tsv`` the test.

    ``group="target"``: in the English train and dev files, ordered by id, tweets about women follow
    those about immigrants (``_FIRST_ABOUT_WOMEN``): groups women and migrants. Mixed test tweets
    have no group. Otherwise the collection has no target: see ``biasbridge.extrinsic.taggers``.
    Within one target the order of the file reveals the label; posts are shuffled and get new ids.
    """

    folder: str
    language: Literal["en", "es"] = "en"
    test_folder: str | None = None
    test_labels: str | None = None
    cross_validate: bool = False
    group: Literal["target"] | None = None
    test_share: TestShare = 0

    version: ClassVar[int] = 3
    positive_class: ClassVar[str] = HATE_SPEECH
    # see keyed
    unkeyed: ClassVar[tuple[str, ...]] = (
        *("folder", "test_folder", "test_labels", "cross_validate", "group", "test_share"),
    )

    def __post_init__(self) -> None:
        if self.language == "en" and self.test_folder is None:
            raise InputError(
                "HatEval's English test labels come from TweetEval: set source.test_folder to the"
                " folder of test_text.txt"
            )
        if self.group and self.language != "en":
            raise InputError(
                f"source.group={self.group}: HatEval's Spanish files are mixed; leave it out, and"
                " take groups by keywords, such as groups=hateval_es_women"
            )
        super().__post_init__()

    @property
    def has_split(self) -> bool:
        """Whether the posts come with a split: with test labels, unless cross-validated."""
        return (self.language == "en" or self._has_labels) and not self.cross_validate

    @property
    def _has_labels(self) -> bool:
        return self.language == "es" and self.test_labels is not None

    @property
    def grouped(self) -> bool:
        """Whether the target is the group."""
        return self.group is not None

    def keyed(self) -> Mapping[str, object]:
        """Return the settings that differ from the defaults."""
        settings = {"cross_validate": self.cross_validate, "group": self.group}
        changed = {name: value for name, value in settings.items() if value}
        return {**OptionalSplit.keyed(self), **changed}

    @property
    def name(self) -> str:
        """Name in tables."""
        return f"hateval_{self.language}"

    def files(self) -> list[Path]:
        """Return the files to read."""
        folder = Path(self.folder)
        files = [folder / f"train_{self.language}.tsv", folder / f"dev_{self.language}.tsv"]
        if self.test_folder and self.language == "en":
            files += [Path(self.test_folder) / f"test_{part}.txt" for part in ("text", "labels")]
        if self._has_labels:
            files += [folder / "test_es.tsv", Path(str(self.test_labels))]
        return files

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        train, dev = (self._read(path) for path in self.files()[:2])
        if tests := self.files()[2:4]:
            test = _read_labelled(*tests) if self._has_labels else _read_paired_lines(*tests)
            parts = {"train": train, "dev": dev, "test": test}
            table = pd.concat([part.assign(split=split) for split, part in parts.items()])
        else:
            table = pd.concat([train, dev])
        if self.cross_validate and "split" in table:
            table = table.drop(columns="split")
        return self.prepare(table, self.folder, (), seed=seed)

    def _read(self, path: Path) -> pd.DataFrame:
        # Tweets contain unpaired quotation marks; with quoting, a mark would merge all rows up to
        # the next mark.
        table = read_table(path, separator="\t", quoted=False)
        columns = {"text": "text", "label": "HS"}
        if self.group is None:
            return pick_columns(table, columns, str(path))
        posts = pick_columns(table, {**columns, "id": "id"}, str(path))
        numbers = pd.to_numeric(posts.pop("id"), errors="coerce")
        if numbers.isna().any():
            raise InputError(f"{path}: an id is not a number; source.group=target needs numbers")
        about_women = numbers >= _FIRST_ABOUT_WOMEN[path.stem]
        return posts.assign(group=np.where(about_women, "women", "migrants"))


@choice
class TweetEvalHate(OptionalSplit):
    """Hate part of TweetEval (Barbieri et al., 2020): 12,970 of HatEval's 13,000 English posts.

    Anybody may download it; handles are masked.

    ``cross_validate`` joins the files train, val and test.
    """

    folder: str
    cross_validate: Annotated[bool, doc("false: the split of the release")] = False
    test_share: TestShare = 0

    version: ClassVar[int] = 2
    name: ClassVar[str] = "tweeteval_hate"
    language: ClassVar[str] = "en"
    grouped: ClassVar[bool] = False
    positive_class: ClassVar[str] = HATE_SPEECH
    unkeyed: ClassVar[tuple[str, ...]] = ("folder", "test_share")
    chosen_as: ClassVar[tuple[str, ...]] = ("source/tweeteval_hate",)
    configuration: ClassVar[Mapping[str, object]] = {
        "folder": "${data:hatespeech/tweeteval_hate}",
        "cross_validate": True,
    }

    @property
    def has_split(self) -> bool:
        """Whether the posts come with a split: unless cross-validated."""
        return not self.cross_validate

    def files(self) -> list[Path]:
        """Return the files to read: texts and labels of train, val and test."""
        return [
            Path(self.folder, f"{part}_{content}.txt")
            for part in ("train", "val", "test")
            for content in ("text", "labels")
        ]

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        files = self.files()
        pairs = {"train": files[:2], "dev": files[2:4], "test": files[4:]}
        parts = (_read_paired_lines(*pair).assign(split=split) for split, pair in pairs.items())
        table = pd.concat(parts)
        if self.cross_validate:
            table = table.drop(columns="split")
        return self.prepare(table, self.folder, (), seed=seed)


@choice
class Founta(SingleFileData, OptionalSplit):
    """Founta et al. (2018, ICWSM), about 100,000 tweets: abusive, hateful, normal or spam; no
    target group.

    ``path``: the file ``hatespeech_text_label_vote*.csv``, which the authors send on request. It
    has no header; text, majority label and its number of votes are separated by tabs, and cells
    with tabs or line ends are quoted. ``positive``: labels that become 1; all others, including
    spam, become 0.
    """

    path: str
    positive: tuple[Label, ...] = ("abusive", "hateful")
    quoted: Annotated[bool, doc("false: quotation marks are text")] = True
    test_share: TestShare = 0

    version: ClassVar[int] = 2
    name: ClassVar[str] = "founta"
    language: ClassVar[str] = "en"
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/founta",)
    configuration: ClassVar[Mapping[str, object]] = {
        "path": "${data:hatespeech/hatespeech_text_label_vote_RESTRICTED_100K.csv}"
    }

    @property
    def positive_class(self) -> str:
        """Positive labels."""
        return " or ".join(self.positive)

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        table = pd.DataFrame(self._rows(), columns=["text", "label"])
        return self.prepare(table, self.path, self.positive, seed=seed)

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield text and label of each tweet; ``InputError`` for a row of another format."""
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        lines = (f"{line}\n" for line in read_lines(Path(self.path)))
        reader = csv.reader(lines, delimiter="\t", quoting=quoting, strict=True)
        first = 1
        try:
            for row in reader:
                if row:
                    yield self._tweet(row, first)
                first = reader.line_num + 1
        except csv.Error as error:
            where = f"{self.path}: line {first} is not delimited text ({error})"
            raise InputError(f"{where}; give source.quoted=false where marks are text") from error

    def _tweet(self, row: list[str], line: int) -> tuple[str, str]:
        if len(row) != 3:
            problem = f"{self.path}: line {line} has {len(row)} cells, not text, label and votes"
            raise InputError(f"{problem}; give the authors' file, or read yours with source=csv")
        text, label, _ = row
        if label not in LABELS:
            problem = f"{self.path}: line {line} has the label {label!r}, not {', '.join(LABELS)}"
            raise InputError(f"{problem}; remove a header line, or read it with source=csv")
        return text, label


def _binary_labels(
    cells: pd.Series, positive: Sequence[str | int], source: str, option: str = "source"
) -> list[int]:
    """Return labels as 0 and 1, which ``True`` and, without ``positive``, ``ja`` are too."""
    if cells.empty:
        raise InputError(f"{source} holds no posts")
    if n_missing := int(find_blank(cells, CLASS_NONE).sum()):
        raise InputError(f"{source}: {n_missing} posts have no label; remove them")
    names = [*map(label_key, cells)]
    if not positive and {"0", "1"}.issuperset(truths := [*map(binary_key, cells)]):
        names = truths
    positive_names = positive_keys(positive, {*names}, source) or {"1"}
    if not positive and (unknown := sorted({*names} - {"0", "1"})):
        problem = f"labels beyond 0 and 1: {', '.join(unknown[:5])}"
        example = f"""'{option}.positive=["{unknown[-1]}"]'"""
        remedy = f"name the positive labels in {option}.positive, such as {example}"
        raise InputError(f"{source}: {problem}; {remedy}")
    labels = [int(label in positive_names) for label in names]
    if len({*labels}) < 2:
        problem = f"all {len(labels)} labels are {labels[0]}"
        raise InputError(f"{source}: {problem}; a classifier needs posts of both classes")
    return labels


def _group_names(cells: pd.Series, source: str) -> list[str | None]:
    groups: list[str] = spell_alike(cells).fillna("").tolist()
    if not any(groups):
        raise InputError(
            f"{source}: the group column is empty in every row; name another, or none to tag groups"
            " by gender words"
        )
    return [group or None for group in groups]


def _normalise_splits(cells: pd.Series, source: str) -> list[str]:
    splits = ["dev" if name in _DEV_NAMES else name for name in spell_alike(cells).fillna("")]
    distinct_splits = {*splits}
    if distinct_splits == {_CROSS_VALIDATE}:
        return splits
    if unknown := sorted(distinct_splits - {*SPLITS}):
        names = ", ".join(map(repr, unknown[:5]))
        raise InputError(f"{source}: unknown split {names}; a row belongs to {', '.join(SPLITS)}")
    for required in ("train", "test"):
        if required not in distinct_splits:
            remedy = "leave out the split column to cross-validate"
            raise InputError(f"{source}: no row belongs to the split {required!r}; {remedy}")
    return splits


def _read_labelled(text_path: Path, label_path: Path) -> pd.DataFrame:
    """Return the posts of one table with the column HS of another, joined by id."""
    posts, labels = read_table(text_path, separator="\t", quoted=False), read_table(label_path)
    require_columns(posts, ("id", "text"), str(text_path))
    require_columns(labels, ("id", "HS"), str(label_path))
    label_of = dict(zip(labels["id"], labels["HS"], strict=True))
    if n_missing := int((~posts["id"].isin(label_of)).sum()):
        raise InputError(f"{label_path} has no label of {n_missing} posts of {text_path}")
    return pd.DataFrame({"text": posts["text"], "label": posts["id"].map(label_of)})


def _read_paired_lines(text_path: Path, label_path: Path) -> pd.DataFrame:
    texts, labels = list(read_lines(text_path)), list(read_lines(label_path))
    if len(texts) != len(labels):
        problem = f"{text_path} has {len(texts)} lines and {label_path} {len(labels)}"
        raise InputError(f"{problem}; they are paired by line, copy both again")
    return pd.DataFrame({"text": texts, "label": labels})
