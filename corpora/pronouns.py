"""English third-person pronouns of people, by gender."""

from __future__ import annotations

_FORMS = {
    "male": "he him his himself",
    "female": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
}
GENDERS = {form: gender for gender, forms in _FORMS.items() for form in forms.split()}


def find_gender(token: str) -> str:
    """``male``, ``female``, ``neutral``; empty for what is no such pronoun, whatever its case."""
    return GENDERS.get(token.lower(), "")
