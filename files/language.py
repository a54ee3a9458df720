"""The language of texts, words and vectors, where it is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from files.errors import InputError

UNDETERMINED = "und"  # ISO 639 for a language that nobody stated
# Frequent words of grammar, of the languages that built-in queries are in
GRAMMAR = {
    "de": "der die und das ist nicht ein eine zu den mit sie auf für im von dem sich auch es",
    "en": "the of and to is that it for you was with as are this be at by not they have",
    "es": "de la que el en y los se del las por un con una su para es al lo como",
    "hr": "je se na da za su od što ne koji kako ali bi sam to kao ili iz sve nije",
    "it": "di che è la il un non per sono una si con del ho gli della le ma anche più",
    "tr": "ve bir bu da de için ile çok ne daha olarak gibi ama var kadar değil o mi ben en",
    "ru": "и в не на я что он с как это по но она к так его из за все у",
}
NAMED = re.compile(r"(?:^|[._-])(" + "|".join(sorted(GRAMMAR)) + r")(?=[._-]|$)", re.IGNORECASE)
LEAST_SHARE, CLEARLY = 0.08, 1.5


def guess_language(tokens: Iterable[str]) -> str:
    """The language that frequent words of grammar among lower-case tokens speak for; ``und`` where
    they are fewer than ``LEAST_SHARE``, or not ``CLEARLY`` more than those of another language.
    """
    counts = Counter(tokens)
    found = sorted(
        (sum(counts[word] for word in words.split()), code) for code, words in GRAMMAR.items()
    )
    (second, _), (first, code) = found[-2:]
    enough = first >= LEAST_SHARE * max(1, counts.total())
    return code if enough and first >= CLEARLY * second else UNDETERMINED


def language_in_name(path: str | Path) -> str:
    """Return the language code in the name of a file, as in ``cc.es.300.vec``; ``und`` for none."""
    code = NAMED.search(Path(path).name)
    return code.group(1).lower() if code else UNDETERMINED


def language_of_texts(texts: Iterable[str], path: str | Path, stated: str) -> str:
    """Return the language ``stated``, else that which the grammar of texts speaks for, else that in
    their file's name; ``und`` for none.
    """
    if stated != UNDETERMINED:
        return stated
    words = re.findall(r"[^\W\d_]+", " ".join(texts).lower())
    guess = guess_language(words)
    return guess if guess != UNDETERMINED else language_in_name(path)


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
        different = " and ".join(f"{name} is in {code!r}" for name, code in known.items())
        raise InputError(f"{different}; {remedy}")
