"""A ``.npy`` matrix with a ``.parquet`` table of its words, the form of installed packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.files.errors import InputError
from biasbridge.files.vector_files import indexed_files
from biasbridge.files.vectors.blocks import OddRows, keyed

if TYPE_CHECKING:
    from pathlib import Path

    from gensim.models import KeyedVectors


def read_indexed(folder: Path) -> KeyedVectors:
    """Read the vectors of a folder; the table's only column of text holds the word of each row.
    Raises ``InputError`` if matrix and table do not match.
    """
    matrix_file, index_file = indexed_files(folder)
    try:
        index = pd.read_parquet(index_file)
        matrix = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{folder} holds damaged vectors: {error}; install it again") from None
    columns = [column.tolist() for _, column in index.items()]
    texts = [column for column in columns if all(isinstance(cell, str) for cell in column)]
    if len(texts) != 1:
        problem = f"{index_file} has {len(texts)} columns of text"
        raise InputError(f"{problem}; it needs one, of words")
    [words] = texts
    if matrix.ndim != 2 or len(matrix) != len(words):
        shape = " x ".join(map(str, matrix.shape))
        raise InputError(f"{matrix_file} is {shape}, and {index_file.name} has {len(words)} words")
    odd = OddRows(index_file)
    rows = odd.select(words, set())
    if not np.isfinite(matrix[rows]).all():
        raise InputError(f"{matrix_file} has numbers that are not finite")
    names = [words[row] for row in rows]
    return odd.note(keyed(names, np.asarray(matrix[rows], dtype=np.float32)))
