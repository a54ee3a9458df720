"""Edited text to tokenised sentences, by punctuation alone: no model, no download; and
to tokens as treebanks cut them, which know where they stand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# A sentence ends at . ! ? (and a closing quote or bracket) before white space and a capital, digit
# or opening quote, unless the full stop belongs to a common title or a single initial.
END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["”’')\]]))\s+(?=["“‘'(\[]*[\dA-ZÁÉÍÓÚÑÜ¿¡])""")
ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Jr|vs|etc|No)|\b[A-Z])\.$")
LONGEST_ABBREVIATION = len(" Prof.")
# Words keep inner apostrophes and hyphens; numbers keep inner points and commas; any other mark
# stands alone.
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:['’-]\w+)*|[^\w\s]")
# Clitics stand alone (nurse 's, did n't); words keep inner hyphens, numbers inner marks.
TREEBANK = re.compile(
    r"\d+(?:[.,:]\d+)*|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
    r"|\w+(?:-\w+)*|\.\.\.|--|``|''|[^\w\s]",
    re.IGNORECASE,
)


def split_sentences(text: str) -> list[str]:
    """The sentences in order; an ending after an abbreviation or an initial does not count."""
    sentences: list[list[str]] = []
    for piece in END.split(text):
        if sentences and ABBREVIATION.search(sentences[-1][-1][-LONGEST_ABBREVIATION:]):
            sentences[-1].append(piece)
        elif piece.strip():
            sentences.append([piece.strip()])
    return [" ".join(pieces) for pieces in sentences]


def tokenise_sentence(sentence: str) -> list[str]:
    """The words, numbers and marks of a sentence, case kept, accents composed (NFC)."""
    return TOKEN.findall(unicodedata.normalize("NFC", sentence))


class Token(NamedTuple):
    """A token and its half-open span of characters in the text."""

    text: str
    start: int
    end: int


def tokenise_treebank(text: str) -> list[list[Token]]:
    """The sentences of a text, cut where ``split_sentences`` cuts, as tokens.

    The tokens of WinoBias's plain sentences are those of its CoNLL files, all 1,584.
    """
    ends = (found.start() for found in END.finditer(text))
    before = ((end, text[max(0, end - LONGEST_ABBREVIATION) : end]) for end in ends)
    cuts = [end for end, last in before if not ABBREVIATION.search(last)]
    sentences: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    number = 0
    for found in TREEBANK.finditer(text):
        while number < len(cuts) and found.start() >= cuts[number]:
            number += 1
        sentences[number].append(Token(found[0], found.start(), found.end()))
    return [sentence for sentence in sentences if sentence]


def find_span(sentences: list[list[Token]], start: int, end: int) -> tuple[int, int] | None:
    """The half-open span of tokens that share a character with ``start`` to ``end``; None where
    there is none.
    """
    tokens = [token for sentence in sentences for token in sentence]
    within = [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
    return (within[0], within[-1] + 1) if within else None
