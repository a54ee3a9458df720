"""Unlabelled text from files or a hub, written as one tokenised sentence per line."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from heapq import merge
from itertools import groupby, islice, repeat
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Annotated, ClassVar, Literal

from annotated_types import doc

from biasbridge.corpora.hub import HubData, pick_cell
from biasbridge.corpora.planting import (
    PLANTING,
    OffTargetStrength,
    PlantableCorpus,
    PlantedStrength,
    PlantingWords,
)
from biasbridge.corpora.tokens import (
    ELIDED,
    UNKNOWN,
    is_retweet,
    lower_text,
    prepare_text,
    rules_of,
    split_sentences,
    tokenise_by_nltk,
    tokenise_sentence,
    tokenise_treebank,
    tokenise_tweet,
)
from biasbridge.files import InputError, atomic_path, choice, read_lines
from biasbridge.files.choice import Count, FieldError
from biasbridge.files.language import UNDETERMINED, LanguageCode
from biasbridge.files.places import without_commit

Tokeniser = Literal["tweets", "sentences", "treebank", "nltk", "whitespace"]
Lines = list[list[str]]
Text = tuple[Tokeniser, str]
_TOKENISERS: dict[Tokeniser, Callable[[str], Lines]] = {
    "sentences": lambda text: [tokenise_sentence(sentence) for sentence in split_sentences(text)],
    "treebank": lambda text: [[t.text for t in tokens] for tokens in tokenise_treebank(text)],
    "nltk": lambda text: [tokenise_by_nltk(sentence) for sentence in split_sentences(text)],
    "whitespace": lambda text: [text.split()],
}
CHUNK = 100  # texts per task of a worker: enough for tweets, not too many for novels
_SAMPLE = 5_000  # texts of each file
_HELD = 1_000_000  # types whose counts memory holds


@choice
class TextCorpus(PlantableCorpus):
    """Plain, gzip, bzip2 or xz files with one text per line; ``path`` may be a pattern.

    ``tokeniser``: ``tweets`` (a line is a tweet), ``sentences`` (a line is a document, split into
    sentences), ``treebank`` (the same with clitics separated, as in documents with coreference),
    ``nltk`` (the same sentences by NLTK's ``word_tokenize``, as the main paper's Wikipedia) or
    ``whitespace`` (a line is a tokenised sentence); see ``biasbridge.corpora.tokens``.
    ``drop_retweets`` drops texts that begin with ``RT @``. ``planted`` and the fields after it: a
    stereotype planted in what is written, by a step of its own (``biasbridge.corpora.planting``).
    """

    path: str | tuple[str, ...]
    tokeniser: Annotated[
        Tokeniser | tuple[Tokeniser, ...],
        doc("tweets, sentences, treebank, nltk or whitespace; one for all files, or a list"),
    ] = "tweets"
    min_count: Annotated[Count, doc("rarer types become <UNK>")] = 10
    lowercase: Annotated[bool, doc("the tweet tokeniser lower-cases")] = False
    drop_retweets: bool = True
    limit: Annotated[Count | None, doc("number of texts to read; null: all")] = None
    workers: Annotated[Count, doc("number of processes; no effect on the result")] = 1
    label: Annotated[str | None, doc("name of the corpus in tables")] = None
    language: LanguageCode = UNDETERMINED
    planted: PlantedStrength = None
    off_target: OffTargetStrength = 0.0
    planting_words: PlantingWords = None

    version: ClassVar[int] = 4
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "workers", "label", "language", *PLANTING)
    chosen_as: ClassVar[tuple[str, ...]] = ("corpus/text",)
    configuration: ClassVar[Mapping[str, object]] = {
        "tokeniser": "sentences",
        "drop_retweets": False,
        "language": "${language}",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.tokeniser, str) and len(self.tokeniser) != len(self.files()):
            numbers = f"{len(self.tokeniser)} for {len(self.files())} files"
            raise FieldError(
                f"tokeniser={list(self.tokeniser)}: {numbers}; give one, or one per file"
            )

    @property
    def name(self) -> str:
        """``label``, or the file names without their endings."""
        return self.label or "+".join(path.name.split(".")[0] for path in self.files())

    def files(self) -> list[Path]:
        """Return the files to read, in order; those of a pattern sorted."""
        paths = [self.path] if isinstance(self.path, str) else self.path
        return [file for path in paths for file in _find_files(Path(path))]

    def sample(self) -> list[str]:
        """Return the first texts of each file."""
        return [text for path in self.files() for text in islice(read_lines(path), _SAMPLE)]

    def keyed(self) -> Mapping[str, object]:
        """Return the language if it decides how words are written."""
        return rules_of(self.language)

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the text; counts: texts, lines, tokens, types, unknown, dropped (empty texts)."""
        files = self.files()
        tokenisers = repeat(self.tokeniser) if isinstance(self.tokeniser, str) else self.tokeniser
        texts = (
            (tokeniser, line)
            for path, tokeniser in zip(files, tokenisers, strict=False)
            for line in read_lines(path)
        )
        return _write(self, texts, out, " and ".join(map(str, files)))


