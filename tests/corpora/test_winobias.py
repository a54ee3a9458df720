"""WinoBias's two forms give the same cases, pairs by number; what is not of its form is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

from biasbridge.corpora.winobias import WinoBias, read_bracketed
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
                Document(f"nw/type{number}/{condition}//{place}", each.sentences, each.clusters)
                for place, each in enumerate(read_bracketed(text))
            ]
            name = f"dev_type{number}_{condition}_stereotype.v4_auto_conll"
            write_conll(sorted(documents, key=lambda each: each.name, reverse=True), folder / name)
    return folder


@pytest.mark.parametrize("form", ["conll", "text"])
def test_pairs_go_by_number_and_cases_tell_all(
    tmp_path: Path, form: Literal["conll", "text"]
) -> None:
    cases = WinoBias(str(write(tmp_path)), form=form).load(seed=0)
    assert len(cases) == 12
    assert Counter((each.subset, each.condition) for each in cases) == {
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
    assert len({each.document.name for each in cases}) == 12


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
        list(read_bracketed(tmp_path / "a.txt"))
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
