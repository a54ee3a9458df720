"""Sentences and tokens of edited text, by rules, without a model or download; tokens of tweets.

Left as they are: ordinals (``3. Mai`` ends a sentence), abbreviations of other languages than those
of the list, text without spaces between words (Chinese, Thai), and a letter glued to a link.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.files import InputError
from biasbridge.files.language import SIGNS

if TYPE_CHECKING:
    from nltk.tokenize import TweetTokenizer

# A sentence ends at . ! ? (and a closing quote or bracket) before white space and a letter that is
# not lower-case, a digit or an opening quote, unless the full stop belongs to a common title or a
# single initial. Full-width marks need no white space after them.
_END = re.compile(
    r"""(?:(?<=[.!?؟۔।])|(?<=[.!?؟۔।]["”’')\]»]))\s+(?=["“„«‘'(\[]*([^\W_]|[¿¡]))"""
    r"|(?:(?<=[。！？｡])|(?<=[。！？｡][”’」』）]))\s*(?=([^\s。！？｡”’」』）]))"
)
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Jr|vs|etc|No|Hr|Fr|Nr|Sig|Dott|gosp|dr|prof|г|ул|им"
    r"|([^\W\d_]))\.$"  # an initial
)
_LONGEST_ABBREVIATION = len(" Prof.")
# Words keep inner apostrophes and hyphens; numbers keep inner points and commas; any other mark is
# a token. A word may begin with a digit (1990s, 11-year-old), and keeps joiners before a letter.
_WORD = rf"\w(?:[\w{SIGNS}]|[\u200c\u200d]+(?=\w))*"
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)+|\d+(?![\w-])|{_WORD}(?:['’-]{_WORD})*|[^\w\s]")
# Clitics are tokens (nurse 's, did n't); words keep inner hyphens, numbers inner marks.
_TREEBANK = re.compile(
    r"\d+(?:[.,:]\d+)+|\d+(?![\w-])|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
    rf"|{_WORD}(?:-{_WORD})*|\.\.\.|--|``|''|[^\w\s]",
    re.IGNORECASE,
)
_LONGEST = 50_000  # Reddit allows 40,000
# NLTK takes quadratic time on runs of unusual characters, so it gets pieces. They end outside all
# tokens: at a line end, or at a space before a letter (only phone numbers and ellipses contain
# spaces, before a digit or a mark).
PIECE, LONGEST_PIECE = 1_000, 10_000
_BREAK = re.compile(r"[\r\n]|[ \t](?=[^\W\d_])")
HASH, MENTION, URL, UNKNOWN = "<HASH>", "<MENTION>", "<URL>", "<UNK>"
# Published collections often contain one of these words in place of links.
_REPLACED_URL = re.compile(r"<URL>|\[URL\]|\b(?:HTTP)?URL\b")
_CLOSING = '“”„‘’"«»，。！？、）」'  # characters that end a link
_ENTITY = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z]\w*);", re.IGNORECASE)
_LIKE_ENTITY = re.compile(r"&(?=[^&;\s]+;)")  # NLTK drops "&roll;"
_FULL_WIDTH = str.maketrans("＠＃﹫﹟", "@#@#")
_STRAY = re.compile(rf"[\u00ad\u2060\ufeff]|(?<=[\w{SIGNS}])[\u200c\u200d]+(?!\w)")
# Articles and prepositions before a vowel are words of their own, as treebanks have them
_ELISIONS = {
    "it": re.compile(r"\b([^\W\d_]+)['’](?=[^\W\d_])"),
    "fr": re.compile(r"(?i)\b([cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=[^\W\d_])"),
}
ELIDED = "ʼ"  # a letter, the apostrophe that belongs to the word before it
_DOTLESS = ("tr", "az")  # the lower case of I is ı
_LINK = re.compile(r"https?:|www\.|[a-z0-9][a-z0-9.-]*\.[a-z]{2,13}/", re.IGNORECASE)
_NAME = re.compile(r"[@#]+\w")
# Gender-neutral ending, as in "tod@s": replaced by a letter while NLTK looks for mentions
_NEUTRAL_ENDING = re.compile(r"(?<=[^\W\d_])@(?=s?(?!\w|\.\w))", re.IGNORECASE)
_LETTER = "\u0251"
_REPLACED = (  # in this order
    (re.compile(rf"(?i)(\bhttps?://[^\s<>{_CLOSING}]+)(?=[{_CLOSING}])"), r"\1 "),
    (re.compile(r"(?<!\w)(@\w+)@[\w-]+(?:\.[\w-]+)+"), r"\1"),  # the server of a Mastodon handle
    (re.compile(r"(?<=\w)[’‘＇](?=[^\W\d_])"), "'"),
    (_NEUTRAL_ENDING, _LETTER),
)
_CAPITAL_I = re.compile("(?<!<MENT)I")  # not of a mark
# Marks already in the text stay
_MARKED = {mark.lower(): mark for mark in (HASH, MENTION, URL, UNKNOWN)}
_RETWEET = re.compile(r'["“\s!]*RT\s*@')


def rules_of(language: str) -> dict[str, object]:
    """Return, for a key, the language if it has rules of its own for elisions or lower case."""
    return {"rules": language} if language in (*_ELISIONS, *_DOTLESS) else {}


