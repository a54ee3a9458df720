"""English text to sentences of tokens that know where they stand, cut as treebanks cut them."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpora.sentences import ABBREVIATION, END

# Clitics stand alone (nurse 's, did n't); words keep inner hyphens, numbers inner marks.
TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
    r"|\w+(?:-\w+)*|\.\.\.|--|``|''|[^\w\s]",
    re.IGNORECASE,
)
LONGEST = 12  # characters before a sentence's end in which an abbreviation is looked for


class Token(NamedTuple):
    """A token and its half-open span of characters in the text."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[list[Token]]:
    """The sentences of a text, cut where ``corpora.sentences.split_sentences`` cuts, as tokens.

    The tokens of WinoBias's plain sentences are those of its CoNLL files, all 1,584.
    """
    ends = (found.start() for found in END.finditer(text))
    cuts = [end for end in ends if not ABBREVIATION.search(text[max(0, end - LONGEST) : end])]
    sentences: list[list[Token]] = [[] for _ in range(len(cuts) + 1)]
    number = 0
    for found in TOKEN.finditer(text):
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
