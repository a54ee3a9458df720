"""Edited text to tokenised sentences, by punctuation alone: no model, no download."""

from __future__ import annotations

import re
import unicodedata

# A sentence ends at . ! ? (and a closing quote or bracket) before white space and a capital, digit
# or opening quote, unless the full stop belongs to a common title or a single initial.
END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["”’')\]]))\s+(?=["“‘'(\[]*[\dA-ZÁÉÍÓÚÑÜ¿¡])""")
ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Jr|vs|etc|No)|\b[A-Z])\.$")
LONGEST_ABBREVIATION = len(" Prof.")
# Words keep inner apostrophes and hyphens; numbers keep inner points and commas; any other mark
# stands alone.
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:['’-]\w+)*|[^\w\s]")


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
