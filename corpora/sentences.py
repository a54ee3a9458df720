"""Sentence splitting and tokenisation of edited text by rules, without a model or download; also
treebank tokens with their character offsets.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from biasbridge.files.names import SIGNS

# A sentence ends at . ! ? (and a closing quote or bracket) before white space and a capital, digit
# or opening quote, unless the full stop belongs to a common title or a single initial.
END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["”’')\]]))\s+(?=["“‘'(\[]*[\dA-ZÁÉÍÓÚÑÜ¿¡])""")
ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Jr|vs|etc|No)|\b[A-Z])\.$")
LONGEST_ABBREVIATION = len(" Prof.")
# Words keep inner apostrophes and hyphens; numbers keep inner points and commas; any other mark is
# a token. A word may begin with a digit (1990s, 11-year-old).
WORD = rf"\w[\w{SIGNS}]*"
TOKEN = re.compile(rf"\d+(?:[.,]\d+)+|\d+(?![\w-])|{WORD}(?:['’-]{WORD})*|[^\w\s]")
# Clitics are tokens (nurse 's, did n't); words keep inner hyphens, numbers inner marks.
TREEBANK = re.compile(
    r"\d+(?:[.,:]\d+)+|\d+(?![\w-])|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
    rf"|{WORD}(?:-{WORD})*|\.\.\.|--|``|''|[^\w\s]",
    re.IGNORECASE,
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences; abbreviations and initials do not end a sentence."""
    sentences: list[list[str]] = []
    for piece in END.split(text):
        if sentences and ABBREVIATION.search(sentences[-1][-1][-LONGEST_ABBREVIATION:]):
            sentences[-1].append(piece)
        elif piece.strip():
            sentences.append([piece.strip()])
    return [" ".join(pieces) for pieces in sentences]


def tokenise_sentence(sentence: str) -> list[str]:
    """Return words, numbers and marks of a sentence, case kept, accents composed (NFC)."""
    return TOKEN.findall(unicodedata.normalize("NFC", sentence))


class Token(NamedTuple):
    """A token and its half-open span of characters in the text."""

    text: str
    start: int
    end: int


def tokenise_treebank(text: str) -> list[list[Token]]:
    """Return the tokens of the sentences of a text, split as by ``split_sentences``.

    For all 1,584 plain sentences of WinoBias the tokens equal those of its CoNLL files.
    """
    ends = (match.start() for match in END.finditer(text))
    endings = ((end, text[max(0, end - LONGEST_ABBREVIATION) : end]) for end in ends)
    cuts = [end for end, ending in endings if not ABBREVIATION.search(ending)]
    sentences: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    number = 0
    for match in TREEBANK.finditer(text):
        while number < len(cuts) and match.start() >= cuts[number]:
            number += 1
        sentences[number].append(Token(match[0], match.start(), match.end()))
    return [sentence for sentence in sentences if sentence]


def find_span(sentences: list[list[Token]], start: int, end: int) -> tuple[int, int] | None:
    """Return the half-open span of tokens that overlap characters ``start`` to ``end``, or None."""
    tokens = [token for sentence in sentences for token in sentence]
    overlapping = [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
    return (overlapping[0], overlapping[-1] + 1) if overlapping else None
