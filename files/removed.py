"""Commands, options and functions that are gone, and what to use instead: for one release."""

from __future__ import annotations

from collections.abc import Iterable

from biasbridge.files.errors import InputError

# As they were called: "biasbridge NAME", "biasbridge NAME --option", "train.py KEY=", or a
# function of Python, "NAME()". Each with the remedy, a phrase that begins with a verb.
REMOVED: dict[str, str] = {
    "biasbridge completion": "type the command with --help, which lists its options",
    "biasbridge store explain": "read recipe.json in the folder of the result",
    "biasbridge store export": "give a command the folder vectors of the result, as it is",
}


def refuse_removed(names: Iterable[str]) -> None:
    """Raise ``InputError`` for the first name of something that is gone, with what to use."""
    for name in names:
        if name in REMOVED:
            raise InputError(f"{name} was removed; {REMOVED[name]}")