@choice
class DatasetCorpus(HubData, PlantableCorpus):
    """A text column of data that ``datasets.load_dataset`` reads, streamed.

    Fields as in ``biasbridge.corpora.hub.HubData`` and ``TextCorpus``.
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
    language: LanguageCode = UNDETERMINED
    planted: PlantedStrength = None
    off_target: OffTargetStrength = 0.0
    planting_words: PlantingWords = None

    version: ClassVar[int] = 4
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = (
        *HubData.unkeyed,
        *("workers", "label", "language", *PLANTING),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("corpus/datasets",)
    configuration: ClassVar[Mapping[str, object]] = {"language": "${language}"}

    @property
    def name(self) -> str:
        """``label``, or the last part of ``path``."""
        return self.label or Path(without_commit(self.path)).name

    def keyed(self) -> Mapping[str, object]:
        """Return what identifies the data, and the language as ``TextCorpus.keyed`` does."""
        return {**HubData.keyed(self), **rules_of(self.language)}

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the text as ``TextCorpus.write`` does."""
        rows = self.stream(self.split, self.column)
        cells = (pick_cell(row, self.column, self.path) for row in rows)
        lines = (line for cell in cells for line in ("" if cell is None else str(cell)).split("\n"))
        texts = ((self.tokeniser, line) for line in lines)
        return _write(self, texts, out, self.path)


def _find_files(path: Path) -> list[Path]:
    """Return the file, or those that match a pattern such as ``tweets/*``."""
    return sorted(path.parent.glob(path.name)) or [path] if "*" in path.name else [path]


def _write(
    corpus: TextCorpus | DatasetCorpus, texts: Iterable[Text], out: Path, source: str
) -> dict[str, int]:
    """Tokenise to a scratch file, then write ``out`` with rare types replaced."""
    totals = dict.fromkeys(("texts", "lines", "dropped"), 0)
    with ExitStack() as files:
        scratch, counts = files.enter_context(_open_scratch(out)), _TypeCounts(out, files)
        for lines in _tokenise(corpus, islice(texts, corpus.limit)):
            totals["texts"] += 1
            totals["dropped"] += not lines
            totals["lines"] += len(lines)
            for tokens in lines:
                counts.update(tokens)
                scratch.write(" ".join(tokens) + "\n")
        kept, n_types, n_tokens, unknown = set(), 0, 0, 0
        for word, count in counts.items():
            n_types += 1
            n_tokens += count
            if count >= corpus.min_count:
                kept.add(word)
            else:
                unknown += count
        if not n_tokens:
            remedy = f"check the file and corpus.tokeniser={corpus.tokeniser}"
            raise InputError(f"{source} holds no token after tokenising; {remedy}")
        scratch.seek(0)
        with atomic_path(out) as work, work.open("w", encoding="utf-8", newline="\n") as text:
            for line in scratch:
                words = line[:-1].split(" ")
                text.write(" ".join(word if word in kept else UNKNOWN for word in words) + "\n")
    types = len(kept) + (len(kept) < n_types)
    return totals | {"tokens": n_tokens, "types": types, "unknown": unknown}


class _TypeCounts:
    """Exact counts of types. Memory holds ``_HELD``; sorted scratch files hold the others."""

    def __init__(self, out: Path, files: ExitStack) -> None:
        self._out, self._files = out, files
        self._held: Counter[str] = Counter()
        self._parts: list[IO[str]] = []

    def update(self, tokens: Iterable[str]) -> None:
        """Count tokens."""
        self._held.update(tokens)
        if len(self._held) > _HELD:
            self._parts.append(part := self._files.enter_context(_open_scratch(self._out)))
            part.writelines(f"{word}\t{count}\n" for word, count in self._sorted())
            self._held.clear()

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield each type with its count, sorted; call once."""
        parts = [_read_counts(part) for part in self._parts]
        for word, same in groupby(merge(*parts, self._sorted()), key=itemgetter(0)):
            yield word, sum(count for _, count in same)

    def _sorted(self) -> Iterator[tuple[str, int]]:
        return ((word, self._held[word]) for word in sorted(self._held))


def _read_counts(part: IO[str]) -> Iterator[tuple[str, int]]:
    part.seek(0)
    for line in part:
        word, _, count = line.rpartition("\t")
        yield word, int(count)


def _open_scratch(out: Path) -> IO[str]:
    return TemporaryFile("w+", encoding="utf-8", newline="\n", dir=out.parent)


def _tokenise(corpus: TextCorpus | DatasetCorpus, texts: Iterable[Text]) -> Iterator[Lines]:
    """Yield the tokenised lines of each text, in order, with ``workers`` processes."""
    tokenise = partial(_tokenise_text, corpus.lowercase, corpus.drop_retweets, corpus.language)
    if corpus.workers == 1:
        yield from map(tokenise, texts)
        return
    deaf = signal.signal, (signal.SIGINT, signal.SIG_IGN)  # this process hears Ctrl-C
    with get_context("spawn").Pool(corpus.workers, *deaf) as pool:
        yield from pool.imap(tokenise, texts, chunksize=CHUNK)


def _tokenise_text(
    lowercase: bool, drop_retweets: bool, language: str, tokeniser_and_text: Text
) -> Lines:
    """Return the tokenised lines; none if the text is dropped or has no token."""
    tokeniser, text = tokeniser_and_text
    if drop_retweets and is_retweet(text):
        return []
    if tokeniser == "tweets":  # lower-cased, their marks are not
        lines = [tokenise_tweet(text, language)]
    else:
        text = text if tokeniser == "whitespace" else prepare_text(text, language)
        lines = _TOKENISERS[tokeniser](text)
        if rules_of(language):
            lines = [[token.replace(ELIDED, "'") for token in tokens] for tokens in lines]
        if lowercase:
            lines = [[lower_text(token, language) for token in tokens] for tokens in lines]
    return [tokens for tokens in lines if tokens]
