"""The place of a model (a local folder, an installed package, or a hub) and its files.

Loads no library.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from biasbridge.files.errors import InputError
from biasbridge.files.hub import HUB_NAME, require_commit
from biasbridge.files.nested import read_nested
from biasbridge.files.packages import PACKAGE, in_package

CONFIG = "config.json"
ADAPTER = "adapter"  # folder of low-rank adapters, in that of the model
TEMPLATES = "chat_templates"  # folder of named ones
MODEL_SUFFIXES = (".json", ".safetensors", ".txt", ".model", ".gguf", ".jinja")  # and of tokenizers
GGUF = ".gguf"
INDEX = ".index.json"  # of weights in several files
# A name that ends so is of a file, and not on a hub
FILE_SUFFIXES = (
    *(".vec", ".txt", ".bin", ".gz", ".zip", ".kv", ".model", ".npy", ".csv", ".tsv"),
    *(".json", ".yaml", ".yml", ".safetensors", GGUF),
)


class Place(NamedTuple):
    """The place that a model is loaded from.

    source: a folder, or a name on a hub, then with the commit ``revision``. gguf: the file in the
    folder, if the weights are in that format.
    """

    source: str
    revision: str | None = None
    gguf: str | None = None

    @property
    def local(self) -> bool:
        """True for a local folder."""
        return self.revision is None

    def files(self) -> list[Path]:
        """Return the files that decide what a local model computes; none of one on a hub."""
        if not self.local:
            return []
        if self.gguf:
            return [Path(self.source) / self.gguf]
        folders = [Path(self.source), *(Path(self.source) / name for name in (ADAPTER, TEMPLATES))]
        paths = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
        return sorted(path for path in paths if path.suffix in MODEL_SUFFIXES)


def find_model(model: str) -> Place:
    """Find a model: a folder that ``save_pretrained`` wrote, ``package:NAME`` for the model inside
    an installed package, or a hub name with its commit, ``org/name@COMMIT``.

    Raises ``InputError`` for a path without a model, a package that is not installed or contains no
    model, a folder that names weights elsewhere, and a hub name without a commit.
    """
    if model.startswith(PACKAGE):
        place = _in_package(model)
    elif is_folder(model):
        place = Place(model)
    else:
        return Place(*require_commit(model))
    _require_own_weights(Path(place.source))
    return place


def _require_own_weights(folder: Path) -> None:
    """Raise ``InputError`` if a folder names weights outside it: they would be read without being
    among ``Place.files``.
    """
    adapter = folder / ADAPTER
    if (adapter / "adapter_config.json").is_file() and not any(adapter.glob("*.safetensors")):
        raise InputError(f"{adapter} has no adapter_model.safetensors; save the adapter as such")
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
        weight_files = {content.get("transformers_weights", "any.safetensors")}
        weight_files |= set(map(str, shards.values())) if isinstance(shards, Mapping) else set()
        for name in sorted(map(str, weight_files)):
            if name != Path(name).name or Path(name).suffix not in MODEL_SUFFIXES:
                remedy = f"put them beside it, in files that end in {', '.join(MODEL_SUFFIXES)}"
                raise InputError(f"{path} names weights in {name!r}; {remedy}")


def is_folder(model: str) -> bool:
    """Test whether a model is a local folder, and not a name on a hub.

    Raises ``InputError`` for a path to no folder with a model.
    """
    path = Path(model)
    if (path / CONFIG).is_file():
        return True
    written_as_path = model.startswith((".", "/", "~")) or model.count("/") > 1
    if path.exists() or written_as_path:
        problem = f"has no {CONFIG}" if path.is_dir() else "is no folder"
        remedy = "give one that save_pretrained wrote, with tokenizer, or a hub name"
        raise InputError(f"model={model!r} {problem}; {remedy}")
    return False


def is_model_path(text: str) -> bool:
    """Test whether a path, ``package:NAME`` or hub name is that of a model, and not of vectors."""
    is_local = bool(in_package(text, (CONFIG, GGUF))) or (Path(text) / CONFIG).is_file()
    return is_local or is_hub_name(text)


def is_hub_name(text: str) -> bool:
    """Test whether a text is ``org/name`` or ``name@COMMIT``, and nothing local is meant."""
    if not HUB_NAME.fullmatch(text) or not {"/", "@"} & {*text}:
        return False
    return Path(text).suffix.lower() not in FILE_SUFFIXES and not Path(Path(text).parts[0]).exists()


def _in_package(model: str) -> Place:
    for path in in_package(model, (CONFIG, GGUF)):
        if path.suffix == GGUF:
            return Place(str(path.parent), gguf=path.name)
        if any(path.parent.glob("*.safetensors")):
            return Place(str(path.parent))
    raise InputError(f"{model} holds no model: no {CONFIG} beside *.safetensors, no {GGUF}")
