"""The rules of verdicts: what is declared, adjusted, claimed and refused, and what it holds for."""

from __future__ import annotations

import math
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.multitest import multipletests

from biasbridge.analysis.answer import _planted_lines, change_cells, headlines
from biasbridge.analysis.claims import Claim, GapClaims, study_claims
from biasbridge.analysis.condition_effects import (
    Cells,
    ConditionEffect,
    EqualScores,
    GapEffects,
    MeanChange,
    equal_scores,
    gap_effects,
)
from biasbridge.analysis.correlate import Levels, correlate
from biasbridge.analysis.correlation import Correlation, correlation
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.naming import SLICE_COLUMNS
from biasbridge.analysis.observations import SlopeLine
from biasbridge.analysis.scopes import (
    CORPORA,
    DOSES,
    LISTS,
    METHODS,
    MINIMUM,
    RUNS,
    SCOPES,
    SEEDS,
    UNNAMED,
)
from biasbridge.analysis.slices import (
    Nonlinearity,
    SliceResult,
    correlation_table,
    gap_and_score,
    scope_table,
)
from biasbridge.analysis.verdicts import RULES, VERDICTS, judge, judge_gap
from biasbridge.files import InputError
from biasbridge.stats.intervals import Estimate

# b = .01 [.006,.014] over a range of 4: a change of .04 [.024,.056]
SHOWN = Correlation(
    *(0.5, 0.2, 0.7, 0.004), n=30, df=26, slope=Estimate(0.01, 0.006, 0.014), slope_df=26
)
EMPTY = Correlation(
    *(0.1, -0.3, 0.5, 0.6), n=30, df=26, slope=Estimate(0.001, -0.002, 0.004), slope_df=26
)
WIDE = EMPTY._replace(slope=Estimate(0.001, -0.006, 0.008))
APART = EqualScores(("a", "b"), (1.0, 1.1), MeanChange(0.012, 0.001, 7, 8), 0.04, 12)
TOLD = (
    "a and b have nearly one mean score (1.00 and 1.10)."
    " Their gaps are +.012 [.010,.014] apart, adjusted p .0400 over 12 pairs"
)
NEAR = EqualScores(("c", "d"), (1.0, 1.1), MeanChange(0.01, 0.0001, 7, 8), 0.001, 12)
FALLING = SHOWN._replace(r=-0.5, low=-0.7, high=-0.2, slope=Estimate(-0.01, -0.014, -0.006))


def few(n: int, scope: str) -> Correlation:
    return Correlation(n=n, reason=f"{n} of {MINIMUM[scope]}")


FEW = {scope: few(n, scope) for scope, n in ((LISTS, 1), (METHODS, 2), (SEEDS, 3), (CORPORA, 1))}
SUPPORTED = SliceResult(
    {},
    {RUNS: SHOWN, DOSES: SHOWN, **FEW},
    n=30,
    n_parents=3,
    n_conditions=10,
    n_clusters=3,
    n_planned=30,
    score_low=-2,
    score_high=2,
    confirmatory=True,
)
HOLDS = dict(zip(SCOPES, ("yes", "yes", *["too few"] * 4), strict=True))


def slice_of(query: str, verdict: str, **known: Any) -> SliceResult:
    """A slice of WEAT and the recall gap, confirmatory where it has a verdict. Over a range of 2
    the gap changes by .1 [.06,.14].
    """
    names = dict.fromkeys(SLICE_COLUMNS, "") | {"measure": "recall", "metric": "weat"}
    names |= {"query": query, "embedding": "all", "method": "all"}
    slope = Estimate(0.05, 0.03, 0.07)
    within = Correlation(0.5, 0.2, 0.7, 0.001, n=30, df=20, slope=slope)
    result = SliceResult(
        names,
        {RUNS: within, DOSES: within._replace(n=12)},
        n=30,
        n_conditions=12,
        gap_unmodified=-0.093,
        score_low=-1.0,
        score_high=1.0,
        r_pearson=0.4,
        confirmatory=bool(verdict),
        holds={RUNS: "yes", DOSES: "yes"} if verdict else {},
        verdict=verdict,
    )._replace(**known)
    gap_verdict, gap_why = judge_gap(result.effects, result.x)
    return result._replace(gap_verdict=gap_verdict, gap_why=gap_why)


