"""Word vectors in every common format, read and written as gensim ``KeyedVectors``."""

from biasbridge.files.vectors.blocks import checked, keyed, reading_notes, with_matrix
from biasbridge.files.vectors.detect import detect_format
from biasbridge.files.vectors.mapped import open_mapped, save_mapped
from biasbridge.files.vectors.read import read_vectors
from biasbridge.files.vectors.write import WRITABLE, require_writable, save_vectors

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
