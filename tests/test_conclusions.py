"""What an audit of a model says at its end: direction, certainty, certificate, missing scores."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from biasbridge.before_after import compare
from biasbridge.conclusions import conclusions, meaning_above
from biasbridge.files import progress
from biasbridge.intrinsic.audit import AuditedScore
from biasbridge.intrinsic.models.items import load_items
from biasbridge.intrinsic.registry import MODEL_METRICS
from biasbridge.intrinsic.score import Score
from biasbridge.studies.certificate_verdicts import _SENTENCES, NOT_ESTIMATED, SCORE_VERDICTS


def score(metric: str, value: float, query: str = "one", **cells: Any) -> Score:
    about = MODEL_METRICS[metric].about
    named: dict[str, Any] = dict.fromkeys(Score._fields, "")
    named |= {"metric": metric, "convention": "default", "query": query, "value": value}
    named |= {"unbiased": math.nan if about.unbiased is None else about.unbiased}
    named |= {
        "p_two_sided": math.nan,
        "p_value": math.nan,
        "low": math.nan,
        "high": math.nan,
        "n_found": 5,
    }
    return Score(**(named | {"resampled": ()} | cells))


def audited(*rows: Score, **cells: Any) -> list[AuditedScore]:
    named = {"kind": "causal", "gender_words": "en", "architecture": "gpt2, 2 layers of 64"}
    return [AuditedScore("model", row, {}, **(named | cells)) for row in rows]


@pytest.mark.parametrize(
    ("metric", "items", "meaning"),
    [
        ("seat", "seat7b", '"math, algebra, ..." lies nearer "John, Paul, ...", and "poetry, art'),
        ("lpbs", "lpbs_career", 'terms of "career" go with "he"'),
        ("crows_pairs", "lpbs_career", "stereotypes are the likelier sentences"),
        ("disco", "disco_names", ""),
    ],
)
def test_what_a_score_above_the_unbiased_value_says(metric: str, items: str, meaning: str) -> None:
    [item_set] = load_items([items])
    said = meaning_above(MODEL_METRICS[metric].about, item_set)
    assert said.startswith(meaning)
    assert bool(said) == bool(meaning)


SURE: dict[str, Any] = {"p_value": 0.001, "low": 0.4, "high": 1.2}
UNSURE: dict[str, Any] = {"p_value": 0.2, "low": -0.4, "high": 1.2}
GPT2 = "Certificate (tiny_gpt2, same architecture): it "


@pytest.mark.parametrize(
    ("rows", "cells", "said"),
    [
        (
            [score("next_word", 0.8, **SURE)],
            {"above": "terms of A go with he"},
            "next_word: one 0.80 [0.40, 1.20], p 0.001 differs from no bias (0)."
            f" Terms of A go with he. {GPT2}detects half of a planted bias.",
        ),
        (
            [score("next_word", -0.8, **SURE)],
            {"above": "terms of A go with he"},
            "next_word: one -0.80 [0.40, 1.20], p 0.001 differs from no bias (0)."
            " This is the reverse of: terms of A go with he."
            f" {GPT2}detects half of a planted bias.",
        ),
        (
            [score("seat", 0.8, **UNSURE), score("seat", 0.1, "two", **UNSURE)],
            {},
            "seat: none of 2 scores differs from no bias (0) after Holm adjustment. A bias is not"
            f" excluded. Furthest: one 0.80 [-0.40, 1.20], p 0.2. {GPT2}does not detect a planted"
            " bias, so do not call this bias.",
        ),
        (  # .03 is below .05, and 2 x .03 is not
            [score("seat", 0.8, p_value=0.03), score("seat", -0.9, "two", p_value=0.4)],
            {"kind": "encoder"},
            "seat: none of 2 scores differs from no bias (0) after Holm adjustment. A bias is not"
            " excluded. Furthest: two -0.90, p 0.4. No certificate: sentence encoders were not"
            " measured.",
        ),
        (
            [score("seat", 0.8, p_value=1e-4), score("seat", -0.9, "two", p_value=1e-4)],
            {"gender_words": "", "above": "X lies nearer A"},
            "seat: 2 of 2 scores differ from no bias (0) after Holm adjustment, 1 above and 1"
            " below. Furthest: two -0.90, p 0.0001. This is the reverse of: X lies nearer A."
            " No certificate: it covers words for women and men only.",
        ),
        (
            [score("probe", 0.93, low=0.8, high=0.97)],
            {"kind": "random"},
            "probe: one 0.93 [0.80, 0.97] (no bias: 0.50), not tested. 1: the groups are linearly"
            " separable; chance: they are not. No certificate: random weights were not measured.",
        ),
        (
            [score("sts_b", 0.82), score("sts_b", math.nan, "two")],
            {},
            "sts_b: one 0.82. 1: the encoder orders pairs as people do; utility, not bias.",
        ),
        ([score("seat", math.nan)], {}, ""),
    ],
)
def test_a_metric_is_concluded_in_sentences(
    rows: list[Score], cells: dict[str, Any], said: str
) -> None:
    assert conclusions(audited(*rows, **cells)) == ([said] if said else [])


ABOVE: dict[str, Any] = {"tail": "greater"}
BELOW: dict[str, Any] = {"tail": "less"}
TWO: dict[str, Any] = {"tail": "two-sided"}
NONE = "none of 2 scores"
HOLM = "no bias (0) after Holm adjustment"


@pytest.mark.parametrize(
    ("values", "cells", "said"),
    [
        ({1.45: 0.001}, ABOVE, "q0 1.45, one-sided p 0.001 differs from no bias (0). X is"),
        ({1.45: 0.2}, ABOVE, "q0 1.45, one-sided p 0.2 does not differ from no bias (0). A bias"),
        ({0.0: 0.5}, ABOVE, "q0 0, one-sided p 0.5 does not differ from no bias (0). A bias"),
        ({-1.45: 0.02}, ABOVE, "q0 -1.45, two-sided p 0.02 differs from no bias (0). This is the"),
        ({-0.02: 0.6}, ABOVE, "q0 -0.02, two-sided p 0.6 does not differ from no bias (0). A bias"),
        ({-1.45: 1}, TWO, "q0 -1.45, p 1 does not differ from no bias (0). A bias"),
        ({-1.45: 0.001}, TWO, "q0 -1.45, p 0.001 differs from no bias (0). This is the reverse"),
        ({-1.45: 0.001}, BELOW, "q0 -1.45, one-sided p 0.001 differs from no bias (0). This is"),
        ({1.45: 0.9}, BELOW, "q0 1.45, two-sided p 0.9 does not differ from no bias (0). A bias"),
        ({0.8: 0.2, 0.5: 0.3}, ABOVE, f"{NONE} differs from {HOLM}. A bias is not excluded. Furth"),
        (
            {0.8: 0.2, -1.45: 0.03},  # 2 x .03 is above .05
            ABOVE,
            f"{NONE} differs from {HOLM}. A bias is not excluded. Furthest: q1 -1.45, two-sided p",
        ),
        (
            {0.8: 0.001, -1.45: 0.002, -1: 0.9},
            ABOVE,
            f"2 of 3 scores differ from {HOLM}, 1 above and 1 below. Furthest: q1 -1.45, two-sided"
            " p 0.002. This is the reverse of: X is nearer A.",
        ),
        ({0.8: 0.2, -1.45: 1}, TWO, f"{NONE} differs from {HOLM}. A bias is not excluded. Furth"),
    ],
)
def test_the_side_that_a_one_sided_test_does_not_cover_has_a_two_sided_p(
    values: dict[float, float], cells: dict[str, Any], said: str
) -> None:
    covered = {"greater": 1, "less": -1}.get(cells["tail"], 0)
    rows = [
        score("seat", value, f"q{n}", **cells, p_value=p)
        if value * covered >= 0
        else score("seat", value, f"q{n}", **cells, p_value=1.0, p_two_sided=p)
        for n, (value, p) in enumerate(values.items())
    ]
    [line] = conclusions(audited(*rows, kind="encoder", above="X is nearer A"))
    assert line.startswith(f"seat: {said}")


def test_every_verdict_has_a_sentence() -> None:
    assert {*_SENTENCES} == {*SCORE_VERDICTS} - {NOT_ESTIMATED}


def test_vectors_and_second_conventions_conclude_nothing() -> None:
    weat = score("seat", 1.0, **SURE)._replace(metric="weat")
    assert conclusions(audited(weat, kind="vectors")) == []
    other = score("seat", 1.9, **SURE)._replace(convention="may")
    [said] = conclusions(audited(other, score("seat", 0.5, **UNSURE)))
    assert "one 0.50" in said


def test_scores_that_became_worse_come_first_and_are_told_after_holm() -> None:
    """Resamples with an sd of .1: a change of .5 is five of them, one of .25 two and a half."""
    noise = [0.1, -0.1] * 100

    def pair(metric: str, query: str, old: float, new: float) -> tuple[list[Score], list[Score]]:
        after = tuple(new - old + wobble for wobble in noise)
        before = score(metric, old, query, resampled=(0.0,) * 200)
        return [before], [score(metric, new, query, resampled=after)]

    rows = [
        pair("seat", "nearer", 0.9, 0.4),
        pair("seat", "hardly", 0.2, 0.25),
        pair("seat", "farther", -0.2, -0.7),
        pair("seat", "alone below .05", 0.2, 0.42),  # p .028; 2 x .028 is above
        pair("sts_b", "less", 0.9, 0.3),
        pair("neutral_loss", "more", 3.0, 3.9),
        pair("seat", "absent", math.nan, math.nan),
    ]
    table = compare(rows, worst_first=True)
    verdicts = table[["query", "verdict"]].to_numpy().tolist()
    assert verdicts == [
        ["more", "worse"],
        ["less", "worse"],
        ["farther", "worse"],
        ["alone below .05", ""],
        ["hardly", ""],
        ["absent", ""],
        ["nearer", "better"],
    ]
    assert compare(rows)["query"].tolist()[:3] == ["nearer", "hardly", "farther"]


def test_time_left_is_that_of_the_cost_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([5.0, 15.0, 15.0, 19.0, 25.0, 25.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert progress.work_at_hand("it") == "it is at work"
    progress.begin_part("nothing is forecast")
    with progress.forecast([("a", 1), ("b", 2), ("c", 3)]):
        assert progress.work_at_hand("it") == "it is at work: loading"
        progress.begin_part("a")
        assert progress.work_at_hand("it") == "it is at work: a, 1 of 3"
        progress.begin_part("b")  # after 10 s for 1 of 6
        assert progress.work_at_hand("it") == "it is at work: b, 2 of 3, about 50 s left"
        assert progress.work_at_hand("it") == "it is at work: b, 2 of 3, about 46 s left"
        progress.begin_part("c")
        assert progress.work_at_hand("it") == "it is at work: c, 3 of 3, about 20 s left"
    assert progress.work_at_hand("it") == "it is at work"
