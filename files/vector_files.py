"""The files behind a name of word vectors. Reads no vector and needs no gensim."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from biasbridge.files.data.registry import data_folder, data_path, how_to_get, registry
from biasbridge.files.errors import InputError, nearest
from biasbridge.files.packages import PACKAGE, in_package
from biasbridge.files.text import DAMAGE, open_binary

MAPPED = ("words.txt", "vectors.npy", "counts.npy")
PICKLE = b"\x80"


def vector_files(path: str | Path) -> list[Path]:
    """Return the files that ``biasbridge.files.vectors.read_vectors`` reads for ``path``.

    These are the files of a mapped folder; of gensim's native format the file and the arrays beside
    it (``x.kv``, ``x.kv.vectors.npy``); otherwise the file alone.
    """
    path = locate_vectors(path)
    if indexed := indexed_files(path):
        return indexed
    if path.is_dir():
        return [file for name in MAPPED if (file := path / name).is_file()]
    return [path, *_arrays(path)] if path.is_file() and _starts(path) == PICKLE else [path]


def locate_vectors(path: str | Path) -> Path:
    """Return the path; for a result folder of the store, that of its mapped vectors; for
    ``package:NAME`` the folder of the matrix in an installed package; for the name of registered
    vectors their file in the data folder.

    Raises ``InputError`` for a package that is not installed or contains no matrix, and as
    ``find_registered`` does.
    """
    if str(path).startswith(PACKAGE):
        matrices = in_package(path, (".npy",))
        if not matrices or not indexed_files(matrices[0].parent):
            raise InputError(f"{path} holds no vectors: no .npy beside a .parquet of words")
        return matrices[0].parent
    path = find_registered(path) or Path(path)
    mapped_folder = path / "vectors"
    return mapped_folder if mapped_folder.is_dir() and not (path / MAPPED[0]).exists() else path


def find_registered(name: str | Path) -> Path | None:
    """Return the file of registered vectors, or of a variant of them (``NAME (gensim)``); None for
    an existing file, a package and a name that is not registered.

    Raises ``InputError`` if the file is not in the data folder, with the command that brings it,
    and for a name that is nearly a registered one.
    """
    name = str(name)
    if name.startswith(PACKAGE) or Path(name).exists():
        return None
    targets = {each.name: each.targets[0] for each in registry().values() if each.kind == "vectors"}
    variants = [
        targets[other]
        for other in sorted(targets, key=len)
        if other == name or other.startswith(f"{name} (")
    ]
    if variants:
        present = [target for target in variants if (data_folder() / target).exists()]
        return Path(data_path([*present, *variants][0]))
    named = [other for other in targets if Path(targets[other]).name == Path(name).name]
    if named:  # the file of the authors
        raise InputError(f"no such file: {name}{how_to_get(targets[named[0]])}")
    looks_like_path = "/" in name or Path(name).suffix[1:].isalpha()
    if not looks_like_path and (hint := nearest(name, targets)):
        raise InputError(f"no such file: {name}{hint}; biasbridge data lists vectors by name")
    return None


def indexed_files(folder: Path) -> list[Path]:
    """Return the matrix and the word table of a folder that has one of each and is not mapped."""
    if not folder.is_dir() or (folder / MAPPED[0]).exists():
        return []
    listings = [sorted(folder.glob(ending)) for ending in ("*.npy", "*.parquet")]
    return [paths[0] for paths in listings] if all(len(paths) == 1 for paths in listings) else []


def _arrays(path: Path) -> list[Path]:
    siblings = path.parent.glob(f"{escape(path.name)}.*")
    return sorted(file for file in siblings if file.suffix in (".npy", ".npz"))


def _starts(path: Path) -> bytes:
    try:
        with open_binary(path) as raw:
            return raw.read(1)
    except DAMAGE:
        return b""