def prepare_text(text: str, language: str = "") -> str:
    """Return text without marks that nobody sees: accents composed (NFC), no soft hyphens and stray
    joiners, a space for a zero-width one; in Italian and French also ``ELIDED`` and a space after
    an elision.
    """
    composed = unicodedata.normalize("NFC", text)
    if not composed.isascii():
        composed = _STRAY.sub("", composed.replace("\u200b", " "))
    elision = _ELISIONS.get(language)
    return elision.sub(rf"\1{ELIDED} ", composed) if elision else composed


def lower_text(text: str, language: str) -> str:
    """Return text in lower case; in Turkish and Azerbaijani ``I`` becomes ``ı``."""
    text = text.replace("I", "ı") if language in _DOTLESS else text
    return text.replace("İ", "i").lower()


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence but the last ends and the next one begins."""
    for match in _END.finditer(text):
        ending = text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        abbreviation = _ABBREVIATION.search(ending)
        is_abbreviated = abbreviation and (not abbreviation[1] or abbreviation[1].isupper())
        if not is_abbreviated and not (match[1] or "").islower():
            yield match.span()


def split_sentences(text: str) -> list[str]:
    """Return the sentences; abbreviations and initials do not end a sentence."""
    cuts = [0, *chain.from_iterable(_ends(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in zip(cuts[::2], cuts[1::2], strict=True))
    return [piece for piece in pieces if piece]


def tokenise_sentence(sentence: str) -> list[str]:
    """Return words, numbers and marks of a sentence, case kept, as ``prepare_text`` leaves it."""
    return _TOKEN.findall(prepare_text(sentence))


class Token(NamedTuple):
    """A token and its half-open span of characters in the text."""

    text: str
    start: int
    end: int


def tokenise_treebank(text: str) -> list[list[Token]]:
    """Return the tokens of a text's sentences; of plain WinoBias they are those of its CoNLL."""
    cuts = [end for end, _ in _ends(text)]
    sentences: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    number = 0
    for match in _TREEBANK.finditer(text):
        while number < len(cuts) and match.start() >= cuts[number]:
            number += 1
        sentences[number].append(Token(match[0], match.start(), match.end()))
    return [sentence for sentence in sentences if sentence]


def tokenise_by_nltk(sentence: str) -> list[str]:
    """Return the tokens of NLTK's ``word_tokenize``, whose straight quotes become `` and ''."""
    from nltk.tokenize import word_tokenize  # slow to import

    tokens: list[str] = word_tokenize(sentence, preserve_line=True)
    return tokens


def find_span(sentences: list[list[Token]], start: int, end: int) -> tuple[int, int] | None:
    """Return the half-open span of tokens that overlap characters ``start`` to ``end``, or None."""
    tokens = [token for sentence in sentences for token in sentence]
    overlapping = [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
    return (overlapping[0], overlapping[-1] + 1) if overlapping else None


def tokenise_tweet(text: str, language: str = "") -> list[str]:
    """Return the tokens of NLTK's TweetTokenizer, lower-cased except emoticons, as in
    Goldfarb-Tarrant et al. (2021), appendix C.

    Hashtags, @mentions and links become the marks ``<HASH>``, ``<MENTION>`` and ``<URL>``. HTML
    entities that end in a semicolon are decoded. Accents are kept, and a word has one spelling (see
    ``prepare_text``), with a straight apostrophe; "niñ@s" is kept too. Left to NLTK: a dot inside a
    handle ends it. Tokens never contain white space. An empty text has no tokens. Raises
    ``InputError`` for a text of more than ``_LONGEST`` characters, or of more than 10,000 without a
    line end or a word after a space.
    """
    if len(text) > _LONGEST:
        raise _too_long(text)
    for _ in range(2):  # "&amp;lt;" as well
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    prepared = _REPLACED_URL.sub(" http://url ", prepare_text(_LIKE_ENTITY.sub("& ", text)))
    for pattern, replacement in _REPLACED:
        prepared = pattern.sub(replacement, prepared)
    prepared = prepare_text(prepared.translate(_FULL_WIDTH), language).replace("İ", "i")  # not i̇
    if language in _DOTLESS:
        prepared = _CAPITAL_I.sub("ı", prepared)
    tokens: list[str] = []
    for piece in _pieces(prepared):
        if len(piece) > LONGEST_PIECE:
            raise _too_long(text)
        tokens += _tokeniser().tokenize(piece)
    parts = [part.replace(_LETTER, "@") for token in tokens for part in token.split()]
    return [_mark(part.replace(ELIDED, "'") if language in _ELISIONS else part) for part in parts]


def is_retweet(text: str) -> bool:
    """Test whether the text begins like a retweet: ``RT @``."""
    return _RETWEET.match(text) is not None


def _pieces(text: str) -> Iterator[str]:
    """Yield pieces of at least ``PIECE`` characters, except the last."""
    start = 0
    if len(text) > PIECE:
        for match in _BREAK.finditer(text):
            if match.end() - start >= PIECE:
                yield text[start : match.end()]
                start = match.end()
    yield text[start:]


def _too_long(text: str) -> InputError:
    start = repr(" ".join(text[:40].split()))
    problem = f"a text of {len(text):,} characters is not a tweet ({start}...)"
    return InputError(f"{problem}; use the tokeniser for sentences, or cut it")


def _mark(token: str) -> str:
    if _NAME.match(token):
        return HASH if token[0] == "#" else MENTION
    if _LINK.match(token):
        return URL
    return _MARKED.get(token, token)


@cache
def _tokeniser() -> TweetTokenizer:
    from nltk.tokenize import TweetTokenizer  # slow to import

    return TweetTokenizer(preserve_case=False)
