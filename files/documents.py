"""Documents with coreference, cases of challenge sets, queries with documents, and their files."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter

from biasbridge.files.errors import InputError
from biasbridge.files.paths import atomic_path
from biasbridge.files.tables import JSON_LINES, table_suffix
from biasbridge.files.text import read_head, read_json_lines, read_lines, write_json_lines

Span = tuple[int, int]
"""Index of the first token and of the one after the last, in the whole document."""
Cluster = tuple[Span, ...]
"""All mentions of one entity."""
Stereotype = Literal["male", "female", ""]

# Of CoNLL files
_BEGIN = re.compile(
    r"#\s*begin document\s*(?:\((?P<name>.*)\)\s*;?\s*(?:part\s*(?P<part>\d+))?|(?P<bare>.*?))\s*"
)
_END = re.compile(r"#\s*end document\b.*")
_MIN_COLUMNS, _SPEAKERS_FROM, _SPEAKER, _WORD = 3, 12, 9, 3
_NONE = ("", "-", "_")  # cells without a mention or a speaker
_MARK = re.compile(r"\([^\s()|]+\)?|[^\s()|]+\)")
_CELL = re.compile(rf"(?:{_MARK.pattern})(?:\|?(?:{_MARK.pattern}))*")
_PART = re.compile(r"[^\s()|]+\[\d+/\d+\]")  # of CorefUD
_ENTITY = re.compile(r"(?:.*\|)?Entity=.*|# *global\.Entity *=.*")
_WITHHELD = re.compile(r"_+")
_GUM = re.compile(r"(?:GUM|GENTLE)_(?P<genre>[^_]+)_.+")

# Of sentences
_ENDS = re.compile(r"[.!?…]+")
_CLOSES = re.compile(r"[\"'”’»)\]}]+")


@dataclass(frozen=True)
class Document:
    """Sentences of tokens, and clusters of mentions.

    ``name`` and ``part`` identify a document (CoNLL cuts long ones into parts). ``speakers``: one
    per token, or none. ``genre``: that of the collection, or empty.

    Raises :class:`InputError` for a mention outside the document or in two clusters, an empty
    cluster, and another number of speakers than tokens.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]
    clusters: tuple[Cluster, ...]
    part: int = 0
    speakers: tuple[str, ...] = ()
    genre: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    def __post_init__(self) -> None:
        n_tokens = sum(map(len, self.sentences))
        spans: set[Span] = set()
        for cluster in self.clusters:
            if not cluster:
                raise InputError(f"{self.title}: a cluster has no mention")
            for first, end in cluster:
                if not 0 <= first < end <= n_tokens:
                    raise InputError(
                        f"{self.title}: a mention of tokens {first} to {end}, but there are"
                        f" {n_tokens}"
                    )
                if (first, end) in spans:
                    raise InputError(
                        f"{self.title}: tokens {first} to {end} are a mention twice: give each"
                        " mention one cluster"
                    )
                spans.add((first, end))
        if self.speakers and len(self.speakers) != n_tokens:
            raise InputError(
                f"{self.title}: {len(self.speakers)} speakers of {n_tokens} tokens: give one per"
                " token, or none"
            )

    @property
    def title(self) -> str:
        """Name in messages."""
        return f"document {self.name} part {self.part}"

    @property
    def tokens(self) -> list[str]:
        """All tokens, in order."""
        return list(chain.from_iterable(self.sentences))

    @property
    def mentions(self) -> list[Span]:
        """All mentions, in order of clusters."""
        return list(chain.from_iterable(self.clusters))

    def without_singletons(self) -> Document:
        """Return the document without clusters of one mention, as in OntoNotes."""
        clusters = tuple(cluster for cluster in self.clusters if len(cluster) > 1)
        return replace(self, clusters=clusters)


@dataclass(frozen=True)
class Question:
    """Whether the pronoun refers to the name; both are half-open spans of the document's tokens.

    ``occupation``: that of the name, if it is one, and the ``percentage`` of women in it, if known.
    """

    pronoun: Span
    name: Span
    answer: bool
    occupation: str = ""
    percentage: float | None = None


@dataclass(frozen=True)
class DocumentCase:
    """A document and questions about its pronoun, of one ``gender``.

    ``unit`` is equal for cases that differ only in the pronoun. ``condition``: ``pro`` if a
    stereotype agrees with the answer, ``anti`` if it contradicts it, empty if unknown. ``subset``:
    a part of the set with separate results, such as ``type1`` of WinoBias.
    """

    document: Document
    unit: str
    gender: str
    questions: tuple[Question, ...]
    condition: str = ""
    subset: str = ""


