"""WinoBias (Zhao et al., 2018): sentences in which a stereotype of occupations helps or hinders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from corpora.kinds import EnglishChallenge
from corpora.people import find_gender, find_percentage
from corpora.sentences import find_span, tokenise_treebank
from files import InputError, choice, read_lines
from files.documents import Case, Document, Question, Span, read_conll

CONDITIONS = ("pro", "anti")
TITLED = re.compile(r"\d+\s+(?P<sentence>.*\S)\s*")
BRACKETED = re.compile(r"\[\s*(?P<mention>[^\[\]]*?)\s*\]")
Words = tuple[str, ...]


@choice
class WinoBias(EnglishChallenge):
    """396 pairs of sentences a type and split: in one the pronoun has the gender that prevails in
    the occupation it refers to (``pro``), in the other it has not (``anti``).

    ``folder`` holds the files of the release: ``form`` ``conll``, or ``text``, with mentions in
    brackets, a number before each sentence; both give the same cases. In type 1 only sense gives
    the antecedent, in type 2 the syntax does. The nth sentences of the two files are a pair,
    although nine of 792 in dev differ in another word than the pronoun.

    The other occupation of a sentence is not marked: it is found as one that is marked elsewhere.
    Percentages of women are those by which the authors chose the occupations.
    """

    folder: str
    split: Literal["dev", "test"] = "dev"
    types: tuple[Literal[1, 2], ...] = (1, 2)
    form: Literal["conll", "text"] = "conll"

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("folder",)

    @property
    def name(self) -> str:
        """Stands for the challenge set in the tables."""
        return f"winobias_{self.split}"

    def files(self) -> list[Path]:
        """Pro and anti of every type."""
        return [self._file(number, condition) for number in self.types for condition in CONDITIONS]

    def load(self, *, seed: int) -> list[Case]:
        """The cases; see ``corpora.kinds.Challenge``. Subsets ``type1`` and ``type2``."""
        read = read_conll if self.form == "conll" else read_bracketed
        cases: list[Case] = []
        for number in self.types:
            pro, anti = (
                [_case(document, path) for document in _by_number(read(path), path)]
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
        return add_others(cases)

    def _file(self, number: int, condition: str) -> Path:
        name = (
            f"{self.split}_type{number}_{condition}_stereotype.v4_auto_conll"
            if self.form == "conll"
            else f"{condition}_stereotyped_type{number}.txt.{self.split}"
        )
        return Path(self.folder) / name


def read_bracketed(path: str | Path) -> Iterator[Document]:
    """Documents of one sentence a line, ``1 [The nurse] said that [she] left.``: all mentions in
    brackets are one cluster.

    Raises ``InputError``, with the line, for one without a number or with an open bracket.
    """
    for number, line in enumerate(read_lines(path), 1):
        titled = TITLED.fullmatch(line)
        if not titled:
            raise InputError(f"{path}: line {number} has no number and sentence: {line!r}")
        plain, ends = "", []
        at = 0
        for found in BRACKETED.finditer(sentence := titled["sentence"]):
            plain += sentence[at : found.start()] + found["mention"]
            ends.append((len(plain) - len(found["mention"]), len(plain)))
            at = found.end()
        plain += sentence[at:]
        if "[" in plain or "]" in plain:
            raise InputError(f"{path}: line {number} has a bracket without its partner: {line!r}")
        sentences = tokenise_treebank(plain)
        spans = [span for span in (find_span(sentences, *end) for end in ends) if span]
        texts = tuple(tuple(token.text for token in tokens) for tokens in sentences)
        name = f"{Path(path).name}//{number - 1}"
        yield Document(name, texts, (tuple(spans),) if spans else ())


def _by_number(documents: Iterable[Document], path: Path) -> list[Document]:
    """The documents by the number that ends their name: files list 0, 100, 101, ..., 1, 10."""
    numbered: dict[int, Document] = {}
    for document in documents:
        number = document.name.rpartition("/")[2]
        if not number.isdecimal() or int(number) in numbered:
            raise InputError(f"{path}: document {document.name!r} does not end in its own number")
        numbered[int(number)] = document
    return [numbered[number] for number in sorted(numbered)]


def _case(document: Document, path: Path) -> Case:
    """A sentence whose only cluster is an occupation and its pronouns; the first is asked about."""
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
    occupation = " ".join(_bare(tokens, names[0]))
    question = Question(pronouns[0], names[0], True, occupation, find_percentage(occupation))
    return Case(document, unit, find_gender(tokens[pronouns[0][0]]), (question,))


def _is_pronoun(span: Span, tokens: list[str]) -> bool:
    return span[1] - span[0] == 1 and bool(find_gender(tokens[span[0]]))


def _bare(tokens: list[str], span: Span) -> Words:
    words = tuple(token.lower() for token in tokens[slice(*span)])
    return words[1:] if words[0] in ("the", "a", "an") else words


def add_others(cases: list[Case]) -> list[Case]:
    """The cases with a question about each other occupation of the sentence, answered by no."""
    known = {
        tuple(question.occupation.split()): question
        for case in cases
        for question in case.questions
    }
    return [replace(case, questions=(*case.questions, *_others(case, known))) for case in cases]


def _others(case: Case, known: Mapping[Words, Question]) -> Iterator[Question]:
    """Occupations outside the case's mentions, each where it first occurs; of several that begin
    at a word the longest.
    """
    tokens = case.document.tokens
    taken = {place for span in case.document.mentions for place in range(*span)}
    longest, found = max(map(len, known)), set[Words]()
    for first in range(len(tokens)):
        for end in range(min(first + longest, len(tokens)), first, -1):
            words = tuple(token.lower() for token in tokens[first:end])
            if words in known and not taken.intersection(range(first, end)):
                if words in found:
                    break
                found.add(words)
                article = first > 0 and tokens[first - 1].lower() in ("the", "a", "an")
                span = (first - article, end)
                taken.update(range(*span))
                answered = case.questions[0]
                yield replace(known[words], pronoun=answered.pronoun, name=span, answer=False)
                break
