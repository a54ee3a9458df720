"""The expected calibration error is that of a loop where chance is small, and its interval covers
the true one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps, gate
from biasbridge.extrinsic.calibration import bin_scores, calibration_error
from biasbridge.files import InputError

CURVES: dict[str, Any] = {
    "calibrated": lambda p: p,
    "too low": lambda p: np.clip(p + 0.05, 0, 1),
    "too mild": lambda p: p**2 / (p**2 + (1 - p) ** 2),
    "too bold": lambda p: 0.2 + 0.6 * p,
    "wrong above .8": lambda p: np.where(p > 0.8, p - 0.2, p),
}


def items(n: int, curve: str = "calibrated", seed: int = 0) -> pd.DataFrame:
    """Items whose scores are calibrated for men, and as the curve says for women."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"score": rng.random(n), "group": rng.choice(["men", "women"], n)})
    chance = np.where(
        table["group"] == "women", CURVES[curve](table["score"].to_numpy()), table["score"]
    )
    table["label"] = (rng.random(n) < chance).astype(int)
    return table.assign(prediction=(table["score"] > 0.5).astype(int))


def literal_plug_in(table: pd.DataFrame, edges: list[float]) -> float:
    """The plug-in ECE, by a loop over bins and items."""
    total = 0.0
    for low, high in pairwise([-1.0, *edges, 2.0]):
        rows = [
            (y, p) for y, p in zip(table["label"], table["score"], strict=True) if low <= p < high
        ]
        total += abs(sum(y - p for y, p in rows))
    return total / len(table)


def true_error(curve: str, edges: list[float]) -> float:
    """The ECE of uniform scores, by a fine grid."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    distance = CURVES[curve](grid) - grid
    bins = np.searchsorted(edges, grid, side="right")
    by_bin = np.abs(np.bincount(bins, distance))
    return float(by_bin.sum()) / len(grid)


@pytest.mark.parametrize("curve", ["too mild", "too bold"])
def test_the_error_of_many_items_is_the_plug_in_value(curve: str) -> None:
    table = items(40_000, curve)
    edges = [
        float(np.quantile(table["score"], number / 10, method="higher")) for number in range(1, 10)
    ]
    measured = gaps(table, score="score", measures="ece", privileged="men")
    women = measured.query("kind == 'value' and group == 'women'").iloc[0]
    expected = literal_plug_in(table[table["group"] == "women"], edges)
    assert women["value"] == pytest.approx(expected, abs=0.002)
    assert women["support"] == (table["group"] == "women").sum()
    men = measured.query("kind == 'value' and group == 'men'").iloc[0]
    assert men["value"] < literal_plug_in(table[table["group"] == "men"], edges)  # by chance alone
    gap = measured.query("kind == 'gap'").iloc[0]
    assert gap["value"] == pytest.approx(women["value"] - men["value"])
    assert gap["low"] > 0


def test_an_error_that_chance_explains_is_0() -> None:
    bins = np.repeat(np.arange(10), 100)
    score = np.repeat((np.arange(10) + 0.5) / 10, 100)
    label = np.concatenate(
        [np.arange(100) < round(100 * share) for share in np.unique(score)]
    ).astype(int)
    exact = calibration_error(label, score, bins, 0.95)
    assert exact.value == exact.low == 0 < exact.high < 0.06
    wider = calibration_error(label, score, bins, 0.95, effect=4)
    assert wider.high == pytest.approx(2 * exact.high, rel=0.2)
    far = calibration_error(1 - label, score, bins, 0.95)
    assert far.value == pytest.approx(0.5, abs=0.01)


def test_bins_are_between_the_deciles_of_all_scores() -> None:
    assert np.bincount(bin_scores(np.arange(1_000) / 1_000)).tolist() == [100] * 10
    assert bin_scores(np.array([0.2] * 50 + [0.7] * 50)).max() <= 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1_000, 5_000])
@pytest.mark.parametrize("curve", CURVES)
def test_intervals_cover_the_error(curve: str, n: int) -> None:
    edges = [number / 10 for number in range(1, 10)]
    true, rng, covered, n_draws = true_error(curve, edges), np.random.default_rng(0), 0, 400
    for _ in range(n_draws):
        score = rng.random(n)
        label = (rng.random(n) < CURVES[curve](score)).astype(int)
        bins = np.searchsorted(edges, score, side="right")
        found = calibration_error(label, score, bins, 0.95)
        covered += found.low <= true <= found.high
    assert covered / n_draws >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("curve", ["calibrated", "too low", "too bold"])
def test_gaps_are_covered(curve: str) -> None:
    edges = [number / 10 for number in range(1, 10)]
    true, covered, n_draws = true_error(curve, edges), 0, 200
    for seed in range(n_draws):
        table = gaps(items(2_000, curve, seed), score="score", measures="ece", privileged="men")
        gap = table.query("kind == 'gap'").iloc[0]
        covered += gap["low"] <= true <= gap["high"]
    assert covered / n_draws >= 0.92


def test_clusters_widen_and_versions_are_paired() -> None:
    table = items(1_000, "too low").assign(author=lambda x: np.arange(len(x)) // 2)
    twice = pd.concat([table, table], ignore_index=True)
    options: dict[str, Any] = {"score": "score", "measures": "ece", "privileged": "men"}
    single, doubled = (
        gaps(x, cluster="author", **options).query("kind == 'gap'").iloc[0] for x in (table, twice)
    )
    assert single["high"] - single["low"] == pytest.approx(
        doubled["high"] - doubled["low"], rel=0.15
    )
    versions = table.assign(p2=table["prediction"], better=np.clip(table["score"] + 0.05, 0, 1))
    changes = gaps(
        versions, pred=["prediction", "p2"], score=["score", "better"], measures="ece"
    ).query("kind == 'value' and earlier == 'prediction'")
    own = gaps(table, **options).set_index(["kind", "group"])["value"]
    later = gaps(table.assign(score=versions["better"]), **options)
    women = later.set_index(["kind", "group"])["value"]["value", "women"]
    assert changes.set_index("group")["value"]["women"] == pytest.approx(
        women - own["value", "women"]
    )


def test_a_gate_bounds_the_gap_and_scores_are_probabilities() -> None:
    table = items(20_000, "too bold")
    assert not gate(table, {"ece": 0.05}, score="score", privileged="men", measures="ece")
    assert gate(table, {"ece": 0.15}, score="score", privileged="men", measures="ece")
    with pytest.raises(InputError, match=r"column 'logit' holds .*; ece needs probabilities"):
        gaps(table.assign(logit=9 * table["score"]), score="logit", measures="ece")
    with pytest.raises(InputError, match=r"ece needs scores"):
        gaps(table, measures="ece")


def test_calibration_needs_no_predictions() -> None:
    table = items(2_000)
    expected = gaps(table.assign(prediction=0), score="score", measures="ece")
    actual = gaps(table.drop(columns="prediction", errors="ignore"), score="score", measures="ece")
    pd.testing.assert_frame_equal(pd.DataFrame(actual), pd.DataFrame(expected))
