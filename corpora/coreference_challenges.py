"""Challenge sets of coreference about people: WinoBias (Zhao et al., 2018), Winogender (Rudinger et
al., 2018) and GAP (Webster et al., 2018); pronouns by gender, percentages of women in occupations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

from biasbridge.corpora.protocols import EnglishChallenge, SingleFileData
from biasbridge.corpora.tokens import Token, find_span, tokenise_treebank
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.documents import Document, DocumentCase, Question, Span, read_conll
from biasbridge.files.paths import digest_of
from biasbridge.files.tables import read_table, require_columns
from biasbridge.intrinsic.words import load_wordset

_PRONOUNS = {
    "male": "he him his himself",
    "female": "she her hers herself",
    "neutral": "they them their theirs themself themselves",
}
_GENDERS = {form: gender for gender, forms in _PRONOUNS.items() for form in forms.split()}
# Occupation in sentences -> its name in the table
_ALIASES = {"mechanic": "mechanician", "tailor": "sewer"}
_CONDITIONS = ("pro", "anti")
_NUMBERED = re.compile(r"\d+\s+(?P<sentence>.*\S)\s*")
_BRACKETED = re.compile(r"\[\s*(?P<mention>[^\[\]]*?)\s*\]")
Tokens = tuple[str, ...]
SENTENCES, STATISTICS = "all_sentences.tsv", "occupations-stats.tsv"
_EQUAL_PERCENTAGE = 50  # percent
_ARTICLES = ("the", "a", "an")
_NAMES = ("A", "B")
_ANSWERS = {"TRUE": True, "FALSE": False}
_COLUMNS = (
    *("ID", "Text", "Pronoun", "Pronoun-offset"),
    *(f"{name}{part}" for name in _NAMES for part in ("", "-offset", "-coref")),
)


def _find_gender(token: str) -> str:
    """Return ``male``, ``female``, ``neutral``, or empty if not a pronoun; ignores case."""
    return _GENDERS.get(token.lower(), "")


@cache
def load_percentages() -> dict[str, float]:
    """Return percentages by occupation, words joined by ``_`` (word set ``occupations``)."""
    table = load_wordset("occupations")
    return dict(zip(table.words, table.values, strict=True))


def _find_percentage(occupation: str) -> float | None:
    """Return the percentage of women in an occupation (singular); None if unknown."""
    name = occupation.lower().replace(" ", "_")
    percentages = load_percentages()
    matches = (percentages.get(form) for form in (name, f"{name}s", _ALIASES.get(name, name)))
    return next((value for value in matches if value is not None), None)


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
        return [self._file(number, condition) for number in self.types for condition in _CONDITIONS]

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases, in the subsets ``type1`` and ``type2``."""
        read = read_conll if self.form == "conll" else _read_bracketed
        cases: list[DocumentCase] = []
        for number in self.types:
            pro, anti = (
                [_winobias_case(document, path) for document in _sort_by_number(read(path), path)]
                for path in (self._file(number, condition) for condition in _CONDITIONS)
            )
            if len(pro) != len(anti):
                raise InputError(
                    f"{self.folder}: type {number} has {len(pro)} pro and {len(anti)} anti"
                    " sentences; they are paired by number, copy both files again"
                )
            for pair in zip(pro, anti, strict=True):
                cases += (
                    replace(case, unit=pair[0].unit, condition=condition, subset=f"type{number}")
                    for case, condition in zip(pair, _CONDITIONS, strict=True)
                )
        return _add_other_questions(cases)

    def _file(self, number: int, condition: str) -> Path:
        name = (
            f"{self.split}_type{number}_{condition}_stereotype.v4_auto_conll"
            if self.form == "conll"
            else f"{condition}_stereotyped_type{number}.txt.{self.split}"
        )
        return Path(self.folder) / name