@dataclass(frozen=True)
class WordedDocument:
    """The same text about men and about women; ``relevant``: whether it answers the query."""

    male: str
    female: str
    relevant: bool = True

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class RetrievalQuery:
    """A query that names neither gender, and its documents.

    ``stereotype``: the gender that a stereotype connects with the query; empty: none.
    ``cluster``: a property that queries share, such as an occupation; empty: none.
    Raises ``InputError`` for a query without a relevant document.
    """

    text: str
    documents: tuple[WordedDocument, ...]
    stereotype: Stereotype = ""
    cluster: str = ""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    def __post_init__(self) -> None:
        if not any(document.relevant for document in self.documents):
            raise InputError(f"query {self.text!r} has no relevant document in both wordings")


@dataclass(frozen=True)
class _InclusiveDocument:
    """A document of e2e-coref and its heirs: the ends of mentions are their last tokens."""

    doc_key: str
    sentences: tuple[tuple[str, ...], ...]
    clusters: tuple[tuple[Span, ...], ...]
    speakers: tuple[tuple[str, ...], ...] = ()
    predicted_clusters: object = None

    def half_open(self) -> Document:
        """Return the document with the ends that ours have."""
        if self.predicted_clusters is not None:
            problem = f"document {self.doc_key} has clusters and predicted_clusters"
            raise InputError(f"{problem}; write those predicted as clusters of another file")
        clusters = tuple(tuple((a, b + 1) for a, b in cluster) for cluster in self.clusters)
        speakers = tuple(chain.from_iterable(self.speakers))
        return Document(self.doc_key, self.sentences, clusters, speakers=speakers)


_DOCUMENT, _CASE, _QUERY = (
    TypeAdapter(Document),
    TypeAdapter(DocumentCase),
    TypeAdapter(RetrievalQuery),
)
_INCLUSIVE, _INCLUSIVE_KEY = TypeAdapter(_InclusiveDocument), re.compile(r'"doc_key"\s*:')
_HEAD = 1 << 20  # bytes of a file that tell its form


def read_documents(
    path: str | Path, *, mend: Callable[[str], None] | None = None
) -> Iterator[Document]:
    """Yield the documents of a file: ``.jsonl`` JSON Lines, also those of e2e-coref with
    ``doc_key`` and inclusive ends, any other name CoNLL; each also as ``.gz``, ``.bz2`` or ``.xz``.

    ``mend``: see ``read_conll``. Raises ``InputError`` with the line for an
    invalid document, and as ``read_lines`` does.
    """
    path = Path(path)
    if table_suffix(path) == JSON_LINES:
        if _INCLUSIVE_KEY.search(read_head(path, _HEAD).partition("\n")[0]):
            documents = read_json_lines(path, _INCLUSIVE, "document")
            return (document.half_open() for document in documents)
        return read_json_lines(path, _DOCUMENT, "document")
    return read_conll(path, mend=mend)


def write_documents(documents: Iterable[Document], path: str | Path) -> None:
    """Write a JSON object per document; a reader sees the whole file or none."""
    with atomic_path(path) as work, work.open("w", encoding="utf-8", newline="\n") as out:
        for document in documents:
            row = json.dumps(dataclasses.asdict(document), ensure_ascii=False)
            out.write(f"{row}\n")


def read_cases(path: str | Path) -> Iterator[DocumentCase]:
    """Read what ``write_cases`` wrote. Raises ``InputError`` with the line for anything else."""
    return read_json_lines(path, _CASE, "case")


def write_cases(cases: Iterable[DocumentCase], path: str | Path) -> None:
    """Write a JSON object per case; a reader sees the whole file or none."""
    write_json_lines(cases, _CASE, path)


def read_queries(path: str | Path) -> Iterator[RetrievalQuery]:
    """Read what ``write_queries`` wrote. Raises ``InputError`` with the line for anything else."""
    return read_json_lines(path, _QUERY, "query")


def write_queries(queries: Iterable[RetrievalQuery], path: str | Path) -> None:
    """Write a JSON object per line; a reader sees the whole file or none."""
    write_json_lines(queries, _QUERY, path)


