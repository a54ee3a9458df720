"""The rules of verdicts: what is declared, adjusted, claimed and refused, and in what words."""

from __future__ import annotations

import math
from math import nan

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from statsmodels.stats.multitest import multipletests

from analysis.correlate import correlate
from analysis.correlation import Correlation
from analysis.declaration import Declaration
from analysis.naming import SLICE_COLUMNS
from analysis.reliability import NoiseShares
from analysis.sampling import Sampling
from analysis.slice_results import SliceResult, correlation_table
from analysis.user_table import Levels
from analysis.verdict import RULES, VERDICTS, judge

KNOWN = Sampling(0.05, 0.05)
WITHIN = Correlation(
    *(0.5, 0.2, 0.7, 0.004),
    n=30,
    df=26,
    low_90=0.25,
    high_90=0.65,
    sampling=KNOWN,
    low_clusters=0.1,
    high_clusters=0.8,
)
FALLS = WITHIN._replace(
    r=-0.5, low=-0.7, high=-0.2, low_90=-0.65, high_90=-0.25, low_clusters=-0.8, high_clusters=-0.1
)
NARROW = WITHIN._replace(r=0.1, p=0.2, low=-0.1, high=0.3, low_90=-0.05, high_90=0.25)
WIDE = NARROW._replace(low=-0.3, high=0.5, low_90=-0.2, high_90=0.4)
SUPPORTED = SliceResult(
    *({}, WITHIN),
    n=30,
    n_parents=3,
    n_conditions=5,
    n_clusters=3,
    planned=30,
    confirmatory=True,
)
OTHERS = Correlation(r=0.6, p=0.01, low_90=0.3, high_90=0.8)
THESE = "these 5 conditions"


@pytest.mark.parametrize(
    ("changed", "verdict", "scope", "why"),
    [
        ({}, "positive", "these conditions", f"positive for {THESE}; testing others needs"),
        ({"within": FALLS}, "negative", "these conditions", f"negative for {THESE}; testing oth"),
        ({"n_conditions": 0}, "positive", "other models", "positive for models like these"),
        (
            {"conditions": OTHERS},
            "positive",
            "other conditions",
            f"positive for {THESE} and others like them",
        ),
        (
            {"conditions": OTHERS._replace(p=0.07, r=0.36), "n_conditions": 10},
            "positive",
            "these conditions",
            "positive for these 10 conditions; not shown for others",
        ),
        ({"n_conditions": 9}, "positive", "these conditions", "testing others needs 10"),
        ({"conditions": OTHERS._replace(r=-0.6)}, "positive", "these conditions", "testing others"),
        (
            {"conditions": OTHERS._replace(p=0.07, r=0.36), "n_conditions": 70},
            "positive",
            "these conditions",
            "positive for these 70 conditions; not shown for others",
        ),
        ({"within": NARROW}, "negligible", "these conditions", f"{THESE}: |r_rm| is below 0.3"),
        (
            {"within": NARROW, "conditions": NARROW},
            "negligible",
            "other conditions",
            "and others like them: |r_rm| is below 0.3",
        ),
        # A ceiling of .8 asks |r_rm| to be below .24
        (
            {"within": NARROW, "noise_x": NoiseShares(0.1, 0.1), "noise_y": NoiseShares(0.2, 0)},
            *("inconclusive", "", "such a study finds |r| from about"),
        ),
        (
            {"within": NARROW, "noise_x": NoiseShares(0.1, 0), "noise_y": NoiseShares(0, 0.1)},
            *("negligible", "these conditions", "below 0.3 with noise allowed for"),
        ),
        # What is beyond chance is not negligible, however small
        ({"within": NARROW._replace(p=0.01)}, "positive", "these conditions", "positive for"),
        # tanh((1.96 + .84) sqrt(1 / 25 + .005)) = .53
        ({"within": WIDE}, "inconclusive", "", "such a study finds |r| from about 0.53 on"),
        ({"within": WITHIN._replace(df=7)}, "inconclusive", "", "30 models of 3 parents leave 7"),
        ({"lost": 4, "planned": 34}, "inconclusive", "", "4 of 34 models are lost, more than a te"),
        ({"lost": 3, "planned": 33}, "positive", "these conditions", "positive for"),
        ({"saturated": "the gap is 0"}, "inconclusive", "", "inconclusive: the gap is 0"),
        ({"refused": "rows repeat"}, "inconclusive", "", "inconclusive: rows repeat"),
        (
            {"within": Correlation(reason="the gap does not vary")},
            *("inconclusive", "", "inconclusive: the gap does not vary"),
        ),
    ],
)
def test_the_rules_of_the_verdict(
    changed: dict[str, object], verdict: str, scope: str, why: str
) -> None:
    (found,) = judge([SliceResult(**(SUPPORTED._asdict() | changed))])
    assert (found.verdict, found.scope) == (verdict, scope)
    assert why in found.why
    assert all(each in RULES for each in VERDICTS)


