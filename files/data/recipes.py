"""Corpora built from files of others: the texts of each format, the two cleanings, the whole.

A corpus is a text per line. Its digest is that of the lines, not of the compressed file, whose
bytes differ between versions of the compressor.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import html
import io
import json
import lzma
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from biasbridge.files.data.registry import DataSet, corpus_target
from biasbridge.files.errors import InputError
from biasbridge.files.paths import atomic_path

_MIN_WORDS = 3  # of a post
_LETTER = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]")
_MARK = re.compile(r"[@#<]|https?://", re.IGNORECASE)  # begins what is not a word
_RETWEET = re.compile(r"^rt\s+")
_HANDLE_OR_LINK = re.compile(r"@[a-z0-9_]+|https?://\S+")
_NOT_IN_KEY = re.compile("[^a-z0-9\u00df-\u00f6\u00f8-\u00ff]+")
_XZ = b"\xfd7zXZ\0"
_PRESET = 6  # of xz: half a minute for 8 million tokens

RecipeFormat = Mapping[str, Any]


def _read_texts(content: bytes, form: RecipeFormat) -> Iterator[str]:
    """Yield the texts of a file in its order.

    ``form`` is a source's ``format``: its ``type`` is a name in ``_READERS``, ``gzip`` or ``zip``;
    ``inner`` is the format of what these hold, ``member`` and ``exclude`` are patterns of members.
    """
    kind = form["type"]
    if kind == "gzip":
        yield from _read_texts(gzip.decompress(content), form["inner"])
    elif kind == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in sorted(archive.namelist(), key=str.encode):
                left_out = any(fnmatchcase(name, pattern) for pattern in form.get("exclude", ()))
                if fnmatchcase(name, form["member"]) and not (left_out or name.endswith("/")):
                    yield from _read_texts(archive.read(name), form["inner"])
    else:
        text = content.decode(form.get("encoding", "utf-8"), form.get("errors", "strict"))
        yield from _READERS[kind](text, form)


def _read_lines(text: str, form: RecipeFormat) -> Iterator[str]:
    yield from text.split("\n")


def _read_whole(text: str, form: RecipeFormat) -> Iterator[str]:
    yield text


def _read_tagged(text: str, form: RecipeFormat) -> Iterator[str]:
    """Read one text of tokens ``word/tag``."""
    yield " ".join(token.rsplit("/", 1)[0] for token in text.split())


def _read_column(text: str, form: RecipeFormat) -> Iterator[str]:
    """Read a column, by name or number, of the rows whose cells are as ``where`` says."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if form.get("quoted", True) else csv.QUOTE_NONE
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=form.get("delimiter", ","), quoting=quoting
    )
    header = next(rows) if form.get("header", True) else []

    def place(column: int | str) -> int:
        return column if isinstance(column, int) else header.index(column)

    column = place(form["column"])
    where = [(place(name), cell) for name, cell in form.get("where", {}).items()]
    for row in rows:
        if len(row) > column and all(row[other] == cell for other, cell in where):
            yield row[column]


def _read_json_lines(text: str, form: RecipeFormat) -> Iterator[str]:
    """Read fields that are texts or lists of texts."""
    for line in filter(str.strip, text.split("\n")):
        record = json.loads(line)
        for name in form["fields"]:
            yield from [record[name]] if isinstance(record[name], str) else record[name]


def _read_json_tokens(text: str, form: RecipeFormat) -> Iterator[str]:
    for line in filter(str.strip, text.split("\n")):
        yield " ".join(json.loads(line)[form["field"]])


def _read_conll(text: str, form: RecipeFormat) -> Iterator[str]:
    """Read tokens in the first column, with empty lines between texts."""
    tokens: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            tokens.append(line.split("\t")[0])
        elif tokens:
            yield " ".join(tokens)
            tokens = []


