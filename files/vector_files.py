"""The files behind a name of word vectors. Reads no vector and needs no gensim."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from files.errors import InputError
from files.packages import PACKAGE, in_package
from files.text import DAMAGE, open_binary

MAPPED = ("words.txt", "vectors.npy", "counts.npy")
PICKLE = b"\x80"


def vector_files(path: str | Path) -> list[Path]:
    """Return the files that ``files.vectors.read_vectors`` reads for ``path``.

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
    ``package:NAME`` the folder of the matrix in an installed package.

    Raises ``InputError`` for a package that is not installed or contains no matrix.
    """
    if str(path).startswith(PACKAGE):
        matrices = in_package(path, (".npy",))
        if not matrices or not indexed_files(matrices[0].parent):
            raise InputError(f"{path} holds no vectors: no .npy beside a .parquet of words")
        return matrices[0].parent
    path = Path(path)
    mapped_folder = path / "vectors"
    return mapped_folder if mapped_folder.is_dir() and not (path / MAPPED[0]).exists() else path


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
