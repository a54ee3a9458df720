"""Forms of a word: plural, capitalised, upper case."""

from __future__ import annotations

import re
from typing import Literal

Form = Literal["base", "plural", "capital", "upper"]

# Nouns that follow no rule below and are no ending of other nouns
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
# Compounds whose head comes first
HEAD_FIRST = re.compile(r"^([^\W_]+)_(emeritus|general|(?:at|in|of|to)_.+)$")
RULES = (
    (re.compile(r"man$"), "men"),
    (re.compile(r"child$"), "children"),
    (re.compile(r"person$"), "people"),
    (re.compile(r"(?<=[wn]i)fe$"), "ves"),
    (re.compile(r"(s|x|z|ch|sh)$"), r"\1es"),
    (re.compile(r"(?<=[^aeiou])y$"), "ies"),
)


def english_plural(noun: str) -> str:
    """Form the plural of an English noun by rule; underscores join the words of a compound.

    ``professor_emeritus`` gives ``professors_emeritus``, ``fireman`` ``firemen``. Ending -f and -o
    take -s with few exceptions.
    """
    if head_first := HEAD_FIRST.fullmatch(noun):
        return f"{english_plural(head_first[1])}_{head_first[2]}"
    modifiers, underscore, head = noun.rpartition("_")
    if head in IRREGULAR:
        return f"{modifiers}{underscore}{IRREGULAR[head]}"
    for ending, plural in RULES:
        if ending.search(head):
            return f"{modifiers}{underscore}{ending.sub(plural, head)}"
    return f"{noun}s"


def word_form(word: str, form: Form, language: str = "en") -> str | None:
    """Return a form of the word: ``capital`` changes the first letter, ``upper`` all.

    None if the form is the word itself, and for plurals of other languages than English.
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
