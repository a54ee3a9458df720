"""Scores of which less is more biased, and scores of no bias at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from analysis.correlate import correlate, correlate_slices
from analysis.crossed import crossed_table
from analysis.figures import draw_figures
from analysis.findings import correlation_table
from analysis.frame import numbers
from analysis.joined import join_points, rows_of
from tests.analysis.conftest import make_sweep

if TYPE_CHECKING:
    from analysis.results import Tables


@pytest.fixture
def sides() -> tuple[Tables, Tables]:
    """A score whose unbiased value is its upper end, and its opposite; the gap follows the bias."""
    tables = make_sweep(0, 0.4)
    bias = numbers(tables.intrinsic, "value") ** 3
    scores = [
        tables.intrinsic.assign(value=-bias, unbiased=1.0, least=-9.0, most=1.0),
        tables.intrinsic.assign(value=bias, unbiased=-1.0, least=-1.0, most=np.inf),
    ]
    return tables._replace(intrinsic=scores[0]), tables._replace(intrinsic=scores[1])


def test_a_score_and_the_same_reversed_get_the_same_answer(sides: tuple[Tables, Tables]) -> None:
    reverse, plain = (correlate_slices(join_points(tables)) for tables in sides)
    ours, theirs = (correlation_table(found).drop(columns="note") for found in (reverse, plain))
    pd.testing.assert_frame_equal(ours, theirs)
    (first,) = (
        each
        for each in reverse
        if (each.names["query"], each.names["embedding"], each.names["method"])
        == ("weat7", "all", "all")
    )
    assert first.within.r > 0.5
    assert first.verdict == "positive"
    assert first.note == "reverse-scored: less of the score is more biased"
    assert not any(each.note for each in plain)
    joined = join_points(sides[0])
    (sliced,) = correlate(joined[joined["query"] == "weat7"], x="x", y="y")
    assert (sliced.within.r, sliced.reverse_scored) == (first.within.r, True)
    assert sliced.pairwise_magnitude == first.pairwise_magnitude


def test_resamples_are_reversed_with_their_score(sides: tuple[Tables, Tables]) -> None:
    scores = sides[0].intrinsic
    drawn = pd.Series(list(numbers(scores, "value")[:, None] + np.arange(3)), index=scores.index)
    rows = rows_of(join_points(sides[0]._replace(intrinsic=scores.assign(resampled=drawn))))
    assert rows.x_resampled.rows() == pytest.approx(rows.x[:, None] - np.arange(3))


def test_figures_keep_the_score_on_a_falling_axis(
    sides: tuple[Tables, Tables], tmp_path: Path, texts: Callable[[Path], list[str]]
) -> None:
    draw_figures(join_points(sides[0]), tmp_path, suffixes=[".svg"])
    drawn = texts(next(tmp_path.glob("figure5_*.svg")))
    assert "less is more biased" in " ".join(drawn)
    numbers_beside = pd.read_csv(next(tmp_path.glob("figure5_*.csv")))
    assert numbers_beside["x"].max() == pytest.approx(sides[0].intrinsic["value"].max())


def test_crossed_with_labels_the_score_is_reversed_too(sides: tuple[Tables, Tables]) -> None:
    def crossed(tables: Tables) -> pd.DataFrame:
        joined = join_points(tables)
        doses = [
            joined.assign(label_method=method, label_direction=direction, label_dose=dose)
            for method, direction, dose in (("none", "", 0.0), ("resample", "debias", 1.0))
        ]
        table = crossed_table(pd.concat(doses, ignore_index=True))
        assert table is not None
        return table

    reverse, plain = map(crossed, sides)
    pd.testing.assert_frame_equal(reverse, plain)


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
    assert all(np.isnan(each.pairwise_magnitude) for each in of["similarity"])
    confirmatory = [each for each in of["weat"] if each.confirmatory]
    assert [each.tests for each in confirmatory] == [2, 2]
    assert all(np.isfinite(each.pairwise_magnitude) for each in confirmatory)
