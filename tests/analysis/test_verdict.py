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
from stats.intervals import Estimate

KNOWN = Sampling(0.05, 0.05, outward=0.05 * 2**0.5)
WITHIN = Correlation(*(0.5, 0.2, 0.7, 0.004), n=30, df=26, s=0.15, sampling=KNOWN)
FALLS = WITHIN._replace(r=-0.5, low=-0.7, high=-0.2)
NARROW = WITHIN._replace(r=0.1, p=0.2, low=-0.1, high=0.3, s=0.05)
WIDE = NARROW._replace(low=-0.3, high=0.5, s=0.3)
EXACT = NoiseShares(0, 0)
SUPPORTED = SliceResult(
    *({}, WITHIN),
    n=30,
    n_parents=3,
    n_conditions=5,
    n_methods=4,
    n_clusters=3,
    parent_noun="seed",
    planned=30,
    noise_x=EXACT,
    noise_y=EXACT,
    confirmatory=True,
)
OTHERS = Correlation(r=0.6, p=0.01)
HOLDS_0 = WITHIN._replace(low=-0.1)
THESE, DOSES, METHODS = (
    f"{scope}, these seeds"
    for scope in ("these conditions", "other doses and words", "other methods")
)
FIVE = "these 5 conditions in these 3 seeds"


@pytest.mark.parametrize(
    ("changed", "verdict", "scope", "why"),
    [
        ({}, "positive", THESE, f"positive for {FIVE}"),
        ({"within": FALLS}, "negative", THESE, f"negative for {FIVE}"),
        (
            {"n_conditions": 0},
            *("positive", "other models, these seeds", "for models like these in these 3 seeds"),
        ),
        ({"n_conditions": 0, "n_parents": 0}, "positive", "other models", "models like these: "),
        (
            {"conditions": OTHERS},
            *("positive", DOSES, "for other doses and words of these 4 methods in these 3 s"),
        ),
        (
            {"conditions": OTHERS, "methods": OTHERS},
            *("positive", METHODS, "for other methods like these 4 in these 3 seeds"),
        ),
        # Other methods take both
        ({"methods": OTHERS}, "positive", THESE, FIVE),
        ({"conditions": OTHERS._replace(r=-0.6)}, "positive", THESE, FIVE),
        (
            {"parents": WITHIN._replace(n=8), "n_parents": 8, "n_clusters": 8},
            *(
                "positive",
                "these conditions, other seeds",
                "these 5 conditions in seeds like these 8",
            ),
        ),
        (
            {"parents": WITHIN, "n_parents": 12, "n_clusters": 6, "parent_noun": "cluster"},
            *("positive", "these conditions, other clusters", "in clusters like these 6"),
        ),
        ({"within": NARROW}, "negligible", THESE, f"{FIVE}: |r_rm| is below 0.3"),
        # A ceiling of .8 asks |r_rm| to be below .24, of .5 below .15
        (
            {"within": NARROW, "noise_x": NoiseShares(0.3, 0.2), "noise_y": NoiseShares(0.4, 0.1)},
            *("inconclusive", "", "such a study finds |r| from about"),
        ),
        (
            {"within": NARROW, "noise_x": NoiseShares(0.1, 0), "noise_y": NoiseShares(0, 0.1)},
            *("negligible", THESE, "below 0.3 with noise allowed for"),
        ),
        ({"within": NARROW, "noise_x": NoiseShares()}, "inconclusive", "", "known reliabilities"),
        ({"within": NARROW, "nonlinear": "it is bent"}, "inconclusive", "", "but it is bent"),
        ({"within": NARROW, "parents": WIDE}, "inconclusive", "", "such a study finds"),
        # What is beyond chance is not negligible, however small
        ({"within": NARROW._replace(p=0.01)}, "positive", THESE, "positive for"),
        # tanh((1.96 + .84) sqrt(1 / 25 + .005)) = .53
        ({"within": WIDE}, "inconclusive", "", "such a study finds |r| from about .53 on"),
        (
            {"within": WIDE, "models": WITHIN, "parents": WIDE._replace(n=5)},
            *("inconclusive", "", "p is 0.004 for these 5 seeds; for others r_rm is .10 [-.30,.5"),
        ),
        ({"within": WITHIN._replace(df=7)}, "inconclusive", "", "30 models of 3 parents leave 7"),
        ({"lost": 4, "planned": 34}, "inconclusive", "", "4 of 34 models are lost, more than a te"),
        ({"lost": 3, "planned": 33}, "positive", THESE, "positive for"),
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
        ({"n_conditions": 9}, "; testing others needs 10 conditions"),
        ({"n_conditions": 10}, "; not shown for other doses and words"),
        ({"conditions": OTHERS, "n_methods": 3}, "; testing other methods needs 4"),
        ({"conditions": OTHERS}, "; not shown for other methods"),
        ({"given_condition": HOLDS_0}, "; not shown within a single condition"),
        (
            {"within": WITHIN._replace(sampling=Sampling())},
            "; ignoring the sampling error of words and items",
        ),
        (
            {"within": WITHIN._replace(sampling=Sampling(0.1))},
            "; ignoring the sampling error of items",
        ),
        (
            {"within": NARROW._replace(sampling=Sampling(nan, 0.1))},
            "; ignoring the sampling error of words",
        ),
        ({"parents": WITHIN._replace(p=0.05)}, "; not shown for other seeds among 1 tests"),
        ({"n_clusters": 1}, "; all parents share one corpus or seed"),
        ({"given_utility": HOLDS_0}, "; given the task's utility it may be 0"),
        ({"given_utility": WITHIN}, ""),
    ],
)
def test_a_claim_says_what_it_does_not_hold_for(changed: dict[str, object], proviso: str) -> None:
    (plain,) = judge([SUPPORTED])
    assert plain.why.count(";") == 1, "nothing is said where nothing is to be said"
    (found,) = judge([SliceResult(**(SUPPORTED._asdict() | changed))])
    assert proviso in found.why


