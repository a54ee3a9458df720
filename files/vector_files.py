"""The files that a name of word vectors stands for. Reads no vector and needs no gensim."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from files.text import DAMAGE, open_binary

MAPPED = ("words.txt", "vectors.npy", "counts.npy")
PICKLE = b"\x80"


def vector_files(path: str | Path) -> list[Path]:
    """The files whose bytes decide what ``files.vectors.read_vectors`` gives for ``path``.

    Those of a mapped folder; of gensim's native format the file and the arrays that gensim keeps
    beside it (``x.kv``, ``x.kv.vectors.npy``); else the file alone.
    """
    path = locate_vectors(path)
    if path.is_dir():
        return [file for name in MAPPED if (file := path / name).is_file()]
    return [path, *_arrays(path)] if path.is_file() and _starts(path) == PICKLE else [path]


def locate_vectors(path: str | Path) -> Path:
    """The path, or, for the folder of a result in the store, that of the mapped vectors in it."""
    path = Path(path)
    within = path / "vectors"
    return within if within.is_dir() and not (path / MAPPED[0]).exists() else path


def _arrays(path: Path) -> list[Path]:
    beside = path.parent.glob(f"{escape(path.name)}.*")
    return sorted(file for file in beside if file.suffix in (".npy", ".npz"))


def _starts(path: Path) -> bytes:
    try:
        with open_binary(path) as raw:
            return raw.read(1)
    except DAMAGE:
        return b""
