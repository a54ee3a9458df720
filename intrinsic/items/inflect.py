"""Inflection of English words in templates: article, plural and capital."""

from __future__ import annotations

import re

ARTICLE, PLURAL, CAPITAL = "{a}", "{s}", "{C}"
# Words spelt with a vowel and pronounced with a consonant, and the reverse
AS_CONSONANT, AS_VOWEL = ("eu", "uk", "uni", "use"), ("hono", "hour", "heir")


def inflect(template: str, word: str, plural: str = "") -> tuple[str, str]:
    """Fill the inflected forms of a word into a template; return the text and the form used.

    ``{a}`` is its article, ``{s}`` its plural, ``{C}`` the word with a capital; the text then
    begins with a capital. ``{}``, the word itself, is not replaced.
    """
    forms = {PLURAL: plural or plural_of(word), CAPITAL: word[0].upper() + word[1:]}
    used = next((form for name, form in forms.items() if name in template), word)
    if used == word and ARTICLE not in template:
        return template, word
    text = template.replace(ARTICLE, article(word))
    for name, form in forms.items():
        text = text.replace(name, form)
    capital = text[0].upper() + text[1:]
    return capital, used[0].upper() + used[1:] if text.startswith(used) else used


def article(word: str) -> str:
    """Return ``a`` or ``an``, by the first letters of the word."""
    start = word.lower()
    if start.startswith(AS_CONSONANT):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(AS_VOWEL) else "a"


def plural_of(word: str) -> str:
    """Return the regular plural: daisies, crashes, arrows."""
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search("(s|x|ch|sh)$", word) else f"{word}s"
