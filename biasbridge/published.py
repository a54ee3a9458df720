"""Published collections, known by the names of their fields, and the command for each."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from files.language import UNDETERMINED, guess_language
from files.tables import JSON_LINES, read_table
from files.text import open_binary, unpacked_name

HEAD = 1 << 16  # bytes of a file in which its fields are looked for
ITEMS = "biasbridge audit MODEL --items"


class Collection(NamedTuple):
    """A collection by its name and by fields that no other table has.

    ``use``: what is done with it, or why nothing is; ``command``: what measures with it, empty
    where nothing does, or where it is read as any ``posts``.
    """

    name: str
    fields: set[str]
    use: str
    command: str = ""
    is_posts: bool = False

    def full_command(self, path: Path, language: str) -> str:
        """Return the command for the file, in a language other than English."""
        stated = "" if language in (UNDETERMINED, "en") else f" --language {language}"
        return f"{self.command} {shlex.quote(str(path))}{stated}"


COLLECTIONS = (
    Collection(
        "HateXplain (Mathew et al., 2021)",
        {"annotators", "post_tokens"},
        "not read yet: write a table with text, label and group, a row a post",
    ),
    Collection(
        "BBQ (Parrish et al., 2022)",
        {"question_polarity", "context_condition"},
        "not read yet: no command scores answers to its questions",
    ),
    Collection(
        "the Gab Hate Corpus (Kennedy et al., 2022)",
        {"hd", "cv", "vo"},
        "posts; label hd: an assault on human dignity",
        is_posts=True,
    ),
    Collection(
        "BEC-Pro (Bartl et al., 2020)",
        {"Sent_TM", "Prof_Gender"},
        "items for language models",
        ITEMS,
    ),
    Collection(
        "HONEST (Nozza et al., 2021)",
        {"template_masked", "identity"},
        "items for masked language models (disco); the lexicon of its own score is not read",
        ITEMS,
    ),
    Collection(
        "CrowS-Pairs (Nangia et al., 2020)",
        {"sent_more", "sent_less"},
        "items for language models",
        ITEMS,
    ),
)


def recognise(path: Path) -> Collection | None:
    """Return the collection that a file is of; None for any other file, and for a folder."""
    if not path.is_file():
        return None
    names = _field_names(path)
    return next((each for each in COLLECTIONS if each.fields <= names), None)


def language_of_file(path: Path) -> str:
    """Return the language that the frequent words of a file speak for."""
    return guess_language(re.findall(r"\w+", _head(path).lower()))


def _field_names(path: Path) -> set[str]:
    """Return the columns of a table, or the keys of JSON."""
    suffix = unpacked_name(path).suffix
    if suffix == ".parquet":
        return {*map(str, read_table(path))}
    if suffix in (".json", JSON_LINES):
        return {*re.findall(r'"(\w+)"\s*:', _head(path))}
    return {*re.split(r'[\t,;"]+', _head(path).partition("\n")[0].strip())}


def _head(path: Path) -> str:
    with open_binary(path) as content:
        return content.read(HEAD).decode("utf-8", "ignore")
