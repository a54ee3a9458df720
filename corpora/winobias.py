"""WinoBias (Zhao et al., 2018): coreference that agrees with occupational stereotypes or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from biasbridge.corpora.people import find_gender, find_percentage, load_percentages
from biasbridge.corpora.protocols import EnglishChallenge
from biasbridge.corpora.sentences import find_span, tokenise_treebank
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.digest import digest_of
from biasbridge.files.documents import Case, Document, Question, Span, read_conll

CONDITIONS = ("pro", "anti")
NUMBERED = re.compile(r"\d+\s+(?P<sentence>.*\S)\s*")
BRACKETED = re.compile(r"\[\s*(?P<mention>[^\[\]]*?)\s*\]")
Words = tuple[str, ...]


@choice
class WinoBias(EnglishChallenge):
    """396 pairs of sentences per type and split: the pronoun has the majority gender of its
    occupation in one (``pro``) and the minority gender in the other (``anti``).

    ``folder`` holds the files of the release in the ``form`` ``conll``, or ``text`` (numbered
    sentences with mentions in brackets); both give the same cases. Semantics determines the
    antecedent in type 1, syntax in type 2. The nth sentences of the two files are a pair, although
    nine of 792 in dev differ in a word other than the pronoun.

    The other occupation of a sentence is not annotated: it is recognised by its annotation in other
    sentences. Percentages of women are those by which the authors chose the occupations.
    """

    folder: str
    split: Literal["dev", "test"] = "dev"
    types: tuple[Literal[1, 2], ...] = (1, 2)
    form: Literal["conll", "text"] = "conll"

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = ("folder",)

    @property
    def name(self) -> str:
        """Name in tables."""
        return f"winobias_{self.split}"

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the occupations and their percentages."""
        return {"occupations_table": digest_of(load_percentages())}

    def files(self) -> list[Path]:
        """Return the pro and anti files of every type."""
        return [self._file(number, condition) for number in self.types for condition in CONDITIONS]

    def load(self, *, seed: int) -> list[Case]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``. Subsets: ``type1``,
        ``type2``.
        """
        read = read_conll if self.form == "conll" else read_bracketed
        cases: list[Case] = []
        for number in self.types:
            pro, anti = (
                [_case(document, path) for document in _sort_by_number(read(path), path)]
                for path in (self._file(number, condition) for condition in CONDITIONS)
            )
            if len(pro) != len(anti):
                raise InputError(
                    f"{self.folder}: type {number} has {len(pro)} pro and {len(anti)} anti"
                    " sentences; they are paired by number, copy both files again"
                )
            for pair in zip(pro, anti, strict=True):
                cases += (
                    replace(case, unit=pair[0].unit, condition=condition, subset=f"type{number}")
                    for case, condition in zip(pair, CONDITIONS, strict=True)
                )
        return add_other_questions(cases)

    def _file(self, number: int, condition: str) -> Path:
        name = (
            f"{self.split}_type{number}_{condition}_stereotype.v4_auto_conll"
            if self.form == "conll"
            else f"{condition}_stereotyped_type{number}.txt.{self.split}"
        )
        return Path(self.folder) / name


def read_bracketed(path: str | Path) -> Iterator[Document]:
    """Yield a document per line, ``1 [The nurse] said that [she] left.``; brackets are one cluster.

    Raises ``InputError`` for a line without a number or with an unmatched bracket.
    """
    for number, line in enumerate(read_lines(path), 1):
        numbered = NUMBERED.fullmatch(line)
        if not numbered:
            raise InputError(f"{path}: line {number} has no number and sentence: {line!r}")
        plain, mention_bounds = "", []
        position = 0
        for match in BRACKETED.finditer(sentence := numbered["sentence"]):
            plain += sentence[position : match.start()] + match["mention"]
            mention_bounds.append((len(plain) - len(match["mention"]), len(plain)))
            position = match.end()
        plain += sentence[position:]
        if "[" in plain or "]" in plain:
            raise InputError(f"{path}: line {number} has a bracket without its partner: {line!r}")
        sentences = tokenise_treebank(plain)
        spans = [span for span in (find_span(sentences, *b) for b in mention_bounds) if span]
        texts = tuple(tuple(token.text for token in tokens) for tokens in sentences)
        name = f"{Path(path).name}//{number - 1}"
        yield Document(name, texts, (tuple(spans),) if spans else ())


def _sort_by_number(documents: Iterable[Document], path: Path) -> list[Document]:
    """Sort by the number at the end of the names; files have the order 0, 100, 101, ..., 1, 10."""
    numbered: dict[int, Document] = {}
    for document in documents:
        number = document.name.rpartition("/")[2]
        if not number.isdecimal() or int(number) in numbered:
            raise InputError(f"{path}: document {document.name!r} does not end in its own number")
        numbered[int(number)] = document
    return [numbered[number] for number in sorted(numbered)]


def _case(document: Document, path: Path) -> Case:
    """Return the case of a sentence; the question is about the first pronoun of its one cluster."""
    tokens = document.tokens
    mentions = sorted(document.mentions)
    pronouns = [span for span in mentions if _is_pronoun(span, tokens)]
    names = [span for span in mentions if span not in pronouns]
    if len(document.clusters) != 1 or not pronouns or len(names) != 1:
        raise InputError(
            f"{path}: {document.title} must have one cluster, of an occupation and its pronouns;"
            f" it has the mentions {[' '.join(tokens[slice(*span)]) for span in mentions]}"
        )
    unit = " ".join("_" if find_gender(token) else token for token in tokens)
    occupation = " ".join(_without_article(tokens, names[0]))
    question = Question(pronouns[0], names[0], True, occupation, find_percentage(occupation))
    return Case(document, unit, find_gender(tokens[pronouns[0][0]]), (question,))


def _is_pronoun(span: Span, tokens: list[str]) -> bool:
    return span[1] - span[0] == 1 and bool(find_gender(tokens[span[0]]))


def _without_article(tokens: list[str], span: Span) -> Words:
    words = tuple(token.lower() for token in tokens[slice(*span)])
    return words[1:] if words[0] in ("the", "a", "an") else words


def add_other_questions(cases: list[Case]) -> list[Case]:
    """Add a question with the answer no about every other occupation of a sentence."""
    question_of = {
        tuple(question.occupation.split()): question
        for case in cases
        for question in case.questions
    }
    return [
        replace(case, questions=(*case.questions, *_other_questions(case, question_of)))
        for case in cases
    ]


def _other_questions(case: Case, question_of: Mapping[Words, Question]) -> Iterator[Question]:
    """Yield questions about the first occurrences of occupations outside the case's mentions; at
    each token the longest occupation.
    """
    tokens = case.document.tokens
    covered = {position for span in case.document.mentions for position in range(*span)}
    max_length, occupations = max(map(len, question_of)), set[Words]()
    for first in range(len(tokens)):
        for end in range(min(first + max_length, len(tokens)), first, -1):
            words = tuple(token.lower() for token in tokens[first:end])
            if words in question_of and not covered.intersection(range(first, end)):
                if words in occupations:
                    break
                occupations.add(words)
                has_article = first > 0 and tokens[first - 1].lower() in ("the", "a", "an")
                span = (first - has_article, end)
                covered.update(range(*span))
                pronoun = case.questions[0].pronoun
                yield replace(question_of[words], pronoun=pronoun, name=span, answer=False)
                break
