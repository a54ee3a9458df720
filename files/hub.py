"""Names on a hub, which identify fixed content only with a commit."""

from __future__ import annotations

import re

from files.errors import InputError

COMMIT = re.compile("[0-9a-f]{40}")


def require_commit(name: str, revision: str | None) -> str:
    """Return the revision of the model or data ``name`` on a hub. Raises ``InputError`` unless it
    is a full commit: the content of a branch, a tag or a short commit may change.
    """
    if revision is None or not COMMIT.fullmatch(revision):
        problem = "none is given" if revision is None else f"revision={revision!r} is not one"
        raise InputError(
            f"{name!r} is no local folder, and its content on a hub may change: give"
            f" revision, a commit of 40 hexadecimal digits; {problem}"
        )
    return revision
