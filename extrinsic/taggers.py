"""Taggers of posts, for sources that do not annotate whom a post is about: by the words that
mention two groups, and by the keywords with which posts were collected.

``biasbridge agreement POSTS --text COL --group COL`` compares the tags of ``MentionTagger`` with an
annotation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import doc

from biasbridge.extrinsic.measures import MEASURES
from biasbridge.files import InputError, choice, nearest, read_lines
from biasbridge.files.columns import (
    describe_empty_words,
    get_column,
    leave_out_copies,
    restore_ranges,
    spell_alike,
)
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.paths import digest_of
from biasbridge.files.tables import require_columns
from biasbridge.intrinsic.words import Query, load_query, read_query, read_wordsets, require_queries
from biasbridge.stats.intervals import UNDEFINED

BOTH, NEITHER = "both", "neither"
_RULE = "---"
_HEADING = re.compile(r"#+\s")  # and not a hashtag, which is a keyword
TAGS = ("male", "female", BOTH, NEITHER)
# As tweets are tokenised: hashtags, mentions and addresses are not words
_WORD = re.compile(r"(?i:https?)://\S+|(?<![#@\w])(\w[\w'\u2019]*)")
_AGREEMENT_LEVEL = 0.95


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
                problem = f"the group word {word!r} is not a single token, so it matches no post"
                raise InputError(f"{problem}; give words without blanks and apostrophes")
        return frozenset(word.lower() for word in words)


@choice
class KeywordTagger:
    """Tagger of posts with one of many keywords as ``group`` and all others as ``other_group``.

    The matching rule of stream search, by which HatEval (Basile et al., 2019) was collected: a
    keyword matches anywhere in the post as published, also inside words and hashtags ("inmigra" in
    "#inmigrantes"); one of several words matches if all of them do, in any order. Case and accents
    are ignored. Keywords are ``keywords`` and those in ``file``, one a line: a plain list, or in a
    Markdown file the list under the first heading that contains ``heading``.

    Like ``MentionTagger`` a proxy for an annotation: the target a post was collected
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
        if not (self.keywords or self.file) or not all(map(str.strip, map(_fold, self.keywords))):
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
            any(all(w in text for w in p) for p in patterns) for text in map(_fold, posts[column])
        )
        return posts.assign(group=[self.group if match else self.other_group for match in matches])

    def _patterns(self) -> tuple[tuple[str, ...], ...]:
        listed = [*_list_entries(self.file, self.heading)] if self.file else []
        if self.file and not listed:
            under = f" under a heading with {self.heading!r}" if self.heading else ""
            raise InputError(f"{self.file} lists no keyword{under}")
        folded = (tuple(_fold(keyword).split()) for keyword in (*self.keywords, *listed))
        return tuple(filter(None, folded))


def _fold(text: str) -> str:
    """Return lower-cased text without accents, which tweets often omit."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


class TagPrecision(NamedTuple):
    """Share of the posts with a tag whose annotation agrees, with its 95% interval."""

    tag: str
    annotation: str
    tagged: int
    agree: int
    value: float
    low: float
    high: float


def count_tags(
    posts: pd.DataFrame, text: str, group: str, query: str = "gender_mentions"
) -> pd.DataFrame:
    """Count posts by annotation, the column ``group`` (rows, most frequent first), and by tag of
    the column ``text`` (columns ``TAGS``). An annotation is compared as groups are, and posts with
    an empty one are left out; ``attrs["notes"]`` counts them.

    ``query``: as in ``MentionTagger``. Raises ``InputError`` for an unknown column or query.
    """
    posts, copies = leave_out_copies(posts)
    posts, dates = restore_ranges(posts, [group])
    notes = [*posts.attrs.get("notes", []), *copies, *dates]
    texts = (unicodedata.normalize("NFC", str(cell)) for cell in get_column(posts, text))
    annotation = spell_alike(get_column(posts, group, is_value=True))
    words = [" ".join(filter(None, _WORD.findall(post))) for post in texts]
    tags = MentionTagger(query).tag(pd.DataFrame({"text": words}))["group"]
    is_annotated = annotation.notna().to_numpy()
    if not is_annotated.any():
        raise InputError(f"column {group!r} is empty in every row; give annotations of some posts")
    tags, annotation = (pd.Series(x.to_numpy()[is_annotated]) for x in (tags, annotation))
    counts = _cross_table(tags, annotation)
    if n_empty := int((~is_annotated).sum()):
        count = f"{n_empty:,} of {len(posts):,} posts have an empty {group!r}"
        notes.append(f"{count}{describe_empty_words(posts[group])}; they are left out")
    counts.attrs["notes"] = notes
    return counts


def _cross_table(tags: pd.Series[str], annotation: pd.Series[str]) -> pd.DataFrame:
    """Count posts by annotation (rows, most frequent first) and tag (columns)."""
    counts = pd.crosstab(annotation, tags)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].reindex(columns=list(TAGS), fill_value=0)


def tag_precision(counts: pd.DataFrame, tag: str, annotation: str) -> TagPrecision:
    """Compute the share of posts with ``tag`` that are annotated ``annotation``, with Wilson's
    interval (see ``biasbridge.extrinsic.measures``); NaN without such posts.

    ``counts`` as from ``count_tags``. Raises ``InputError`` for an annotation that no post has.
    """
    if annotation not in counts.index:
        present = ", ".join(map(repr, counts.index))
        hint = nearest(annotation, counts.index)
        raise InputError(f"no post is annotated {annotation!r}{hint}; annotations: {present}")
    n, k = int(counts[tag].sum()), int(counts[tag][annotation])
    cells = np.array([0, n - k, 0, k])
    estimate = MEASURES["precision"].estimate(cells, _AGREEMENT_LEVEL) if n else UNDEFINED
    return TagPrecision(tag, annotation, n, k, *estimate)


def _mentions(text: str, first: Set[str], second: Set[str]) -> tuple[bool, bool]:
    words = {token.replace("\u2019", "'").split("'")[0] for token in text.lower().split()}
    return not words.isdisjoint(first), not words.isdisjoint(second)


def _list_entries(path: str, heading: str | None) -> Iterator[str]:
    """Yield the entries of a list: every line, or those under a heading."""
    in_section = heading is None
    for line in map(str.strip, read_lines(path)):
        if _HEADING.match(line):
            if in_section and heading is not None:
                return
            in_section = heading is None or heading.casefold() in line.casefold()
        elif in_section and line and line != _RULE:
            yield line.removeprefix("- ")
