"""Forms of words: plurals and capitals, inflection in templates, and counterparts in text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query


Form = Literal["base", "plural", "capital", "upper"]

# Nouns that follow no rule below and are no ending of other nouns
_IRREGULAR = {
    "calf": "calves",
    "foot": "feet",
    "goose": "geese",
    "half": "halves",
    "hero": "heroes",
    "leaf": "leaves",
    "life": "lives",
    "mouse": "mice",
    "ox": "oxen",
    "potato": "potatoes",
    "thief": "thieves",
    "tomato": "tomatoes",
    "tooth": "teeth",
    "wolf": "wolves",
    **{noun: f"{noun}s" for noun in ("caiman", "german", "human", "roman", "shaman", "talisman")},
}
# Compounds whose head comes first
_HEAD_FIRST = re.compile(r"^([^\W_]+)_(emeritus|general|(?:at|in|of|to)_.+)$")
_PLURAL_RULES = (
    (re.compile(r"man$"), "men"),
    (re.compile(r"child$"), "children"),
    (re.compile(r"person$"), "people"),
    (re.compile(r"(?<=[wn]i)fe$"), "ves"),
    (re.compile(r"(s|x|z|ch|sh)$"), r"\1es"),
    (re.compile(r"(?<=[^aeiou])y$"), "ies"),
)
_ARTICLE, _PLURAL, _CAPITAL = "{a}", "{s}", "{C}"
# Words spelt with a vowel and pronounced with a consonant, and the reverse
_AS_CONSONANT, _AS_VOWEL = ("eu", "uk", "uni", "use"), ("hono", "hour", "heir")
_ENDINGS = ("", *(f"{mark}{end}" for mark in "'’" for end in ("s", "ll", "d")))
_LETTER_CASES = (str, str.lower, str.capitalize, str.upper)
# Partner of a word that has two: before a noun, and otherwise
_BEFORE_A_NOUN = {"her": "his", "his": "her"}
_STANDING_ALONE = {"her": "him", "his": "hers"}
_OPENING = frozenset(('"', "``", "`", "“", "‘"))
# Determiners, pronouns, prepositions, conjunctions, adverbs, auxiliaries and verbs
_NO_NOUNS = """
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
_NO_NOUN = frozenset(_NO_NOUNS.split())


def english_plural(noun: str) -> str:
    """Form the plural of an English noun by rule; underscores join the words of a compound.

    ``professor_emeritus`` gives ``professors_emeritus``, ``fireman`` ``firemen``. Ending -f and -o
    take -s with few exceptions.
    """
    if head_first := _HEAD_FIRST.fullmatch(noun):
        return f"{english_plural(head_first[1])}_{head_first[2]}"
    modifiers, underscore, head = noun.rpartition("_")
    if head in _IRREGULAR:
        return f"{modifiers}{underscore}{_IRREGULAR[head]}"
    for ending, plural in _PLURAL_RULES:
        if ending.search(head):
            return f"{modifiers}{underscore}{ending.sub(plural, head)}"
    return f"{noun}s"


def word_form(word: str, form: Form, language: str = "en") -> str | None:
    """Return a form of the word: ``capital`` changes the first letter, ``upper`` all.

    None if the form is the word itself, and for plurals of other languages than English.
    """
    if form == "plural" and language != "en":
        return None
    forms = {
        "base": word,
        "plural": english_plural(word),
        "capital": word[:1].upper() + word[1:],
        "upper": word.upper(),
    }
    return forms[form] if form == "base" or forms[form] != word else None


def inflect(template: str, word: str, plural: str = "") -> tuple[str, str]:
    """Fill the inflected forms of a word into a template; return the text and the form used.

    ``{a}`` is its article, ``{s}`` its plural, ``{C}`` the word with a capital; the text then
    begins with a capital. ``{}``, the word itself, is not replaced.
    """
    forms = {_PLURAL: plural or _plural_of(word), _CAPITAL: word[0].upper() + word[1:]}
    used = next((form for name, form in forms.items() if name in template), word)
    if used == word and _ARTICLE not in template:
        return template, word
    text = template.replace(_ARTICLE, _article(word))
    for name, form in forms.items():
        text = text.replace(name, form)
    capital = text[0].upper() + text[1:]
    return capital, used[0].upper() + used[1:] if text.startswith(used) else used


def _article(word: str) -> str:
    """Return ``a`` or ``an``, by the first letters of the word."""
    start = word.lower()
    if start.startswith(_AS_CONSONANT):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(_AS_VOWEL) else "a"


def _plural_of(word: str) -> str:
    """Return the regular plural: daisies, crashes, arrows."""
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search("(s|x|ch|sh)$", word) else f"{word}s"


class Counterparts:
    """Partners of the words of a query's ``counterparts``, in each case and with each ending.

    A word is a token in lower case, Capitalised, in UPPER CASE or as the query writes it; its
    partner gets the same case. 's, 'll and 'd may follow it. If a word is in several pairs, the
    first counts, except "her" and "his", whose partner the next token decides (``_stands_alone``)
    if the pairs give them two. Raises ``InputError`` for an entry that is not one word.
    """

    def __init__(self, query: Query) -> None:
        self.before_noun, self.alone = (
            _partners(query, kind) for kind in (_BEFORE_A_NOUN, _STANDING_ALONE)
        )
        self.first = frozenset(_variants(query["counterparts"].words[::2]))

    def __contains__(self, token: bytes) -> bool:
        return token in self.before_noun

    def partner(self, token: bytes, next_token: bytes) -> bytes:
        """Return the partner of a word before ``next_token`` (empty: end of line)."""
        alone = self.has_two(token) and _stands_alone(next_token)
        return self.alone[token] if alone else self.before_noun[token]

    def has_two(self, token: bytes) -> bool:
        """Test whether a word has two partners."""
        return self.before_noun[token] != self.alone[token]


def _stands_alone(next_token: bytes) -> bool:
    """Test whether "her" or "his" before this token (empty: end of line) precedes no noun."""
    word = next_token.decode(errors="replace").lower().replace("’", "'")
    if not any(map(str.isalnum, word)):
        return word not in _OPENING
    return word.partition("'")[0] in _NO_NOUN


def _variants(words: Iterable[str]) -> Iterator[bytes]:
    for word in words:
        for ending in _ENDINGS:
            for case in _LETTER_CASES:
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
