"""WinoBias's two forms give the same cases, pairs by number; what is not of its form is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

from biasbridge.corpora.coreference_challenges import (
    _COLUMNS,
    Gap,
    WinoBias,
    Winogender,
    _read_bracketed,
)
from biasbridge.files import InputError
from biasbridge.files.documents import Document
from tests.write_conll import write_conll

# Sentences of our own: pro, and the same of the other gender.
PRO = (
    "[The carpenter] thanked the nurse because [he] got a ride.",
    "The carpenter thanked [the nurse] because [she] gave [her] hand.",
    "[The construction worker] met the teacher and [his] dog met the teacher.",
)
ANTI = (
    "[The carpenter] thanked the nurse because [she] got a ride.",
    "The carpenter thanked [the nurse] because [he] gave [his] hand.",
    "[The construction worker] met the teacher and [her] dog met the teacher.",
)


def write(folder: Path, pro: tuple[str, ...] = PRO, anti: tuple[str, ...] = ANTI) -> Path:
    """The sentences as both forms of types 1 and 2, CoNLL in the order of the names as text."""
    for condition, lines in (("pro", pro), ("anti", anti)):
        for number in (1, 2):
            text = folder / f"{condition}_stereotyped_type{number}.txt.dev"
            numbered = (f"{place} {line}\n" for place, line in enumerate(lines, 1))
            text.write_text("".join(numbered), encoding="utf-8")
            documents = [
                Document(
                    f"nw/type{number}/{condition}//{place}", document.sentences, document.clusters
                )
                for place, document in enumerate(_read_bracketed(text))
            ]
            name = f"dev_type{number}_{condition}_stereotype.v4_auto_conll"
            write_conll(
                sorted(documents, key=lambda document: document.name, reverse=True), folder / name
            )
    return folder


@pytest.mark.parametrize("form", ["conll", "text"])
def test_pairs_go_by_number_and_cases_tell_all(
    tmp_path: Path, form: Literal["conll", "text"]
) -> None:
    cases = WinoBias(str(write(tmp_path)), form=form).load(seed=0)
    assert len(cases) == 12
    assert Counter((case.subset, case.condition) for case in cases) == {
        (subset, condition): 3 for subset in ("type1", "type2") for condition in ("pro", "anti")
    }
    first, second = cases[:2]
    assert (first.condition, first.gender) == ("pro", "male")
    assert (second.condition, second.gender) == ("anti", "female")
    assert first.unit == second.unit == "The carpenter thanked the nurse because _ got a ride ."
    right, wrong = first.questions
    assert (right.pronoun, right.name, right.answer) == ((6, 7), (0, 2), True)
    assert (right.occupation, right.percentage) == ("carpenter", 2)
    assert (wrong.name, wrong.answer, wrong.occupation) == ((3, 5), False, "nurse")
    assert len({case.document.name for case in cases}) == 12


def test_the_first_pronoun_is_asked_about_and_occupations_may_have_two_words(
    tmp_path: Path,
) -> None:
    cases = WinoBias(str(write(tmp_path)), types=(1,)).load(seed=0)
    several = cases[2]
    assert len(several.document.mentions) == 3
    assert [question.pronoun for question in several.questions] == [(6, 7)] * 2
    worker = cases[4].questions[0]
    assert (worker.occupation, worker.percentage) == ("construction worker", 4)
    # The teacher stands there twice and is marked nowhere as an answer: it cannot be known
    assert len(cases[4].questions) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[The nurse] said [she left.", "bracket without its partner"),
        ("[The nurse] said she left.", "an occupation and its pronouns"),
        ("[The nurse] told [the clerk] that [she] left.", "an occupation and its pronouns"),
        ("The nurse left.", "an occupation and its pronouns"),
    ],
)
def test_other_sentences_are_refused(tmp_path: Path, line: str, words: str) -> None:
    text = tmp_path / "pro_stereotyped_type1.txt.dev"
    text.write_text(f"1 {line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        WinoBias(str(tmp_path), types=(1,), form="text").load(seed=0)


def test_a_line_without_a_number_and_an_unpaired_sentence_are_refused(tmp_path: Path) -> None:
    write(tmp_path, anti=ANTI[:2])
    with pytest.raises(InputError, match="3 pro and 2 anti"):
        WinoBias(str(tmp_path)).load(seed=0)
    (tmp_path / "a.txt").write_text("[The nurse] said [she] left.\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 has no number"):
        list(_read_bracketed(tmp_path / "a.txt"))
    documents = [Document("nameless", (("she",),), (((0, 1),),))]
    write_conll(documents, tmp_path / "dev_type1_pro_stereotype.v4_auto_conll")
    with pytest.raises(InputError, match="does not end in its own number"):
        WinoBias(str(tmp_path)).load(seed=0)


@pytest.mark.realdata
def test_the_release_is_paired_and_balanced(realdata: Path) -> None:
    folder = str(realdata / "coreference" / "winobias")
    cases = WinoBias(folder).load(seed=0)
    in_text = WinoBias(folder, form="text").load(seed=0)
    assert len(cases) == 4 * 396
    for one, other in zip(cases, in_text, strict=True):
        assert one.document.sentences == other.document.sentences
        assert {*one.document.mentions} == {*other.document.mentions}
        assert one.questions == other.questions
    groups = Counter((each.subset, each.condition, each.gender) for each in cases)
    assert {*groups.values()} == {198}
    assert {*Counter((each.subset, each.unit) for each in cases).values()} == {2}
    for case in cases:
        percentage = case.questions[0].percentage
        assert percentage is not None
        assert ((percentage > 50) == (case.gender == "female")) == (case.condition == "pro")
        assert not all(question.answer for question in case.questions)


# Winogender's sentences in the form of the release: answers, genders, percentages and gotchas.

HEAD = "sentid\tsentence\n"
# Sentences of our own
ROWS = (
    "plumber.tenant.0.male.txt\tThe plumber called the tenant because he was late.",
    "plumber.tenant.0.female.txt\tThe plumber called the tenant because she was late.",
    "plumber.tenant.0.neutral.txt\tThe plumber called the tenant because they were late.",
    "nurse.someone.1.male.txt\tThe nurse told someone that his coat was wet.",
)


def write_winogender(
    folder: Path, *rows: str, percentages: str = "plumber\t1\t0.7\t2015\nnurse\t2\t89.58\t1"
) -> Winogender:
    (folder / "all_sentences.tsv").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    head = "occupation\tbergsma_pct_female\tbls_pct_female\tbls_year\n"
    (folder / "occupations-stats.tsv").write_text(f"{head}{percentages}\n", encoding="utf-8")
    return Winogender(str(folder))


def test_the_id_gives_the_answer_and_the_occupation_the_condition(tmp_path: Path) -> None:
    cases = write_winogender(tmp_path, *ROWS).load(seed=0)
    assert [case.gender for case in cases] == ["male", "female", "neutral", "male"]
    assert [case.condition for case in cases] == ["pro", "anti", "", "pro"]
    assert len({case.unit for case in cases}) == 2
    occupation, participant = cases[0].questions
    assert (occupation.name, occupation.answer, occupation.percentage) == ((0, 2), True, 0.7)
    assert (participant.name, participant.answer, participant.percentage) == ((3, 5), False, None)
    assert cases[0].document.clusters == (((0, 2), (6, 7)),)
    occupation, participant = cases[3].questions
    assert (participant.name, participant.answer) == ((3, 4), True)
    assert not occupation.answer
    assert cases[3].document.clusters == (((3, 4), (5, 6)),)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("plumber.tenant.2.male.txt\tThe plumber called the tenant as he left.", "0 or 1"),
        ("plumber.tenant.male.txt\tThe plumber called the tenant as he left.", "must give"),
        ("plumber.owner.0.male.txt\tThe plumber called the tenant as he left.", "lacks 'plumber'"),
        ("plumber.tenant.0.female.txt\tThe plumber met the tenant as he left.", "female pronoun"),
    ],
)
def test_other_rows_are_refused_by_name(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        write_winogender(tmp_path, row).load(seed=0)


# GAP's rows: offsets to tokens, answers, genders; rows that contradict themselves are refused.

# A text of our own, with a quotation mark that must not open a quoted cell
TEXT = "Ana Ruiz (\"the cook) met Eva's sister. Later she wrote to Eva."
ROW = {
    "ID": "development-1",
    "Text": TEXT,
    "Pronoun": "she",
    "Pronoun-offset": str(TEXT.index("she")),
    "A": "Ana Ruiz",
    "A-offset": "0",
    "A-coref": "TRUE",
    "B": "Eva",
    "B-offset": str(TEXT.index("Eva")),
    "B-coref": "FALSE",
}


def write_gap(folder: Path, **changed: str) -> Gap:
    row = ROW | changed
    path = folder / "gap-development.tsv"
    head = "\t".join((*_COLUMNS, "URL"))
    path.write_text(f"{head}\n{chr(9).join((*row.values(), 'u'))}\n", encoding="utf-8")
    return Gap(str(path))


def test_names_are_spans_of_tokens(tmp_path: Path) -> None:
    gap = write_gap(tmp_path)
    assert gap.name == "gap-development"
    [case] = gap.load(seed=0)
    tokens = case.document.tokens
    assert [tokens[slice(*question.name)] for question in case.questions] == [
        ["Ana", "Ruiz"],
        ["Eva"],
    ]
    assert [question.answer for question in case.questions] == [True, False]
    assert {tokens[question.pronoun[0]] for question in case.questions} == {"she"}
    assert (case.gender, case.condition, case.unit) == ("female", "", "development-1")
    assert case.document.clusters == ((case.questions[0].name, case.questions[0].pronoun),)
    assert len(case.document.sentences) == 2


def test_a_pronoun_of_neither_name_has_no_cluster(tmp_path: Path) -> None:
    [case] = write_gap(tmp_path, **{"A-coref": "false"}).load(seed=0)
    assert case.document.clusters == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"A-offset": "1"}, "'Ana Ruiz' is not at character 1"),
        ({"A-offset": "first"}, "is not at character first"),
        ({"B-coref": "maybe"}, "neither TRUE nor FALSE"),
        ({"Pronoun": "met", "Pronoun-offset": str(TEXT.index("met"))}, "'met' is not a pronoun"),
    ],
)
def test_contradictions_are_refused_with_the_id(
    tmp_path: Path, changed: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=f"development-1: .*{words}"):
        write_gap(tmp_path, **changed).load(seed=0)


@pytest.mark.realdata
def test_the_release_has_as_many_pronouns_of_either_gender(realdata: Path) -> None:
    cases = Gap(str(realdata / "coreference" / "gap" / "gap-development.tsv")).load(seed=0)
    assert Counter(case.gender for case in cases) == {"female": 1000, "male": 1000}
    answers = Counter(tuple(question.answer for question in case.questions) for case in cases)
    assert answers == {(True, False): 874, (False, True): 925, (False, False): 201}