def claims_of(*results: SliceResult) -> GapClaims:
    """The claims of slices of one gap."""
    [gap] = study_claims(results)
    return gap


def shown_of(gap: GapClaims) -> list[Claim]:
    return [*gap.modifications, gap.overall, *gap.scores]


def judged(scopes: dict[str, Correlation] | None = None, **changed: object) -> SliceResult:
    result = SUPPORTED._replace(scopes=dict(SUPPORTED.scopes) | (scopes or {}), **changed)  # type: ignore[arg-type]
    [result] = judge([result])
    return result


@pytest.mark.parametrize(
    ("scopes", "changed", "verdict", "why"),
    [
        ({}, {}, "rises", ""),
        ({RUNS: FALLING, DOSES: FALLING}, {}, "falls", ""),
        ({RUNS: EMPTY, DOSES: EMPTY}, {}, "at most", ""),
        # 90%: .004 -+ .023 is beyond .02
        ({RUNS: EMPTY, DOSES: WIDE}, {}, "cannot tell", ""),
        # One without the other
        ({DOSES: SHOWN._replace(slope=Estimate(0.01, -0.001, 0.021))}, {}, "cannot tell", ""),
        ({DOSES: SHOWN._replace(p=0.2)}, {}, "cannot tell", "p is 0.2 after adjustment over 1"),
        # These runs alone are no verdict, nor are doses of the other sign
        ({DOSES: EMPTY._replace(slope=WIDE.slope)}, {}, "cannot tell", ""),
        ({DOSES: FALLING}, {}, "cannot tell", "the change is not shown in these runs, or has an"),
        (
            {DOSES: few(9, DOSES)},
            {},
            "cannot tell",
            "score and gap moved together in these runs, but a verdict on other doses needs 10"
            " conditions, and there are 9",
        ),
        (
            {RUNS: EMPTY, DOSES: few(5, DOSES)},
            {},
            "cannot tell",
            "a verdict on other doses needs 10 conditions, and there are 5",
        ),
        (
            {DOSES: Correlation(n=12, reason=UNNAMED)},
            {},
            "cannot tell",
            "score and gap moved together in these runs, but a verdict on other doses needs method",
        ),
        # A method that goes the other way is named; so is one that goes further than x
        ({}, {"nonlinear": Nonlinearity({"a": 0.06, "b": -0.03})}, "rises", "changes by method"),
        ({}, {"nonlinear": Nonlinearity({"a": 0.06, "b": -0.01})}, "rises", ""),
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"nonlinear": Nonlinearity({"a": 0.021, "b": 0.0})},
            "cannot tell",
            "changes by method, each over its own scores: a +.021, b .000",
        ),
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"nonlinear": Nonlinearity(curve=0.021)},
            "cannot tell",
            "a curve fits better than a line, and rises by .021",
        ),
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"nonlinear": Nonlinearity({"a": 0.02}, 0.02)},
            "at most",
            "",
        ),
        # Ten conditions, nine of which have one score
        (
            {},
            {"effective_conditions": 2.9},
            "cannot tell",
            "score and gap moved together in these runs, but the 10 conditions say as much as 2.9",
        ),
        # With F1 held equal nothing is shown
        ({}, {"given_utility": EMPTY}, "rises", "it may go with damage to the classifier"),
        ({}, {"given_utility": FALLING}, "rises", "it may go with damage to the classifier"),
        ({}, {"given_utility": SHOWN}, "rises", ""),
        # Gaps of conditions of one score
        ({RUNS: EMPTY, DOSES: EMPTY}, {"equal_scores": [APART]}, "does not tell", TOLD),
        ({}, {"equal_scores": [APART]}, "rises", ""),
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"equal_scores": [APART._replace(p_holm=0.05)]},
            "at most",
            "",
        ),
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"equal_scores": [NEAR]},
            "at most",
            "",
        ),
        # A surer pair whose gaps hardly differ does not hide one whose gaps do
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"equal_scores": [NEAR, APART]},
            "does not tell",
            TOLD,
        ),
        # So few degrees of freedom that 90% are within x, and .04 would be missed
        (
            {RUNS: EMPTY, DOSES: EMPTY._replace(slope=Estimate(0, -0.0095, 0.0095), slope_df=1)},
            {},
            "cannot tell",
            "the study would miss changes below .042",
        ),
        # Attenuation: without noise of scores the change may be .02 and more
        (
            {RUNS: EMPTY, DOSES: EMPTY},
            {"slope_without_noise": Estimate(0.003, -0.002, 0.008)},
            "cannot tell",
            "",
        ),
        ({RUNS: SHOWN._replace(df=7)}, {}, "cannot tell", "too few models (30 of 3 parents). They"),
        (
            {},
            {"n_lost": 4, "n_planned": 34},
            "cannot tell",
            "4 of 34 models are lost, more than a te",
        ),
        ({}, {"n_lost": 3, "n_planned": 33}, "rises", ""),
        ({}, {"saturated": "the gap is 0"}, "cannot tell", "the gap is 0"),
        ({}, {"refused": "rows repeat"}, "cannot tell", "rows repeat"),
        (
            {RUNS: Correlation(reason="the gap does not vary")},
            {},
            "cannot tell",
            "the gap does not vary",
        ),
    ],
)
def test_the_rules_of_the_verdict(
    scopes: dict[str, Correlation], changed: dict[str, object], verdict: str, why: str
) -> None:
    result = judged(scopes, **changed)
    assert result.verdict == verdict
    assert result.why.startswith(why)
    assert bool(why) == bool(result.why)
    assert all(word in RULES for word in VERDICTS)


