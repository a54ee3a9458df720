"""How English sentences speak of people: pronouns by gender, and occupations with the percentage
of women among those who work in them.
"""

from __future__ import annotations

from functools import cache

from intrinsic.wordsets import load_wordset

PRONOUNS = {
    "male": "he him his himself",
    "female": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
}
GENDERS = {form: gender for gender, forms in PRONOUNS.items() for form in forms.split()}
# How sentences call what the table calls otherwise
ALSO = {"mechanic": "mechanician", "tailor": "sewer"}


def find_gender(token: str) -> str:
    """``male``, ``female``, ``neutral``; empty for what is no such pronoun, whatever its case."""
    return GENDERS.get(token.lower(), "")


@cache
def load_percentages() -> dict[str, float]:
    """By occupation, words joined by ``_``: see ``intrinsic/wordsets/occupations.yaml``."""
    table = load_wordset("occupations")
    return dict(zip(table.words, table.values, strict=True))


def find_percentage(occupation: str) -> float | None:
    """Of an occupation in the singular, ``construction worker``; None where it is not known."""
    name = occupation.lower().replace(" ", "_")
    known = load_percentages()
    found = (known.get(form) for form in (name, f"{name}s", ALSO.get(name, name)))
    return next((value for value in found if value is not None), None)
