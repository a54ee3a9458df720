"""Tweets to tokens as in Goldfarb-Tarrant et al. (2021), appendix C."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from files import InputError

if TYPE_CHECKING:
    from nltk.tokenize import TweetTokenizer

LONGEST = 50_000  # Reddit allows 40,000
HASH, MENTION, URL, UNKNOWN = "<HASH>", "<MENTION>", "<URL>", "<UNK>"

# Published collections have often replaced links by one of these words already.
REPLACED_URL = re.compile(r"<URL>|\[URL\]|\b(?:HTTP)?URL\b")
LINK = re.compile(r"https?:|www\.|[a-z0-9][a-z0-9.-]*\.[a-z]{2,13}/", re.IGNORECASE)
NAME = re.compile(r"[@#]+\w")
# The ending of either gender, as in "tod@s": a letter for the while that NLTK looks for mentions
EITHER = re.compile(r"(?<=[^\W\d_])@(?=s?(?![\w.]))", re.IGNORECASE)
STAND_IN = "\u0251"
# A text that was marked before keeps its marks.
MARKED = {mark.lower(): mark for mark in (HASH, MENTION, URL, UNKNOWN)}
RETWEET = re.compile(r'["“\s!]*RT\s*@')


def tokenise_tweet(text: str) -> list[str]:
    """The tokens of a tweet by NLTK's TweetTokenizer, lower-cased but for emoticons; hashtags,
    @mentions and links become marks.

    The marks are ``<HASH>``, ``<MENTION>`` and ``<URL>``. HTML entities are decoded. Accents are
    kept, and composed (NFC), or else a word would have two spellings; so are the endings of "niño",
    "niña" and "niñ@s". A token never holds white space. An empty text has no tokens. Raises
    ``InputError`` for a text of more than ``LONGEST`` characters, or one so odd that NLTK gives up
    on it.
    """
    if len(text) > LONGEST:
        raise _no_tweet(text)
    composed = unicodedata.normalize("NFC", html.unescape(text))
    ready = EITHER.sub(STAND_IN, REPLACED_URL.sub(" http://url ", composed))
    try:
        pieces = _tokeniser().tokenize(ready)
    except TimeoutError:
        raise _no_tweet(text) from None
    return [_mark(token.replace(STAND_IN, "@")) for piece in pieces for token in piece.split()]


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
