"""A matrix in ``.npy`` whose rows a ``.parquet`` table names, as installed packages bring it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from files.errors import InputError
from files.vector_files import indexed_files
from files.vectors.blocks import keyed

if TYPE_CHECKING:
    from pathlib import Path

    from gensim.models import KeyedVectors


def read_indexed(folder: Path, vocab: Collection[str] | None = None) -> KeyedVectors:
    """The vectors of a folder: a word for each row is in the table's one column of text. Raises
    ``InputError`` where the two do not fit.
    """
    matrix_file, index_file = indexed_files(folder)
    columns = [column.tolist() for _, column in pd.read_parquet(index_file).items()]
    texts = [each for each in columns if all(isinstance(cell, str) for cell in each)]
    if len(texts) != 1:
        found = f"{index_file} has {len(texts)} columns of text"
        raise InputError(f"{found}; it needs one, of words")
    [words] = texts
    matrix = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
    if matrix.ndim != 2 or len(matrix) != len(words):
        shape = " x ".join(map(str, matrix.shape))
        raise InputError(f"{matrix_file} is {shape}, and {index_file.name} has {len(words)} words")
    if len({*words}) < len(words):
        raise InputError(f"{index_file} has a word twice")
    rows = [row for row, word in enumerate(words) if vocab is None or word in vocab]
    return keyed([words[row] for row in rows], np.asarray(matrix[rows], dtype=np.float32))