@pytest.mark.parametrize(
    ("changed", "size"),
    [
        (
            {},
            "the gap changes by .200 [.10,.30] per unit of score, by .80 over the range of scores",
        ),
        ({"sign": -1.0}, "the gap changes by -.20 [-.30,-.10] per unit of score, by -.80 over"),
        (
            {"slope_without_noise": Estimate(0.4)},
            "per unit of score (.40 corrected for its noise), by .80",
        ),
        ({"slope_without_noise": Estimate(0.201)}, "per unit of score, by .80 over"),
    ],
)
def test_a_claim_says_how_large_it_is(changed: dict[str, object], size: str) -> None:
    moved = WITHIN._replace(slope=Estimate(0.2, 0.1, 0.3))
    result = SUPPORTED._replace(within=moved, score_range=4.0, **changed)  # type: ignore[arg-type]
    (found,) = judge([result])
    assert size.replace(".200", ".20") in found.why
    assert found.gap_change == pytest.approx(0.8 * found.sign)


def test_the_slope_of_many_conditions_leads_with_the_widest_interval_claimed() -> None:
    conditions = OTHERS._replace(slope=Estimate(0.3, 0.2, 0.4))
    methods = OTHERS._replace(slope=Estimate(0.3, 0.1, 0.5))
    (found,) = judge([SUPPORTED._replace(conditions=conditions, methods=methods)])
    assert found.slope == (0.3, 0.1, 0.5)
    (these,) = judge([SUPPORTED._replace(conditions=conditions)])
    assert these.slope == (0.3, 0.2, 0.4)


def test_a_slope_has_the_sign_of_what_is_claimed() -> None:
    conditions = OTHERS._replace(r=-0.6, slope=Estimate(-0.3, -0.7, 0.1))
    within = WITHIN._replace(slope=Estimate(0.2, 0.1, 0.3))
    (these,) = judge([SUPPORTED._replace(within=within, conditions=conditions)])
    assert these.scope == THESE
    assert these.slope == (0.2, 0.1, 0.3)


def test_a_slope_that_may_be_0_in_other_conditions_is_said_to_be_of_them() -> None:
    conditions = HOLDS_0._replace(p=0.2, slope=Estimate(0.3, -0.1, 0.7))
    (these,) = judge([SUPPORTED._replace(conditions=conditions)])
    assert "changes by .30 (-.10 to .70 in other conditions) per unit" in these.why


def test_a_slope_of_models_is_not_said_to_be_of_other_conditions() -> None:
    within = WITHIN._replace(slope=Estimate(0.3, -0.1, 0.7))
    (these,) = judge([SUPPORTED._replace(within=within, n_conditions=5)])
    assert "changes by .30 [-.10,.70] per unit" in these.why


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
    assert [each.scope for each in judge(strong)] == [THESE, THESE, DOSES]
    # .004 within is the larger of the two, times 3
    assert judge(asked)[2].scope == DOSES


def test_negligible_is_adjusted_likewise() -> None:
    """Of one slice p is .04, of two not."""
    near = WITHIN._replace(r=0.1, p=0.2, s=0.09)
    assert judge([SUPPORTED._replace(within=near)])[0].verdict == "negligible"
    assert [each.verdict for each in judge([SUPPORTED._replace(within=near)] * 2)] == [
        "inconclusive"
    ] * 2


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


def test_a_declared_name_that_no_point_has_is_told() -> None:
    joined = pd.DataFrame({"query": ["weat6b"], "embedding": ["word2vec"], "method": ["none"]})
    declared = Declaration(queries=("wat6b", "weat6b"), methods=("all", "none"))
    [line] = declared.unmatched(joined)
    said = "warning: study.queries names 'wat6b', which no point has; did you mean 'weat6b'?"
    assert line.startswith(said)
    assert not Declaration().unmatched(joined)


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
    said = "32 models of 8 parents, averaged over 2 clusters to 8, leave 5 degrees of freedom"
    assert said in found.why


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
