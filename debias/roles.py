"""The words of a query as a debiasing method takes them: by role, each word in one role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from files import InputError

if TYPE_CHECKING:
    from intrinsic.wordsets import Query

# Two groups of targets and the attributes stereotypical of each. Pro-stereotypical are (X, A) and
# (Y, B), anti-stereotypical (X, B) and (Y, A).
TARGETS_AND_ATTRIBUTES = ("X", "Y", "A", "B")


def require_roles(query: Query, roles: Sequence[str]) -> None:
    """Raise ``InputError`` naming the roles that ``query`` lacks."""
    if missing := [role for role in roles if role not in query.sets]:
        works = f"the method works on {', '.join(roles)}"
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; {works}")


def words_by_role(
    query: Query, roles: Sequence[str] = TARGETS_AND_ATTRIBUTES
) -> dict[str, tuple[str, ...]]:
    """The words of each role, which are compared with a text or a vocabulary as they are written.

    Raises ``InputError`` for a role that is missing or empty, for an entry that is not one word,
    and for a word that stands twice: in two roles it would be pro- and anti-stereotypical at once.
    """
    require_roles(query, roles)
    owner: dict[str, str] = {}
    name = f"query {query.name!r}"
    for role in roles:
        if not query[role].words:
            raise InputError(f"{name}: {role} is empty; it needs at least one word")
        for word in query[role].words:
            if word.split() != [word] or not word.isprintable():
                raise InputError(f"{name}: {role} holds {word!r}; every entry must be one word")
            if word in owner:
                both = f"{word!r} stands in {owner[word]} and in {role}"
                raise InputError(f"{name}: {both}; keep it in one place")
            owner[word] = role
    return {role: query[role].words for role in roles}
