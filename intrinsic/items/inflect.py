"""English words in templates: the article before them, their plural, a capital at the start."""

from __future__ import annotations

import re

ARTICLE, PLURAL, CAPITAL = "{a}", "{s}", "{C}"
# Written with a vowel and spoken without one, and the reverse
AS_CONSONANT, AS_VOWEL = ("eu", "uk", "uni", "use"), ("hono", "hour", "heir")


def inflect(template: str, word: str, plural: str = "") -> tuple[str, str]:
    """The template with the forms of a word, and the form that it holds.

    ``{a}`` is its article, ``{s}`` its plural, ``{C}`` the word with a capital; the text then
    begins with a capital. ``{}``, the word itself, is left.
    """
    forms = {PLURAL: plural or plural_of(word), CAPITAL: word[0].upper() + word[1:]}
    held = next((form for name, form in forms.items() if name in template), word)
    if held == word and ARTICLE not in template:
        return template, word
    text = template.replace(ARTICLE, article(word))
    for name, form in forms.items():
        text = text.replace(name, form)
    capital = text[0].upper() + text[1:]
    return capital, held[0].upper() + held[1:] if text.startswith(held) else held


def article(word: str) -> str:
    """``a`` or ``an``: by the first letter, with exceptions for a few beginnings."""
    start = word.lower()
    if start.startswith(AS_CONSONANT):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(AS_VOWEL) else "a"


def plural_of(word: str) -> str:
    """The regular plural: daisies, crashes, arrows."""
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search("(s|x|ch|sh)$", word) else f"{word}s"
