"""Word vectors of every common format, read as gensim ``KeyedVectors``."""

from __future__ import annotations

from pathlib import Path

from gensim.models import KeyedVectors, Word2Vec

from files.errors import InputError
from files.vector_files import vectors_at
from files.vectors.binary import binary_blocks
from files.vectors.blocks import checked, gather, refuse_nonfinite
from files.vectors.detect import detect_layout
from files.vectors.fasttext import read_fasttext
from files.vectors.mapped import open_mapped
from files.vectors.text import text_blocks


def read_vectors(path: str | Path, *, trusted: bool = False) -> KeyedVectors:
    """The word vectors of a file or mapped folder, in the file's order.

    The content tells the format: word2vec text or binary, GloVe, fastText .vec or .bin (the latter
    gives ``FastTextKeyedVectors``), a mapped folder or the store's folder of a result that has one,
    or gensim's own pickle, which can run code and is opened only with ``trusted=True``. Text and
    binary may be .gz, .bz2 or .xz. Zero vectors are legal.

    Raises ``InputError``, naming the file and the line or word, when the file is missing, empty,
    cut, in no known format, disagrees with its header, holds NaN, infinite or ragged rows, a word
    twice or a word that is not UTF-8.
    """
    path = vectors_at(path)
    layout = detect_layout(path)
    if layout.format in ("word2vec_text", "glove"):
        return gather(checked(text_blocks(path, layout), path))
    if layout.format == "word2vec_binary":
        return gather(checked(binary_blocks(path, layout), path))
    if layout.format == "mapped":
        vectors = open_mapped(path)
    elif layout.format == "gensim":
        vectors = _read_gensim(path, trusted)
    else:
        vectors = read_fasttext(path)
    refuse_nonfinite(vectors.index_to_key, vectors.vectors, path)
    return vectors


def _read_gensim(path: Path, trusted: bool) -> KeyedVectors:
    """Vectors that gensim saved, alone or inside a model."""
    if not trusted:
        raise InputError(
            f"{path} is a Python pickle (gensim's own format), which can run any code when opened; "
            "pass trusted=True if you know who wrote it, or save it with save_word2vec_format"
        )
    try:
        loaded: object = KeyedVectors.load(str(path), mmap="r")
    except Exception as error:  # a pickle may raise anything
        reason = f"gensim cannot load it ({type(error).__name__}: {error})"
        raise InputError(f"{path}: {reason}; save it again with this gensim") from error
    vectors = loaded.wv if isinstance(loaded, Word2Vec) else loaded
    if not isinstance(vectors, KeyedVectors):
        held = f"{path} holds a {type(vectors).__name__}, not word vectors"
        raise InputError(f"{held}; save the model's .wv")
    return vectors