@pytest.mark.parametrize(
    ("changed", "proviso"),
    [
        ({"within": WITHIN._replace(sampling=Sampling())}, "; for these words and items"),
        ({"within": WITHIN._replace(sampling=Sampling(0.1))}, "; for these items"),
        ({"within": NARROW._replace(sampling=Sampling(nan, 0.1))}, "; for these words"),
        ({"n_clusters": 1}, "; all parents share one corpus or seed"),
        ({"within": WITHIN._replace(low_clusters=-0.1)}, "; for other corpora or seeds it may be"),
        (
            {"given_utility": WITHIN._replace(low=-0.1)},
            "; given the task's utility it may be 0",
        ),
        ({"given_utility": WITHIN}, ""),
    ],
)
def test_a_claim_says_what_it_does_not_hold_for(changed: dict[str, object], proviso: str) -> None:
    (plain,) = judge([SUPPORTED])
    assert plain.why.count(";") == 1, "nothing is said where nothing is to be said"
    (found,) = judge([SliceResult(**(SUPPORTED._asdict() | changed))])
    assert proviso in found.why
    assert found.why.count(";") == (found.verdict == "positive") + bool(proviso)


def test_p_is_adjusted_over_confirmatory_slices_alone() -> None:
    p = [0.001, 0.02, 0.03, 0.5]
    asked = [SUPPORTED._replace(within=WITHIN._replace(p=each)) for each in p]
    explored = SUPPORTED._replace(confirmatory=False, within=WITHIN._replace(p=1e-9))
    undefined = SUPPORTED._replace(within=Correlation(reason="too few"))
    found = judge([explored, *asked, undefined])
    expected = multipletests(p, method="holm")[1]
    assert [each.p_holm for each in found[1:5]] == pytest.approx(expected)
    assert [each.verdict for each in found[1:]] == ["positive", *["inconclusive"] * 4]
    assert {each.tests for each in found[1:]} == {4}
    first, *_, last = correlation_table(found, ["p", "p_holm", "verdict", "scope"]).to_numpy()
    assert first.tolist()[::2] == [1e-9, ""]
    assert math.isnan(found[0].p_holm)
    assert math.isnan(last[1])
    assert (found[0].scope, found[0].why) == ("", "")


def test_other_conditions_are_adjusted_likewise() -> None:
    conditions = [OTHERS._replace(p=each) for each in (0.03, 0.04, 0.001)]
    asked = [SUPPORTED._replace(conditions=each) for each in conditions]
    strong = [each._replace(within=WITHIN._replace(p=1e-4)) for each in asked]
    assert [each.scope for each in judge(strong)] == [*["these conditions"] * 2, "other conditions"]
    # .004 within is the larger of the two, times 3
    assert [each.scope for each in judge(asked)][2] == "other conditions"


