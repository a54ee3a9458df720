"""Groups of posts by the keywords they were collected with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.tables import require_columns

if TYPE_CHECKING:
    import pandas as pd

RULE = "---"
HEADING = re.compile(r"#+\s")  # and not a hashtag, which is a keyword


@choice
class KeywordTagger:
    """Tagger of posts with one of many keywords as ``group`` and all others as ``other_group``.

    The matching rule of stream search, by which HatEval (Basile et al., 2019) was collected: a
    keyword matches anywhere in the post as published, also inside words and hashtags ("inmigra" in
    "#inmigrantes"); one of several words matches if all of them do, in any order. Case and accents
    are ignored. Keywords are ``keywords`` and those in ``file``, one a line: a plain list, or in a
    Markdown file the list under the first heading that contains ``heading``.

    Like ``biasbridge.extrinsic.tagger`` a proxy for an annotation: the target a post was collected
    for need not be the one it is about. It reproduces HatEval's collection: in its English training
    file, whose order reveals the target, 99.9% of posts with keywords of one target only have it.

    Raises ``InputError`` for no keywords, and for two groups of one name.
    """

    group: str
    other_group: str = "others"
    keywords: tuple[str, ...] = ()
    file: str | None = None
    heading: str | None = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 2
    name: ClassVar[str] = "keywords"
    unkeyed: ClassVar[tuple[str, ...]] = ("file", "language")

    def __post_init__(self) -> None:
        if not (self.keywords or self.file) or not all(map(str.strip, map(fold, self.keywords))):
            value = f"keywords={list(self.keywords)}"
            raise InputError(f"{value}: the tagger needs keywords, none of them empty, or a file")
        if self.group == self.other_group:
            raise InputError(f"group and other_group are both {self.group!r}; name two groups")

    def files(self) -> list[Path]:
        """Return the file of keywords."""
        return [Path(self.file)] if self.file else []

    @property
    def description(self) -> str:
        """Definition of the groups, as in a caption."""
        file = [self.heading or Path(self.file).name] if self.file else []
        listed = ", ".join([*self.keywords, *file])
        return (
            f"posts that hold one of the keywords: {listed}; not annotated (version {self.version})"
        )

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """Return the posts with ``group``, overwritten, by the text as published in ``raw`` or, if
        this column is missing, by ``text``.
        """
        column = "raw" if "raw" in posts else "text"
        require_columns(posts, [column], "the table of posts")
        patterns = self._patterns()
        matches = (
            any(all(w in text for w in p) for p in patterns) for text in map(fold, posts[column])
        )
        return posts.assign(group=[self.group if match else self.other_group for match in matches])

    def _patterns(self) -> tuple[tuple[str, ...], ...]:
        listed = [*_list_entries(self.file, self.heading)] if self.file else []
        if self.file and not listed:
            under = f" under a heading with {self.heading!r}" if self.heading else ""
            raise InputError(f"{self.file} lists no keyword{under}")
        folded = (tuple(fold(keyword).split()) for keyword in (*self.keywords, *listed))
        return tuple(filter(None, folded))


def _list_entries(path: str, heading: str | None) -> Iterator[str]:
    """Yield the entries of a list: every line, or those under a heading."""
    in_section = heading is None
    for line in map(str.strip, read_lines(path)):
        if HEADING.match(line):
            if in_section and heading is not None:
                return
            in_section = heading is None or heading.casefold() in line.casefold()
        elif in_section and line and line != RULE:
            yield line.removeprefix("- ")


def fold(text: str) -> str:
    """Return lower-cased text without accents, which tweets often omit."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