def read_conll(
    path: str | Path, *, mend: Callable[[str], None] | None = None
) -> Iterator[Document]:
    """Yield the documents of a CoNLL file of coreference, plain or as gzip, bzip2 or xz: OntoNotes
    and WinoBias, LitBank, OntoGUM.

    A document is between ``#begin document (NAME); part 000`` and ``#end document``, with a token
    per line and blank lines between sentences. Columns are separated by tabs (a column may then be
    empty, like LitBank's last) or else by blanks. The word is in the second of three columns
    (OntoGUM), in the third of four (document, number, word, mentions), in the fourth of more; of
    twelve or more columns the tenth is the speaker.

    The last column marks the mentions: ``(7`` opens a mention of entity 7 at its first token,
    ``7)`` closes it at its last, ``(7)`` is a mention of one token. A cell holds any number of
    them, with or without ``|`` between: ``(3|(4)``, ``(3(4)``. ``-``, ``_`` and an empty cell hold
    none. Mentions may cross. Of two mentions of one entity the one opened last closes first.

    Clusters and mentions come in order of their beginnings. A document without a name gets that of
    the file. The genre is the beginning of the name (``nw/...``), or its second part
    (``GUM_news_...``).

    Some collections have faults: a bracket without its partner, a mention in two clusters or twice
    in one, a token without a word. ``mend`` is called with a message for each; the bracket is
    ignored, the mention belongs to the entity that opened it first (as in the reference scorer),
    the word becomes ``_``.

    Raises ``InputError`` with the line for such a fault without ``mend``, a row with too few
    columns, an invalid cell of mentions, a row outside a document, a document that is empty or does
    not end, and one with most words withheld (``_``); for a file without a document; and as
    ``read_lines`` does.
    """
    document: _ConllDocument | None = None
    n_documents = 0
    for number, text in enumerate(read_lines(path), 1):
        where = f"{path}: line {number}"
        if begin := _BEGIN.fullmatch(text):
            _refuse_unended(document, path)
            given_name = begin["name"] or begin["bare"]
            name = given_name or Path(path).name.split(".")[0]
            part = int(begin["part"] or 0) if given_name else n_documents
            document = _ConllDocument(name, part, number, path, mend)
            n_documents += 1
        elif _END.fullmatch(text):
            if document is None:
                raise InputError(f"{where} ends a document, but none began")
            yield document.finish()
            document = None
        elif document is None and _ENTITY.fullmatch(text.split("\t")[-1]):
            problem = f"{where} has mentions as Entity= of CoNLL-U"
            raise InputError(f"{problem}; write them into the last column, as (3, 3) and (3)")
        elif text.startswith("#"):
            continue
        elif document is not None:
            document.add(text, number)
        elif text.strip():
            raise InputError(f"{where} is outside a document; begin one with #begin document")
    _refuse_unended(document, path)
    if not n_documents:
        raise InputError(f"{path} has no document; each begins with a line #begin document")


def cut_sentences(document: Document) -> Document:
    """Return the document with new sentences, segmented by punctuation.

    A sentence ends with ``.``, ``!``, ``?`` or ``…`` and the closing quotation marks and brackets
    after it, unless the next token begins with a small letter. Mentions are not used: they are
    unknown for a document to resolve. On OntoGUM's 237 documents sentences have 19 tokens on
    average, one in 800 has more than 100, and one of 30,712 mentions is split.
    """
    return dataclasses.replace(document, sentences=tuple(_sentences(document.tokens)))


def _refuse_unended(document: _ConllDocument | None, path: str | Path) -> None:
    if document is not None:
        raise InputError(
            f"{path}: line {document.line} begins a document that does not end (#end document);"
            " is the file cut off?"
        )


class _OpenBracket(NamedTuple):
    """An opening bracket without its partner yet."""

    token: int
    line: int
    order: int


