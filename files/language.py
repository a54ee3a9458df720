"""The language of texts, words and vectors, where it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from files.errors import InputError

UNDETERMINED = "und"  # ISO 639 for a language that nobody stated


@runtime_checkable
class InLanguage(Protocol):
    """What may be in a language: a choice that knows its own."""

    @property
    def language(self) -> str:
        """An ISO 639 code such as ``es``; ``und`` where it is not known."""


def language_of(value: object) -> str:
    """The language of a choice; ``und`` for one that has none."""
    return value.language if isinstance(value, InLanguage) else UNDETERMINED


def require_one_language(used: Mapping[str, object], remedy: str) -> None:
    """``InputError`` where two of these, by their names in the message, are known to be in
    different languages.
    """
    languages = {name: language_of(each) for name, each in used.items()}
    known = {name: code for name, code in languages.items() if code != UNDETERMINED}
    if len({*known.values()}) > 1:
        told = " and ".join(f"{name} is in {code!r}" for name, code in known.items())
        raise InputError(f"{told}; {remedy}")
