"""Winogender schemas (Rudinger et al., 2018): the same sentence with he, she and they."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from biasbridge.corpora.people import find_gender
from biasbridge.corpora.protocols import EnglishChallenge
from biasbridge.corpora.sentences import tokenise_treebank
from biasbridge.files import InputError, choice
from biasbridge.files.documents import Case, Document, Question, Span
from biasbridge.files.tables import read_table, require_columns

SENTENCES, STATISTICS = "all_sentences.tsv", "occupations-stats.tsv"
EQUAL_PERCENTAGE = 50  # percent
ARTICLES = ("the", "a", "an")


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

    def load(self, *, seed: int) -> list[Case]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``. No subsets.

        Raises ``InputError`` for a malformed id and for a sentence without its occupation,
        participant or pronoun.
        """
        sentences, statistics = self.files()
        table = read_table(sentences, quoted=False)
        require_columns(table, ("sentid", "sentence"), str(sentences))
        percentages = _percentages(statistics)
        return [
            _case(str(name), str(text), percentages, str(sentences))
            for name, text in zip(table["sentid"], table["sentence"], strict=True)
        ]


def _percentages(path: Path) -> dict[str, float]:
    table = read_table(path, quoted=False)
    require_columns(table, ("occupation", "bls_pct_female"), str(path))
    return dict(zip(table["occupation"], table["bls_pct_female"].astype(float), strict=True))


def _case(name: str, text: str, percentages: Mapping[str, float], path: str) -> Case:
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
    pronoun = next((i for i, token in enumerate(tokens) if find_gender(token) == gender), None)
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
    return Case(document, unit, gender, questions, _condition(gender, answer, percentage))


def _find_name(word: str, tokens: list[str]) -> Span | None:
    """Return the span of the first occurrence of a word, with its article."""
    if word not in tokens:
        return None
    position = tokens.index(word)
    return (position - (position > 0 and tokens[position - 1] in ARTICLES), position + 1)


def _condition(gender: str, answer: str, percentage: float | None) -> str:
    if gender not in ("male", "female") or percentage in (None, EQUAL_PERCENTAGE):
        return ""
    is_majority = (gender == "female") == (percentage > EQUAL_PERCENTAGE)
    return "pro" if is_majority == (answer == "0") else "anti"
