"""Word vectors in every common format, read and written as gensim ``KeyedVectors``."""

from files.vectors.blocks import keyed, with_matrix
from files.vectors.detect import detect_format
from files.vectors.mapped import open_mapped, save_mapped
from files.vectors.read import read_vectors
from files.vectors.write import WRITABLE, save_vectors

__all__ = [
    "WRITABLE",
    "detect_format",
    "keyed",
    "open_mapped",
    "read_vectors",
    "save_mapped",
    "save_vectors",
    "with_matrix",
]
