"""English words for people: pronouns by gender, and occupations with percentages of women."""

from __future__ import annotations

from functools import cache

from biasbridge.intrinsic.wordsets import load_wordset

PRONOUNS = {
    "male": "he him his himself",
    "female": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
}
GENDERS = {form: gender for gender, forms in PRONOUNS.items() for form in forms.split()}
# Occupation in sentences -> its name in the table
ALIASES = {"mechanic": "mechanician", "tailor": "sewer"}


def find_gender(token: str) -> str:
    """Return ``male``, ``female``, ``neutral``, or empty if not a pronoun; ignores case."""
    return GENDERS.get(token.lower(), "")


@cache
def load_percentages() -> dict[str, float]:
    """Return percentages by occupation, words joined by ``_`` (word set ``occupations``)."""
    table = load_wordset("occupations")
    return dict(zip(table.words, table.values, strict=True))


def find_percentage(occupation: str) -> float | None:
    """Return the percentage of women in an occupation (singular); None if unknown."""
    name = occupation.lower().replace(" ", "_")
    percentages = load_percentages()
    matches = (percentages.get(form) for form in (name, f"{name}s", ALIASES.get(name, name)))
    return next((value for value in matches if value is not None), None)
