"""Published hate-speech collections in the form their authors release them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Literal

import pandas as pd

from corpora.kinds import Collected
from corpora.labelled import labelled, pick_columns
from files import InputError, choice, read_lines
from files.tables import read_table

DEV_SHARE = 0.1
KEYWORD_LANGUAGES = {"en": "english", "es": "spanish"}
GROUPS = ("neither", "immigrants", "women", "both")  # 2 * against women + against immigrants


@choice
class Davidson(Collected):
    """Davidson et al. (2017, ICWSM), 24,783 tweets: class 0 hate speech, 1 offensive, 2 neither; no
    target group.

    ``positive`` names the classes that count as 1. All rows are cross-validated: by gender words
    only some hundreds speak of men.
    """

    path: str
    positive: tuple[Literal[0, 1, 2], ...] = (0, 1)

    version: ClassVar[int] = 1
    name: ClassVar[str] = "davidson"
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        """The file read."""
        return [Path(self.path)]

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        posts = pick_columns(read_table(self.path), {"text": "tweet", "label": "class"}, self.path)
        return labelled(posts, positive=self.positive, source=self.path, seed=seed)


@choice
class HatEval(Collected):
    """HatEval (Basile et al., 2019, SemEval task 5): hate speech against women and immigrants.

    English: its train and dev files, and as test the tweets and labels that TweetEval (Barbieri et
    al., 2020) publishes in ``test_folder``. Spanish test labels are not public: dev serves as test
    and a tenth of train, drawn by seed, as dev.

    The collection does not say whom a tweet targets. ``targets=False`` leaves the groups to the
    tagger; ``targets=True`` derives them from the keywords that the tweets were collected by
    (``keyword_set.md`` in the folder): ``women``, ``immigrants``, ``both``, ``neither``. One rule
    for every split, test included. In English train, where the order of the file gives the target
    away, 99.9% of the tweets with keywords of one target are of that target; 35% of train and 4% of
    test hold no keyword.
    """

    folder: str
    language: Literal["en", "es"] = "en"
    test_folder: str | None = None
    targets: bool = False

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("folder", "test_folder")

    def __post_init__(self) -> None:
        if self.language == "en" and self.test_folder is None:
            raise InputError(
                "HatEval's English test labels come from TweetEval: set source.test_folder to the"
                " folder of test_text.txt"
            )

    @property
    def name(self) -> str:
        """Stands for the source in the tables."""
        return f"hateval_{self.language}"

    @property
    def grouped(self) -> bool:
        """Whether groups are derived from the keywords."""
        return self.targets

    def files(self) -> list[Path]:
        """The files read."""
        folder = Path(self.folder)
        files = [folder / f"train_{self.language}.tsv", folder / f"dev_{self.language}.tsv"]
        if self.test_folder and self.language == "en":
            files += [Path(self.test_folder) / f"test_{part}.txt" for part in ("text", "labels")]
        return files + ([folder / "keyword_set.md"] if self.targets else [])

    def load(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.Source``."""
        train, dev = (self._read(path) for path in self.files()[:2])
        if self.language == "en":
            parts = {"train": train, "dev": dev, "test": self._test()}
            table = pd.concat([part.assign(split=split) for split, part in parts.items()])
        else:
            aside = train.sample(frac=DEV_SHARE, random_state=seed).index
            splits = pd.Series("train", index=train.index).where(~train.index.isin(aside), "dev")
            table = pd.concat([train.assign(split=splits), dev.assign(split="test")])
        if self.targets:
            table["group"] = keyword_targets(table["text"], self.files()[-1], self.language)
        return labelled(table, positive=(), source=self.folder, seed=seed)

    def _read(self, path: Path) -> pd.DataFrame:
        # Tweets hold lone quotation marks: read with quoting on, a mark would swallow the rows up
        # to the next one.
        table = read_table(path, separator="\t", quoted=False)
        return pick_columns(table, {"text": "text", "label": "HS"}, str(path))

    def _test(self) -> pd.DataFrame:
        text_path, label_path = self.files()[2:4]
        texts, found = list(read_lines(text_path)), list(read_lines(label_path))
        if len(texts) != len(found):
            lines = f"{text_path} has {len(texts)} lines and {label_path} {len(found)}"
            raise InputError(f"{lines}; they are paired by line, copy both again")
        return pd.DataFrame({"text": texts, "label": found})


def _folded(text: str) -> str:
    """Lower case without accents, which tweets leave out at will."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def keyword_targets(texts: Iterable[str], path: Path, language: Literal["en", "es"]) -> list[str]:
    """The group of each text: a keyword of several words counts where all of them occur."""
    women, immigrants = _keywords(path, language)
    folded = [_folded(text) for text in texts]
    return [GROUPS[2 * _occurs(women, text) + _occurs(immigrants, text)] for text in folded]


def _keywords(path: Path, language: Literal["en", "es"]) -> tuple[list[list[str]], list[list[str]]]:
    """The words of every keyword, against women and against immigrants."""
    keywords: dict[str, list[list[str]]] = {"women": [], "immigrants": []}
    section: list[list[str]] | None = None
    wanted = KEYWORD_LANGUAGES[language]
    for line in read_lines(path):
        if heading := re.match(r"##\s.*?\b(\w+) language against (\w+)", line, re.IGNORECASE):
            section = keywords.get(heading[2].lower()) if heading[1].lower() == wanted else None
        elif line.startswith("- ") and section is not None:
            section.append(_folded(line[2:]).split())
    if not all(keywords.values()):
        missing = f"{path} lists no {wanted} keywords against women and immigrants"
        raise InputError(f"{missing}; take the collection's own file")
    return keywords["women"], keywords["immigrants"]


def _occurs(keywords: Iterable[Iterable[str]], text: str) -> bool:
    return any(all(word in text for word in words) for words in keywords)
