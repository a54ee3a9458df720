"""What has a name on a hub is the same tomorrow only at a commit."""

from __future__ import annotations

import re

from files.errors import InputError

COMMIT = re.compile("[0-9a-f]{40}")


def require_commit(name: str, revision: str | None) -> str:
    """The revision of the model or data ``name`` on a hub. Raises ``InputError`` where it is none,
    or a branch, a tag or the beginning of a commit, which may stand for something else tomorrow.
    """
    if revision is None or not COMMIT.fullmatch(revision):
        given = "none is given" if revision is None else f"revision={revision!r} is not one"
        raise InputError(
            f"{name!r} is no local folder, and on a hub what has that name may change: give"
            f" revision, a commit of 40 hexadecimal digits; {given}"
        )
    return revision
