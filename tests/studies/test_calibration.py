"""Instruments whose readings are made up, so that what a calibration must say of them is known."""

from __future__ import annotations

import io
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from rich.console import Console

from analysis.results import Tables
from studies.calibration.measures import (
    calibrate,
    detectable,
    false_null,
    order,
    steps,
    wilson,
)
from studies.calibration.readings import Readings, read_instruments
from studies.calibration.study import Calibration
from studies.calibration.table import dependence, ranking

LEVELS = (0.0, 0.1, 0.2, 0.4, 0.8)


def readings(slope: float, noise: float = 1.0, *, seeds: int = 400, seed: int = 0) -> Readings:
    """Readings slope * level + noise * N(0, 1), unbiased at 0."""
    levels = np.array(LEVELS)
    drawn = np.random.default_rng(seed).normal(size=(seeds, len(levels)))
    none = np.full_like(drawn, nan)
    return Readings("made up", {}, levels, slope * levels + noise * drawn, none, none, 0.0)


def make_tables(seeds: int = 6) -> Tables:
    """A good score and one of noise, of two sizes of corpus, and a gap that follows label bias; the
    good score reads 1 more, everywhere, on the small corpus.
    """
    rng = np.random.default_rng(1)
    points, intrinsic, extrinsic = [], [], []
    for sentences in (1_000, 2_000):
        for seed in range(seeds):
            for level in LEVELS:
                key = f"{sentences} {seed} {level}"
                planted = {"stereotype": level, "label_bias": level, "sentences": sentences}
                points.append(
                    {"point": key, "status": "done", "embedding": "word2vec", "seed": seed}
                    | planted
                )
                common = {"point": key, "query": "q", "part": "", "dim": 5, "unbiased": 0.0}
                common |= {"convention": "default", "p_method": "exact"}
                good = 10 * level + 0.1 * rng.normal() + (sentences == 1_000)
                for metric, value in (("good", good), ("noise", rng.normal())):
                    p = 0.01 if metric == "noise" else 0.5
                    bounds = {"low": value - 0.1, "high": value + 0.1}
                    intrinsic.append(
                        common | {"metric": metric, "value": value, "p_value": p} | bounds
                    )
                extrinsic.append(
                    {
                        "point": key,
                        "kind": "gap",
                        "measure": "recall",
                        "value": level + 0.01 * rng.normal(),
                    }
                    | {"low": -1.0, "high": 1.0}
                )
    return Tables(*map(pd.DataFrame, (points, intrinsic, extrinsic)))


def test_detectable_is_where_normal_readings_reach_80_percent_power() -> None:
    slope = 10.0
    found = detectable(readings(slope, seeds=20_000).read, np.array(LEVELS))
    # Told from 0 beyond 1.96 sd: 80% power where the mean lies 1.96 + 0.84 sd off
    truth = (scipy.special.ndtri(0.975) + scipy.special.ndtri(0.8)) / slope
    assert found == pytest.approx(truth, abs=0.01)


def test_a_power_that_is_lost_again_counts_from_where_it_stays() -> None:
    levels = np.array([0.0, 1.0, 2.0, 3.0])
    zero = np.random.default_rng(0).normal(size=200)
    read = np.column_stack([zero, zero + 100, zero, zero + 100])
    assert 2 < detectable(read, levels) < 3


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_what_is_not_found_at_any_level_has_no_smallest_bias(slope: float) -> None:
    assert detectable(readings(slope).read, np.array(LEVELS)) == inf


def test_order_and_steps_of_perfect_reversed_and_random_readings() -> None:
    for slope, rho in ((100.0, 1.0), (-100.0, -1.0)):
        perfect = readings(slope, noise=1e-6)
        assert order(perfect).value == pytest.approx(rho)
        assert steps(perfect).value == pytest.approx(1.0), "the direction is the instrument's own"
    nothing = readings(0.0, seed=5)
    assert order(nothing).low < 0 < order(nothing).high
    assert steps(nothing).value == pytest.approx(0.5, abs=0.06)


def test_the_null_of_the_others_is_left_by_5_percent() -> None:
    zero = np.random.default_rng(3).normal(size=2_000)
    assert false_null(zero).value == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 20), (20, 20)])
def test_wilsons_interval_is_that_of_scipy(k: int, n: int) -> None:
    bounds = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k / n, n) == pytest.approx((k / n, bounds.low, bounds.high))


def test_few_seeds_and_a_constant_instrument_give_no_number() -> None:
    few = calibrate(readings(1.0, seeds=2), 50)
    assert np.isnan([few.detectable.value, few.order.value, few.steps.value, few.offset]).all()
    constant = calibrate(readings(0.0, noise=0.0, seeds=10), 50)
    assert np.isnan([constant.response, constant.offset]).all()
    assert constant.detectable.value == inf


def test_the_good_instrument_ranks_first_and_alone_is_trusted() -> None:
    table = ranking(read_instruments(make_tables(), "stereotype"), 50)
    assert table["rank"].tolist() == [1, 2, 1, 2]
    assert table["instrument"].tolist() == ["good", "noise"] * 2
    assert table["sentences"].tolist() == ["1000", "1000", "2000", "2000"]
    large = table[table["sentences"] == "2000"].set_index("instrument")
    assert large.loc["good", "trust"] == "yes" or "interval" in str(large.loc["good", "trust"])
    assert large.loc["noise", "trust"] == "finds no planted bias"
    assert large.loc["noise", "false_p"] == 1.0
    assert large.loc["good", "false_p"] == 0.0
    assert float(str(large.loc["good", "detectable"])) < 0.1


def test_a_shift_with_the_size_of_the_corpus_is_found() -> None:
    table = dependence(read_instruments(make_tables(20), "stereotype")).set_index("instrument")
    good = table.loc["good"]
    assert (good["over"], good["small"], good["large"]) == ("sentences", "1000", "2000")
    # It reads 1 more on the small corpus, an eighth of its response from 0 to 8
    for name in ("at_zero", "at_top"):
        assert good[f"{name}_low"] < 0.125 < good[f"{name}_high"]
        assert good[name] == pytest.approx(0.125, abs=0.02)


def test_gaps_are_read_where_label_bias_is_planted() -> None:
    [gap] = read_instruments(make_tables(), "label_bias")
    assert gap.instrument == "recall gap"
    assert calibrate(gap, 50).order.value == pytest.approx(1.0)


@pytest.mark.parametrize("planted", ["posts", "sentences"])
def test_tables_without_a_level_of_nothing_planted_are_refused_in_words(
    planted: str, tmp_path: Path
) -> None:
    printed = io.StringIO()
    console = Console(file=printed, width=150)
    assert Calibration(planted=planted).conclude(make_tables(), tmp_path, console) == []
    assert "not calibrated" in printed.getvalue()
