"""How often the inference is right, in simulated studies: a few designs, small. All of them, with
1,000 studies each: ``python -m tests.analysis.simulate docs/figures``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.analysis import slopes
from tests.analysis.designs import (
    AVERAGED,
    IGNORED,
    OVER,
    WITHIN,
    Kind,
    Study,
    Sweep,
    clusters,
    conditions,
    errors,
    lossy,
    on_items,
    verdict_of,
)
from tests.analysis.simulate import Design, rates

STUDIES = 150
SIZES = ((8,) * 3, (3,) * 12)


def shares(draw: partial[Study], studies: int = STUDIES) -> dict[str, dict[str, Any]]:
    """The rows of the table of a design, by scope."""
    return {row["scope"]: row for row in rates(Design("", "", draw), studies)}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("kind", ["spread differs by parent", "noise grows with the score"])
def test_nothing_is_claimed_where_nothing_is(kind: Kind, sizes: tuple[int, ...]) -> None:
    row = shares(partial(errors, kind, sizes, 0))[WITHIN]
    assert row["p_below_05"] <= 0.1
    assert row["rm_corr_p_below_05"] > row["p_below_05"], "Student's t takes all noise as alike"


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("kind", ["normal", "ladder of doses"])
def test_intervals_hold_r(kind: Kind, sizes: tuple[int, ...]) -> None:
    assert shares(partial(errors, kind, sizes, 0.5))[WITHIN]["coverage"] >= 0.91


@pytest.mark.parametrize("r", [0, 0.5])
def test_items_that_all_models_share_widen_the_interval(r: float) -> None:
    found = shares(partial(on_items, (5,) * 12, r, 0.3))
    assert found[WITHIN]["coverage"] >= 0.9, "three standard errors below .95"
    assert found[IGNORED]["coverage"] < 0.8


def test_items_leave_a_strong_relation_seen() -> None:
    """Their error, four times the own of models, is across the scores and none along them."""
    found = shares(partial(on_items, (6,) * 6, 0.99, 2, trait="other"))
    assert found[WITHIN]["coverage"] >= 0.9


def test_seeds_of_a_corpus_are_averaged() -> None:
    found = shares(partial(clusters, Sweep(12, 5, corpora=2, effect=1)))
    assert found[AVERAGED]["p_below_05"] <= 0.1 < found[WITHIN]["p_below_05"]
    related = shares(partial(clusters, Sweep(12, 5, corpora=6, effect=1, slope=1)))
    assert related[AVERAGED]["p_below_05"] >= 0.8


def test_what_conditions_do_by_themselves_is_not_claimed_for_others() -> None:
    found = shares(partial(conditions, Sweep(8, 12, effect=1)))
    assert found[OVER]["p_below_05"] <= 0.1
    assert found[WITHIN]["p_below_05"] > 0.2, "for these conditions the gap does follow the score"


def test_lost_models_make_no_claim() -> None:
    found = shares(partial(lossy, (5,) * 12, "large score + gap", 0.25))
    assert found[WITHIN]["p_below_05"] > 0.2
    rng = np.random.default_rng(0)
    drawn = (lossy((5,) * 12, "large score + gap", 0.25, rng) for _ in range(20))
    assert {verdict_of(study).verdict for study in drawn} == {"cannot tell"}


@pytest.mark.parametrize("noise", ["noise per model", "noise per condition too"])
@pytest.mark.parametrize("r", [0, 0.8])
def test_intervals_hold_the_slope(r: float, noise: slopes.Noise) -> None:
    """Within parents that of these conditions."""
    found = slopes.rates(slopes.Design(noise, 4, 21, r), STUDIES)
    assert found["coverage"].min() >= 0.9
    if r == 0 and noise == "noise per model":
        assert found["claimed"].tolist() == pytest.approx((1 - found["coverage"]).tolist())


def test_intervals_hold_the_slope_where_words_and_items_are_shared() -> None:
    found = slopes.rates(slopes.Design("strongly shared words and items", 4, 21, 0.8), STUDIES)
    assert found["coverage"].min() >= 0.9
