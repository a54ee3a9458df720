"""English words in templates: the article before them, their plural, a capital at the start."""

from __future__ import annotations

import re

ARTICLE, PLURAL, CAPITAL = "{a}", "{s}", "{C}"
# Written with a vowel and spoken without one, and the reverse
AS_CONSONANT, AS_VOWEL = ("eu", "uk", "uni", "use"), ("hono", "hour", "heir")


def inflect(template: str, word: str, plural: str = "") -> str:
    """The template with the forms of a word: ``{a}`` its article, ``{s}`` its plural, ``{C}`` the
    word with a capital. The text then begins with a capital. ``{}``, the word itself, is left.
    """
    if not any(form in template for form in (ARTICLE, PLURAL, CAPITAL)):
        return template
    for form, text in (
        (ARTICLE, article(word)),
        (PLURAL, plural or plural_of(word)),
        (CAPITAL, word),
    ):
        template = template.replace(form, text)
    return template[0].upper() + template[1:]


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
