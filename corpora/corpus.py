"""Unlabelled text from files or from anything ``datasets`` reads, to one tokenised sentence a
line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, Literal, get_args

from corpora.sentences import split_sentences, tokenise_words
from corpora.tweets import UNKNOWN, is_retweet, tokenise
from files import InputError, atomic_path, nearest, read_lines

Tokeniser = Literal["tweets", "sentences", "whitespace"]
Lines = list[list[str]]

# Texts that a worker takes at a time: enough for tweets, and not too much where a text is a novel
CHUNK = 100


@dataclass(frozen=True)
class TextCorpus:
    """One text a line from plain, gzip, bzip2 or xz files.

    ``tokeniser``: ``tweets`` (a line is a tweet; lower-cased; see ``corpora.tweets``),
    ``sentences`` (a line is a document, split into sentences) or ``whitespace`` (a line is a
    tokenised sentence). Types with fewer than ``min_count`` occurrences become ``<UNK>``. ``limit``
    reads only the first texts. ``drop_retweets`` leaves out texts that begin with ``RT @``. The
    bytes written do not depend on ``workers``.
    """

    path: str | tuple[str, ...]
    tokeniser: Tokeniser = "tweets"
    min_count: int = 10
    lowercase: bool = False
    drop_retweets: bool = True
    limit: int | None = None
    workers: int = 1
    label: str | None = None

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    generated: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "workers", "label")

    def __post_init__(self) -> None:
        _check(self)

    @property
    def name(self) -> str:
        """Stands for the corpus in the tables: ``label``, or the names of the files without their
        endings.
        """
        return self.label or "+".join(path.name.split(".")[0] for path in self.files())

    def files(self) -> list[Path]:
        """The files read, in order."""
        return [Path(path) for path in ([self.path] if isinstance(self.path, str) else self.path)]

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus and return its counts: texts, lines, tokens, types, unknown (tokens),
        dropped (texts without a token).
        """
        texts = (line for path in self.files() for line in read_lines(path))
        return _write(self, texts, out, " and ".join(map(str, self.files())))


@dataclass(frozen=True)
class DatasetCorpus:
    """A text column of anything ``datasets.load_dataset`` reads, streamed: a hub name, a local
    folder, or a builder such as ``csv``.

    ``data_files`` belongs to builders; ``config`` and ``revision`` to hub data sets. Other fields
    as in ``TextCorpus``. Code that comes with a data set is never run.
    """

    path: str
    config: str | None = None
    data_files: str | tuple[str, ...] | None = None
    revision: str | None = None
    split: str = "train"
    column: str = "text"
    tokeniser: Tokeniser = "sentences"
    min_count: int = 10
    lowercase: bool = False
    drop_retweets: bool = False
    limit: int | None = None
    workers: int = 1
    label: str | None = None

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    generated: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("workers", "label")

    def __post_init__(self) -> None:
        _check(self)

    @property
    def name(self) -> str:
        """Stands for the corpus in the tables."""
        return self.label or Path(self.path).name

    def files(self) -> list[Path]:
        """Local files that are read, so that their bytes decide the store's key; none for a hub
        name.
        """
        return local_files(self.path, self.data_files)

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """As ``TextCorpus.write``."""
        rows = load_split(
            self.path, self.config, self.data_files, self.revision, self.split, streaming=True
        )
        texts = (text for row in rows for text in _cell(row, self.column, self.path).split("\n"))
        return _write(self, texts, out, self.path)


