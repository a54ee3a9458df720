"""GAP (Webster et al., 2018): ambiguous pronouns from Wikipedia, half of each gender."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from biasbridge.corpora.people import find_gender
from biasbridge.corpora.protocols import SingleFileData
from biasbridge.corpora.sentences import Token, find_span, tokenise_treebank
from biasbridge.files import InputError, choice
from biasbridge.files.documents import Case, Document, Question, Span
from biasbridge.files.tables import read_table, require_columns

NAMES = ("A", "B")
ANSWERS = {"TRUE": True, "FALSE": False}
COLUMNS = (
    *("ID", "Text", "Pronoun", "Pronoun-offset"),
    *(f"{name}{part}" for name in NAMES for part in ("", "-offset", "-coref")),
)


@choice
class Gap(SingleFileData):
    """Paragraphs with a pronoun and two names; the pronoun refers to one name or to neither.

    ``path`` is ``gap-development.tsv`` or ``gap-test.tsv`` (2,000 pronouns each), or
    ``gap-validation.tsv`` (454) of the release. Offsets count characters. Clusters contain the
    pronoun and its antecedent, and no other mentions.
    """

    path: str

    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def load(self, *, seed: int) -> list[Case]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``. Neither conditions nor
        subsets.

        Raises ``InputError`` for an offset that does not match its word, an answer other than TRUE
        and FALSE, and a pronoun without a gender.
        """
        table = read_table(self.path, separator="\t", quoted=False)
        require_columns(table, COLUMNS, self.path)
        cells = table[[*COLUMNS]].astype(str).to_numpy().tolist()
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in cells]
        return [_case(row, f"{self.path}: {row['ID']}") for row in rows]


def _case(row: Mapping[str, str], where: str) -> Case:
    sentences = tokenise_treebank(row["Text"])
    pronoun = _span(row, "Pronoun", sentences, where)
    gender = find_gender(row["Pronoun"])
    if not gender:
        raise InputError(f"{where}: {row['Pronoun']!r} is no pronoun of a man or a woman")
    questions = tuple(
        Question(pronoun, _span(row, name, sentences, where), _answer(row[f"{name}-coref"], where))
        for name in NAMES
    )
    antecedents = tuple(dict.fromkeys(q.name for q in questions if q.answer))
    texts = tuple(tuple(token.text for token in sentence) for sentence in sentences)
    document = Document(row["ID"], texts, ((*antecedents, pronoun),) if antecedents else ())
    return Case(document, row["ID"], gender, questions)


def _span(row: Mapping[str, str], name: str, sentences: list[list[Token]], where: str) -> Span:
    offset, word = row[f"{name}-offset"], row[name]
    start = int(offset) if offset.isdecimal() else -1
    end = start + len(word)
    span = find_span(sentences, start, end) if row["Text"][max(start, 0) : end] == word else None
    if span is None:
        raise InputError(f"{where}: {word!r} is not at character {offset}")
    return span


def _answer(cell: str, where: str) -> bool:
    if cell.upper() not in ANSWERS:
        raise InputError(f"{where}: the answer {cell!r} is neither TRUE nor FALSE")
    return ANSWERS[cell.upper()]
