"""The rules of verdicts: what is declared, adjusted, claimed and refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analysis.coefficients import Coefficients
from analysis.correlate import correlate
from analysis.evidence import Evidence, evidence
from analysis.findings import Finding
from analysis.judging import adjust, judge
from analysis.naming import SLICE_COLUMNS, Declared
from analysis.units import Rows
from analysis.verdict import RULES, judged
from tests.analysis.designs import studies

SUPPORTED = Evidence(
    n_units=30, n_bases=3, free=26, within=0.5, within_low=0.2, within_high=0.7, within_p=0.004
)
NARROW = SUPPORTED._replace(
    within=0.1, within_low=0.02, within_high=0.18, corrected_low=0.01, corrected_high=0.25
)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_p_values_are_holms(seed: int) -> None:
    p = np.random.default_rng(seed).uniform(size=9) ** 3
    assert adjust(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert adjust([]).tolist() == []


@pytest.mark.parametrize(
    ("found", "p", "verdict", "why"),
    [
        (SUPPORTED, 0.01, "supports", "r within bases is above 0 (adjusted p 0.01)"),
        (
            SUPPORTED._replace(within=-0.5, within_low=-0.7, within_high=-0.2),
            0.01,
            "contradicts",
            "r within bases is below 0 (adjusted p 0.01)",
        ),
        (
            SUPPORTED._replace(across_low=-0.1, across_high=0.8),
            0.01,
            "supports",
            "(adjusted p 0.01); for other bases it may be 0",
        ),
        (
            SUPPORTED._replace(n_bases=2, n_arms=9, arms_low=-0.1, arms_high=0.8),
            0.01,
            "supports",
            "0.01); for other modifications it may be 0; 2 bases tell nothing of others",
        ),
        (
            NARROW._replace(across_low=0.1, across_high=0.4, absolute=0.5, absolute_low=0.1),
            0.2,
            "negligible",
            "below 0.3; but |score| and |gap| are associated (r 0.50 [0.10, nan]); for other bases"
            " it may be 0.3 or more",
        ),
        # A small r above 0 speaks for, not against, and what is not beyond chance is negligible
        (NARROW, 0.01, "supports", "r within bases is above 0 (adjusted p 0.01)"),
        (NARROW, 0.2, "negligible", "|r|, corrected for noise, is below 0.3"),
        (NARROW._replace(corrected_high=0.31), 0.2, "cannot tell", "not beyond chance among 6"),
        (NARROW._replace(corrected_low=math.nan), 0.2, "cannot tell", "not beyond chance among 6"),
        (
            SUPPORTED._replace(within_low=-0.1),
            0.01,
            "cannot tell",
            "such a study finds |r| from 0.62 on",
        ),
        (
            SUPPORTED._replace(within_low=-0.1, items_error=0.2, words_error=0.1),
            0.01,
            "cannot tell",
            "on; |r| = 0.3 takes more test items, however many the embeddings",
        ),
        (
            SUPPORTED._replace(within_low=-0.1, words_error=0.2),
            0.01,
            "cannot tell",
            "on; |r| = 0.3 takes more words, however many the embeddings",
        ),
        (SUPPORTED, 0.2, "cannot tell", "not beyond chance among 6 slices (adjusted p 0.2); such"),
        (SUPPORTED._replace(free=7), 0.01, "cannot tell", "30 embeddings of 3 bases are too few"),
        (SUPPORTED._replace(within_low=math.nan), 0.01, "cannot tell", "has no interval"),
        (Evidence(2, caution="2 units, fewer than 3"), math.nan, "cannot tell", "2 units, fewer"),
        (Evidence(2, 2), math.nan, "cannot tell", "each base needs modified embeddings"),
    ],
)
def test_the_rules_of_the_verdict(found: Evidence, p: float, verdict: str, why: str) -> None:
    judgement = judged(found, "primary", 6, p)
    assert judgement.verdict == verdict
    assert why in judgement.why
    assert verdict in RULES


def test_cannot_tell_says_how_many_would() -> None:
    judgement = judged(SUPPORTED._replace(within_low=-0.1), "primary", 6, 0.3, smallest=0.3)
    # The normal quantile of 1 - .05 / 12 is 2.64, ((2.64 + .84) / atanh(.3))^2 = 127; t asks some
    # more. There are 27 = 30 - 3 now: 4.9 times as many, and as many embeddings a seed.
    assert "takes about 147 embeddings, 4.9 times the seeds" in judgement.why
    assert 0.6 < judgement.detectable < 0.7


def test_a_verdict_says_what_it_does_not_answer_for() -> None:
    """A foreign table has no resamples, an AUC none of its items, most metrics none of words."""
    known = SUPPORTED._replace(words_error=0.05, items_error=0.0, across_low=0.1, across_high=0.8)
    for found, told in (
        (SUPPORTED, "; for these words and test items alone"),
        (known._replace(items_error=math.nan), "; for these test items alone"),
        (known._replace(words_error=math.nan), "; for these words alone"),
        (known, "(adjusted p 0.01)"),
    ):
        assert judged(found, "primary", 1, 0.01).why.endswith(told)
    few = SUPPORTED._replace(free=7)
    assert "alone" not in judged(few, "primary", 1, 0.01).why
    assert judged(SUPPORTED, "primary", 1, 0.01, refused="no units").why == "no units"


def slices(found: dict[str, Evidence]) -> list[Finding]:
    return [Finding({"slice": name}, Coefficients(3, 0), each) for name, each in found.items()]


def test_slices_of_few_units_neither_claim_nor_tax() -> None:
    few = SUPPORTED._replace(free=7, within_p=1e-9)
    found = judge(slices({"a": SUPPORTED, **{f"few {i}": few for i in range(50)}}), [()] * 51)
    assert [each.judgement.verdict for each in found] == ["supports"] + ["cannot tell"] * 50
    assert (found[0].judgement.family, found[0].judgement.p_adjusted) == (1, 0.004)
    assert math.isnan(found[1].judgement.p_adjusted)


def test_a_part_claims_only_what_its_whole_claims() -> None:
    strong = SUPPORTED._replace(within_p=0.001)
    weak = SUPPORTED._replace(within_low=-0.2, within_p=0.2)
    given = slices(
        {"yes": strong, "no": weak, "yes, part": strong, "no, part": strong, "x": strong}
    )
    found = judge(given, [(), (), ("yes",), ("no",), None])
    judgements = [each.judgement for each in found]
    assert [each.role for each in judgements] == ["primary"] * 2 + ["exploratory"] * 3
    assert [each.p_adjusted for each in judgements] == pytest.approx(
        [0.002, 0.2, 0.002, 0.2, 0.001]
    )
    assert [each.verdict for each in judgements] == [
        *("supports", "cannot tell", "supports", "cannot tell", "supports")
    ]
    few = slices({"whole": SUPPORTED._replace(free=3), "part": strong})
    assert judge(few, [(), ("whole",)])[1].judgement.p_adjusted == 1, "its whole claims nothing"


def named(**names: str) -> dict[str, str]:
    whole = dict.fromkeys(SLICE_COLUMNS, "") | {"embedding": "all", "method": "all"}
    return whole | {"measure": "recall", "query": "weat7"} | names


def test_what_is_declared_is_primary_and_its_parts_know_it() -> None:
    measures = ["recall", "precision", "f1"]
    plain = Declared()
    assert plain.parent_of(named(), measures) == ()
    assert plain.parent_of(named(measure="f1"), measures) is None
    assert plain.parent_of(named(query="all"), measures) is None
    part = named(embedding="word2vec", method="balance")
    assert plain.parent_of(part, measures) == tuple(named().values())
    declared = Declared(queries=("weat7",), embeddings=("word2vec",))
    assert declared.parent_of(named(), measures) is None
    assert declared.parent_of(named(embedding="word2vec"), measures) == ()
    assert declared.parent_of(part, measures) == tuple(named(embedding="word2vec").values())
    assert declared.parent_of(named(embedding="word2vec", query="weat8"), measures) is None


def test_more_data_never_make_a_claim_impossible() -> None:
    """350 units in each of 144 slices, all with r = .8: what is adjusted over so many cannot be
    held up by the number of permutations.
    """
    of = studies("ladder of doses", 10, 35, 0.8, 24)
    table = pd.concat(
        pd.DataFrame({"x": x, "y": y, "base": of.base, "unit": np.arange(350), "slice": name})
        for study in range(24)
        for name, (x, y) in zip([f"{study} {i}" for i in range(6)], of.pairs(study), strict=True)
    )
    found = correlate(table, x="x", y="y", by=["slice"], cluster=["unit"], base=["base"])
    assert len(found) == 144
    assert {each.judgement.verdict for each in found} == {"supports"}
    assert max(each.judgement.p_adjusted for each in found) == pytest.approx(0.01)


def test_one_base_of_few_units_claims_nothing() -> None:
    x = np.arange(9.0)
    y = x + 0.01 * np.random.default_rng(0).normal(size=9)
    found = evidence(Rows.of(x, y, np.arange(9), ["a"] * 9))
    assert found.within_p < 0.001
    (judgement,) = judge(slices({"nine units": found}), [()])
    assert judgement.judgement.verdict == "cannot tell"
    assert "too few" in judgement.judgement.why
