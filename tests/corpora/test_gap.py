"""GAP's rows: offsets to tokens, answers, genders; rows that contradict themselves are refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from biasbridge.corpora.gap import COLUMNS, Gap
from biasbridge.files import InputError

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


def write(folder: Path, **changed: str) -> Gap:
    row = ROW | changed
    path = folder / "gap-development.tsv"
    head = "\t".join((*COLUMNS, "URL"))
    path.write_text(f"{head}\n{chr(9).join((*row.values(), 'u'))}\n", encoding="utf-8")
    return Gap(str(path))


def test_names_are_spans_of_tokens(tmp_path: Path) -> None:
    gap = write(tmp_path)
    assert gap.name == "gap-development"
    [case] = gap.load(seed=0)
    tokens = case.document.tokens
    assert [tokens[slice(*each.name)] for each in case.questions] == [["Ana", "Ruiz"], ["Eva"]]
    assert [each.answer for each in case.questions] == [True, False]
    assert {tokens[each.pronoun[0]] for each in case.questions} == {"she"}
    assert (case.gender, case.condition, case.unit) == ("female", "", "development-1")
    assert case.document.clusters == ((case.questions[0].name, case.questions[0].pronoun),)
    assert len(case.document.sentences) == 2


def test_a_pronoun_of_neither_name_has_no_cluster(tmp_path: Path) -> None:
    [case] = write(tmp_path, **{"A-coref": "false"}).load(seed=0)
    assert case.document.clusters == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"A-offset": "1"}, "'Ana Ruiz' is not at character 1"),
        ({"A-offset": "first"}, "is not at character first"),
        ({"B-coref": "maybe"}, "neither TRUE nor FALSE"),
        ({"Pronoun": "met", "Pronoun-offset": str(TEXT.index("met"))}, "'met' is no pronoun"),
    ],
)
def test_contradictions_are_refused_with_the_id(
    tmp_path: Path, changed: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=f"development-1: .*{words}"):
        write(tmp_path, **changed).load(seed=0)


@pytest.mark.realdata
def test_the_release_has_as_many_pronouns_of_either_gender(realdata: Path) -> None:
    cases = Gap(str(realdata / "coreference" / "gap" / "gap-development.tsv")).load(seed=0)
    assert Counter(case.gender for case in cases) == {"female": 1000, "male": 1000}
    answers = Counter(tuple(each.answer for each in case.questions) for case in cases)
    assert answers == {(True, False): 874, (False, True): 925, (False, False): 201}
