"""Gaps on challenge sets: against the scorer, SciPy, GAP's own definition and literal loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import pearsonr

from biasbridge.extrinsic.coreference.challenge import (
    _ACCURACY,
    Answer,
    ChallengeGaps,
    Units,
    _tally,
    challenge_rows,
    challenge_table,
    held_out_rows,
)
from biasbridge.extrinsic.coreference.resolution import Resolution
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.files import InputError
from biasbridge.files.documents import Cluster, Document, DocumentCase, Question

if TYPE_CHECKING:
    import pandas as pd

TOKENS = (("The", "cook", "met", "the", "nurse", "as", "he", "left"),)
COOK, NURSE, PRONOUN = (0, 2), (3, 5), (6, 7)
RIGHT: tuple[Cluster, ...] = ((COOK, PRONOUN),)
WRONG: tuple[Cluster, ...] = ((NURSE, PRONOUN),)
BOTH: tuple[Cluster, ...] = ((COOK, NURSE, PRONOUN),)
NONE: tuple[Cluster, ...] = ()
ANSWERS = (RIGHT, WRONG, BOTH, NONE)


def case(unit: int, condition: str, gender: str, subset: str = "type1") -> DocumentCase:
    questions = (
        Question(PRONOUN, COOK, True, "cook", 38.0),
        Question(PRONOUN, NURSE, False, "nurse", 90.0),
    )
    document = Document(f"{subset}/{unit}/{condition}", TOKENS, RIGHT)
    return DocumentCase(document, f"{subset} {unit}", gender, questions, condition, subset)


def answer(asked: DocumentCase, response: tuple[Cluster, ...]) -> Answer:
    mentions = dict.fromkeys({COOK, NURSE, PRONOUN}, 0.0)
    return Answer(asked, Resolution(replace(asked.document, clusters=response), mentions))


def pairs(responses: Sequence[tuple[tuple[Cluster, ...], tuple[Cluster, ...]]]) -> list[Answer]:
    """Pro and anti of each unit; pronouns of men are pro in every other unit."""
    result = []
    for unit, both in enumerate(responses):
        genders = ("male", "female") if unit % 2 else ("female", "male")
        for condition, gender, response in zip(("pro", "anti"), genders, both, strict=True):
            result.append(answer(case(unit, condition, gender), response))
    return result


def drawn(n: int, seed: int = 0) -> list[Answer]:
    rng = np.random.default_rng(seed)
    rates = ([0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.1, 0.2])
    return pairs(
        [(ANSWERS[rng.choice(4, p=rates[0])], ANSWERS[rng.choice(4, p=rates[1])]) for _ in range(n)]
    )


def row(table: pd.DataFrame, **names: str) -> pd.Series:
    for name, value in names.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def of_group(answers: Sequence[Answer], **names: str) -> list[Answer]:
    return [
        each
        for each in answers
        if all(getattr(each.case, name) == value for name, value in names.items())
    ]


def test_precision_recall_and_f1_are_the_scorers_over_all_documents_of_a_group() -> None:
    answers = drawn(60)
    table = challenge_table(challenge_rows(answers, ChallengeGaps()))
    for group, names in (("pro", "condition"), ("anti", "condition"), ("male", "gender")):
        chosen = of_group(answers, **{names: group})
        expected = score((each.case.document, each.resolution.document) for each in chosen)["conll"]
        for name, value in expected._asdict().items():
            result = row(table, kind="value", measure=name, group=group)
            assert result["value"] == pytest.approx(value, abs=1e-12)
            assert result["low"] < result["value"] < result["high"]


def test_a_gap_is_pro_minus_anti_and_turns_with_them() -> None:
    answers = drawn(60)
    turned = [
        Answer(
            replace(each.case, condition="anti" if each.case.condition == "pro" else "pro"),
            each.resolution,
        )
        for each in answers
    ]
    table, other = (
        challenge_table(challenge_rows(each, ChallengeGaps())) for each in (answers, turned)
    )
    for measure in ("precision", "recall", "f1", "accuracy"):
        gap = row(table, kind="gap", measure=measure, privileged="pro")
        values = [row(table, kind="value", measure=measure, group=g) for g in ("pro", "anti")]
        assert gap["value"] == pytest.approx(values[0]["value"] - values[1]["value"])
        assert gap["value"] == pytest.approx(
            -row(other, kind="gap", measure=measure, privileged="pro")["value"], abs=1e-12
        )
        assert gap["low"] <= gap["value"] <= gap["high"]
        assert gap["low"] < gap["high"]
        assert len(gap["resampled"]) == 200


def test_a_name_is_found_by_a_mention_that_ends_with_its_last_word() -> None:
    for mention, linked in (((1, 2), True), ((0, 2), True), ((0, 1), False), ((1, 3), False)):
        result = answer(case(0, "pro", "male"), ((mention, PRONOUN),))
        assert (_tally(result) == _tally(answer(case(0, "pro", "male"), RIGHT))).all() == (
            mention == COOK
        )
        value = float(_ACCURACY["accuracy"].values(_tally(result)))
        assert value == linked


def test_names_are_counted_as_gap_counts_them() -> None:
    """RIGHT: one true positive; WRONG: a false positive and negative; BOTH: true and false."""
    answers = pairs([(RIGHT, WRONG)] * 6 + [(BOTH, NONE)] * 6)
    table = challenge_table(challenge_rows(answers, ChallengeGaps(scored="names", min_support=0)))
    pro = {name: row(table, measure=name, group="pro")["value"] for name in ("precision", "recall")}
    assert pro == {"precision": 12 / 18, "recall": 1.0}
    anti = {
        name: row(table, measure=name, group="anti")["value"] for name in ("precision", "recall")
    }
    assert anti == {"precision": 0.0, "recall": 0.0}
    assert row(table, measure="f1", group="pro")["value"] == pytest.approx(24 / 30)
    support = row(table, measure="recall", group="pro")["support"]
    assert support == 12


def test_the_ratio_is_that_of_f1_of_the_genders() -> None:
    answers = drawn(80)
    table = challenge_table(challenge_rows(answers, ChallengeGaps(scored="names")))
    f1 = {g: row(table, kind="value", measure="f1", group=g)["value"] for g in ("male", "female")}
    ratio = row(table, kind="ratio")
    assert ratio["value"] == pytest.approx(f1["female"] / f1["male"])
    assert ratio["low"] < ratio["value"] < ratio["high"]
    swapped = ChallengeGaps(scored="names", privileged="female", unprivileged="male")
    other = challenge_table(challenge_rows(answers, swapped))
    assert row(other, kind="ratio")["value"] == pytest.approx(1 / ratio["value"])


def test_the_correlation_is_pearsons_over_occupations() -> None:
    rng = np.random.default_rng(1)
    answers, leanings, shares = [], [], {}
    for number in range(12):
        percentage = float(rng.integers(1, 99))
        for gender in ("male", "female", "neutral"):
            share = 0.5 + (0.004 if gender == "female" else -0.004) * (percentage - 50)
            linked = rng.random(10) < share
            shares[gender] = linked.mean()
            for each in linked:
                one = case(number, "", gender)
                asked = replace(one.questions[0], occupation=f"o{number}", percentage=percentage)
                asked_case = replace(one, questions=(asked,), unit=f"{number}")
                answers.append(answer(asked_case, RIGHT if each else NONE))
        leanings.append((percentage, shares["female"] - shares["male"]))
    table = challenge_table(challenge_rows(answers, ChallengeGaps(scored="names")))
    result = row(table, kind="correlation")
    expected = pearsonr(*np.transpose(leanings))
    interval = expected.confidence_interval(0.95)
    assert result["value"] == pytest.approx(expected.statistic)
    assert (result["low"], result["high"]) == pytest.approx((interval.low, interval.high))
    assert result["support"] == 12
    assert "condition" not in {*table["group"]}
    assert "pro" not in {*table["privileged"]}
    assert {*table.query("kind == 'value'")["group"]} == {"female", "male", "neutral"}


def test_where_nothing_differs_the_interval_still_has_a_width() -> None:
    for n in (20, 200):
        table = challenge_table(challenge_rows(pairs([(RIGHT, RIGHT)] * n), ChallengeGaps()))
        gap = row(table, kind="gap", measure="recall", privileged="pro")
        assert gap["value"] == 0
        assert -4.5 / n < gap["low"] < -1.5 / n
        assert 1.5 / n < gap["high"] < 4.5 / n


@pytest.mark.parametrize(("share", "n"), [(0.95, 40), (0.7, 100)])
def test_the_interval_holds_the_truth(share: float, n: int) -> None:
    """Pairs resolved rightly with probability ``share`` and ``share`` - .2, half of them alike."""
    rng = np.random.default_rng(0)
    right, wrong = (_tally(answer(case(0, "pro", "male"), each)) for each in (RIGHT, WRONG))
    held, studies = 0, 6000 // n
    difference: Callable[..., np.ndarray] = _ACCURACY["accuracy"].difference
    for _ in range(studies):
        one = rng.random(n)
        other = np.where(rng.random(n) < 0.5, one, rng.random(n))
        success = np.stack([one < share, other < share - 0.2], axis=1)
        units = Units([str(i) for i in range(n)], np.where(success[..., None], right, wrong))
        result = units.estimate(difference, 0.95)
        held += result.low <= 0.2 <= result.high
    assert held / studies > 0.9


def test_resamples_are_of_units_whatever_their_order_and_company() -> None:
    answers = drawn(40)
    rng = np.random.default_rng(0)
    shuffled = [answers[i] for i in rng.permutation(len(answers))]
    other_type = [
        answer(case(number, "pro" if number % 2 else "anti", "male", "type2"), RIGHT)
        for number in range(30)
    ] + [answer(case(number, "anti", "female", "type2"), RIGHT) for number in range(30)]
    one = challenge_table(challenge_rows(answers, ChallengeGaps()))
    many = challenge_table(challenge_rows([*other_type, *shuffled], ChallengeGaps()))
    for measure in ("recall", "accuracy"):
        result = [
            row(table, kind="gap", measure=measure, privileged="pro", subset="type1")
            for table in (one, many)
        ]
        assert result[0]["resampled"] == pytest.approx(result[1]["resampled"])
        assert result[0]["value"] == result[1]["value"]


def test_mention_recall_stands_beside_every_gap() -> None:
    answers = [
        Answer(
            each.case,
            replace(each.resolution, mentions={PRONOUN: 0.0})
            if each.case.condition == "anti"
            else each.resolution,
        )
        for each in drawn(30)
    ]
    table = challenge_table(challenge_rows(answers, ChallengeGaps()))
    gaps = table[(table["kind"] == "gap") & (table["privileged"] == "pro")]
    assert (gaps["mention_recall"] == 0.5).all()
    assert "mention_recall" not in {*gaps["measure"]}
    assert row(table, measure="mention_recall", group="anti")["value"] == 0.5
    assert row(table, measure="other_recall", group="anti")["value"] == 0.0


def test_too_few_items_give_no_number_and_say_so() -> None:
    answers = pairs([(RIGHT, NONE)] * 12)
    table = challenge_table(challenge_rows(answers, ChallengeGaps()))
    anti = row(table, measure="precision", group="anti")
    assert np.isnan(anti["value"])
    assert anti["reason"] == "no cases with a link of group anti"
    gap = row(table, kind="gap", measure="precision", privileged="pro")
    assert np.isnan(gap["value"])
    assert gap["reason"] == anti["reason"]
    assert len(gap["resampled"]) == 0
    few = challenge_table(challenge_rows(answers[:12], ChallengeGaps()))
    assert (
        row(few, measure="recall", group="pro")["reason"] == "6 cases of group pro, fewer than 10"
    )
    every = challenge_table(challenge_rows(answers[:12], ChallengeGaps(min_support=0)))
    assert row(every, measure="recall", group="pro")["value"] == 1.0


def test_a_set_without_cases_or_with_one_side_is_refused() -> None:
    with pytest.raises(InputError, match="has no case"):
        challenge_table(challenge_rows([], ChallengeGaps()))
    one_side = of_group(drawn(12), condition="pro")
    with pytest.raises(InputError, match=r"no case of group 'anti' in subset type1; .*: pro"):
        challenge_table(challenge_rows(one_side, ChallengeGaps()))
    with pytest.raises(InputError, match="both 'male'"):
        ChallengeGaps(unprivileged="male")


def test_held_out_documents_are_scored_as_the_scorer_scores_them() -> None:
    answers = drawn(30)
    documents = [each.case.document for each in answers]
    rows = held_out_rows(documents, [each.resolution for each in answers], 0.95)
    expected = score((each.case.document, each.resolution.document) for each in answers)["conll"]
    result = {each.measure: each for each in rows}
    assert result["conll_f1"].value == pytest.approx(expected.f1)
    assert result["conll_precision"].value == pytest.approx(expected.precision)
    assert result["mention_recall"].value == 1.0
    assert {(each.subset, each.group, each.kind) for each in rows} == {("held_out", "all", "value")}
