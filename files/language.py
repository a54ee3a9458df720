"""The language of texts, words and vectors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from biasbridge.files.errors import InputError
from biasbridge.files.names import normalise_text

UNDETERMINED = "und"  # ISO 639 for an unknown language
# Frequent function words of the languages of built-in queries
GRAMMAR = {
    "de": "der die und das ist nicht ein eine zu den mit sie auf für im von dem sich auch es",
    "en": "the of and to is that it for you was with as are this be at by not they have",
    "es": "de la que el en y los se del las por un con una su para es al lo como",
    "hr": "je se na da za su od što ne koji kako ali bi sam to kao ili iz sve nije",
    "it": "di che è la il un non per sono una si con del ho gli della le ma anche più",
    "tr": "ve bir bu da de için ile çok ne daha olarak gibi ama var kadar değil o mi ben en",
    "ru": "и в не на я что он с как это по но она к так его из за все у",
}
CODE_IN_NAME = re.compile(rf"(?:^|[._-])({'|'.join(sorted(GRAMMAR))})(?=[._-]|$)", re.IGNORECASE)
DEBIASED = re.compile(r"de[-_]bias", re.IGNORECASE)  # is not German
MIN_SHARE, MIN_RATIO = 0.08, 1.5


def guess_language(tokens: Iterable[str]) -> str:
    """Guess the language from the function words among lower-case tokens; ``und`` if they are fewer
    than ``MIN_SHARE``, or not ``MIN_RATIO`` times as many as those of another language.
    """
    counts = Counter(map(normalise_text, tokens))
    ranking = sorted(
        (sum(counts[word] for word in words.split()), code) for code, words in GRAMMAR.items()
    )
    (second, _), (first, code) = ranking[-2:]
    is_frequent = first >= MIN_SHARE * max(1, counts.total())
    return code if is_frequent and first >= MIN_RATIO * second else UNDETERMINED


def language_in_name(path: str | Path) -> str:
    """Return the language code in the name of a file, as in ``cc.es.300.vec``; ``und`` for none."""
    code = CODE_IN_NAME.search(DEBIASED.sub("debias", Path(path).name))
    return code.group(1).lower() if code else UNDETERMINED


def language_of_texts(texts: Iterable[str], path: str | Path, stated: str) -> str:
    """Return the language ``stated``, or guessed from the texts, or in their file's name."""
    if stated != UNDETERMINED:
        return stated
    words = re.findall(r"[^\W\d_]+", normalise_text(" ".join(texts)).lower())
    guess = guess_language(words)
    return guess if guess != UNDETERMINED else language_in_name(path)


@runtime_checkable
class InLanguage(Protocol):
    """A choice that knows its language."""

    @property
    def language(self) -> str:
        """An ISO 639 code such as ``es``; ``und`` if unknown."""


def language_of(value: object) -> str:
    """Return the language of a choice; ``und`` if it has none."""
    return value.language if isinstance(value, InLanguage) else UNDETERMINED


def require_one_language(choices: Mapping[str, object], remedy: str) -> None:
    """Raise ``InputError`` if choices, given by their names in the message, have different
    languages.
    """
    languages = {name: language_of(value) for name, value in choices.items()}
    determined = {name: code for name, code in languages.items() if code != UNDETERMINED}
    if len({*determined.values()}) > 1:
        different = " and ".join(f"{name} is in {code!r}" for name, code in determined.items())
        raise InputError(f"{different}; {remedy}")
