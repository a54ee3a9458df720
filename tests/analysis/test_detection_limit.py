"""The smallest planted link that a study detects, in sweeps whose links are known."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pages
import pandas as pd
import pytest
import recorded_runs
import scipy
import study_tables

from analysis.correlation import correlation
from analysis.declaration import Declaration
from analysis.joined import join_points, rows_of
from analysis.observations import observations
from analysis.results import Tables
from files import InputError
from tests.analysis.detection_limit import crossing, detection_limits, limit_chart, resample

TRANSMISSIONS = (0.0, 0.1, 0.25, 1.0)
PARENTS, DOSES = 6, (0.25, 0.5, 0.75, 1.0)
LINK, NOISE = -0.2, 0.03  # change of the gap per unit of d at transmission 1; the noise of gaps


def make_tables(links: tuple[str, ...] = ("linked_weat6b",)) -> Tables:
    """Two methods at four doses in both directions move d; the gap in recall follows t d, that in
    precision nothing; d is that of weat6b, and weat7 is noise.
    """
    rng = np.random.default_rng(1)
    points, intrinsic, extrinsic = [], [], []
    conditions = [("none", "", 0.0)] + [
        (method, direction, dose)
        for method in ("a", "b")
        for direction in ("debias", "overbias")
        for dose in DOSES
    ]
    for parent in range(PARENTS):
        own = rng.normal()
        for method, direction, dose in conditions:
            d = (-1 if direction == "debias" else 1) * dose + 0.1 * rng.normal() + 0.3 * own
            other, unit = rng.normal(), f"{parent} {method} {direction} {dose}"
            for t in TRANSMISSIONS:
                point = f"{unit} {t}"
                method_label = links[0] if t < 1 else links[-1]
                points.append(
                    {"point": point, "status": "done", "generated": False, "embedding": "e"}
                    | {"method": method, "direction": direction, "dose": dose, "seed": parent}
                    | {"task": f"link_{t}", "unit_key": unit, "parent_key": f"{parent} none  0.0"}
                    | {"corpus_key": f"corpus {parent}", "label_dose": t}
                    | {"label_method": method_label if t else "none"}
                )
                for query, value in (("weat6b", d), ("weat7", other)):
                    score = {"metric": "weat", "query": query, "part": "", "convention": "default"}
                    intrinsic.append({"point": point, **score, "value": value, "unbiased": 0.0})
                for measure, slope in (("recall", LINK), ("precision", 0)):
                    gap = own + slope * t * d + NOISE * rng.normal()
                    extrinsic.append(
                        {"point": point, "task": f"link_{t}", "kind": "gap", "measure": measure}
                        | {"privileged": "others", "unprivileged": "women", "value": gap}
                    )
                extrinsic.append(
                    {"point": point, "task": f"link_{t}", "kind": "value", "measure": "f1"}
                    | {"group": "all", "value": 0.7 - 0.2 * t, "majority_baseline": 0.6}
                )
    return Tables(*map(pd.DataFrame, (points, intrinsic, extrinsic)))


@pytest.fixture(scope="module")
def limits() -> pd.DataFrame:
    return detection_limits(join_points(make_tables()), Declaration(), resamples=40)


def test_the_link_is_detected_where_it_is_strong_and_not_without_it(limits: pd.DataFrame) -> None:
    """One transmission is one slice over all embeddings."""
    by_gap = {name: part.set_index("transmission") for name, part in limits.groupby("measure")}
    assert set(limits["query"]) == {"weat6b"}
    assert (limits["n"] == PARENTS * 17).all()
    assert (limits["n_conditions"] == 17).all()
    assert [*by_gap["recall"].index] == [*TRANSMISSIONS]
    assert by_gap["recall"]["verdict"].to_dict()[0.0] == "inconclusive"
    assert by_gap["recall"]["verdict"].to_dict()[1.0] == "negative"
    assert not set(by_gap["precision"]["verdict"]) & {"positive", "negative"}
    assert by_gap["recall"]["r_rm"].to_dict()[1.0] < -0.9
    utilities = by_gap["recall"]["utility"].to_numpy()
    assert utilities == pytest.approx(0.7 - 0.2 * np.array(TRANSMISSIONS))


def test_the_slopes_are_those_planted(limits: pd.DataFrame) -> None:
    recall = limits[limits["measure"] == "recall"]
    assert recall["transmitted"].to_numpy() == pytest.approx(
        LINK * np.array(TRANSMISSIONS), abs=0.02
    )
    change = recall["slope"] * recall["score_range"]
    assert recall["gap_change"].to_numpy() == pytest.approx(change.to_numpy())
    joined = join_points(make_tables())
    scores = joined[joined["query"] == "weat6b"].groupby("parent")["x"]
    assert (recall["score_range"] == (scores.max() - scores.min()).max()).all()


def test_four_of_five_studies_detect_a_link_at_the_limit(limits: pd.DataFrame) -> None:
    """Studies of the same size whose slope is the limit, at the level of Holm's worst case; the
    limit of one study varies, so the share is not exactly .8.
    """
    recall = limits[limits["measure"] == "recall"].iloc[0]
    assert 0 < recall["limit_transmission"] < 0.25
    assert recall["limit_slope"] == pytest.approx(LINK * recall["limit_transmission"], abs=0.005)
    low, high = recall["limit_slope_low"], recall["limit_slope_high"]
    assert low <= recall["limit_slope"] <= high < 0
    rng = np.random.default_rng(0)
    lowered = [-dose for dose in DOSES]
    scores = np.tile([0.0, *DOSES, *DOSES, *lowered, *lowered], PARENTS)
    parent, studies = np.repeat(np.arange(PARENTS), 17), 60
    detected = [
        correlation(x, recall["limit_slope"] * x + NOISE * rng.normal(size=len(x)), parent).p
        < 0.05 / 4
        for x in (scores + 0.1 * rng.normal(size=len(scores)) for _ in range(studies))
    ]
    ends = [float(scipy.stats.binom.ppf(q, studies, p)) for q, p in ((0.001, 0.6), (0.999, 0.97))]
    assert ends[0] <= sum(detected) <= ends[1]


def test_no_transmission_moves_a_gap_that_is_not_linked(limits: pd.DataFrame) -> None:
    """The slope that would be detected depends on the noise, alike for both gaps."""
    by_gap = limits.groupby("measure")[["limit_transmission", "limit_slope"]].first().abs()
    assert by_gap["limit_transmission"]["precision"] == inf
    assert by_gap["limit_slope"]["precision"] == pytest.approx(
        by_gap["limit_slope"]["recall"], rel=0.3
    )


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        ([-1, -1, 3], 0.25),
        ([-1, 1, 1], 0.1),
        ([1, -1, 1], 0.3),
        ([0, 0, 0], 0.0),
        ([-1, 0, 1], 0.2),
        ([1, 1, -1], inf),
    ],
)
def test_where_the_margin_is_0(margins: list[float], expected: float) -> None:
    found = crossing(np.array([0.0, 0.2, 0.4]), np.array(margins, dtype=float))
    assert found == pytest.approx(expected)


def test_resamples_hold_whole_parents_and_conditions() -> None:
    joined = join_points(make_tables())
    is_in_slice = (joined["query"] == "weat6b") & (joined["measure"] == "recall")
    studies = [
        observations(rows_of(joined[is_in_slice & (joined["label_dose"] == t)]))
        for t in TRANSMISSIONS
    ]
    drawn = [resample(study, seed=3) for study in studies]
    names = drawn[0].model.tolist()
    assert all(study.model.tolist() == names for study in drawn)
    assert len(names) == PARENTS * 17
    cells = {(p, c) for p, c in zip(drawn[0].parent, drawn[0].condition, strict=True)}
    assert len(cells) == PARENTS * 17
    for label in (drawn[0].parent, drawn[0].condition):
        members = [frozenset(drawn[0].model[label == name]) for name in np.unique(label)]
        assert len(members) == len(np.unique(label)) > len(set(members))
    own = studies[0].parent[[studies[0].model.tolist().index(name) for name in names]]
    assert all(len(set(own[drawn[0].parent == name])) == 1 for name in np.unique(drawn[0].parent))
    assert (drawn[0].method == "none").sum() == PARENTS
    # Where parents share clusters, each cluster keeps its number of parents
    cluster = np.array(["c" if parent[0] in "01" else "d" for parent in studies[0].parent])
    clustered = resample(studies[0]._replace(cluster=cluster), seed=3)
    counts = [len(set(clustered.parent[clustered.cluster == name].tolist())) for name in ("c", "d")]
    assert counts == [2, 4]


def test_results_without_one_link_are_refused() -> None:
    for links in (("none",), ("linked_weat6b", "linked_weat7")):
        with pytest.raises(InputError, match="planted links; give a sweep of labels=linked"):
            detection_limits(join_points(make_tables(links)), Declaration())


def test_the_section_says_the_limits_and_every_transmission(
    limits: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "swept").mkdir()
    limits.to_csv(tmp_path / "swept" / "detection_limit.csv", index=False)
    for module in (recorded_runs, study_tables):
        monkeypatch.setattr(module, "HERE", tmp_path)
    section = pages.render("<!-- limit swept -->\n<!-- end -->\n")
    recall = limits[limits["measure"] == "recall"].iloc[0]
    slope = f"{abs(recall['limit_slope']):.4f}".removeprefix("0")
    assert (
        f"- WEAT 6b and the recall gap: four of five such studies detect a slope of -{slope}"
        in (section)
    )
    assert section.count("(no transmission does so).") == 1
    assert section.count("\n| ") == 2 + 2 * len(TRANSMISSIONS)
    assert "negative |\n" in section
    chart = limit_chart(limits).to_dict()
    assert "detected" in str(chart["title"])
