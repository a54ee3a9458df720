"""Other forms of a word: its plural, with a capital, in capitals."""

from __future__ import annotations

import re
from typing import Literal

Form = Literal["base", "plural", "capital", "upper"]

# What follows no rule below, and is no ending of other nouns
IRREGULAR = {
    "calf": "calves",
    "foot": "feet",
    "goose": "geese",
    "half": "halves",
    "hero": "heroes",
    "leaf": "leaves",
    "life": "lives",
    "mouse": "mice",
    "ox": "oxen",
    "potato": "potatoes",
    "thief": "thieves",
    "tomato": "tomatoes",
    "tooth": "teeth",
    "wolf": "wolves",
    **{noun: f"{noun}s" for noun in ("caiman", "german", "human", "roman", "shaman", "talisman")},
}
# The head of a compound that does not stand last
HEADED = re.compile(r"^([^\W_]+)_(emeritus|general|(?:at|in|of|to)_.+)$")
RULES = (
    (re.compile(r"man$"), "men"),
    (re.compile(r"child$"), "children"),
    (re.compile(r"person$"), "people"),
    (re.compile(r"(?<=[wn]i)fe$"), "ves"),
    (re.compile(r"(s|x|z|ch|sh)$"), r"\1es"),
    (re.compile(r"(?<=[^aeiou])y$"), "ies"),
)


def english_plural(noun: str) -> str:
    """The plural of an English noun by rule; words of a compound are joined by underscores.

    ``professor_emeritus`` has ``professors_emeritus``, ``fireman`` ``firemen``. Ending -f and -o
    take -s but for a few words.
    """
    if headed := HEADED.fullmatch(noun):
        return f"{english_plural(headed[1])}_{headed[2]}"
    before, mark, last = noun.rpartition("_")
    if last in IRREGULAR:
        return f"{before}{mark}{IRREGULAR[last]}"
    for ending, plural in RULES:
        if ending.search(last):
            return f"{before}{mark}{ending.sub(plural, last)}"
    return f"{noun}s"


def word_form(word: str, form: Form, language: str = "en") -> str | None:
    """The word in a form: ``capital`` has its first letter a capital, ``upper`` all of them. None
    where the form is the word itself, and for the plural in other languages than English.
    """
    if form == "plural" and language != "en":
        return None
    forms = {
        "base": word,
        "plural": english_plural(word),
        "capital": word[:1].upper() + word[1:],
        "upper": word.upper(),
    }
    return forms[form] if form == "base" or forms[form] != word else None