_READERS: Mapping[str, Callable[[str, RecipeFormat], Iterator[str]]] = {
    "lines": _read_lines,
    "whole": _read_whole,
    "tagged": _read_tagged,
    "csv": _read_column,
    "jsonl": _read_json_lines,
    "jsonl-tokens": _read_json_tokens,
    "conll": _read_conll,
}


def _clean_documents(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text with its white space squeezed."""
    for text in texts:
        yield " ".join(text.split())


def _clean_posts(texts: Iterable[str]) -> Iterator[str]:
    """Yield posts of at least ``_MIN_WORDS`` words, each once.

    Entities are unescaped twice, white space is squeezed. A word has a Latin letter and begins with
    no handle, hashtag, mark or link. Two posts are copies if their letters and digits are equal
    without ``rt``, handles and links.
    """
    seen = set()
    for text in texts:
        line = " ".join(html.unescape(html.unescape(text)).split())
        words = (word for word in line.split() if _LETTER.search(word) and not _MARK.match(word))
        if sum(1 for _ in words) < _MIN_WORDS:
            continue
        key = _NOT_IN_KEY.sub("", _HANDLE_OR_LINK.sub("", _RETWEET.sub("", line.lower())))
        if key not in seen:
            seen.add(key)
            yield line


_CLEANINGS = {"documents": _clean_documents, "tweets": _clean_posts}


def _corpus_lines(corpus: DataSet, folder: Path) -> Iterator[str]:
    """Yield the lines of a corpus whose sources lie below ``folder``."""
    assert corpus.recipe
    return _CLEANINGS[corpus.recipe["cleaning"]](_source_texts(corpus, folder))


def _source_texts(corpus: DataSet, folder: Path) -> Iterator[str]:
    assert corpus.recipe
    for source in corpus.recipe["sources"]:
        files = _list_files(folder, source["targets"])
        for path in sorted(files, key=lambda path: path.as_posix().encode()):
            try:
                yield from _read_texts(path.read_bytes(), source["format"])
            except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
                raise InputError(f"{path} is not as its recipe says: {error}") from error


def _list_files(folder: Path, targets: Iterable[str]) -> Iterator[Path]:
    for target in targets:
        path = folder / target
        if target.endswith("/"):
            yield from (member for member in path.rglob("*") if member.is_file())
        else:
            yield path


def build_corpus(corpus: DataSet, folder: Path) -> Path:
    """Build a corpus from its sources below ``folder``, and return where it lies.

    Raises ``InputError`` if its text is not the one that the recipe names.
    """
    target = folder / corpus_target(corpus.name)
    with atomic_path(target) as path, lzma.open(path, "wb", preset=_PRESET) as stream:
        computed = hashlib.sha256()
        for line in _corpus_lines(corpus, folder):
            encoded = f"{line}\n".encode()
            computed.update(encoded)
            stream.write(encoded)
        if difference := _compare(corpus, computed.hexdigest()):
            raise InputError(f"{corpus.name}, built from {folder / 'sources'}, has {difference}")
    return target


def _compare(corpus: DataSet, computed: str) -> str:
    assert corpus.recipe
    expected = corpus.recipe["expected"]["sha256"]
    if computed == expected:
        return ""
    return f"a text of sha256 {computed[:12]} instead of {expected[:12]}"


def is_xz(path: Path) -> bool:
    """Return whether a file is compressed by xz, under any name."""
    with path.open("rb") as stream:
        return stream.read(len(_XZ)) == _XZ


def find_text_difference(corpus: DataSet, path: Path) -> str:
    """Return how the text of a corpus in a file differs from the recipe's; empty if it does not."""
    computed = hashlib.sha256()
    try:
        with lzma.open(path) if is_xz(path) else path.open("rb") as stream:
            while chunk := stream.read(2**20):
                computed.update(chunk)
    except (lzma.LZMAError, EOFError) as error:
        return f"not a whole .xz file: {error}"
    return _compare(corpus, computed.hexdigest())