def test_without_conditions_the_verdict_is_of_models_like_these() -> None:
    [result] = judge([SUPPORTED._replace(scopes={RUNS: SHOWN}, n_conditions=0)])
    assert (result.verdict, result.claimed) == ("rises", RUNS)


@pytest.mark.parametrize(
    ("scopes", "holds"),
    [
        ({}, {}),
        ({LISTS: SHOWN._replace(n=4)}, {LISTS: "yes"}),
        ({LISTS: EMPTY._replace(n=4)}, {LISTS: "no"}),
        (
            {METHODS: SHOWN._replace(n=4), SEEDS: SHOWN._replace(n=5)},
            {METHODS: "yes", SEEDS: "yes"},
        ),
        ({SEEDS: SHOWN._replace(n=5, r=-0.5)}, {SEEDS: "no"}),
        ({CORPORA: SHOWN._replace(n=5)}, {CORPORA: "yes"}),
        # What other doses do not show, other methods cannot
        ({DOSES: EMPTY, METHODS: SHOWN._replace(n=4)}, {DOSES: "no", METHODS: "no"}),
        (
            {DOSES: few(9, DOSES), METHODS: SHOWN._replace(n=4)},
            {DOSES: "too few", METHODS: "too few"},
        ),
        ({RUNS: EMPTY, SEEDS: SHOWN._replace(n=5)}, {RUNS: "no", DOSES: "no", SEEDS: "no"}),
    ],
)
def test_the_row_of_scopes(scopes: dict[str, Correlation], holds: dict[str, str]) -> None:
    assert judged(scopes).holds == HOLDS | holds


CERTAIN, UNSURE = MeanChange(0.001, 0.001, 4, 5), MeanChange(0.03, 0.02, 4, 5)


@pytest.mark.parametrize(
    ("changes", "judgement"),
    [
        ([CERTAIN], ("at most", "")),
        ([CERTAIN, UNSURE], ("cannot tell", "")),
        # Two parents have this condition; or all moved by the same, which leaves no spread
        (
            [CERTAIN, MeanChange(0.01)],
            (
                "cannot tell",
                "an interval takes 3 unmodified models (parents), too many for 1 of 2"
                " modifications",
            ),
        ),
        (
            [MeanChange(0.01, nan, 4, 5)],
            ("cannot tell", "c changed every model by the same, so its interval is unknown"),
        ),
    ],
)
def test_a_gap_without_a_bound_says_what_is_missing(
    changes: list[MeanChange], judgement: tuple[str, str]
) -> None:
    conditions = tuple(ConditionEffect("c", "m", "debias", change) for change in changes)
    effects = GapEffects(conditions, conditions[:1], 5)
    assert judge_gap(effects, 0.02) == judgement
    gap = claims_of(slice_of("weat7", "rises", effects=effects))
    assert (gap.overall.verdict, gap.overall.reason) == judgement
    assert not any("up to -" in " ".join(change_cells(x).values()) for x in shown_of(gap))