def load_split(
    path: str,
    config: str | None,
    data_files: Any,
    revision: str | None,
    split: str,
    *,
    streaming: bool,
) -> Any:
    """One split by ``datasets.load_dataset``; its errors become an ``InputError`` with what was
    asked for.
    """
    from datasets import load_dataset  # slow to import

    files = list(data_files) if isinstance(data_files, tuple) else data_files
    try:
        return load_dataset(
            path, config, data_files=files, revision=revision, split=split, streaming=streaming
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise InputError(
            f"datasets cannot load {path!r} (split {split!r}): {reason}; give a hub name or a local"
            " folder"
        ) from error


def local_files(path: str, data_files: str | tuple[str, ...] | None) -> list[Path]:
    """The local files behind a ``datasets`` source, sorted; none where it is a hub name."""
    if data_files is not None:
        return [
            Path(file)
            for file in ((data_files,) if isinstance(data_files, str) else data_files)
            if Path(file).is_file()
        ]
    return (
        sorted(file for file in Path(path).rglob("*") if file.is_file())
        if Path(path).is_dir()
        else []
    )


def _cell(row: dict[str, Any], column: str, path: str) -> str:
    if column not in row:
        raise InputError(
            f"{path} has no column {column!r}{nearest(column, row)}; columns: {', '.join(row)}"
        )
    return "" if row[column] is None else str(row[column])


def _check(corpus: TextCorpus | DatasetCorpus) -> None:
    if corpus.tokeniser not in get_args(Tokeniser):
        hint = nearest(corpus.tokeniser, get_args(Tokeniser))
        raise InputError(
            f"corpus.tokeniser={corpus.tokeniser!r}{hint}; allowed:"
            f" {', '.join(get_args(Tokeniser))}"
        )
    for field in ("limit", "min_count", "workers"):
        value = getattr(corpus, field)
        if value is not None and value < 1:
            raise InputError(f"corpus.{field}={value}: give a whole number of at least 1")


def _write(
    corpus: TextCorpus | DatasetCorpus, texts: Iterable[str], out: Path, source: str
) -> dict[str, int]:
    """Tokenise to a scratch file while counting types, then write ``out`` with the rare ones
    replaced: memory holds the types alone.
    """
    counts: Counter[str] = Counter()
    totals = dict.fromkeys(("texts", "lines", "dropped"), 0)
    with TemporaryFile("w+", encoding="utf-8", newline="\n", dir=out.parent) as scratch:
        for found in _tokenised(corpus, islice(texts, corpus.limit)):
            totals["texts"] += 1
            totals["dropped"] += not found
            totals["lines"] += len(found)
            for tokens in found:
                counts.update(tokens)
                scratch.write(" ".join(tokens) + "\n")
        if not counts:
            raise InputError(
                f"{source} holds no token after tokenising; check the file and"
                f" corpus.tokeniser={corpus.tokeniser}"
            )
        rare = {word for word, count in counts.items() if count < corpus.min_count}
        scratch.seek(0)
        with atomic_path(out) as work, work.open("w", encoding="utf-8", newline="\n") as kept:
            for line in scratch:
                kept.write(
                    " ".join(UNKNOWN if word in rare else word for word in line[:-1].split(" "))
                    + "\n"
                )
    types = len(counts) - len(rare) + bool(rare)
    return totals | {
        "tokens": counts.total(),
        "types": types,
        "unknown": sum(counts[word] for word in rare),
    }


def _tokenised(corpus: TextCorpus | DatasetCorpus, texts: Iterable[str]) -> Iterator[Lines]:
    """The tokenised lines of each text, in order, by as many processes as ``workers``."""
    one = partial(_lines, corpus.tokeniser, corpus.lowercase, corpus.drop_retweets)
    if corpus.workers == 1:
        yield from map(one, texts)
        return
    with get_context("spawn").Pool(corpus.workers) as pool:
        yield from pool.imap(one, texts, chunksize=CHUNK)


def _lines(tokeniser: Tokeniser, lowercase: bool, drop_retweets: bool, text: str) -> Lines:
    """The tokenised lines of one text; none where it is dropped or holds no token."""
    if drop_retweets and is_retweet(text):
        return []
    if tokeniser == "tweets":
        lines = [tokenise(text)]
    elif tokeniser == "sentences":
        lines = [tokenise_words(sentence) for sentence in split_sentences(text)]
    else:
        lines = [text.split()]
    return [
        [token.lower() for token in tokens] if lowercase else tokens for tokens in lines if tokens
    ]
