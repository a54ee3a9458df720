"""Words of a query by role, for debiasing methods; each word has one role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets import Query

# Pro-stereotypical: (X, A) and (Y, B); anti-stereotypical: (X, B) and (Y, A).
TARGETS_AND_ATTRIBUTES = ("X", "Y", "A", "B")


def require_roles(query: Query, roles: Sequence[str]) -> None:
    """Raise ``InputError`` if ``query`` lacks roles, and name them."""
    if missing := [role for role in roles if role not in query.sets]:
        needed = f"the method needs {', '.join(roles)}"
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; {needed}")


def words_by_role(
    query: Query, roles: Sequence[str] = TARGETS_AND_ATTRIBUTES
) -> dict[str, tuple[str, ...]]:
    """Return the words of each role as the query writes them.

    Raises ``InputError`` for a role that is missing or empty, for an entry that is not one word,
    and for a repeated word: in two roles it would be both pro- and anti-stereotypical.
    """
    require_roles(query, roles)
    role_of_word: dict[str, str] = {}
    name = f"query {query.name!r}"
    for role in roles:
        if not query[role].words:
            raise InputError(f"{name}: {role} is empty; it needs at least one word")
        for word in query[role].words:
            if word.split() != [word] or not word.isprintable():
                raise InputError(f"{name}: {role} holds {word!r}; every entry must be one word")
            if word in role_of_word:
                problem = f"{word!r} is in {role_of_word[word]} and in {role}"
                raise InputError(f"{name}: {problem}; keep it in one role, once")
            role_of_word[word] = role
    return {role: query[role].words for role in roles}
