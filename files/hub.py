"""Names on a hub, which identify fixed content only with a commit: ``org/name@COMMIT``."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import shorten
from typing import Literal, NamedTuple

from biasbridge.files.data.registry import registry
from biasbridge.files.errors import InputError

DIGITS = 40  # of a whole commit
COMMIT = re.compile("[0-9a-f]{7,40}")
HUB_NAME = re.compile(r"(?P<name>\w[\w.-]*(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?")
SECONDS = 10  # to wait for a hub
REASON = 120  # characters of a hub's refusal

Kind = Literal["model", "dataset"]


class HubModel(NamedTuple):
    """A model on a hub at a commit; ``snapshot``: its folder in the cache, if the hub did not
    answer.
    """

    name: str
    commit: str
    snapshot: str = ""


def find_commit(model: str) -> HubModel:
    """Ask the hub for the commit of ``org/name`` or ``org/name@REVISION``. Without a revision that
    of the registry counts, else the main branch.

    If the hub does not answer, the commit is that of the snapshot in the cache. Raises
    ``InputError`` without one, and for a name of another form.
    """
    name, revision = _split(model)
    revision = _known_commit(name, revision, "model") or revision
    try:
        return HubModel(name, _ask(name, revision, "model"))
    except Exception as error:  # of the network, by several libraries
        reason = _reason(error)
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json", revision=revision)
    if not isinstance(config, str):
        raise InputError(
            f"model={model!r}: no local folder, the hub did not give it ({reason}), and no copy is"
            " in the cache; check the name and the network, or give a folder"
        )
    folder = Path(config).parent
    return HubModel(name, folder.name, str(folder))


def require_commit(text: str, kind: Kind = "model") -> tuple[str, str]:
    """Return the name and the whole commit of ``org/name@COMMIT``. Without a commit that of the
    registry counts. The hub is asked only for the rest of a short one that neither the registry
    nor the cache has.

    Raises ``InputError`` without a commit: the content of a branch or a tag may change.
    """
    name, revision = _split(text)
    if commit := _known_commit(name, revision, kind):
        return name, commit
    problem = f"{revision!r} is not one" if revision else "none is given"
    if revision and COMMIT.fullmatch(revision):
        try:
            if (commit := _ask(name, revision, kind)).startswith(revision):
                return name, commit
        except Exception as error:  # of the network, by several libraries
            problem = f"{revision!r} is short, and the hub did not complete it ({_reason(error)})"
    raise InputError(
        f"{text!r} is no local folder, and its content on a hub may change: give {name}@COMMIT,"
        f" with 7 to {DIGITS} hexadecimal digits; {problem}"
    )


def without_commit(path: str) -> str:
    """Return a local path as it is, and a name on a hub without its commit."""
    match = HUB_NAME.fullmatch(path)
    return match["name"] if match and not Path(path).exists() else path


def _split(text: str) -> tuple[str, str | None]:
    match = HUB_NAME.fullmatch(text)
    if not match:
        problem = f"{text!r} is neither a local folder nor a hub name"
        raise InputError(f"{problem}; give org/name, org/name@COMMIT or a folder")
    return match["name"], match["revision"]


def _known_commit(name: str, revision: str | None, kind: Kind) -> str | None:
    """Return the whole commit where it is known without the hub."""
    registered = registry()[name].commit if name in registry() else ""
    if revision is None:
        return registered or None
    if len(revision) == DIGITS or not COMMIT.fullmatch(revision):
        return revision if COMMIT.fullmatch(revision) else None
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = repo_folder_name(repo_id=name, repo_type=kind)
    snapshots = Path(constants.HF_HUB_CACHE, folder, "snapshots").glob("*")
    commits = {registered, *(path.name for path in snapshots)}
    matching = [commit for commit in commits if commit.startswith(revision)]
    return matching[0] if len(matching) == 1 else None


def _ask(name: str, revision: str | None, kind: Kind) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    ask = api.model_info if kind == "model" else api.dataset_info
    return str(ask(name, revision=revision, timeout=SECONDS).sha)


def _reason(error: Exception) -> str:
    return shorten(f"{type(error).__name__}: {error}", REASON)
