r"""The project's own format: a folder that opens fast and whose matrix all processes share.

``words.txt`` holds one word a line (UTF-8; only ``\n`` ends a line), ``vectors.npy`` a float32
matrix with one row a word, and ``counts.npy``, if there, the words' corpus counts (int64).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasbridge.files.atomic import atomic_path
from biasbridge.files.errors import InputError
from biasbridge.files.vectors.blocks import (
    Block,
    Counts,
    OddRows,
    encode,
    keyed,
    sound,
    split_blocks,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


REWRITE = "write it again with save_mapped"


def save_mapped(vectors: KeyedVectors, folder: str | Path) -> None:
    """Write the vocabulary's vectors, and gensim's 'count' if set, as a new mapped folder.

    Raises ``InputError`` for a folder that exists and is not empty, for NaN or infinite values, and
    for words with a newline.
    """
    folder = Path(folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder} exists; give a new folder, or delete it first")
    with atomic_path(folder) as work:
        counts = vectors.expandos.get("count")
        write_folder(split_blocks(vectors, folder), work, counts=counts)


def open_mapped(folder: str | Path) -> KeyedVectors:
    """Open a mapped folder; the matrix is read-only and stays on disk until used.

    Raises ``InputError`` if a file is missing or damaged or if words and rows do not match. Only
    ``read_vectors`` checks the values; those that this project wrote are finite.
    """
    folder = Path(folder)
    try:
        words = (folder / "words.txt").read_bytes().decode("utf-8").split("\n")
        matrix = _map(folder / "vectors.npy")
        counts = _map(folder / "counts.npy") if (folder / "counts.npy").exists() else None
    except Exception as error:  # numpy evaluates the header as Python, which may raise anything
        reason = f"{type(error).__name__}: {error}"
        damage = f"{folder} is no mapped folder of vectors or is damaged ({reason})"
        raise InputError(f"{damage}; {REWRITE}") from error
    if words.pop() != "" or not words:
        raise InputError(f"{folder}: words.txt is cut, its last line has no end; {REWRITE}")
    if counts is not None and counts.dtype.kind not in "iu":
        raise InputError(f"{folder}: counts.npy is {counts.dtype}; allowed are whole numbers")
    is_matrix = matrix.ndim == 2 and matrix.shape[1] > 0 and matrix.flags.c_contiguous
    if not is_matrix or matrix.dtype != np.float32:
        kind = f"vectors.npy is {matrix.dtype} of shape {matrix.shape}"
        raise InputError(f"{folder}: {kind}; allowed is a float32 matrix in C order")
    if len(words) != len(matrix) or (counts is not None and counts.shape != (len(words),)):
        rows = f"{len(words)} words, {len(matrix)} vectors"
        rows += "" if counts is None else f", counts of shape {counts.shape}"
        raise InputError(f"{folder}: its files do not match ({rows}); {REWRITE}")
    vectors = keyed(words, matrix, counts)
    is_repeated = len(vectors.key_to_index) < len(words)
    return sound(vectors, OddRows(folder)) if is_repeated else vectors


def write_folder(blocks: Iterable[Block], folder: Path, *, counts: Counts | None = None) -> None:
    """Stream blocks into a new mapped folder; one block is in memory."""
    folder.mkdir(parents=True)
    count, dim = 0, 0
    with (folder / "words.txt").open("wb") as names, (folder / "vectors.npy").open("wb") as matrix:
        for words, rows in blocks:
            if not count:
                dim = rows.shape[1]
                _write_header(matrix, 0, dim)
            names.write(_lines(words, folder))
            matrix.write(np.ascontiguousarray(rows, dtype="<f4").data)
            count += len(words)
        matrix.seek(0)
        _write_header(matrix, count, dim)
    if counts is not None:
        np.save(folder / "counts.npy", np.asarray(counts, dtype="<i8"), allow_pickle=False)


def _map(path: Path) -> NDArray[Any]:
    """Map a ``.npy`` file read-only; numpy refuses Python objects: nothing is unpickled."""
    return np.lib.format.open_memmap(path, mode="r").view(np.ndarray)


def _write_header(out: IO[bytes], count: int, dim: int) -> None:
    """Write the .npy header, padded so that the final one, with more rows, replaces it."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (count, dim)}
    np.lib.format.write_array_header_1_0(out, header)


def _lines(words: list[str], folder: Path) -> bytes:
    for word in words:
        if "\n" in word:
            problem = f"the word {word!r} holds a newline, which ends a word in words.txt"
            raise InputError(f"{folder}: {problem}; rename or drop it")
    return encode("".join(f"{word}\n" for word in words), folder)
