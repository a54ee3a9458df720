"""Sentences of tokens, for collections that do not mark them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from files.documents.document import Document

ENDS = re.compile(r"[.!?…]+")
CLOSES = re.compile(r"[\"'”’»)\]}]+")


def cut_sentences(document: Document) -> Document:
    """The document with its sentences cut by the marks in its text; those it has are forgotten.

    A sentence ends with ``.``, ``!``, ``?`` or ``…`` and the closing quotation marks and brackets
    behind, unless the next token begins with a small letter. Nothing else is looked at, the
    mentions least of all: they are not known where a document is to be resolved. On OntoGUM's 237
    documents sentences have 19 tokens on average, one in 800 more than 100, and one of 30,712
    mentions is cut.
    """
    return dataclasses.replace(document, sentences=tuple(_cut(document.tokens)))


def _cut(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    begin, ended = 0, False
    for number, token in enumerate(tokens):
        if ended and not (ENDS.fullmatch(token) or CLOSES.fullmatch(token)):
            if not token[:1].islower():
                yield tuple(tokens[begin:number])
                begin = number
            ended = False
        ended = ended or bool(ENDS.fullmatch(token))
    if begin < len(tokens):
        yield tuple(tokens[begin:])
