"""Word vectors in every common format, read and written as gensim ``KeyedVectors``."""

from files.vectors.blocks import checked, keyed, reading_notes, with_matrix
from files.vectors.detect import detect_format
from files.vectors.mapped import open_mapped, save_mapped
from files.vectors.read import read_vectors
from files.vectors.write import WRITABLE, require_writable, save_vectors

__all__ = [
    "WRITABLE",
    "checked",
    "detect_format",
    "keyed",
    "open_mapped",
    "read_vectors",
    "reading_notes",
    "require_writable",
    "save_mapped",
    "save_vectors",
    "with_matrix",
]
