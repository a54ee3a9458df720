"""Pairs of the documents of key and response."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from biasbridge.files import InputError, nearest

if TYPE_CHECKING:
    from biasbridge.files.documents import Document


def pair_documents(
    key: Iterable[Document], response: Iterable[Document]
) -> list[tuple[Document, Document]]:
    """Pair each document of the key, in order, with that of the same name and part in the response.

    Raises ``InputError``, naming the first difference, for a repeated or missing document, and for
    documents whose tokens differ; sentences may differ.
    """
    keys, responses = _by_title(key, "key"), _by_title(response, "response")
    for titles, opposite_titles, has, lacks in (
        (keys, responses, "key", "response"),
        (responses, keys, "response", "key"),
    ):
        if missing := [title for title in titles if title not in opposite_titles]:
            close = nearest(missing[0], opposite_titles)
            raise InputError(
                f"the {has} has {missing[0]}, the {lacks} does not{close};"
                f" {len(missing)} of {len(titles)} documents are missing"
            )
    for title, document in keys.items():
        _check_tokens(document, responses[title])
    return [(document, responses[title]) for title, document in keys.items()]


def _by_title(documents: Iterable[Document], side: str) -> dict[str, Document]:
    by_title: dict[str, Document] = {}
    for document in documents:
        if by_title.setdefault(document.title, document) is not document:
            raise InputError(f"the {side} has {document.title} twice")
    return by_title


def _check_tokens(key: Document, response: Document) -> None:
    for number, (key_token, token) in enumerate(zip_longest(key.tokens, response.tokens)):
        if key_token != token:
            raise InputError(
                f"{key.title}, token {number}: the key {_describe(key_token)}, the response"
                f" {_describe(token)};"
                " score a response to the same text"
            )


def _describe(token: str | None) -> str:
    return "has ended" if token is None else f"has {token!r}"
