"""Rules of the decision on a release, on claims and without rendering, and their error rates."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps
from biasbridge.extrinsic.claims import Claim, Decision, decide
from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.extrinsic.predictions import HARM
from biasbridge.stats.formatting import detectable_change

YES, NO, UNKNOWN = "release", "do not release", "cannot tell"


def items(n: tuple[int, int], **rates: tuple[tuple[int, ...], tuple[int, ...]]) -> pd.DataFrame:
    """Positives and negatives of groups, of which each version misses and flags so many."""
    tables = []
    for group, (missed, flagged) in rates.items():
        table = pd.DataFrame({"label": [1] * n[0] + [0] * n[1], "group": group})
        for number, (misses, flags) in enumerate(zip(missed, flagged, strict=True), 1):
            hits = np.arange(n[0]) >= misses
            table[f"v{number}"] = [*hits.astype(int), *(np.arange(n[1]) < flags).astype(int)]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def decision(table: pd.DataFrame, **options: Any) -> Decision:
    versions = [name for name in map(str, table) if name.startswith("v")]
    return gaps(table, **{"pred": versions, **options}).decision


A = items((500, 2_000), women=((50, 50), (380, 80)), others=((50, 50), (80, 80)))
B = items((500, 2_000), women=((50, 150), (80, 80)), others=((50, 50), (80, 80)))
NINE = items((500, 500), **{f"g{i}": ((50 + 80 * (i == 0),), (25,)) for i in range(9)})
COPY = items((500, 500), a=((50, 50), (80, 80)), b=((90, 90), (80, 80)))
LARGE = items((100_000, 200_000), a=((5_000, 5_060), (10, 10)), b=((5_000, 5_000), (10, 10)))


def unanswered(n: int, version: str = "v2") -> pd.DataFrame:
    """A, in which a version has no prediction for so many of 500 positives about women."""
    return A.assign(**{version: A[version].astype(float).mask(np.arange(len(A)) < n)})


CASES: dict[str, tuple[pd.DataFrame, dict[str, Any], str, str]] = {
    "false alarms go": (A, {}, YES, "Nearest to the limit"),
    "false alarms go, with bounds": (A, {"bounds": {"fpr": 0.1, "recall": 0.1}}, YES, "all 10"),
    "women are missed": (B, {}, NO, "women v1 missed 10, v2 misses 30: 20 more (16 to"),
    "women are missed, gate on others": (B, {"bounds": {"fpr": 0.1}}, NO, "women v1 missed 10"),
    "women are missed, fpr alone asked for": (B, {"measures": "fpr"}, NO, "women v1 missed 10"),
    "women are missed, and that is allowed": (B, {"harm": 0.3}, YES, "women v1 missed 10"),
    "the gap of nine groups": (NINE, {"bounds": {"recall": 0.1}}, NO, "misses 26, about all"),
    "and a further measure": (NINE, {"bounds": {"recall": 0.1, "fpr": 0.1}}, NO, "misses 26"),
    "a copy of the old version": (COPY, {}, YES, "a change of 0"),
    "a change of .06 in 100": (LARGE, {}, YES, "0.1 more (0.0 to 0.1)"),
    "2 of 100 have no prediction": (unanswered(10), {}, YES, "Nearest to the limit"),
    "more than 2 of 100 have none": (unanswered(11), {}, UNKNOWN, "v2 cannot be judged: predictions"
     " or scores are missing for 11 of 500 items with label '1', of group women"),
    "the earlier version has none": (unanswered(11, "v1"), {}, UNKNOWN, "11 of 500 items"),
    "a score is missing": (A.assign(v1s=0.5, v2s=unanswered(11)["v2"]), {"score": ["v1s", "v2s"],
     "pred": ["v1", "v2"], "measures": ["recall", "fpr"]}, UNKNOWN, "11 of 500 items"),
    "women are missed, and have none": (B.assign(v2=unanswered(11)["v2"].mask(B["v2"].eq(0), 0)),
     {"harm": 0.01}, NO, "women v1 missed 10"),
    "nothing is flagged": (A.assign(v1=0)[["label", "group", "v1"]], {"bounds": {"recall": 0.1}},
     UNKNOWN, "the classifier flags none of 5,000 items, so a column or a threshold may be wrong"),
    "all is flagged": (A.assign(v1=1, v2=1), {}, UNKNOWN, "v2 flags all 5,000 items"),
    "all are of one class": (A.assign(v1=1)[["label", "group", "v1"]],
     {"multiclass": True, "bounds": {"recall": 0.1, "accuracy": 0.1}}, UNKNOWN,
     "the classifier gives all 5,000 items one class, so a column may be wrong"),
    "all classes are right": (A.assign(v1=A["label"])[["label", "group", "v1"]],
     {"multiclass": True, "bounds": {"recall": 0.1, "accuracy": 0.1}}, YES, "misses 0"),
    "nothing is flagged any more": (A.assign(v2=0), {}, NO, "v1 missed 10, v2 misses 100: 90 more"),
    "one version": (B[["label", "group", "v2"]], {}, UNKNOWN, "largest difference that is shown"),
    "all alike": (COPY[["label", "group", "v1"]].assign(group=["a", "b"] * 1000), {}, UNKNOWN, "The"
     " largest difference: of"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_tables_with_a_known_answer(name: str) -> None:
    table, options, verdict, said = CASES[name]
    result = decision(table, **options)
    assert result.verdict == verdict
    assert said in result.sentence


def test_the_likeliest_harm_comes_first_where_nothing_is_settled() -> None:
    """Eleven items have a larger gap than women's sixty, but one that is likelier by chance."""
    few = items((11, 11), few=((3,), (3,)))
    table = pd.concat([items((60, 60), women=((13,), (3,)), men=((3,), (3,))), few])
    result = decision(table, bounds={"recall": 0.1})
    gap = {claim.group: claim.interval[0] for claim in result.claims}
    assert gap["few"] > gap["women"] > 0.1
    assert result.verdict == UNKNOWN
    assert "about women the classifier misses 21.7" in result.reason


