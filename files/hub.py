"""Names on a hub, which identify fixed content only with a commit."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from files.errors import InputError

COMMIT = re.compile("[0-9a-f]{40}")
HUB_NAME = re.compile(r"(?P<name>\w[\w.-]*(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?")
SECONDS = 10  # to wait for a hub
REASON = 120  # characters of a hub's refusal


class HubModel(NamedTuple):
    """A model on a hub at a commit; ``snapshot``: its folder in the cache, if the hub did not
    answer.
    """

    name: str
    commit: str
    snapshot: str = ""


def find_commit(model: str, revision: str | None = None) -> HubModel:
    """Ask the hub for the commit of ``org/name`` or ``org/name@revision``; the main branch by
    default.

    If the hub does not answer, the commit is that of the snapshot in the cache. Raises
    ``InputError`` without one, and for a name of another form.
    """
    match = HUB_NAME.fullmatch(model)
    if not match or (revision and match["revision"]):
        problem = "gives a revision twice" if match else "is neither a local folder nor a hub name"
        raise InputError(f"model={model!r} {problem}; give org/name, org/name@REVISION or a folder")
    from huggingface_hub import HfApi, try_to_load_from_cache

    name, revision = match["name"], revision or match["revision"]
    try:
        return HubModel(name, str(HfApi().model_info(name, revision=revision, timeout=SECONDS).sha))
    except Exception as error:  # of the network, by several libraries
        reason = shorten(f"{type(error).__name__}: {error}", REASON)
    config = try_to_load_from_cache(name, "config.json", revision=revision)
    if not isinstance(config, str):
        raise InputError(
            f"model={model!r}: no local folder, the hub did not give it ({reason}), and no copy is"
            " in the cache; check the name and the network, or give a folder"
        )
    folder = Path(config).parent
    return HubModel(name, folder.name, str(folder))


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
