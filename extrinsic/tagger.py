"""Groups of posts by the words that mention them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.digest import digest_of
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.tables import require_columns
from biasbridge.intrinsic.wordsets import (
    Query,
    load_query,
    read_query,
    read_wordsets,
    require_queries,
)

if TYPE_CHECKING:
    import pandas as pd

BOTH, NEITHER = "both", "neither"


@choice
class MentionTagger:
    """Tagger of posts by words for the people of two groups: X and Y of a query, built-in or in a
    word ``file`` (a file with one query needs no ``query``).

    ``groups`` names the two. The built-in queries ``gender_mentions`` (English) and
    ``gender_mentions_es`` (Spanish) have the male and female terms of the WEAT tests and further
    general gender nouns, in pairs, so that both genders have equally many words.

    A poor proxy for annotations of whom a post is about, which few data sets have: many posts
    mention a gender but target others. Of 197 posts of HateXplain (Mathew et al., 2021) tagged
    female, 49 are annotated as about women; of 247 tagged male, 2 as about men. ``biasbridge
    agreement`` computes this for annotated posts. Show ``description`` beside every number by
    these groups.

    Raises ``InputError`` for a query without X or Y, and for a word that is in both.
    """

    query: Annotated[str | None, doc("X: words for the first group, Y: for the second")] = (
        "gender_mentions"
    )
    file: Annotated[str | None, doc("your own words, YAML or JSON as in docs/metrics.md")] = None
    groups: tuple[str, str] = ("male", "female")

    version: ClassVar[int] = 3
    unkeyed: ClassVar[tuple[str, ...]] = ("file",)
    chosen_as: ClassVar[tuple[str, ...]] = ("groups/gender",)

    def __post_init__(self) -> None:
        if missing := [role for role in "XY" if role not in self._query.sets]:
            problem = f"query {self._query.name!r} has no {' and no '.join(missing)}"
            raise InputError(f"{problem}; X are the words for the first group, Y for the second")
        if shared := sorted(self._words("X") & self._words("Y")):
            problem = f"words of both {' and '.join(self.groups)}: {', '.join(shared)}"
            raise InputError(f"{problem}; leave each in one")

    @property
    def name(self) -> str:
        """Name of the query, after that of its file."""
        return ".".join([*([Path(self.file).stem] if self.file else []), self._query.name])

    @property
    def language(self) -> str:
        """Language of the words."""
        return self._query.language

    def in_language(self, language: str) -> MentionTagger:
        """Return the tagger with the counterpart of a built-in query in a language.

        Raises ``InputError``, which lists the queries of the language, if it has none.
        """
        if self.file or not self.query or UNDETERMINED in (language, self.language):
            return self
        return replace(self, query=require_queries([self.query], language)[0])

    def files(self) -> list[Path]:
        """Return the word file and the lists it names."""
        return [Path(self.file), *read_wordsets(self.file).files] if self.file else []

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words."""
        return {"words": digest_of([sorted(self._words(role)) for role in "XY"])}

    @property
    def description(self) -> str:
        """Definition of the groups, as in a caption."""
        counts = zip(map(self._words, "XY"), self.groups, strict=True)
        words = ", ".join(f"{len(words)} {group}" for words, group in counts)
        source = f"{self.name}: {words} words, version {self.version}"
        return f"posts that mention a group, whomever they are about; not annotated ({source})"

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """Return the posts with ``group``, overwritten: one of ``groups``, "both" or "neither".

        A word matches a whole token, lower-cased and without its clitic ("She's" matches "she").
        Raises ``InputError`` if ``text`` is missing.
        """
        require_columns(posts, ["text"], "the table of posts")
        first, second = map(self._words, "XY")
        names = {
            (True, False): self.groups[0],
            (False, True): self.groups[1],
            (True, True): BOTH,
            (False, False): NEITHER,
        }
        return posts.assign(group=[names[_mentions(text, first, second)] for text in posts["text"]])

    @property
    def _query(self) -> Query:
        if self.file:
            return read_query(self.file, self.query)
        if self.query is None:
            raise InputError("query=null without a file; name a built-in query, or give a file")
        return load_query(self.query)

    def _words(self, role: str) -> frozenset[str]:
        words = self._query[role].words
        for word in words:
            if word.split() != [word] or "'" in word or "\u2019" in word:
                problem = f"the group word {word!r} is no single token, so no post would match it"
                raise InputError(f"{problem}; give words without blanks and apostrophes")
        return frozenset(word.lower() for word in words)


def _mentions(text: str, first: Set[str], second: Set[str]) -> tuple[bool, bool]:
    words = {token.replace("\u2019", "'").split("'")[0] for token in text.lower().split()}
    return not words.isdisjoint(first), not words.isdisjoint(second)