def _read_bracketed(path: str | Path) -> Iterator[Document]:
    """Yield a document a line, ``1 [The nurse] said that [she] left.``, of one cluster."""
    for number, line in enumerate(read_lines(path), 1):
        numbered = _NUMBERED.fullmatch(line)
        if not numbered:
            raise InputError(f"{path}: line {number} has no number and sentence: {line!r}")
        plain, mention_bounds = "", []
        position = 0
        for match in _BRACKETED.finditer(sentence := numbered["sentence"]):
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


def _add_other_questions(cases: list[DocumentCase]) -> list[DocumentCase]:
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


@choice
class Winogender(EnglishChallenge):
    """720 sentences with an occupation, a participant and a pronoun that refers to one of them: 120
    templates with pronouns of three genders, with a participant or "someone".

    ``folder`` is ``data`` of the release: ``all_sentences.tsv``, whose column ``sentid`` gives
    occupation, participant, answer (0 occupation, 1 participant) and gender, and
    ``occupations-stats.tsv``, percentages of women (US Bureau of Labor Statistics, 2015 and 2016).

    ``pro``: the pronoun has the majority gender of the occupation and refers to it, or the minority
    gender and refers to the participant; ``anti``, the authors' "gotcha": the reverse.
    """

    folder: str

    version: ClassVar[int] = 1
    name: ClassVar[str] = "winogender"
    unkeyed: ClassVar[tuple[str, ...]] = ("folder",)

    def files(self) -> list[Path]:
        """Return the two files to read."""
        return [Path(self.folder) / name for name in (SENTENCES, STATISTICS)]

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases; there are no subsets."""
        sentences, statistics = self.files()
        table = read_table(sentences, quoted=False)
        require_columns(table, ("sentid", "sentence"), str(sentences))
        percentages = _percentages(statistics)
        return [
            _winogender_case(str(name), str(text), percentages, str(sentences))
            for name, text in zip(table["sentid"], table["sentence"], strict=True)
        ]


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

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases; there are neither conditions nor subsets."""
        table = read_table(self.path, separator="\t", quoted=False)
        require_columns(table, _COLUMNS, self.path)
        cells = table[[*_COLUMNS]].astype(str).to_numpy().tolist()
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in cells]
        return [_gap_case(row, f"{self.path}: {row['ID']}") for row in rows]


def _sort_by_number(documents: Iterable[Document], path: Path) -> list[Document]:
    """Sort by the number at the end of the names; files have the order 0, 100, 101, ..., 1, 10."""
    numbered: dict[int, Document] = {}
    for document in documents:
        number = document.name.rpartition("/")[2]
        if not number.isdecimal() or int(number) in numbered:
            raise InputError(f"{path}: document {document.name!r} does not end in its own number")
        numbered[int(number)] = document
    return [numbered[number] for number in sorted(numbered)]


def _winobias_case(document: Document, path: Path) -> DocumentCase:
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
    unit = " ".join("_" if _find_gender(token) else token for token in tokens)
    occupation = " ".join(_without_article(tokens, names[0]))
    question = Question(pronouns[0], names[0], True, occupation, _find_percentage(occupation))
    return DocumentCase(document, unit, _find_gender(tokens[pronouns[0][0]]), (question,))


def _is_pronoun(span: Span, tokens: list[str]) -> bool:
    return span[1] - span[0] == 1 and bool(_find_gender(tokens[span[0]]))


def _without_article(tokens: list[str], span: Span) -> Tokens:
    words = tuple(token.lower() for token in tokens[slice(*span)])
    return words[1:] if words[0] in ("the", "a", "an") else words


def _other_questions(
    case: DocumentCase, question_of: Mapping[Tokens, Question]
) -> Iterator[Question]:
    """Yield questions about the first occurrences of occupations outside the case's mentions; at
    each token the longest occupation.
    """
    tokens = case.document.tokens
    covered = {position for span in case.document.mentions for position in range(*span)}
    max_length, occupations = max(map(len, question_of)), set[Tokens]()
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


