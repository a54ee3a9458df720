"""Named numbers of the room, each on either side of what it decides. Numbers are written out here,
so that another value fails.
"""

from __future__ import annotations

import io
import math
from math import sqrt

import numpy as np
import pandas as pd
import pytest
import torch
from statsmodels.stats.proportion import proportion_confint
from torch import nn

from biasbridge import gaps
from biasbridge.extrinsic.coreference.challenge import Units, _percentage_correlation
from biasbridge.extrinsic.coreference.model import _letter_codes
from biasbridge.extrinsic.crossval import split_posts
from biasbridge.extrinsic.networks import _finetuned_step, _rate
from biasbridge.extrinsic.retrieval import _compare_wordings, _share_above
from biasbridge.extrinsic.spread import (
    DIFFERENCE,
    RATIO,
    Block,
    _values_at_distance,
    estimate_spread,
    hybrid_estimate,
    make_sampler,
)
from biasbridge.extrinsic.taggers import tag_precision
from biasbridge.files.documents import RetrievalQuery, WordedDocument
from biasbridge.files.terminal import open_console
from biasbridge.stats.intervals import Estimate
from biasbridge.stats.proportions import error_correlations, wilson
from tests.extrinsic.test_retrieval import Bag


def test_units_are_resampled_2000_times() -> None:
    units = Units(["a", "b"], np.ones((2, 1, 3)), widened=False)
    assert units._drawn.shape == (2_000, 1, 3)  # noqa: SLF001 (looked at, not changed)


@pytest.mark.parametrize(("n", "has_interval"), [(3, False), (4, True)])
def test_a_correlation_takes_four_occupations(n: int, has_interval: bool) -> None:
    rows = np.array([[1.0, 1], [2, 3], [3, 2], [4, 5]])[:n]
    assert math.isfinite(_percentage_correlation(rows, 0.95).value) == has_interval


@pytest.mark.parametrize(("size", "spelled"), [(49, 49), (50, 50), (51, 50)])
def test_a_word_is_spelled_by_50_bytes(size: int, spelled: int) -> None:
    assert _letter_codes(["a" * size]).shape == (1, spelled)


def test_a_tenth_of_the_training_posts_is_set_aside() -> None:
    table = pd.DataFrame({"text": [f"t{n}" for n in range(1_000)], "split": "all"})
    table = table.assign(label=np.arange(1_000) % 2, group="none")
    for fold in split_posts(table, folds=5, seed=0):
        assert (len(fold.train), len(fold.dev), len(fold.test)) == (720, 80, 200)


@pytest.mark.parametrize(
    ("step", "rate"), [(0, 1 / 11), (9, 10 / 11), (10, 1.0), (11, 89 / 90), (99, 1 / 90)]
)
def test_the_learning_rate_rises_for_a_tenth_of_the_steps(step: int, rate: float) -> None:
    assert _rate(step, 100) == pytest.approx(rate)


