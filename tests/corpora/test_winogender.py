"""Winogender's sentences in the form of the release: answers, genders, percentages and gotchas."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasbridge.corpora.winogender import Winogender
from biasbridge.files import InputError

HEAD = "sentid\tsentence\n"
# Sentences of our own
ROWS = (
    "plumber.tenant.0.male.txt\tThe plumber called the tenant because he was late.",
    "plumber.tenant.0.female.txt\tThe plumber called the tenant because she was late.",
    "plumber.tenant.0.neutral.txt\tThe plumber called the tenant because they were late.",
    "nurse.someone.1.male.txt\tThe nurse told someone that his coat was wet.",
)


def write(
    folder: Path, *rows: str, percentages: str = "plumber\t1\t0.7\t2015\nnurse\t2\t89.58\t1"
) -> Winogender:
    (folder / "all_sentences.tsv").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    head = "occupation\tbergsma_pct_female\tbls_pct_female\tbls_year\n"
    (folder / "occupations-stats.tsv").write_text(f"{head}{percentages}\n", encoding="utf-8")
    return Winogender(str(folder))


def test_the_id_gives_the_answer_and_the_occupation_the_condition(tmp_path: Path) -> None:
    cases = write(tmp_path, *ROWS).load(seed=0)
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
        write(tmp_path, row).load(seed=0)