def test_sums_that_are_printed_are_right() -> None:
    """Of 4,000 items 1,137 and 463 are missed: 28.4 and 11.6, not 28 and 12 with 17 more."""
    table = items((4_000, 4_000), women=((1_137,), (4,)), men=((463,), (4,)))
    assert "misses 28.4, about all others 11.6: 16.8 more" in decision(table).reason


def test_lists_name_what_a_group_is_compared_with_where_both_are_claimed() -> None:
    table = items((500, 2_000), women=((50, 150), (80, 200)), others=((50, 50), (80, 80)))
    lines = decision(table, bounds={"recall": 0.1}).lines
    assert "what is allowed (10 in 100 compared with all others, 2 with v1): women" in lines[0]
    assert "women (missed, compared with all others)" in lines[0]
    assert "women (wrongly flagged, compared with v1)" in lines[0]
    assert "women (wrongly flagged)" in decision(table).lines[0]


def test_a_gap_without_a_bound_is_told_beside_a_release() -> None:
    table = items((500, 2_000), women=((50,), (380,)), others=((50,), (80,)))
    result = decision(table, bounds={"recall": 0.1})
    assert result.verdict == YES
    assert result.lines[-1] == (
        "Without a bound: of 100 negative items about women the classifier wrongly flags 19, about"
        " all others 4: 15 more (13 to 17)."
    )
    assert not decision(table, bounds={"recall": 0.1, "fpr": 0.3}).lines
    alike = items((500, 2_000), women=((50,), (82,)), others=((50,), (80,)))
    assert not decision(alike, bounds={"recall": 0.1}).lines  # a gap that is not shown


def test_a_range_above_the_bound_that_cannot_tell_is_explained() -> None:
    groups = {f"g{i}": ((12,), (5,)) for i in range(8)}
    table = items((120, 120), women=((35,), (5,)), **groups)
    result = decision(table, bounds={"recall": 0.1})
    assert result.verdict == UNKNOWN
    assert "where 10 are allowed" in result.reason
    assert result.lines[0].startswith("Over all 9 comparisons together the range is 8.8 to")


