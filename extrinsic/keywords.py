"""Which posts were collected as speaking of a group, by the keywords that they were found by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice, read_lines
from files.language import UNDETERMINED
from files.tables import require_columns

if TYPE_CHECKING:
    import pandas as pd

RULE = "---"
HEADING = re.compile(r"#+\s")  # and not a hashtag, which is a keyword


@choice
class KeywordTagger:
    """Tags posts that hold one of many keywords as ``group`` and all others as ``rest``.

    The rule by which streams are searched, as HatEval (Basile et al., 2019) was collected: a
    keyword occurs anywhere in the post as published, inside words and hashtags too ("inmigra" in
    "#inmigrantes"); one of several words occurs where all of them do, in any order. Case and
    accents do not count. They are those of ``keywords`` and those of ``file``, one a line: a plain
    list, or of a Markdown file the list under the first heading that contains ``heading``.

    Whom a post was collected for is not whom it is about: like ``extrinsic.tagger`` this replaces
    an annotation. It is known to be the rule of HatEval's collection: of the posts of its
    English training file, whose order gives the target away, 99.9% of those with keywords of one
    target alone are of that target.

    Raises ``InputError`` where there is no keyword, and for two groups of one name.
    """

    group: str
    rest: str = "others"
    keywords: tuple[str, ...] = ()
    file: str | None = None
    heading: str | None = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 2
    name: ClassVar[str] = "keywords"
    unkeyed: ClassVar[tuple[str, ...]] = ("file", "language")

    def __post_init__(self) -> None:
        if not (self.keywords or self.file) or not all(map(str.strip, map(fold, self.keywords))):
            given = f"keywords={list(self.keywords)}"
            raise InputError(f"{given}: the tagger needs keywords, none of them empty, or a file")
        if self.group == self.rest:
            raise InputError(f"group and rest are both {self.group!r}; name two groups")

    def files(self) -> list[Path]:
        """The file of keywords."""
        return [Path(self.file)] if self.file else []

    @property
    def description(self) -> str:
        """What the groups are, in words fit for a caption."""
        file = [self.heading or Path(self.file).name] if self.file else []
        listed = ", ".join([*self.keywords, *file])
        return (
            f"posts that hold one of the keywords: {listed}; not annotated (version {self.version})"
        )

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """The posts with ``group``, in place of any; read in ``raw``, the text as published, where
        there is such a column, else in ``text``.
        """
        column = "raw" if "raw" in posts else "text"
        require_columns(posts, [column], "the table of posts")
        patterns = self._patterns()
        found = (
            any(all(w in text for w in p) for p in patterns) for text in map(fold, posts[column])
        )
        return posts.assign(group=[self.group if each else self.rest for each in found])

    def _patterns(self) -> tuple[tuple[str, ...], ...]:
        """The folded words of each keyword."""
        listed = [*_items(self.file, self.heading)] if self.file else []
        if self.file and not listed:
            under = f" under a heading with {self.heading!r}" if self.heading else ""
            raise InputError(f"{self.file} lists no keyword{under}")
        folded = (tuple(fold(keyword).split()) for keyword in (*self.keywords, *listed))
        return tuple(filter(None, folded))


def _items(path: str, heading: str | None) -> Iterator[str]:
    """The items of a list: every line, or those under a heading."""
    wanted = heading is None
    for line in map(str.strip, read_lines(path)):
        if HEADING.match(line):
            if wanted and heading is not None:
                return
            wanted = heading is None or heading.casefold() in line.casefold()
        elif wanted and line and line != RULE:
            yield line.removeprefix("- ")


def fold(text: str) -> str:
    """Lower case without accents, which tweets leave out at will."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
