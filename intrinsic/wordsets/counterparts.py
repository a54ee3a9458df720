"""Words and their counterparts in text: he and she, young and old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets.wordset import Query

ENDINGS = ("", *(f"{mark}{end}" for mark in "'’" for end in ("s", "ll", "d")))
CASES = (str, str.lower, str.capitalize, str.upper)
# Partner of a word that has two: before a noun, and otherwise
BEFORE_A_NOUN = {"her": "his", "his": "her"}
ALONE = {"her": "him", "his": "hers"}
OPENING = frozenset(('"', "``", "`", "“", "‘"))
# Determiners, pronouns, prepositions, conjunctions, adverbs, auxiliaries and verbs
NO_NOUNS = """
a an the this that these those some any no every each another all both my your our its their
i you he she it we they me him her us them his hers mine yours ours theirs who whom whose what
which myself yourself himself herself itself ourselves yourselves themselves something anything
nothing everything someone anyone everyone somebody anybody nobody everybody
about above across after against along among around as at before behind below beneath beside
between beyond by despite down during except for from in into like near of off on onto out over
since than through throughout till to toward towards under until up upon via with within without
and or but nor yet so if because although though unless while whereas whether when whenever
where wherever why how
again ago ahead almost alone already also always anymore anyway anywhere apart aside away either
else enough even ever everywhere forever here indeed instead just maybe more much never not now
often once perhaps please quite rather really somewhere soon sometimes still such then there thus
today together tomorrow tonight too twice well yesterday
am is are was were be been has have had do does did would could should
come feel get give go know say see speak take tell think understand
"""
NO_NOUN = frozenset(NO_NOUNS.split())


class Counterparts:
    """Partners of the words of a query's ``counterparts``, in each case and with each ending.

    A word is a token in lower case, Capitalised, in UPPER CASE or as the query writes it; its
    partner gets the same case. 's, 'll and 'd may follow it. If a word is in several pairs, the
    first counts, except "her" and "his", whose partner the next token decides (``stands_alone``)
    if the pairs give them two. Raises ``InputError`` for an entry that is not one word.
    """

    def __init__(self, query: Query) -> None:
        self.before_noun, self.alone = (_partners(query, kind) for kind in (BEFORE_A_NOUN, ALONE))
        self.first = frozenset(_variants(query["counterparts"].words[::2]))

    def __contains__(self, token: bytes) -> bool:
        return token in self.before_noun

    def partner(self, token: bytes, next_token: bytes) -> bytes:
        """Return the partner of a word before ``next_token`` (empty: end of line)."""
        alone = self.has_two(token) and stands_alone(next_token)
        return self.alone[token] if alone else self.before_noun[token]

    def has_two(self, token: bytes) -> bool:
        """Test whether a word has two partners."""
        return self.before_noun[token] != self.alone[token]


def stands_alone(next_token: bytes) -> bool:
    """Test whether "her" or "his" before this token (empty: end of line) precedes no noun."""
    word = next_token.decode(errors="replace").lower().replace("’", "'")
    if not any(map(str.isalnum, word)):
        return word not in OPENING
    return word.partition("'")[0] in NO_NOUN


def _variants(words: Iterable[str]) -> Iterator[bytes]:
    for word in words:
        for ending in ENDINGS:
            for case in CASES:
                yield case(word + ending).encode()


def _partners(query: Query, preferred: Mapping[str, str]) -> Mapping[bytes, bytes]:
    """Map the variants of words to those of the preferred partner or that of the first pair."""
    items = query["counterparts"].items
    pairs = [pair for first, second in items for pair in ((first, second), (second, first))]
    for word, _ in pairs:
        if word.split() != [word] or not word.isprintable():
            problem = f"counterparts contains {word!r}; every entry must be one word"
            raise InputError(f"query {query.name!r}: {problem}")
    pairs.sort(key=lambda pair: preferred.get(pair[0].lower()) != pair[1].lower())
    partners: dict[bytes, bytes] = {}
    for word, partner in pairs:
        for variant, partner_variant in zip(_variants([word]), _variants([partner]), strict=True):
            partners.setdefault(variant, partner_variant)
    return partners