class _ConllDocument:
    """A document whose lines are being read."""

    def __init__(
        self, name: str, part: int, line: int, path: str | Path, mend: Callable[[str], None] | None
    ) -> None:
        self.name, self.part, self.line, self.path, self.mend = name, part, line, path, mend
        self.sentences: list[list[str]] = [[]]
        self.n_tokens = 0
        self.speakers: list[str] = []
        self.columns = 0  # of the first row of the sentence: OntoNotes has one per verb
        self._open: dict[str, list[_OpenBracket]] = defaultdict(list)
        self._entities: dict[Span, tuple[int, str]] = {}  # order of opening, entity
        self._n_opened = 0

    def add(self, text: str, line: int) -> None:
        """Add a row; a blank one ends the sentence."""
        if not text.strip():
            if self.sentences[-1]:
                self.sentences.append([])
            return
        cells = self._cells(text, line)
        word = cells[min(_WORD, len(cells) - 2)]
        if not word:
            self._fault("the token has no word", line)
        if len(cells) >= _SPEAKERS_FROM:
            self.speakers.append(cells[_SPEAKER])
        for mark in _MARK.findall(cells[-1]):
            entity = mark.strip("()")
            if mark.startswith("("):
                self._open[entity].append(_OpenBracket(self.n_tokens, line, self._n_opened))
                self._n_opened += 1
            if mark.endswith(")"):
                self._close(entity, line)
        self.sentences[-1].append(word or "_")
        self.n_tokens += 1

    def _cells(self, text: str, line: int) -> list[str]:
        cells = [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()
        where = f"{self.path}: line {line}"
        n_expected = max(_MIN_COLUMNS, self.columns if self.sentences[-1] else 0)
        if len(cells) < n_expected:
            raise InputError(f"{where} has {len(cells)} columns, not {n_expected}")
        if part := _PART.search(cells[-1]):
            problem = f"{where}: {part[0]} is a part of a mention with words between its parts"
            raise InputError(f"{problem}; keep one part of each such mention, without [1/2]")
        if not (cells[-1] in _NONE or _CELL.fullmatch(cells[-1])):
            problem = f"{where}: the last column is {cells[-1]!r}"
            raise InputError(f"{problem}, not mentions such as (3, 3), (3) or -")
        if not self.sentences[-1]:
            self.columns = len(cells)
        return cells

    def finish(self) -> Document:
        """Return the checked document."""
        sentences = tuple(tuple(sentence) for sentence in self.sentences if sentence)
        words = [word for sentence in sentences for word in sentence]
        if not words:
            raise InputError(f"{self.path}: line {self.line} begins a document without tokens")
        if 2 * sum(map(bool, map(_WITHHELD.fullmatch, words))) > len(words):
            raise InputError(
                f"{self.path}: line {self.line} begins a document whose words are withheld (_);"
                " get its text, or leave it out"
            )
        speakers = tuple(self.speakers) if {*self.speakers} - {*_NONE} else ()
        gum = _GUM.fullmatch(self.name)
        first = self.name.partition("/")[0] if "/" in self.name else ""
        genre = gum["genre"] if gum else first
        return Document(self.name, sentences, self._clusters(), self.part, speakers, genre)

    def _close(self, entity: str, line: int) -> None:
        """Close a mention; of two with the same tokens the one that was opened first counts."""
        if not self._open[entity]:
            self._fault(f"{entity}) closes a mention that was not opened", line)
            return
        opened = self._open[entity].pop()
        span = (opened.token, self.n_tokens + 1)
        mention = (opened.order, entity)
        if span in self._entities:
            entities = f"{self._entities[span][1]} and of {entity}"
            self._fault(f"{entity}) closes a mention of {entities} with the same tokens", line)
        self._entities[span] = min(self._entities.get(span, mention), mention)

    def _clusters(self) -> tuple[Cluster, ...]:
        """Return the mentions by entity, in order of their beginnings."""
        for entity, unclosed in self._open.items():
            for opened in unclosed:
                self._fault(f"({entity} opens a mention that is not closed", opened.line)
        by_entity: dict[str, list[Span]] = defaultdict(list)
        for span in sorted(self._entities):
            by_entity[self._entities[span][1]].append(span)
        return tuple(map(tuple, by_entity.values()))

    def _fault(self, problem: str, line: int) -> None:
        """Raise ``InputError``, or report a fault to ``mend``."""
        if self.mend is None:
            raise InputError(f"{self.path}: line {line}: {problem}; correct it, or have it mended")
        self.mend(f"{self.path}: line {line}: {problem}")


def _sentences(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    begin, has_ended = 0, False
    for number, token in enumerate(tokens):
        if has_ended and not (_ENDS.fullmatch(token) or _CLOSES.fullmatch(token)):
            if not token[:1].islower():
                yield tuple(tokens[begin:number])
                begin = number
            has_ended = False
        has_ended = has_ended or bool(_ENDS.fullmatch(token))
    if begin < len(tokens):
        yield tuple(tokens[begin:])