def test_what_is_declared_is_confirmatory() -> None:
    names = dict.fromkeys(SLICE_COLUMNS, "") | {"embedding": "all", "method": "all"}
    names |= {"measure": "recall", "query": "weat7"}
    measures = ["recall", "precision", "f1"]
    plain = Declaration()
    assert plain.holds(names, measures)
    assert not plain.holds(names | {"measure": "f1"}, measures)
    assert plain.holds(names | {"measure": "f1"}, ["f1"]), "where there is none of those declared"
    for other in ({"query": "all"}, {"embedding": "word2vec"}, {"method": "balance"}):
        assert not plain.holds(names | other, measures)
    declared = Declaration(queries=("weat7",), embeddings=("word2vec",))
    assert not declared.holds(names, measures)
    assert declared.holds(names | {"embedding": "word2vec"}, measures)
    assert not declared.holds(names | {"embedding": "word2vec", "query": "weat8"}, measures)


def study(n: int = 40, seed: int = 0, **columns: ArrayLike) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x + 0.5 * rng.normal(size=n)
    table = pd.DataFrame({"x": x, "y": y, "parent": np.arange(n) % 4, "name": np.arange(n)})
    return table.assign(**{name: np.asarray(each) for name, each in columns.items()})


def verdict_of(table: pd.DataFrame, condition: str = "", cluster: str = "") -> SliceResult:
    above = [condition] * bool(condition), [cluster] * bool(cluster)
    levels = Levels(["name"], ["parent"], *above)
    (found,) = correlate(table, x="x", y="y", levels=levels, confirmatory=["all"])
    return found


def test_tables_that_can_have_no_verdict_say_why() -> None:
    whole = study()
    assert verdict_of(whole).verdict == "positive"
    exact = study(y=np.where(np.arange(40) < 21, 0.0, whole["y"]))
    outlier = study(y=whole["y"] + 30 * (np.arange(40) == 5))
    left = outlier["y"] - outlier.groupby("parent")["y"].transform("mean")
    share = left[5] ** 2 / (left**2).sum()
    lost = study(y=whole["y"].where(np.arange(40) > 4))
    for table, why in (
        (exact, "inconclusive: the gap is exactly 0 in 21 of 40 models"),
        (outlier, f"inconclusive: one model (5 of 1) carries {share:.0%} of the variance of the"),
        (lost, "inconclusive: 5 of 40 models are lost, more than a tenth"),
        (
            whole[:12],
            "inconclusive: 12 models of 4 parents leave 7 degrees of freedom; a verdict takes 8",
        ),
        (whole.assign(y=1.0), "inconclusive: the gap does not vary within parents"),
        (whole.assign(y=nan), "inconclusive: 0 models that have another of their parent"),
    ):
        found = verdict_of(table)
        assert found.verdict == "inconclusive"
        assert found.why.startswith(why), found.why
    assert verdict_of(study(y=whole["y"].where(np.arange(40) > 3))).verdict == "positive"


def test_too_few_after_averaging_does_not_follow_from_the_number_of_models() -> None:
    """Eight parents of two corpora in four conditions are eight observations."""
    table = study(32, corpus=np.arange(32) % 2, parent=np.arange(32) % 8, of=np.arange(32) // 8)
    found = verdict_of(table, "of", "corpus")
    assert (found.n, found.within.n, found.within.df) == (32, 8, 5)
    assert "32 models of 8 parents leave 5 degrees of freedom" in found.why


def test_a_line_is_positive() -> None:
    found = verdict_of(study(y=study()["x"] * 2 + study()["parent"]))
    assert found.within.r == pytest.approx(1)
    assert found.verdict == "positive"


def test_more_slices_never_make_a_claim_impossible() -> None:
    """What is adjusted over so many cannot be held up by the number of permutations."""
    tables = [study(16, seed, name=np.arange(16), slice=seed) for seed in range(120)]
    table = pd.concat(tables)
    table["y"] = table["x"] + 0.01 * table["y"]
    levels = Levels(["name"], ["parent"])
    found = correlate(table, x="x", y="y", by=["slice"], levels=levels, confirmatory=["all"])
    assert len(found) == 120
    assert {each.verdict for each in found} == {"positive"}
    assert max(each.p_holm for each in found) == pytest.approx(0.01)