def _percentages(path: Path) -> dict[str, float]:
    table = read_table(path, quoted=False)
    require_columns(table, ("occupation", "bls_pct_female"), str(path))
    return dict(zip(table["occupation"], table["bls_pct_female"].astype(float), strict=True))


def _winogender_case(
    name: str, text: str, percentages: Mapping[str, float], path: str
) -> DocumentCase:
    parts = name.removesuffix(".txt").split(".")
    if len(parts) != 4 or parts[2] not in ("0", "1"):
        raise InputError(
            f"{path}: sentid {name!r} must give occupation, participant, 0 or 1, and gender, as"
            " baker.guest.1.female.txt does"
        )
    occupation, participant, answer, gender = parts
    sentences = tuple(tuple(t.text for t in tokens) for tokens in tokenise_treebank(text))
    tokens = [token.lower() for sentence in sentences for token in sentence]
    spans = [_find_name(word, tokens) for word in (occupation, participant)]
    pronoun = next((i for i, token in enumerate(tokens) if _find_gender(token) == gender), None)
    if pronoun is None or spans[0] is None or spans[1] is None:
        raise InputError(
            f"{path}: {name}: the sentence lacks {occupation!r}, {participant!r} or a {gender}"
            f" pronoun: {text!r}"
        )
    pronoun_span = (pronoun, pronoun + 1)
    percentage = percentages.get(occupation)
    questions = (
        Question(pronoun_span, spans[0], answer == "0", occupation, percentage),
        Question(pronoun_span, spans[1], answer == "1"),
    )
    document = Document(name, sentences, ((spans[int(answer)] or pronoun_span, pronoun_span),))
    unit = ".".join(parts[:3])
    return DocumentCase(
        document, unit, gender, questions, _winogender_condition(gender, answer, percentage)
    )


def _find_name(word: str, tokens: list[str]) -> Span | None:
    """Return the span of the first occurrence of a word, with its article."""
    if word not in tokens:
        return None
    position = tokens.index(word)
    return (position - (position > 0 and tokens[position - 1] in _ARTICLES), position + 1)


def _winogender_condition(gender: str, answer: str, percentage: float | None) -> str:
    if gender not in ("male", "female") or percentage in (None, _EQUAL_PERCENTAGE):
        return ""
    is_majority = (gender == "female") == (percentage > _EQUAL_PERCENTAGE)
    return "pro" if is_majority == (answer == "0") else "anti"


def _gap_case(row: Mapping[str, str], where: str) -> DocumentCase:
    sentences = tokenise_treebank(row["Text"])
    pronoun = _gap_span(row, "Pronoun", sentences, where)
    gender = _find_gender(row["Pronoun"])
    if not gender:
        raise InputError(f"{where}: {row['Pronoun']!r} is not a pronoun of a man or a woman")
    questions = tuple(
        Question(
            pronoun, _gap_span(row, name, sentences, where), _answer(row[f"{name}-coref"], where)
        )
        for name in _NAMES
    )
    antecedents = tuple(dict.fromkeys(q.name for q in questions if q.answer))
    texts = tuple(tuple(token.text for token in sentence) for sentence in sentences)
    document = Document(row["ID"], texts, ((*antecedents, pronoun),) if antecedents else ())
    return DocumentCase(document, row["ID"], gender, questions)


def _gap_span(row: Mapping[str, str], name: str, sentences: list[list[Token]], where: str) -> Span:
    offset, word = row[f"{name}-offset"], row[name]
    start = int(offset) if offset.isdecimal() else -1
    end = start + len(word)
    span = find_span(sentences, start, end) if row["Text"][max(start, 0) : end] == word else None
    if span is None:
        raise InputError(f"{where}: {word!r} is not at character {offset}")
    return span


def _answer(cell: str, where: str) -> bool:
    if cell.upper() not in _ANSWERS:
        raise InputError(f"{where}: the answer {cell!r} is neither TRUE nor FALSE")
    return _ANSWERS[cell.upper()]