@pytest.mark.parametrize("noise", [(0.02, 0.02), (0.008, 0.03), (0.001, 0.03)])
def test_a_noisier_corpus_makes_no_more_claims(noise: tuple[float, float]) -> None:
    """Forty conditions that do nothing. By its own degrees of freedom the surest of them would be
    moved in .08 of studies, and of the pairs of one score one would differ in .09.
    """
    rng = np.random.default_rng(0)
    stratum, n = np.repeat([0, 1], 4), 300
    names = np.array(["none", *(f"c{i}" for i in range(40))])
    moved = told = 0
    for _ in range(n):
        y = rng.normal(scale=np.repeat(noise, 4)[:, None], size=(8, 41))
        labels = names, names, np.full(41, ""), np.full(41, nan)
        cells = Cells(y, np.empty((8, 41, 0)), stratum, *labels)
        moved += any(effect.p_holm < 0.05 for effect in gap_effects(cells).conditions)
        pairs = equal_scores(cells, names, rng.permutation(np.linspace(-2, 2, 41)))
        told += pairs[0].p_holm < 0.05
    assert moved / n < 0.06
    assert told / n < 0.06


@pytest.mark.parametrize(
    ("unit", "named"),
    [("parents", "unmodified models (parents)"), ("worlds", "worlds"), ("corpora", "corpora")],
)
def test_a_gap_of_two_units_is_not_judged_and_they_are_named(unit: str, named: str) -> None:
    conditions = (ConditionEffect("c", "m", "debias", CERTAIN),)
    reason = f"an effect takes 3 {named}, not 2"
    assert judge_gap(GapEffects(conditions, conditions, 2, unit), 0.02) == ("cannot tell", reason)


def test_no_seed_is_worth_dropping() -> None:
    """The verdict is for these parents; other seeds is a line of its own."""
    five = judged({SEEDS: EMPTY._replace(n=5)})
    four = judged({SEEDS: few(4, SEEDS)})
    assert (five.verdict, five.holds[SEEDS]) == ("rises", "no")
    assert (four.verdict, four.holds[SEEDS]) == ("rises", "too few")


def test_a_change_is_the_slope_over_the_range_of_scores() -> None:
    result = judged({LISTS: SHOWN._replace(n=4, slope=Estimate(0.01, 0.001, 0.019))})
    assert result.change == pytest.approx((0.04, 0.024, 0.056))
    assert result.change_in(LISTS) == pytest.approx((0.04, 0.004, 0.076))
    half_width = 0.016 / stats.t.ppf(0.975, 26) * stats.t.ppf(0.95, 26)
    assert result.change_at(0.9) == pytest.approx((0.04, 0.04 - half_width, 0.04 + half_width))
    reach = stats.t.ppf(0.975, 26) + stats.t.ppf(0.8, 26)
    assert result.detectable_change == pytest.approx(0.016 / stats.t.ppf(0.975, 26) * reach)
    rows = {row["scope"]: row for row in scope_table([result]).to_dict("records")}
    ends = [rows[LISTS][name] for name in ("change", "change_low", "change_high")]
    assert ends == pytest.approx([0.04, 0.004, 0.076])
    few_corpora = [rows[CORPORA][name] for name in ("holds", "n", "needed", "note")]
    assert few_corpora == ["too few", 1, 5, "1 of 5"]


def test_each_measure_is_judged_by_its_own_smallest_change() -> None:
    moved = ConditionEffect("leace 1", "leace", "debias", BOUND, 0.01)
    effects = GapEffects((moved,), (moved,), 5)
    asked = [
        result._replace(names=result.names | {"measure": measure})
        for measure in ("recall", "log_odds")
        for result in [slice_of("weat7", "at most", effects=effects)]
    ]
    results = judge(asked, {"log_odds": 0.05})
    assert [(result.x, result.gap_verdict) for result in results] == [
        (0.02, "moved"),
        (0.05, "at most"),
    ]
    first, second = headlines(study_claims(results))
    assert "1 of 1 modification move it" in first
    assert "no modification of 1 changes it by more than .05" in second
    for mapping in ({"log_odds": 0}, {"log_odds": "x"}):
        with pytest.raises(InputError, match="a mapping of names, each to a number above 0"):
            Declaration(smallest_change=mapping)  # type: ignore[arg-type]


def test_more_tests_take_a_larger_change() -> None:
    first, *_ = judge([SUPPORTED] * 12)
    own = stats.t.ppf(0.975, 26)
    reach = stats.t.ppf(1 - 0.025 / 12, 26) + stats.t.ppf(0.8, 26)
    assert first.detectable_change == pytest.approx(0.016 / own * reach)


