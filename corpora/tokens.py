"""Sentences and tokens of edited text, by rules, without a model or download; tokens of tweets."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.files import InputError
from biasbridge.files.language import SIGNS

if TYPE_CHECKING:
    from nltk.tokenize import TweetTokenizer

# A sentence ends at . ! ? (and a closing quote or bracket) before white space and a capital, digit
# or opening quote, unless the full stop belongs to a common title or a single initial.
_END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["”’')\]]))\s+(?=["“‘'(\[]*[\dA-ZÁÉÍÓÚÑÜ¿¡])""")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Jr|vs|etc|No)|\b[A-Z])\.$")
_LONGEST_ABBREVIATION = len(" Prof.")
# Words keep inner apostrophes and hyphens; numbers keep inner points and commas; any other mark is
# a token. A word may begin with a digit (1990s, 11-year-old).
_WORD = rf"\w[\w{SIGNS}]*"
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
_LINK = re.compile(r"https?:|www\.|[a-z0-9][a-z0-9.-]*\.[a-z]{2,13}/", re.IGNORECASE)
_NAME = re.compile(r"[@#]+\w")
# Gender-neutral ending, as in "tod@s": replaced by a letter while NLTK looks for mentions
_NEUTRAL_ENDING = re.compile(r"(?<=[^\W\d_])@(?=s?(?![\w.]))", re.IGNORECASE)
_LETTER = "\u0251"
# Marks already in the text stay
_MARKED = {mark.lower(): mark for mark in (HASH, MENTION, URL, UNKNOWN)}
_RETWEET = re.compile(r'["“\s!]*RT\s*@')


def split_sentences(text: str) -> list[str]:
    """Return the sentences; abbreviations and initials do not end a sentence."""
    sentences: list[list[str]] = []
    for piece in _END.split(text):
        if sentences and _ABBREVIATION.search(sentences[-1][-1][-_LONGEST_ABBREVIATION:]):
            sentences[-1].append(piece)
        elif piece.strip():
            sentences.append([piece.strip()])
    return [" ".join(pieces) for pieces in sentences]


def tokenise_sentence(sentence: str) -> list[str]:
    """Return words, numbers and marks of a sentence, case kept, accents composed (NFC)."""
    return _TOKEN.findall(unicodedata.normalize("NFC", sentence))


class Token(NamedTuple):
    """A token and its half-open span of characters in the text."""

    text: str
    start: int
    end: int


def tokenise_treebank(text: str) -> list[list[Token]]:
    """Return the tokens of the sentences of a text, split as by ``split_sentences``.

    For all 1,584 plain sentences of WinoBias the tokens equal those of its CoNLL files.
    """
    ends = (match.start() for match in _END.finditer(text))
    endings = ((end, text[max(0, end - _LONGEST_ABBREVIATION) : end]) for end in ends)
    cuts = [end for end, ending in endings if not _ABBREVIATION.search(ending)]
    sentences: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    number = 0
    for match in _TREEBANK.finditer(text):
        while number < len(cuts) and match.start() >= cuts[number]:
            number += 1
        sentences[number].append(Token(match[0], match.start(), match.end()))
    return [sentence for sentence in sentences if sentence]


def find_span(sentences: list[list[Token]], start: int, end: int) -> tuple[int, int] | None:
    """Return the half-open span of tokens that overlap characters ``start`` to ``end``, or None."""
    tokens = [token for sentence in sentences for token in sentence]
    overlapping = [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
    return (overlapping[0], overlapping[-1] + 1) if overlapping else None


def tokenise_tweet(text: str) -> list[str]:
    """Return the tokens of NLTK's TweetTokenizer, lower-cased except emoticons, as in
    Goldfarb-Tarrant et al. (2021), appendix C.

    Hashtags, @mentions and links become the marks ``<HASH>``, ``<MENTION>`` and ``<URL>``. HTML
    entities are decoded. Accents are kept and composed (NFC), so that a word has one spelling;
    "niñ@s" is kept too. Tokens never contain white space. An empty text has no tokens. Raises
    ``InputError`` for a text of more than ``LONGEST`` characters, or of more than 10,000 without a
    line end or a word after a space.
    """
    if len(text) > _LONGEST:
        raise _too_long(text)
    composed = unicodedata.normalize("NFC", html.unescape(text)).replace("İ", "i")  # not i̇
    prepared = _NEUTRAL_ENDING.sub(_LETTER, _REPLACED_URL.sub(" http://url ", composed))
    tokens: list[str] = []
    for piece in _pieces(prepared):
        if len(piece) > LONGEST_PIECE:
            raise _too_long(text)
        tokens += _tokeniser().tokenize(piece)
    return [_mark(part.replace(_LETTER, "@")) for token in tokens for part in token.split()]


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
