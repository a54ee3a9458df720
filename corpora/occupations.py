"""The percentage of women among those who work in an occupation."""

from __future__ import annotations

from functools import cache

from intrinsic.wordsets import load_wordset

# How sentences call what the table calls otherwise
ALSO = {"mechanic": "mechanician", "tailor": "sewer"}


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
