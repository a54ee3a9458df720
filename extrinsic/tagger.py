"""Which group a post speaks of, judged by the words in it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.digest import digest_of
from files.language import UNDETERMINED
from files.tables import require_columns
from intrinsic.wordsets import Query, in_language, load_query, read_query, read_wordsets

if TYPE_CHECKING:
    import pandas as pd

BOTH, NEITHER = "both", "neither"


@choice
class MentionTagger:
    """Tags posts by words for the people of two groups: the X and Y of a query, built-in or of a
    word file of one's own, whose only query needs no name.

    ``groups`` names the two. The built-in queries ``gender_mentions`` (English) and
    ``gender_mentions_es`` (Spanish) hold the male and female terms of the WEAT tests and further
    general gender nouns, in pairs, so that neither gender has more ways of being found.

    A poor replacement for the annotation of whom a post is about, which few data sets have: a
    gender is mentioned in many posts that target somebody else. Of 197 posts of HateXplain (Mathew
    et al., 2021) that gender words call female, 49 are annotated as about women, of 247 that they
    call male, 2 as about men. ``biasbridge agreement`` counts it for posts that have both.
    ``description`` says so and belongs beside every number made from these groups.

    Raises ``InputError`` for a query without X or Y, and for a word that is in both.
    """

    query: str | None = "gender_mentions"
    file: str | None = None
    groups: tuple[str, str] = ("male", "female")

    version: ClassVar[int] = 3
    unkeyed: ClassVar[tuple[str, ...]] = ("file",)

    def __post_init__(self) -> None:
        if missing := [role for role in "XY" if role not in self._query.sets]:
            lacking = f"query {self._query.name!r} has no {' and no '.join(missing)}"
            raise InputError(f"{lacking}; X are the words for the first group, Y for the second")
        if shared := sorted(self._words("X") & self._words("Y")):
            both = f"these words stand for both {' and '.join(self.groups)}: {', '.join(shared)}"
            raise InputError(f"{both}; leave each in one")

    @property
    def name(self) -> str:
        """The query, after the name of its file."""
        return ".".join([*([Path(self.file).stem] if self.file else []), self._query.name])

    @property
    def language(self) -> str:
        """That of the words."""
        return self._query.language

    def in_language(self, language: str) -> MentionTagger:
        """By the counterpart of a built-in query in a language. Raises ``InputError`` with what the
        language has, where it has none.
        """
        if self.file or not self.query or UNDETERMINED in (language, self.language):
            return self
        return replace(self, query=in_language([self.query], language)[0])

    def files(self) -> list[Path]:
        """The word file and the lists it names."""
        return [Path(self.file), *read_wordsets(self.file).files] if self.file else []

    def keyed(self) -> Mapping[str, object]:
        """The words of the named sets too."""
        return {"words": digest_of([sorted(self._words(role)) for role in "XY"])}

    @property
    def description(self) -> str:
        """What the groups are, in words fit for a caption."""
        counts = zip(map(self._words, "XY"), self.groups, strict=True)
        words = ", ".join(f"{len(words)} {group}" for words, group in counts)
        source = f"{self.name}: {words} words, version {self.version}"
        return f"posts that mention a group, whomever they are about; not annotated ({source})"

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """The posts with ``group``, in place of any: one of ``groups``, "both" or "neither".

        A word occurs when it equals a whole token, lower-cased and cut at its apostrophe ("She's"
        counts as "she"). Raises ``InputError`` when ``text`` is missing.
        """
        require_columns(posts, ["text"], "the table of posts")
        first, second = map(self._words, "XY")
        names = {
            (True, False): self.groups[0],
            (False, True): self.groups[1],
            (True, True): BOTH,
            (False, False): NEITHER,
        }
        return posts.assign(group=[names[_found(text, first, second)] for text in posts["text"]])

    @property
    def _query(self) -> Query:
        if self.file:
            return read_query(self.file, self.query)
        if self.query is None:
            raise InputError("query=null without a file; name a built-in query, or give a file")
        return load_query(self.query)

    def _words(self, role: str) -> frozenset[str]:
        return frozenset(word.lower() for word in self._query[role].words)


def _found(text: str, first: Set[str], second: Set[str]) -> tuple[bool, bool]:
    words = {token.replace("\u2019", "'").split("'")[0] for token in text.lower().split()}
    return not words.isdisjoint(first), not words.isdisjoint(second)
