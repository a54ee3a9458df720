"""Tweets to tokens as in Goldfarb-Tarrant et al. (2021), appendix C."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from files import InputError

if TYPE_CHECKING:
    from nltk.tokenize import TweetTokenizer

LONGEST = 50_000  # Reddit allows 40,000
# NLTK's time goes by the square of a stretch of odd characters, so it is given pieces. They end
# where no token goes on: at a line end, or at a blank before a letter (only phone numbers and
# ellipses go on past blanks, to a digit or a mark).
PIECE, LONGEST_PIECE = 1_000, 10_000
BREAK = re.compile(r"[\r\n]|[ \t](?=[^\W\d_])")
HASH, MENTION, URL, UNKNOWN = "<HASH>", "<MENTION>", "<URL>", "<UNK>"

# Published collections have often replaced links by one of these words already.
REPLACED_URL = re.compile(r"<URL>|\[URL\]|\b(?:HTTP)?URL\b")
LINK = re.compile(r"https?:|www\.|[a-z0-9][a-z0-9.-]*\.[a-z]{2,13}/", re.IGNORECASE)
NAME = re.compile(r"[@#]+\w")
# The ending of either gender, as in "tod@s": a letter for the while that NLTK looks for mentions
EITHER = re.compile(r"(?<=[^\W\d_])@(?=s?(?![\w.]))", re.IGNORECASE)
LETTER = "\u0251"
# A text that was marked before keeps its marks.
MARKED = {mark.lower(): mark for mark in (HASH, MENTION, URL, UNKNOWN)}
RETWEET = re.compile(r'["“\s!]*RT\s*@')


def tokenise_tweet(text: str) -> list[str]:
    """The tokens of a tweet by NLTK's TweetTokenizer, lower-cased but for emoticons; hashtags,
    @mentions and links become marks.

    The marks are ``<HASH>``, ``<MENTION>`` and ``<URL>``. HTML entities are decoded. Accents are
    kept, and composed (NFC), or else a word would have two spellings; so are the endings of "niño",
    "niña" and "niñ@s". A token never holds white space. An empty text has no tokens. Raises
    ``InputError`` for a text of more than ``LONGEST`` characters, or of more than ``LONGEST_PIECE``
    without a line end or a word after a blank.
    """
    if len(text) > LONGEST:
        raise _no_tweet(text)
    composed = unicodedata.normalize("NFC", html.unescape(text))
    ready = EITHER.sub(LETTER, REPLACED_URL.sub(" http://url ", composed))
    tokens: list[str] = []
    for piece in _cut(ready):
        if len(piece) > LONGEST_PIECE:
            raise _no_tweet(text)
        tokens += _tokeniser().tokenize(piece)
    return [_mark(part.replace(LETTER, "@")) for token in tokens for part in token.split()]


def _cut(text: str) -> Iterator[str]:
    """Pieces of at least ``PIECE`` characters, but the last, to be tokenised one by one."""
    start = 0
    if len(text) > PIECE:
        for found in BREAK.finditer(text):
            if found.end() - start >= PIECE:
                yield text[start : found.end()]
                start = found.end()
    yield text[start:]


def _no_tweet(text: str) -> InputError:
    start = repr(" ".join(text[:40].split()))
    long = f"a text of {len(text):,} characters is no tweet ({start}...)"
    return InputError(f"{long}; use the tokeniser for sentences, or cut it")


def is_retweet(text: str) -> bool:
    """Whether the text begins as a retweet does: ``RT @``."""
    return RETWEET.match(text) is not None


def _mark(token: str) -> str:
    if NAME.match(token):
        return HASH if token[0] == "#" else MENTION
    if LINK.match(token):
        return URL
    return MARKED.get(token, token)


@cache
def _tokeniser() -> TweetTokenizer:
    from nltk.tokenize import TweetTokenizer  # slow to import

    return TweetTokenizer(preserve_case=False)