def test_p_is_adjusted_over_confirmatory_slices_alone() -> None:
    p = [0.001, 0.02, 0.03, 0.5]

    def with_p(value: float) -> SliceResult:
        shown = SHOWN._replace(p=value)
        return SUPPORTED._replace(scopes={RUNS: shown, DOSES: shown, **FEW})

    asked = [with_p(value) for value in p]
    explored = with_p(1e-9)._replace(confirmatory=False)
    undefined = SUPPORTED._replace(scopes={RUNS: Correlation(reason="too few"), **FEW})
    results = judge([explored, *asked, undefined])
    expected = multipletests(p, method="holm")[1]
    assert [result.p_holm for result in results[1:5]] == pytest.approx(expected)
    assert [result.verdict for result in results[1:]] == ["rises", *["cannot tell"] * 4]
    assert {result.tests for result in results[1:]} == {4}
    first = correlation_table(results, ["p", "p_holm", "verdict"]).to_numpy().tolist()[0]
    assert first[::2] == [1e-9, ""]
    assert math.isnan(results[0].p_holm)
    assert (dict(results[0].holds), results[0].why) == ({}, "")


@pytest.mark.parametrize(("lost", "own"), [(0, 0.0), (1, 1.0)])
def test_tests_permuted_alike_count_once_and_others_as_by_sidak(lost: int, own: float) -> None:
    """Parents of one size have the same permutations; where one lost a model they are drawn
    apart.
    """
    x, y = np.random.default_rng(2).normal(size=(2, 20))
    parent = np.repeat([0, 1], 10)
    found = [correlation(x[n:], y[n:], parent[n:]) for n in (0, lost)]
    asked = [SUPPORTED._replace(scopes={RUNS: one, **FEW}) for one in found]
    p = min(one.p for one in found)
    assert 0.2 < p < 0.8
    actual = min(result.p_holm for result in judge(asked))
    assert actual == pytest.approx(p + own * p * (1 - p), abs=0.02)


def test_other_doses_are_adjusted_likewise() -> None:
    strong = SHOWN._replace(p=1e-4)
    results = [
        SUPPORTED._replace(scopes={RUNS: strong, DOSES: SHOWN._replace(p=p), **FEW})
        for p in (0.03, 0.04, 0.001)
    ]
    assert [result.holds[DOSES] for result in judge(results)] == ["no", "no", "yes"]


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
    return table.assign(**{name: np.asarray(item) for name, item in columns.items()})


def verdict_of(table: pd.DataFrame, *condition: str, cluster: str = "") -> SliceResult:
    levels = Levels(["name"], ["parent"], [*condition], [cluster] * bool(cluster))
    [result] = correlate(table, x="x", y="y", levels=levels, confirmatory=["all"])
    return result


def test_a_declared_name_that_no_point_has_is_told() -> None:
    cells = {"query": "weat6b", "embedding": "word2vec", "method": "none", "measure": "precision"}
    joined = pd.DataFrame([cells])
    declared = Declaration(queries=("wat6b", "weat6b"), methods=("all", "none"))
    [line] = declared.unmatched(joined)
    text = "warning: study.queries names 'wat6b', which no point has; did you mean 'weat6b'?"
    assert line.startswith(text)
    assert not Declaration().unmatched(joined)
    assert not Declaration(confirmatory=("recall", "precision")).unmatched(joined)
    [line] = Declaration(confirmatory=("precisoin",)).unmatched(joined)
    text = "warning: study.confirmatory names 'precisoin', which no gap has; did you mean"
    assert line.startswith(text)
    assert line.endswith("every measure is tested")


