"""Scores of which less is more biased, and scores of no bias at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate, correlate_slices
from biasbridge.analysis.frame import as_float
from biasbridge.analysis.joined import join_points, rows_of
from biasbridge.analysis.slice_results import correlation_table
from tests.analysis.conftest import make_sweep

if TYPE_CHECKING:
    from biasbridge.analysis.results import Tables


@pytest.fixture
def sides() -> tuple[Tables, Tables]:
    """A score whose unbiased value is its upper end, and its opposite; the gap follows the bias."""
    tables = make_sweep(0, 0.4)
    bias = as_float(tables.intrinsic, "value") ** 3
    scores = [
        tables.intrinsic.assign(value=-bias, unbiased=1.0, scale_min=-9.0, scale_max=1.0),
        tables.intrinsic.assign(value=bias, unbiased=-1.0, scale_min=-1.0, scale_max=np.inf),
    ]
    return tables._replace(intrinsic=scores[0]), tables._replace(intrinsic=scores[1])


def test_a_score_and_the_same_reversed_get_the_same_answer(sides: tuple[Tables, Tables]) -> None:
    reverse, plain = (correlate_slices(join_points(tables)) for tables in sides)
    ours, theirs = (
        correlation_table(found).drop(columns=["note", "why"]) for found in (reverse, plain)
    )
    ends = ["score_low", "score_high"]
    pd.testing.assert_frame_equal(ours.drop(columns=ends), theirs.drop(columns=ends))
    spans = [table["score_high"] - table["score_low"] for table in (ours, theirs)]
    assert spans[0].to_numpy() == pytest.approx(spans[1].to_numpy(), nan_ok=True)
    assert (spans[0].dropna() > 0).all()  # of the score as it was measured
    (first,) = (
        each
        for each in reverse
        if (each.names["query"], each.names["embedding"], each.names["method"])
        == ("weat7", "all", "all")
    )
    assert first.within.r > 0.5
    assert first.change.value > 0
    assert first.note.startswith("reverse-scored: less of the score is more biased")
    assert not any("reverse" in each.note for each in plain)
    joined = join_points(sides[0])
    (sliced,) = correlate(joined[joined["query"] == "weat7"], x="x", y="y")
    assert (sliced.within.r, sliced.reverse_scored) == (first.within.r, True)
    assert sliced.change == first.change
    assert first.line.slope == pytest.approx(-first.within.slope.value)


def test_resamples_are_reversed_with_their_score(sides: tuple[Tables, Tables]) -> None:
    scores = sides[0].intrinsic
    drawn = pd.Series(list(as_float(scores, "value")[:, None] + np.arange(3)), index=scores.index)
    rows = rows_of(join_points(sides[0]._replace(intrinsic=scores.assign(resampled=drawn))))
    assert rows.x_resampled.rows() == pytest.approx(rows.x[:, None] - np.arange(3))


def test_a_measure_of_utility_is_no_confirmatory_slice() -> None:
    tables = make_sweep()
    utility = tables.intrinsic.assign(metric="similarity", unbiased=np.nan)
    both = tables._replace(intrinsic=pd.concat([tables.intrinsic, utility]))
    found = correlate_slices(join_points(both))
    of = {
        name: [each for each in found if each.names["metric"] == name]
        for name in ("weat", "similarity")
    }
    assert {each.verdict for each in of["similarity"]} == {""}
    confirmatory = [each for each in of["weat"] if each.confirmatory]
    assert [each.tests for each in confirmatory] == [2, 2]
