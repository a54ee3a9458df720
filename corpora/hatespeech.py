"""Published hate-speech collections in the format of their release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from annotated_types import doc

from biasbridge.corpora.labelled import OptionalSplit, TestShare, pick_columns
from biasbridge.corpora.protocols import HATE_SPEECH, SingleFileData
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.tables import read_table

# Ids of the first tweets about women: 4,500 and 500 tweets are on each side. Keywords against
# immigrants occur in .78 and .80 of the tweets before, and in 8 of the 5,000 after
FIRST_ABOUT_WOMEN = {"train_en": 4701, "dev_en": 18701}
CLASSES = (HATE_SPEECH, "offensive language", "neither")  # of Davidson et al., as they number them


@choice
class Davidson(SingleFileData, OptionalSplit):
    """Davidson et al. (2017, ICWSM), 24,783 tweets: class 0 hate speech, 1 offensive, 2 neither; no
    target group.

    ``positive``: the classes that become label 1. All rows are cross-validated, because only some
    hundreds have male gender words, unless a ``test_share`` of them is held out.

    83% of the posts are positive. ``undersample`` draws (by seed) as many posts of the larger class
    as the smaller class has.
    """

    path: str
    positive: Annotated[tuple[Literal[0, 1, 2], ...], doc("0 hate, 1 offensive, 2 neither")] = (
        0,
        1,
    )
    undersample: Annotated[
        bool, doc("true: sample the larger class to the size of the smaller")
    ] = False
    test_share: TestShare = 0

    version: ClassVar[int] = 2
    name: ClassVar[str] = "davidson"
    language: ClassVar[str] = "en"
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/davidson",)
    configuration: ClassVar[Mapping[str, object]] = {"path": "${data:hatespeech/davidson2017.csv}"}

    @property
    def positive_class(self) -> str:
        """Names of the positive classes."""
        return " or ".join(CLASSES[number] for number in self.positive)

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
    al., 2020) publishes, in ``test_folder``; ``cross_validate`` joins all three. Spanish test
    labels are not public: train and dev are cross-validated, or a ``test_share`` is held out.

    ``group="target"``: in the English train and dev files, ordered by id, tweets about women follow
    those about immigrants (``FIRST_ABOUT_WOMEN``): groups women and migrants. The mixed test tweets
    have no group. Otherwise the collection has no target: see ``biasbridge.extrinsic.keywords``.
    Within one target the order of the file reveals the label; posts are shuffled and get new ids.
    """

    folder: str
    language: Literal["en", "es"] = "en"
    test_folder: str | None = None
    cross_validate: bool = False
    group: Literal["target"] | None = None
    test_share: TestShare = 0

    version: ClassVar[int] = 2
    positive_class: ClassVar[str] = HATE_SPEECH
    # see keyed
    unkeyed: ClassVar[tuple[str, ...]] = (
        *("folder", "test_folder", "cross_validate", "group", "test_share"),
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
        """Whether the posts come with a split: in English, unless cross-validated."""
        return self.language == "en" and not self.cross_validate

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
        return files

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        train, dev = (self._read(path) for path in self.files()[:2])
        if self.language == "en":
            parts = {"train": train, "dev": dev, "test": _read_paired_lines(*self.files()[2:4])}
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
            raise InputError(f"{path}: an id is no number; source.group=target needs numeric ids")
        about_women = numbers >= FIRST_ABOUT_WOMEN[path.stem]
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

    version: ClassVar[int] = 1
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


def _read_paired_lines(text_path: Path, label_path: Path) -> pd.DataFrame:
    texts, labels = list(read_lines(text_path)), list(read_lines(label_path))
    if len(texts) != len(labels):
        problem = f"{text_path} has {len(texts)} lines and {label_path} {len(labels)}"
        raise InputError(f"{problem}; they are paired by line, copy both again")
    return pd.DataFrame({"text": texts, "label": labels})