def test_a_mean_over_classes_is_not_claimed() -> None:
    table = items((500, 500), a=((50, 100), (50, 50)), b=((50, 50), (50, 50)))
    result = decision(table, multiclass=True)
    assert {claim.row.subset for claim in result.claims} == {"0", "1"}
    said = (
        "items of other classes about a v1 wrongly called 10 class 0, v2 wrongly calls 20 class 0"
    )
    assert said in result.sentence
    assert "a (class 1 missed)" in result.lines[0]


def newcombe(first: tuple[int, int], second: tuple[int, int], z: float) -> tuple[float, float]:
    """Newcombe's interval of a difference of shares (k, n), with Wilson's limits."""

    def wilson(k: int, n: int) -> tuple[float, float]:
        middle, half = k / n + z * z / (2 * n), z * sqrt(k * (n - k) / n**3 + (z / n) ** 2 / 4)
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    (p, q), (a, b), (c, d) = (k / n for k, n in (first, second)), wilson(*first), wilson(*second)
    return p - q - sqrt((p - a) ** 2 + (d - q) ** 2), p - q + sqrt((b - p) ** 2 + (q - c) ** 2)


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_is_decided_as_a_literal_loop_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([40, 300, 2_000]))
    missed = {
        name: int(n * rate) for name, rate in zip("abcd", rng.uniform(0, 0.3, 4), strict=True)
    }
    table = items((n, 20), **{name: ((k,), (2,)) for name, k in missed.items()})
    bound = float(rng.choice([0.02, 0.1, 0.2, 0.3]))
    ends = {}
    for level in (0.05, 0.05 / 4):
        z = NormalDist().inv_cdf(1 - level / 2)
        for name, k in missed.items():
            rest = sum(missed.values()) - k
            ends[level, name] = newcombe((3 * n - rest, 3 * n), (n - k, n), z)
    is_above = any(ends[0.05 / 4, name][0] > bound for name in missed)
    is_within = all(ends[0.05, name][1] <= bound for name in missed)
    expected = NO if is_above else YES if is_within else UNKNOWN
    assert decision(table, bounds={"recall": bound}).verdict == expected


def claim(
    kind: Any, group: str, low: float, value: float, high: float, limit: float, *, joint: float = 0
) -> Claim:
    """A claim on recall, which is so much worse; ``joint`` widens the adjusted interval."""
    interval = (value, low, high) if kind == "gap" else (-value, -high, -low)
    names = ("", "rest", group) if kind == "gap" else (group, "", "")
    row = GapRow("gap" if kind == "gap" else "value", "recall", *names, *interval, support=100)
    row = row._replace(low_simultaneous=interval[1] - joint, support_unprivileged=100)
    row = row._replace(high_simultaneous=interval[2] + joint, earlier="" if kind == "gap" else "v1")
    return Claim(kind, row, limit, (0.9, 0.9 - value))


def verdict(*claims: Claim) -> str:
    return decide(sorted(claims, key=lambda each: each.rank)).verdict


WITHIN = claim("gap", "a", -0.05, 0, 0.05, 0.1)
OPEN = claim("gap", "b", 0.05, 0.1, 0.15, 0.1)
ABOVE = claim("gap", "c", 0.15, 0.2, 0.25, 0.1)
HARMED = claim("harm", "d", 0.03, 0.05, 0.07, HARM)
UNMEASURED = claim("harm", "e", nan, nan, nan, HARM)
JOINT = claim("gap", "f", 0.15, 0.2, 0.25, 0.1, joint=0.1)


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ((WITHIN,), YES),
        ((WITHIN, OPEN), UNKNOWN),
        ((WITHIN, ABOVE), NO),
        ((WITHIN, HARMED), NO),
        ((WITHIN, UNMEASURED), UNKNOWN),
        ((ABOVE, UNMEASURED), NO),
        ((JOINT,), UNKNOWN),
        ((), UNKNOWN),
    ],
)
def test_rules(claims: Sequence[Claim], expected: str) -> None:
    assert verdict(*claims) == expected


def test_a_claim_more_never_makes_a_release() -> None:
    rng = np.random.default_rng(0)
    pool = [WITHIN, OPEN, ABOVE, HARMED, UNMEASURED, JOINT]
    for _ in range(200):
        chosen = [pool[i] for i in rng.integers(0, len(pool), rng.integers(1, 5))]
        before, after = verdict(*chosen[:-1] or chosen), verdict(*chosen)
        assert before == YES or after != YES


