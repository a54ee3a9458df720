"""Where a model lies: a local folder, an installed package, or a hub; and the files that decide it.

Loads no library.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from files.errors import InputError
from files.hub import require_commit
from files.nested import read_nested
from files.packages import PACKAGE, in_package

CONFIG = "config.json"
READ = (
    ".json",
    ".safetensors",
    ".txt",
    ".model",
    ".gguf",
)  # what a model and tokenizer are read from
GGUF = ".gguf"
INDEX = ".index.json"  # of weights in several files


class Place(NamedTuple):
    """Where a model is loaded from.

    source: a folder, or a name on a hub, then with the commit ``revision``. gguf: the file in the
    folder, where the weights are in that format.
    """

    source: str
    revision: str | None = None
    gguf: str | None = None

    @property
    def local(self) -> bool:
        """Whether it is a folder here."""
        return self.revision is None

    def files(self) -> list[Path]:
        """The files of a local model that decide what it computes; none of one on a hub."""
        if not self.local:
            return []
        if self.gguf:
            return [Path(self.source) / self.gguf]
        return sorted(path for path in Path(self.source).iterdir() if path.suffix in READ)


def find_model(model: str, revision: str | None = None) -> Place:
    """The place of a model: a folder that ``save_pretrained`` wrote, ``package:NAME`` for the model
    inside an installed package, or a hub name with its commit.

    Raises ``InputError`` for a path that leads to no model, a package that is not installed or
    holds none, a folder that names weights elsewhere, and a hub name without a commit.
    """
    if model.startswith(PACKAGE):
        place = _in_package(model)
    elif is_folder(model):
        place = Place(model)
    else:
        return Place(model, require_commit(model, revision))
    _require_own_weights(Path(place.source))
    return place


def _require_own_weights(folder: Path) -> None:
    """Raise ``InputError`` where a folder names weights that do not lie in it themselves: they
    would be read, and be no part of what is said to decide the model.
    """
    for path in (folder / CONFIG, *sorted(folder.glob(f"*{INDEX}"))):
        try:
            content = read_nested(path) if path.is_file() else None
        except InputError as error:
            remedy = "give its files as save_pretrained wrote them"
            raise InputError(
                f"model={str(folder)!r} cannot be loaded ({error}); {remedy}"
            ) from None
        content = content if isinstance(content, Mapping) else {}
        shards = content.get("weight_map")
        named = {content.get("transformers_weights", "any.safetensors")}
        named |= set(map(str, shards.values())) if isinstance(shards, Mapping) else set()
        for name in sorted(map(str, named)):
            if name != Path(name).name or Path(name).suffix not in READ:
                remedy = f"lay them beside it, in files that end in {', '.join(READ)}"
                raise InputError(f"{path} names weights in {name!r}; {remedy}")


def is_folder(model: str) -> bool:
    """Whether a model is a local folder, and not a name on a hub.

    Raises ``InputError`` for a path that leads to no folder with a model.
    """
    path = Path(model)
    if (path / CONFIG).is_file():
        return True
    written_as_path = model.startswith((".", "/", "~")) or model.count("/") > 1
    if path.exists() or written_as_path:
        why = f"has no {CONFIG}" if path.is_dir() else "is no folder"
        remedy = "give one that save_pretrained wrote, with tokenizer, or a hub name"
        raise InputError(f"model={model!r} {why}; {remedy}")
    return False


def names_model(text: str) -> bool:
    """Whether a path, or ``package:NAME``, leads to a model, and not to a file of vectors."""
    return bool(in_package(text, (CONFIG, GGUF))) or (Path(text) / CONFIG).is_file()


def _in_package(model: str) -> Place:
    for path in in_package(model, (CONFIG, GGUF)):
        if path.suffix == GGUF:
            return Place(str(path.parent), gguf=path.name)
        if any(path.parent.glob("*.safetensors")):
            return Place(str(path.parent))
    raise InputError(f"{model} holds no model: no {CONFIG} beside *.safetensors, no {GGUF}")
