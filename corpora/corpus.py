"""Unlabelled text from files or from a hub, to one tokenised sentence a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, repeat
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar, Literal

from corpora.hub import HubData, pick_cell
from corpora.kinds import Collected
from corpora.sentences import split_sentences, tokenise_sentence, tokenise_treebank
from corpora.tweets import UNKNOWN, is_retweet, tokenise_tweet
from files import InputError, atomic_path, choice, read_lines
from files.choice import Count, FieldError
from files.language import UNDETERMINED

Tokeniser = Literal["tweets", "sentences", "treebank", "whitespace"]
Lines = list[list[str]]
Text = tuple[Tokeniser, str]
TOKENISERS: dict[Tokeniser, Callable[[str], Lines]] = {
    "tweets": lambda text: [tokenise_tweet(text)],
    "sentences": lambda text: [tokenise_sentence(each) for each in split_sentences(text)],
    "treebank": lambda text: [[t.text for t in each] for each in tokenise_treebank(text)],
    "whitespace": lambda text: [text.split()],
}

# Texts that a worker takes at a time: enough for tweets, and not too much where a text is a novel
CHUNK = 100
SAMPLE = 5_000


@choice
class TextCorpus(Collected):
    """One text a line from plain, gzip, bzip2 or xz files.

    ``tokeniser``: ``tweets`` (a line is a tweet; lower-cased; see ``corpora.tweets``),
    ``sentences`` (a line is a document, split into sentences), ``treebank`` (the same with clitics
    parted, as in documents with coreference; see ``corpora.sentences``) or ``whitespace`` (a line
    is a tokenised sentence); one for all files, or one each. ``lowercase`` is for all but tweets.
    Types with fewer than ``min_count`` occurrences become ``<UNK>``. ``limit`` reads only the first
    texts. ``drop_retweets`` leaves out texts that begin with ``RT @``. ``language`` is that of the
    text (see ``files.language``). The bytes written do not depend on ``workers``.
    """

    path: str | tuple[str, ...]
    tokeniser: Tokeniser | tuple[Tokeniser, ...] = "tweets"
    min_count: Count = 10
    lowercase: bool = False
    drop_retweets: bool = True
    limit: Count | None = None
    workers: Count = 1
    label: str | None = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "workers", "label", "language")

    def __post_init__(self) -> None:
        if not isinstance(self.tokeniser, str) and len(self.tokeniser) != len(self.files()):
            given = f"{len(self.tokeniser)} for {len(self.files())} files"
            raise FieldError(
                f"tokeniser={list(self.tokeniser)}: {given}; give one, or one for each"
            )

    @property
    def name(self) -> str:
        """``label``, or the names of the files without their endings."""
        return self.label or "+".join(path.name.split(".")[0] for path in self.files())

    def files(self) -> list[Path]:
        """The files read, in order."""
        return [Path(path) for path in ([self.path] if isinstance(self.path, str) else self.path)]

    def sample(self) -> list[str]:
        """The first texts of each file."""
        return [text for path in self.files() for text in islice(read_lines(path), SAMPLE)]

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write it; counts: texts, lines, tokens, types, unknown tokens, dropped (empty) texts."""
        files = self.files()
        tokenisers = repeat(self.tokeniser) if isinstance(self.tokeniser, str) else self.tokeniser
        texts = (
            (tokeniser, line)
            for path, tokeniser in zip(files, tokenisers, strict=False)
            for line in read_lines(path)
        )
        return _write(self, texts, out, " and ".join(map(str, files)))


@choice
class DatasetCorpus(HubData):
    """A text column of anything ``datasets.load_dataset`` reads, streamed.

    The first fields are those of ``corpora.hub.HubData``, the last those of ``TextCorpus``.
    """

    split: str = "train"
    column: str = "text"
    tokeniser: Tokeniser = "sentences"
    min_count: Count = 10
    lowercase: bool = False
    drop_retweets: bool = False
    limit: Count | None = None
    workers: Count = 1
    label: str | None = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = (*HubData.unkeyed, "workers", "label", "language")

    @property
    def name(self) -> str:
        """``label``, or the last part of ``path``."""
        return self.label or Path(self.path).name

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """As ``TextCorpus.write``."""
        cells = (pick_cell(row, self.column, self.path) for row in self.stream(self.split))
        lines = (line for cell in cells for line in ("" if cell is None else str(cell)).split("\n"))
        texts = ((self.tokeniser, line) for line in lines)
        return _write(self, texts, out, self.path)


def _write(
    corpus: TextCorpus | DatasetCorpus, texts: Iterable[Text], out: Path, source: str
) -> dict[str, int]:
    """Tokenise to a scratch file, then write ``out``: memory holds only the types' counts."""
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
            remedy = f"check the file and corpus.tokeniser={corpus.tokeniser}"
            raise InputError(f"{source} holds no token after tokenising; {remedy}")
        rare = {word for word, count in counts.items() if count < corpus.min_count}
        scratch.seek(0)
        with atomic_path(out) as work, work.open("w", encoding="utf-8", newline="\n") as kept:
            for line in scratch:
                words = line[:-1].split(" ")
                kept.write(" ".join(UNKNOWN if word in rare else word for word in words) + "\n")
    types = len(counts) - len(rare) + bool(rare)
    unknown = sum(counts[word] for word in rare)
    return totals | {"tokens": counts.total(), "types": types, "unknown": unknown}


def _tokenised(corpus: TextCorpus | DatasetCorpus, texts: Iterable[Text]) -> Iterator[Lines]:
    """The tokenised lines of each text, in order, by as many processes as ``workers``."""
    one = partial(_lines, corpus.lowercase, corpus.drop_retweets)
    if corpus.workers == 1:
        yield from map(one, texts)
        return
    with get_context("spawn").Pool(corpus.workers) as pool:
        yield from pool.imap(one, texts, chunksize=CHUNK)


def _lines(lowercase: bool, drop_retweets: bool, given: Text) -> Lines:
    """The tokenised lines of one text; none where it is dropped or holds no token."""
    tokeniser, text = given
    if drop_retweets and is_retweet(text):
        return []
    lines = TOKENISERS[tokeniser](text)
    if lowercase and tokeniser != "tweets":  # its marks are in capitals
        lines = [[token.lower() for token in tokens] for tokens in lines]
    return [tokens for tokens in lines if tokens]