def test_a_stricter_request_never_makes_a_release() -> None:
    """On tables: further bounds, measures and groups; smaller bounds and harm."""
    rng, seen = np.random.default_rng(1), set()
    for _ in range(40):
        n = int(rng.choice([60, 400, 3_000]))
        groups = {
            name: (tuple((n * rng.uniform(0.05, 0.4, 2)).astype(int)), (n // 20, n // 20))
            for name in "abc"
        }
        table = items((n, n), **groups)
        bound, harm = rng.uniform(0.05, 0.3, 2)
        lax = decision(table, bounds={"recall": bound}, harm=harm, unprivileged=["a"])
        seen.add(lax.verdict)
        for stricter in (
            {"bounds": {"recall": bound, "fpr": 0.1}, "unprivileged": ["a"]},
            {"bounds": {"recall": bound}, "measures": ["precision"], "unprivileged": ["a"]},
            {"bounds": {"recall": bound}},
            {"bounds": {"recall": bound / 2}, "unprivileged": ["a"]},
        ):
            strict = decision(table, harm=harm, **stricter)
            assert lax.verdict == YES or strict.verdict != YES
        assert (
            lax.verdict == YES
            or decision(table, bounds={"recall": bound}, harm=harm / 2, unprivileged=["a"]).verdict
            != YES
        )
    assert seen == {YES, NO, UNKNOWN}


def test_a_worse_ranking_is_harm_whatever_else_is_measured() -> None:
    """The later scores rank items about women at random; both versions predict alike."""
    rng, n = np.random.default_rng(0), 4_000
    table = pd.DataFrame({"label": rng.integers(0, 2, n), "group": rng.choice(["women", "men"], n)})
    table["s1"] = 0.6 * table["label"] + 0.4 * rng.random(n)
    lost = np.where(table["label"] == 1, 0.5 + 0.5 * rng.random(n), 0.5 * rng.random(n))
    table["s2"] = np.where(table["group"] == "women", 0.5 + 0.001 * rng.normal(size=n), lost)
    scores = {"score": ["s1", "s2"], "threshold": 0.4}
    for measures in (["auc"], ["auc", "recall"], []):
        result = gaps(table, measures=measures, **scores).decision  # type: ignore[arg-type]
        assert result.verdict == NO
    assert (
        "the change of AUC about women is -."
        in gaps(table, measures="auc", score=["s1", "s2"]).decision.reason
    )


def test_a_selection_rate_has_no_worse_side() -> None:
    """Of 4,000 items .4 and .1 are flagged: both groups are .3 away from the other."""
    table = items((2_000, 2_000), a=((1_200,), (800,)), b=((1_800,), (200,)))
    for group in ("a", "b"):
        result = decision(table, bounds={"selection_rate": 0.25}, unprivileged=[group])
        assert result.verdict == NO
        assert f"the gap of selection rate about {group} is" in result.reason
        assert decision(table, bounds={"selection_rate": 0.35}, unprivileged=[group]).verdict == YES
    assert "it depends on the use which sign is worse" in repr(
        gaps(table, pred="v1", measures="selection_rate")
    )


def test_several_classes_and_versions_have_one_adjustment() -> None:
    rng = np.random.default_rng(0)
    n = 6_000
    label = rng.choice(list("pqrst"), n)

    def guess(share: Any) -> Any:
        return np.where(rng.random(n) < share, label, rng.choice(list("pqrst"), n))

    group = rng.choice(["men", "women"], n)
    v1 = guess(0.8)
    lost = (group == "women") & (label == "p") & (rng.random(n) < 0.3)
    table = pd.DataFrame({"label": label, "group": group, "v1": v1, "v2": np.where(lost, "q", v1)})
    result = decision(table, multiclass=True)
    assert result.verdict == NO
    assert "of 100 p items about women v1 missed" in result.sentence
    rows = gaps(table, pred="v1", multiclass=True)
    tested = rows[rows["kind"].eq("gap")]
    assert tested["p_holm"].max() <= 1
    row = tested.sort_values("p").iloc[0]
    assert row["p_holm"] == pytest.approx(min(1, row["p"] * tested["p"].notna().sum()))


def test_as_many_items_as_are_said_tell_in_four_of_five_samples() -> None:
    """The harm of .05 cannot be told at 150 items; with the items said, it is above .02."""
    table = items((150, 150), a=((15, 23), (5, 5)), b=((15, 15), (5, 5)))
    result = decision(table)
    assert result.verdict == UNKNOWN
    advice = next(line for line in result.lines if "would probably settle this" in line)
    said = int(advice.split()[1].replace(",", ""))
    row = result.claims[0].row
    shrunk = detectable_change(row._asdict()) * sqrt(150 / said)
    assert shrunk <= abs(result.claims[0].interval[0] - HARM) < 1.3 * shrunk


# Error rates

RUNS = 150
MOST = 0.05 + 2 * sqrt(0.05 * 0.95 / RUNS)


def drawn(rng: Any, n: int, *rates: float) -> pd.DataFrame:
    group = np.repeat(np.arange(len(rates)), n)
    hits = rng.random(len(group)) >= np.array(rates)[group]
    table = pd.DataFrame({"label": 1, "group": [f"g{i}" for i in group], "v1": hits.astype(int)})
    return pd.concat([table, table.assign(label=0, v1=0)], ignore_index=True)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [YES, NO])
def test_a_gap_at_its_bound_is_decided_in_at_most_5_of_100(wrong: str) -> None:
    """One gap at the bound: released; three at it: refused."""
    rng, n_wrong = np.random.default_rng(2), 0
    for _ in range(RUNS):
        rates = (0.1, 0.2) if wrong == YES else (0.1, 0.2, 0.2, 0.2)
        table = drawn(rng, 500, *rates)
        result = decision(table, bounds={"recall": 0.1}, privileged="g0")
        n_wrong += result.verdict == wrong
    assert n_wrong / RUNS <= MOST


@pytest.mark.slow
def test_a_gap_above_its_bound_is_refused_as_often_as_before() -> None:
    """.2 at .1 with 300 positives a group: by the interval that decided before, Bonferroni's."""
    rng, n_found = np.random.default_rng(3), 0
    for _ in range(RUNS):
        table = drawn(rng, 300, 0.1, 0.3)
        n_found += decision(table, bounds={"recall": 0.1}).verdict == NO
    assert n_found / RUNS >= 0.7


@pytest.mark.slow
@pytest.mark.parametrize(("lost", "wrong"), [(0.0, NO), (HARM, NO), (HARM, YES)])
def test_harm_at_its_limit_is_decided_in_at_most_5_of_100(lost: float, wrong: str) -> None:
    """A later version that errs on a share of other items, and misses ``lost`` more of a group."""
    rng, n_wrong, n = np.random.default_rng(4), 0, 2_000
    for _ in range(RUNS):
        table = drawn(rng, n, 0.1, 0.1, 0.1)
        hits = table["v1"].to_numpy()
        redrawn = np.where(rng.random(len(hits)) < 0.05, rng.random(len(hits)) >= 0.1, hits)
        is_lost = (table["group"] == "g1") & (rng.random(len(hits)) < lost / 0.9)
        later = np.where(is_lost, 0, redrawn).astype(int)
        table["v2"] = np.where(table["label"] == 1, later, 0)
        n_wrong += decision(table).verdict == wrong
    assert n_wrong / RUNS <= MOST


@pytest.mark.slow
def test_of_five_classes_without_a_gap_something_is_shown_in_at_most_5_of_100() -> None:
    rng, n_shown, n = np.random.default_rng(5), 0, 2_000
    for _ in range(RUNS):
        label = rng.integers(0, 5, n).astype(str)
        guess = np.where(rng.random(n) < 0.7, label, rng.integers(0, 5, n).astype(str))
        table = pd.DataFrame({"label": label, "v1": guess, "group": rng.choice(list("ab"), n)})
        found = gaps(table, pred="v1", multiclass=True).query("kind == 'gap'")
        lows, highs = found["low_simultaneous"].fillna(-inf), found["high_simultaneous"].fillna(inf)
        n_shown += bool(((lows > 0) | (highs < 0)).any())
    assert n_shown / RUNS <= MOST
