"""The files behind a name of word vectors, and their format. Needs no gensim."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from biasbridge.files.data.registry import data_folder, data_path, how_to_get, registry
from biasbridge.files.errors import InputError, nearest
from biasbridge.files.places import CONFIG, PACKAGE, find_model, in_package, nearest_path
from biasbridge.files.text import open_binary

_MAPPED = ("words.txt", "vectors.npy", "counts.npy")
_FORMATS = (
    *("word2vec_text", "glove", "word2vec_binary", "mapped", "indexed", "fasttext_binary"),
    "gensim",
)
_FASTTEXT_MAGIC = b"\xba\x16\x4f\x2f"  # int32 793712314, little-endian
_SAMPLE = 1 << 20  # bytes
_MAX_DIM = 50_000
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(\d{1,15})[ \t]+(\d{1,15})[ \t\r]*")
_NUMBER = re.compile(rb"(?i)[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf|infinity)")
# Of floret: buckets, dimension, lengths of n-grams, number and seed of hashes, marks of a word
_FLORET = re.compile(rb"\d+ \d+ \d+ \d+ \d+ \d+ \S+ \S+\s*")
_NUMBERISH = re.compile(rb"[0-9.,eE+-]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_SAFETENSORS = re.compile(rb".{8}\{", re.DOTALL)  # the length of its header, in JSON
_OTHER_FORMATS = {
    b"\x1f\x8b": "is gzip-compressed: give it the suffix .gz",
    b"BZh": "is bzip2-compressed: give it the suffix .bz2",
    b"\xfd7zXZ": "is xz-compressed: give it the suffix .xz",
    b"PK\x03\x04": "is a zip archive: give it the suffix .zip",
    b"\x93NUMPY": "is a bare matrix without words: give the folder that holds it beside words.txt",
    b"\x89HDF": "is an HDF5 file: export its vectors as word2vec text",
}


def vector_files(path: str | Path) -> list[Path]:
    """Return the files that ``biasbridge.files.vectors.read_vectors`` reads for ``path``.

    These are the files of a mapped folder; of gensim's native format the file and the arrays beside
    it (``x.kv``, ``x.kv.vectors.npy``); otherwise the file alone.
    """
    path = locate_vectors(path)
    if indexed := indexed_files(path):
        return indexed
    if path.is_dir():
        return [file for name in _MAPPED if (file := path / name).is_file()]
    if not path.is_file() or not _is_pickle(path):
        return [path]
    siblings = path.parent.glob(f"{escape(path.name)}.*")
    return [path, *sorted(file for file in siblings if file.suffix in (".npy", ".npz"))]


def locate_vectors(path: str | Path) -> Path:
    """Return the path; for a result folder of the store, that of its mapped vectors; for
    ``package:NAME`` the folder of the matrix in an installed package; for the name of registered
    vectors their file in the data folder.

    Raises ``InputError`` for a package that is not installed or contains no matrix, and as
    ``find_registered`` does.
    """
    if str(path).startswith(PACKAGE):
        matrices = in_package(path, (".npy",))
        if not matrices or not indexed_files(matrices[0].parent):
            raise InputError(f"{path} holds no vectors: no .npy beside a .parquet of words")
        return matrices[0].parent
    path = find_registered(path) or Path(path)
    mapped_folder = path / "vectors"
    return mapped_folder if mapped_folder.is_dir() and not (path / _MAPPED[0]).exists() else path


def find_registered(name: str | Path) -> Path | None:
    """Return the file of registered vectors, or of a variant of them (``NAME (gensim)``); None for
    an existing file, a package and a name that is not registered.

    Raises ``InputError`` if the file is not in the data folder, with the command that brings it,
    and for a name that is nearly a registered one.
    """
    name = str(name)
    if name.startswith(PACKAGE) or Path(name).exists():
        return None
    vectors = [dataset for dataset in registry().values() if dataset.kind == "vectors"]
    targets = {dataset.name: dataset.targets[0] for dataset in vectors}
    if variants := [targets[other] for other in _variants(name, targets)]:
        present = [target for target in variants if (data_folder() / target).exists()]
        return Path(data_path([*present, *variants][0]))
    named = [other for other in targets if Path(targets[other]).name == Path(name).name]
    if named:  # the file of the authors
        raise InputError(f"no such file: {name}{how_to_get(targets[named[0]])}")
    looks_like_path = "/" in name or Path(name).suffix[1:].isalpha()
    if not looks_like_path and (hint := nearest(name, targets)):
        raise InputError(f"no such file: {name}{hint}; biasbridge data lists vectors by name")
    if not looks_like_path and (hint := _package_hint(name)):
        raise InputError(f"no such file or folder: {name}{hint}")
    return None


def _variants(name: str, registered: Iterable[str]) -> list[str]:
    """Return the registered names that ``name`` stands for, the shortest first."""
    return [
        other
        for other in sorted(registered, key=len)
        if other == name or other.startswith(f"{name} (")
    ]


def _package_hint(name: str) -> str:
    """Return ``"; did you mean 'package:NAME'?"`` if an installed package of that name has a model
    or vectors, else an empty text.
    """
    for find in (find_model, locate_vectors):
        with suppress(InputError):
            find(f"{PACKAGE}{name}")
            return f"; did you mean {PACKAGE + name!r}?"
    return ""


def require_there(name: str) -> None:
    """Raise ``InputError`` for the path of nothing, or of a folder without vectors and model."""
    path = Path(name)
    if path.is_dir():
        detect_format(path)
    elif not (path.exists() or name.startswith(PACKAGE) or _variants(name, registry())):
        raise InputError(
            f"no such file or folder: {name}{_package_hint(name) or nearest_path(name)}"
        )


def indexed_files(folder: Path) -> list[Path]:
    """Return the matrix and the word table of a folder that has one of each and is not mapped."""
    if not folder.is_dir() or (folder / _MAPPED[0]).exists():
        return []
    listings = [sorted(folder.glob(ending)) for ending in ("*.npy", "*.parquet")]
    return [paths[0] for paths in listings] if all(len(paths) == 1 for paths in listings) else []


@dataclass(frozen=True)
class VectorLayout:
    """A format of ``FORMATS``; for text and binary the dimension, and the row count of a header."""

    format: str
    dim: int = 0
    count: int | None = None


def detect_format(path: str | Path) -> str:
    """Return the format of ``path``, one of ``FORMATS``. Raises ``InputError`` for no vectors."""
    return detect_layout(locate_vectors(path)).format


def detect_layout(path: Path) -> VectorLayout:
    """Return the format of ``path``, and the shape that its first lines give."""
    if path.is_dir():
        if (path / "words.txt").is_file() and (path / "vectors.npy").is_file():
            return VectorLayout("mapped")
        if indexed_files(path):
            return VectorLayout("indexed")
        raise InputError(
            f"{path} holds neither vectors nor a model: a folder of vectors has words.txt and"
            f" vectors.npy, a model's folder has {CONFIG}"
        )
    with open_binary(path) as raw:
        sample = raw.read(_SAMPLE)
    if not sample:
        raise InputError(f"{path} is empty")
    for magic, remedy in _OTHER_FORMATS.items():
        if sample.startswith(magic):
            raise InputError(f"{path} {remedy}")
    if sample.startswith(_FASTTEXT_MAGIC):
        return VectorLayout("fasttext_binary")
    if sample[0] == 0x80 and sample[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return VectorLayout("gensim")
    first_line, _, rows = sample.partition(b"\n")
    header = _HEADER.fullmatch(first_line)
    if header:
        return _with_header(path, int(header[1]), int(header[2]), rows)
    return _without_header(path, first_line)


def is_number(token: bytes) -> bool:
    """Test whether the token spells a float, NaN and infinity included."""
    return _NUMBER.fullmatch(token) is not None


def _is_pickle(path: Path) -> bool:
    with open_binary(path) as raw:
        return raw.read(1) == b"\x80"


def _with_header(path: Path, count: int, dim: int, rows: bytes) -> VectorLayout:
    if not count or not 0 < dim <= _MAX_DIM:
        problem = f"the header promises {count} vectors of dimension {dim}"
        allowed = f"allowed are 1 or more, of dimension 1 to {_MAX_DIM}"
        raise InputError(f"{path}: {problem}; {allowed}")
    row = rows.partition(b"\n")[0]
    # A text row ends in dim numbers; a broken one still looks mostly like numbers, unlike raw
    # float32.
    tokens = row.split()[1:]
    n_numberish = sum(_NUMBERISH.fullmatch(token) is not None for token in tokens)
    is_text = _trailing_numbers(row) == dim or 0 < len(tokens) <= 2 * n_numberish
    return VectorLayout("word2vec_text" if is_text else "word2vec_binary", dim, count)


def _without_header(path: Path, first_line: bytes) -> VectorLayout:
    dim = _trailing_numbers(first_line)
    if not 0 < dim <= _MAX_DIM:
        as_text = "give the vectors as text, a word and its numbers a line"
        if _FLORET.fullmatch(first_line):
            problem = "is floret's table of hashed sub-words, which names no words"
            raise InputError(f"{path} {problem}; {as_text} (floret print-word-vectors)")
        if _CONTROLS.search(first_line):
            kind = "safetensors" if _SAFETENSORS.match(first_line) else "as GloVe's raw .bin"
            raise InputError(f"{path} holds binary numbers without words ({kind}); {as_text}")
        start = first_line[:40].decode("utf-8", "backslashreplace")
        raise InputError(
            f"{path} holds no word vectors: line 1 starts '{start}', not with a word and its"
            " numbers nor with 'COUNT DIMENSION'"
        )
    return VectorLayout("glove", dim)


def _trailing_numbers(row: bytes) -> int:
    """Count the numbers at the end of a row, without its word, which may be blank."""
    backwards = row.split()[::-1] if row[:1].isspace() else row.split()[:0:-1]
    return next((n for n, token in enumerate(backwards) if not is_number(token)), len(backwards))
