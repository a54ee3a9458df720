"""Documents of key and response, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from files import InputError, nearest

if TYPE_CHECKING:
    from files.documents import Document


def pair_documents(
    key: Iterable[Document], response: Iterable[Document]
) -> list[tuple[Document, Document]]:
    """Each document of the key with that of the response of the same name and part, in the key's
    order.

    Raises ``InputError``, naming the first difference, where a side has a document twice or lacks
    one, or where two documents have other tokens; sentences may differ.
    """
    keys, responses = _by_title(key, "key"), _by_title(response, "response")
    for titles, others, has, lacks in (
        (keys, responses, "key", "response"),
        (responses, keys, "response", "key"),
    ):
        if missing := [title for title in titles if title not in others]:
            close = nearest(missing[0], others)
            raise InputError(
                f"the {has} has {missing[0]}, the {lacks} has not{close};"
                f" it lacks {len(missing)} of {len(titles)}"
            )
    for title, document in keys.items():
        _refuse_other_tokens(document, responses[title])
    return [(document, responses[title]) for title, document in keys.items()]


def _by_title(documents: Iterable[Document], side: str) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in documents:
        if found.setdefault(document.title, document) is not document:
            raise InputError(f"the {side} has {document.title} twice")
    return found


def _refuse_other_tokens(key: Document, response: Document) -> None:
    for number, (one, other) in enumerate(zip_longest(key.tokens, response.tokens)):
        if one != other:
            raise InputError(
                f"{key.title}, token {number}: the key {_spell(one)}, the response {_spell(other)};"
                " score a response to the same text"
            )


def _spell(token: str | None) -> str:
    return "has ended" if token is None else f"has {token!r}"