class Scaled(nn.Module):
    """Logits that are ``scale`` times two weights of 0: their gradient is (-1, 1) scale / 2."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale, self.weights = scale, nn.Parameter(torch.zeros(1, 2))

    def forward(self, rows: object) -> torch.Tensor:
        return self.scale * self.weights


@pytest.mark.parametrize("norm", [0.9, 1.1, 5.0])
def test_gradients_are_cut_to_length_1(norm: float) -> None:
    network = Scaled(norm * sqrt(2))
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0)
    _finetuned_step(network, optimiser, np.zeros(1, dtype=np.int64), torch.tensor([0]))  # type: ignore[arg-type]
    assert network.weights.norm().item() == pytest.approx(min(norm, 1.0), abs=1e-5)


@pytest.mark.parametrize("n", [10, 96])
def test_proportions_of_the_same_items_have_four_pseudo_items_between_them(n: int) -> None:
    """Two each, so that two of .5 that agree on all of n items are correlated by n / (n + 2)."""
    moved = (np.arange(n) % 2 - 0.5) / n
    half = Estimate(0.5, *wilson(n / 2, n, 0.95))
    result = error_correlations([half, half], [moved, moved], 0.95)
    assert result[0, 1] == pytest.approx(n / (n + 2))


@pytest.mark.parametrize(
    ("difference", "share"), [(0.9e-6, 0.5), (1.1e-6, 1.0), (-0.9e-6, 0.5), (-1.1e-6, 0.0)]
)
def test_cosines_within_a_millionth_tie(difference: float, share: float) -> None:
    assert _share_above(np.array([difference])) == share


@pytest.mark.parametrize(
    ("groups", "tables"), [(2, 2_000), (50, 2_000), (51, 1_960), (500, 200), (501, 200)]
)
def test_tables_are_drawn_2000_times_of_many_groups_fewer(groups: int, tables: int) -> None:
    """100,000 values in all, and at least 200 tables."""
    seen = np.full(groups, 0.5)
    assert make_sampler(Block(seen, np.full(groups, 10.0)))(seen).shape == (tables, groups)


@pytest.mark.parametrize(("errors", "ties"), [(1.5, True), (1.7, False)])
def test_a_group_within_1_6_standard_errors_of_an_end_lies_there(errors: float, ties: bool) -> None:
    """Two groups at .2 and .8, and one so many of its errors sqrt(p (1 - p) / n) below .8."""
    n = 400.0
    low, high = 0.2, 0.8
    for _ in range(50):  # p = .8 - errors * sqrt(p (1 - p) / n)
        high = 0.8 - errors * sqrt(high * (1 - high) / n)
    moved = _values_at_distance(
        Block(np.array([low, high, 0.8]), np.full(3, n)), DIFFERENCE, 0.6, stretch=True
    )
    assert (moved[1] == moved[2]) == ties
    assert moved[[0, 2]] == pytest.approx([0.2, 0.8], abs=0.01)


@pytest.mark.parametrize("truth", [0.1234, 0.3, 0.77])
def test_ends_are_found_to_a_four_thousandth_of_the_way(truth: float) -> None:
    """Twelve halvings of the way from the value to the end."""

    def drawn(apart: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """No surprise up to the truth, and one beyond."""
        return np.full(100, apart + (1.0 if apart <= truth else 0.0))

    result = hybrid_estimate(0.0, drawn, (0.0, 1.0), 0.95)
    assert truth - 1 / 2**12 <= result.high <= truth
    assert result.high * 2**12 == pytest.approx(round(result.high * 2**12))


@pytest.mark.parametrize(("off", "low"), [(0.9e-9, 0.0), (1.1e-9, 1.0)])
def test_values_as_far_off_to_a_billionth_tie(off: float, low: float) -> None:
    """All tables are as far off as the value, or a little less: half of them, or none, count."""
    value = 0.5

    def drawn(apart: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.full(10, apart + abs(value - apart) - off)

    result = hybrid_estimate(value, drawn, (0.0, 1.0), 0.6)
    assert (result.low == 0.0) == (low == 0.0)


def test_the_interval_of_a_tag_is_of_95_percent() -> None:
    """Wilson's, of 8 in 10: statsmodels is the oracle."""
    counts = pd.DataFrame({"male": [8, 2]}, index=["male", "female"])
    result = tag_precision(counts, "male", "male")
    assert (result.low, result.high) == pytest.approx(proportion_confint(8, 10, method="wilson"))


@pytest.mark.parametrize("groups", [20, 21])
def test_a_table_shows_20_groups(groups: int) -> None:
    names = [f"group {number:02}" for number in range(groups)]
    table = pd.DataFrame({"group": names * 20, "label": 1, "prediction": 1})
    shown = io.StringIO()
    found = gaps(table, measures=["recall"])
    found.measured.print(open_console(file=shown, width=200))
    assert all(name in shown.getvalue() for name in names[:20])
    assert ("and 1 more row:" in shown.getvalue()) == (groups == 21)


def test_queries_without_a_stereotype_are_left_out_of_its_gap() -> None:
    documents = (WordedDocument("he", "she", True),)
    queries = [RetrievalQuery(f"nurse {n}", documents, "", str(n)) for n in range(3)]
    assert not _compare_wordings(queries, Bag("he", "nurse")).stereotype.any()


def test_the_ends_of_the_largest_difference_and_of_the_smallest_ratio() -> None:
    """Groups that are alike may be equal, groups wholly apart may be as far apart as can be."""
    alike, apart = (
        Block(np.array(values), np.full(2, 30.0)) for values in ([0.5, 0.5], [0.0, 1.0])
    )
    assert estimate_spread([alike], DIFFERENCE, 0.95)[:2] == pytest.approx((0, 0))
    assert estimate_spread([apart], DIFFERENCE, 0.95)[::2] == pytest.approx((1, 1))
    assert estimate_spread([alike], RATIO, 0.95)[::2] == pytest.approx((1, 1))
    assert estimate_spread([apart], RATIO, 0.95)[:2] == pytest.approx((0, 0))
