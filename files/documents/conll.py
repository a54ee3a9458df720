"""CoNLL files of coreference: OntoNotes and WinoBias, LitBank, OntoGUM.

A document is between ``#begin document (NAME); part 000`` and ``#end document``, with a token per
line and blank lines between sentences. Columns are separated by tabs (a column may then be empty,
like LitBank's last) or else by blanks. The last column marks the mentions
(``biasbridge.files.documents.brackets``). The word is in the second of three columns (OntoGUM), in
the third of four (document, number, word, mentions), in the fourth of more; of twelve or more
columns the tenth is the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from biasbridge.files.documents.brackets import Brackets, is_cell
from biasbridge.files.documents.document import Document
from biasbridge.files.errors import InputError
from biasbridge.files.text import read_lines

BEGIN = re.compile(
    r"#\s*begin document\s*(?:\((?P<name>.*)\)\s*;?\s*(?:part\s*(?P<part>\d+))?|(?P<bare>.*?))\s*"
)
END = re.compile(r"#\s*end document\b.*")
BOM = "\ufeff"
MIN_COLUMNS, SPEAKERS_FROM, SPEAKER, WORD = 3, 12, 9, 3
NOBODY = ("", "-", "_")
WITHHELD = re.compile(r"_+")
GUM = re.compile(r"(?:GUM|GENTLE)_(?P<genre>[^_]+)_.+")

Mend = Callable[[str], None]


def read_conll(path: str | Path, *, mend: Mend | None = None) -> Iterator[Document]:
    """Yield the documents of a plain, gzip, bzip2 or xz file.

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
    document: _DocumentBuilder | None = None
    n_documents = 0
    for number, line in enumerate(read_lines(path), 1):
        text = line.removeprefix(BOM) if number == 1 else line
        where = f"{path}: line {number}"
        if begin := BEGIN.fullmatch(text):
            _refuse_unended(document, path)
            stated_name = begin["name"] or begin["bare"]
            name = stated_name or Path(path).name.split(".")[0]
            part = int(begin["part"] or 0) if stated_name else n_documents
            document = _DocumentBuilder(name, part, number, path, mend)
            n_documents += 1
        elif END.fullmatch(text):
            if document is None:
                raise InputError(f"{where} ends a document, but none began")
            yield document.finish()
            document = None
        elif text.startswith("#"):
            continue
        elif document is not None:
            document.add(text, number)
        elif text.strip():
            raise InputError(f"{where} is outside a document; begin one with #begin document")
    _refuse_unended(document, path)
    if not n_documents:
        raise InputError(f"{path} has no document; each begins with a line #begin document")


def _refuse_unended(document: _DocumentBuilder | None, path: str | Path) -> None:
    if document is not None:
        raise InputError(
            f"{path}: line {document.line} begins a document that does not end (#end document);"
            " is the file cut off?"
        )


class _DocumentBuilder:
    """A document whose lines are being read."""

    def __init__(
        self, name: str, part: int, line: int, path: str | Path, mend: Mend | None
    ) -> None:
        self.name, self.part, self.line, self.path, self.mend = name, part, line, path, mend
        self.sentences: list[list[str]] = [[]]
        self.n_tokens = 0
        self.speakers: list[str] = []
        self.brackets = Brackets(self.fault)
        self.columns = 0  # of the first row of the sentence: OntoNotes has one per verb

    def fault(self, problem: str, line: int) -> None:
        """Raise ``InputError``, or report a fault to ``mend``."""
        if self.mend is None:
            raise InputError(f"{self.path}: line {line}: {problem}; correct it, or have it mended")
        self.mend(f"{self.path}: line {line}: {problem}")

    def add(self, text: str, line: int) -> None:
        """Add a row; a blank one ends the sentence."""
        if not text.strip():
            if self.sentences[-1]:
                self.sentences.append([])
            return
        cells = self._cells(text, line)
        word = cells[min(WORD, len(cells) - 2)]
        if not word:
            self.fault("the token has no word", line)
        if len(cells) >= SPEAKERS_FROM:
            self.speakers.append(cells[SPEAKER])
        self.brackets.read(cells[-1], self.n_tokens, line)
        self.sentences[-1].append(word or "_")
        self.n_tokens += 1

    def _cells(self, text: str, line: int) -> list[str]:
        cells = [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()
        where = f"{self.path}: line {line}"
        n_expected = max(MIN_COLUMNS, self.columns if self.sentences[-1] else 0)
        if len(cells) < n_expected:
            raise InputError(f"{where} has {len(cells)} columns, not {n_expected}")
        if not is_cell(cells[-1]):
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
        if 2 * sum(map(bool, map(WITHHELD.fullmatch, words))) > len(words):
            raise InputError(
                f"{self.path}: line {self.line} begins a document whose words are withheld (_);"
                " get its text, or leave it out"
            )
        speakers = tuple(self.speakers) if {*self.speakers} - {*NOBODY} else ()
        genre = _genre(self.name)
        return Document(self.name, sentences, self.brackets.clusters(), self.part, speakers, genre)


def _genre(name: str) -> str:
    gum = GUM.fullmatch(name)
    return gum["genre"] if gum else name.partition("/")[0] if "/" in name else ""
