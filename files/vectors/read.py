"""Reading of word vectors of every common format as gensim ``KeyedVectors``."""

from __future__ import annotations

from pathlib import Path

from gensim.models import KeyedVectors, Word2Vec

from biasbridge.files.errors import InputError
from biasbridge.files.vector_files import locate_vectors
from biasbridge.files.vectors.binary import read_binary_blocks
from biasbridge.files.vectors.blocks import (
    OddRows,
    check_blocks,
    gather,
    keyed,
    refuse_nonfinite,
    sound,
)
from biasbridge.files.vectors.detect import detect_layout
from biasbridge.files.vectors.fasttext import read_fasttext
from biasbridge.files.vectors.indexed import read_indexed
from biasbridge.files.vectors.mapped import open_mapped
from biasbridge.files.vectors.text import read_text_blocks

CONCEPT, ENGLISH = "/c/", "/c/en/"
BLOCK_READERS = {
    "word2vec_text": read_text_blocks,
    "glove": read_text_blocks,
    "word2vec_binary": read_binary_blocks,
}


def read_vectors(path: str | Path, *, trusted: bool = False) -> KeyedVectors:
    """Read the word vectors of a file or folder, in the file's order.

    The content decides the format: word2vec text or binary, GloVe, fastText .vec or .bin (the
    latter gives ``FastTextKeyedVectors``), a mapped folder or the store's result folder with one,
    a folder of a matrix and the table of its words, ``package:NAME`` for such a folder in an
    installed package, or gensim's own pickle. Text and binary may be .gz, .bz2 or .xz, or the only
    file of a .zip. Zero vectors are allowed. Blank words and later rows of a repeated word are left
    out, and a header may be off by one row: ``reading_notes`` counts them. Of ConceptNet's concepts
    (``/c/en/word``, ``/c/es/palabra``) the English ones are read, without their prefix.

    trusted: open gensim's own pickle, which can run code.

    Raises ``InputError`` with the file and the line or word if the file is missing, empty,
    truncated, in no known format, disagrees with its header, holds NaN, infinite or ragged rows, a
    word that is not UTF-8.
    """
    path = locate_vectors(path)
    layout = detect_layout(path)
    if layout.format in BLOCK_READERS:
        odd = OddRows(path)
        blocks = BLOCK_READERS[layout.format](path, layout, odd)
        return odd.note(_take_english(gather(check_blocks(blocks, odd)), odd))
    if layout.format == "indexed":
        return read_indexed(path)
    if layout.format == "mapped":
        vectors = open_mapped(path)
    elif layout.format == "gensim":
        vectors = sound(_read_gensim(path, trusted), OddRows(path))
    else:
        vectors = read_fasttext(path)
    refuse_nonfinite(vectors.index_to_key, vectors.vectors, path)
    return vectors


def _take_english(vectors: KeyedVectors, odd: OddRows) -> KeyedVectors:
    """Return the English words of ConceptNet's concepts; other vectors unchanged."""
    concepts = vectors.index_to_key
    rows = [row for row, concept in enumerate(concepts) if concept.startswith(ENGLISH)]
    if not rows or not all(concept.startswith(CONCEPT) for concept in concepts):
        return vectors
    words = [concepts[row].removeprefix(ENGLISH) for row in rows]
    odd.words[f"with the prefix {ENGLISH}, read without it; other languages left out"] = words
    return keyed(words, vectors.vectors[rows])


def _read_gensim(path: Path, trusted: bool) -> KeyedVectors:
    if not trusted:
        raise InputError(
            f"{path} is a Python pickle (gensim's own format), which can run any code when opened;"
            " if you know who wrote it give --trusted (embedding.trusted=true in a run,"
            " words.trusted=true for words.neighbours, trusted=True in Python), or save it with"
            " save_word2vec_format"
        )
    try:
        loaded: object = KeyedVectors.load(str(path), mmap="r")
    except Exception as error:  # a pickle may raise anything
        reason = f"gensim cannot load it ({type(error).__name__}: {error})"
        raise InputError(f"{path}: {reason}; save it again with this gensim") from error
    vectors = loaded.wv if isinstance(loaded, Word2Vec) else loaded
    if not isinstance(vectors, KeyedVectors):
        problem = f"{path} holds a {type(vectors).__name__}, not word vectors"
        raise InputError(f"{problem}; save the model's .wv")
    return vectors