def test_one_spelling_of_a_condition_gives_no_scope_beyond_these_runs() -> None:
    """Method and dose in one column: nobody can leave out a method."""
    table = study(method="m", dose=np.arange(40) // 4)
    table["both"] = table["dose"].astype(str) + " of m"
    separate, one = verdict_of(table, "method", "dose"), verdict_of(table, "both")
    assert (separate.verdict, separate.holds[DOSES]) == ("rises", "yes")
    assert (one.verdict, one.holds[DOSES]) == ("cannot tell", "too few")
    assert one.why.endswith(
        "but a verdict on other doses needs method and dose in columns of their own"
    )


def test_classifiers_are_never_averaged() -> None:
    """Gaps of one rise, of the other fall; models lost count by classifier."""
    first = study(method="m", dose=np.arange(40) // 4, classifier="cnn")
    second = first.assign(classifier="linear", y=-first["y"])
    second.loc[:9, "y"] = nan
    table = pd.concat([first, second])
    from biasbridge import correlate as correlate_table  # the door of users

    result = correlate_table(
        table,
        "x",
        "y",
        observation="name",
        parent="parent",
        condition=["method", "dose"],
        confirmatory="all",
    )
    assert result["classifier"].tolist() == ["cnn", "linear"]
    assert result["verdict"].tolist() == ["rises", "cannot tell"]
    assert result["n_lost"].tolist() == [0, 10]
    renamed = table.rename(columns={"classifier": "system"})
    again = correlate_table(
        renamed,
        "x",
        "y",
        classifier="system",
        observation="name",
        parent="parent",
        condition=["method", "dose"],
        confirmatory="all",
    )
    assert again["system"].tolist() == ["cnn", "linear"]


def test_tables_that_can_have_no_verdict_say_why() -> None:
    whole = study()
    assert verdict_of(whole).verdict == "rises"
    exact = study(y=np.where(np.arange(40) < 21, 0.0, whole["y"]))
    outlier = study(y=whole["y"] + 30 * (np.arange(40) == 5))
    left = outlier["y"] - outlier.groupby("parent")["y"].transform("mean")
    share = left[5] ** 2 / (left**2).sum()
    lost = study(y=whole["y"].where(np.arange(40) > 4))
    for table, why in (
        (exact, "the gap is exactly 0 in 21 of 40 models"),
        (outlier, f"one model (5 of 1) carries {share:.0%} of the variance of the"),
        (lost, "5 of 40 models are lost, more than a tenth"),
        (
            whole[:12],
            "too few models (12 of 4 parents). They leave 7 degrees of freedom; a verdict needs 8",
        ),
        (whole.assign(y=1.0), "the gap does not vary within parents"),
        (whole.assign(y=nan), "0 models that have another of their parent"),
    ):
        result = verdict_of(table)
        assert result.verdict == "cannot tell"
        assert result.why.startswith(why), result.why
    assert verdict_of(study(y=whole["y"].where(np.arange(40) > 3))).verdict == "rises"


def test_too_few_after_averaging_does_not_follow_from_the_number_of_models() -> None:
    """Eight parents of two corpora in four conditions are eight observations."""
    table = study(32, corpus=np.arange(32) % 2, parent=np.arange(32) % 8, of=np.arange(32) // 8)
    result = verdict_of(table, "of", cluster="corpus")
    assert (result.n, result.within.n, result.within.df) == (32, 8, 5)
    text = "(32 of 8 parents, averaged over 2 clusters to 8). They leave 5 degrees of freedom"
    assert text in result.why


def test_a_line_rises() -> None:
    result = verdict_of(study(y=study()["x"] * 2 + study()["parent"]))
    assert result.within.r == pytest.approx(1)
    assert result.verdict == "rises"


def test_more_slices_never_make_a_claim_impossible() -> None:
    """What is adjusted over so many cannot be held up by the number of permutations."""
    tables = [study(16, seed, name=np.arange(16), slice=seed) for seed in range(120)]
    table = pd.concat(tables)
    table["y"] = table["x"] + 0.01 * table["y"]
    levels = Levels(["name"], ["parent"])
    results = correlate(table, x="x", y="y", by=["slice"], levels=levels, confirmatory=["all"])
    assert len(results) == 120
    assert {result.verdict for result in results} == {"rises"}
    # All say the same: permuted alike, they count once
    assert max(result.p_holm for result in results) == pytest.approx(2 / 12_000)


# Claims, and the sentences and cells that every medium writes.


BOUND = MeanChange(0.03, 0.005, 4, 5)  # .03 [.016,.044], at most .041


def test_the_claims_on_a_gap_have_estimates_bounds_and_ranks() -> None:
    effects = [ConditionEffect("hard 1", "hard", "debias", x, 0.001) for x in (BOUND, CERTAIN)]
    known = GapEffects(tuple(effects), (effects[0],), 5)
    asked = [slice_of("weat7", "at most", effects=known), slice_of("weat8", "falls", why="so")]
    gap = claims_of(*asked)
    assert [
        (claim.kind, claim.subject, claim.verdict, claim.reason) for claim in shown_of(gap)
    ] == [
        ("modification", "debiasing (hard)", "moved", ""),
        ("all", "all 2 modifications", "moved", ""),
        ("score", "WEAT 7", "at most", ""),
        ("score", "WEAT 8", "falls", "so"),
    ]
    changed, overall, score, other = shown_of(gap)
    assert changed.ends == pytest.approx((-0.093, -0.063))
    assert changed.change == pytest.approx(BOUND.interval)
    assert changed.bound == overall.bound == BOUND.bound
    assert (score.ends, score.change) == ((-1.0, 1.0), asked[0].change)
    assert VERDICTS.index(other.verdict) < VERDICTS.index(score.verdict)
    first = f"2 of 2 modifications move it, hard 1 by {change_cells(changed)['change [95%]']}"
    assert headlines([gap]) == [
        f"Recall gap: {first}; it falls with WEAT 8; what goes with WEAT 7 is at most .02."
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([CERTAIN], "no modification of 1 changes it by more than .02"),
        ([UNSURE, CERTAIN], "2 modifications may change it by up to .073"),
        ([MeanChange(0.01, nan, 4, 5)], "c changed every model by the same, so its interval is"),
    ],
)
def test_the_sentence_on_a_gap_says_what_modifications_did(
    changes: list[MeanChange], said: str
) -> None:
    conditions = tuple(ConditionEffect("c", "m", "debias", change) for change in changes)
    gap = claims_of(slice_of("weat7", "cannot tell", effects=GapEffects(conditions, (), 5)))
    [line] = headlines([gap])
    assert line.startswith(f"Recall gap: {said}")
    assert line.endswith("; WEAT 7 cannot be judged.")


@pytest.mark.parametrize(
    ("transmission", "verdicts", "said"),
    [
        (1.0, ("rises", "falls"), " with a planted link: the study found it."),
        (1.0, ("rises", "at most"), " with a planted link: the study found it in 1 of 2 tests."),
        (0.5, ("cannot tell",), " with a planted link: the study did not find it."),
        (
            0.0,
            ("cannot tell", "at most"),
            ", no link planted: a claim here would be a false alarm. No test made a claim.",
        ),
        (
            0.0,
            ("cannot tell", "falls"),
            ", no link planted: a claim here would be a false alarm. 1 of 2 tests made a claim.",
        ),
    ],
)
def test_of_synthetic_data_it_is_said_what_was_planted(
    transmission: float, verdicts: tuple[str, ...], said: str
) -> None:
    columns = {"status": ["done"], "generated": [True], "transmission": [transmission]}
    results = [slice_of(f"weat{i}", verdict) for i, verdict in enumerate(verdicts)]
    assert _planted_lines(pd.DataFrame(columns), results) == [f"Synthetic data{said}"]
    real = pd.DataFrame(columns | {"generated": [False]})
    assert _planted_lines(real, results) == []


def test_a_reverse_scored_metric_is_named_with_its_sign() -> None:
    declared = slice_of("weat7", "rises")._replace(reverse_scored=True)
    assert gap_and_score([declared]) == [("recall gap", "WEAT 7 (sign reversed)")]


def test_conventions_of_one_metric_are_two_scores() -> None:
    both = [
        slice_of("weat7", "")._replace(names=slice_of("weat7", "").names | {"convention": name})
        for name in ("default", "wefe")
    ]
    titles = [score for _, score in gap_and_score(both)]
    assert titles == ["weat default WEAT 7", "weat wefe WEAT 7"]


@pytest.mark.parametrize(
    ("intercept", "slope", "side"),
    [
        (0.3, 0.1, ", away from 0"),
        (-0.3, 0.1, ", towards 0"),
        (-0.3, -0.1, ", away from 0"),
        (0, 1, ""),
    ],
)
def test_a_rise_or_fall_says_whether_it_goes_away_from_0(
    intercept: float, slope: float, side: str
) -> None:
    verdict = "rises" if slope > 0 else "falls"
    result = slice_of("weat7", verdict)._replace(line=SlopeLine(slope, 0.0, intercept))
    [line] = headlines([claims_of(result)])
    assert line == f"Recall gap: it {verdict} with WEAT 7{side}."
