"""Scores of which less is more biased, and scores of no bias at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from analysis.columns import numbers
from analysis.correlate import correlate_slices
from analysis.crossed import crossed_table
from analysis.figures import draw_figures
from analysis.findings import CORRELATION_COLUMNS, correlation_table
from analysis.grid import panel_statistics
from analysis.joined import join_points, rows_of
from analysis.report.answer import answer
from tests.analysis.designs import studies
from tests.analysis.test_specifications import tables_of

if TYPE_CHECKING:
    from analysis.results import Tables

ENDS = {"unbiased": 1.0, "least": -1.0, "most": 1.0}


def with_scores(tables: Tables, value: NDArray[np.float64], **ends: float) -> Tables:
    """The tables with other scores on another scale."""
    return tables._replace(intrinsic=tables.intrinsic.assign(value=value, **ends))


@pytest.fixture
def sides() -> tuple[Tables, Tables]:
    """A score of which 1 is unbiased and less is more biased, and the same turned around; the gap
    follows the bias.
    """
    tables = tables_of(studies("normal", 4, 12, 0.7, 1), 0)
    ect = 1 - numbers(tables.intrinsic, "value") ** 2 - 2
    bias = -ect
    gaps = tables.extrinsic.assign(value=np.tile(bias[:48], 2) + np.arange(96) % 7 / 5)
    tables = tables._replace(extrinsic=gaps)
    turned = {"unbiased": -1.0, "least": -1.0, "most": np.inf}
    return with_scores(tables, ect, **ENDS), with_scores(tables, bias, **turned)


def test_a_score_and_the_same_turned_around_get_the_same_answer(
    sides: tuple[Tables, Tables],
) -> None:
    ect, turned = (correlate_slices(join_points(tables)) for tables in sides)
    assert answer(ect) == answer(turned)
    columns = [name for name in CORRELATION_COLUMNS if name != "turned"]
    tables = [correlation_table(found, CORRELATION_COLUMNS) for found in (ect, turned)]
    pd.testing.assert_frame_equal(tables[0][columns], tables[1][columns])
    assert tables[0]["turned"].all()
    assert not tables[1]["turned"].any()
    (first,) = (
        each
        for each in ect
        if tuple(each.names[name] for name in ("query", "measure", "embedding", "method"))
        == ("weat6b", "precision", "all", "all")
    )
    assert first.evidence.within > 0.5
    assert first.judgement.verdict == "supports"


def test_resamples_are_turned_with_their_score(sides: tuple[Tables, Tables]) -> None:
    ect = sides[0].intrinsic
    drawn = pd.Series(list(numbers(ect, "value")[:, None] + np.arange(3)), index=ect.index)
    rows = rows_of(join_points(sides[0]._replace(intrinsic=ect.assign(resampled=drawn))))
    assert rows.x_resampled.told() == pytest.approx(rows.x[:, None] - np.arange(3))


def test_figures_keep_the_score_on_a_falling_axis(
    sides: tuple[Tables, Tables], tmp_path: Path, texts: Callable[[Path], list[str]]
) -> None:
    joined = join_points(sides[0])
    draw_figures(joined, tmp_path, suffixes=[".svg"])
    drawn = texts(next(tmp_path.glob("figure5_*.svg")))
    assert "M0 score, less is more biased" in " ".join(drawn)
    numbers_beside = pd.read_csv(next(tmp_path.glob("figure5_*.csv")))
    assert numbers_beside["x"].max() <= 1
    whole = joined[(joined["query"] == "weat6b") & (joined["measure"] == "precision")]
    whole = whole.assign(row="", column="", stratum=rows_of(joined).stratum[whole.index])
    (panel,) = panel_statistics(whole)
    assert panel.r > 0.5


def test_crossed_with_labels_the_score_is_turned_too(sides: tuple[Tables, Tables]) -> None:
    def crossed(tables: Tables) -> pd.DataFrame:
        joined = join_points(tables)
        doses = [
            joined.assign(label_method=method, label_direction=direction, label_dose=dose)
            for method, direction, dose in (("none", "", 0.0), ("resample", "debias", 1.0))
        ]
        table = crossed_table(pd.concat(doses, ignore_index=True))
        assert table is not None
        return table

    ect, turned = map(crossed, sides)
    pd.testing.assert_frame_equal(ect, turned)


def test_a_measure_of_utility_is_no_primary_slice_and_no_help_in_choosing() -> None:
    tables = tables_of(studies("normal", 4, 9, 0, 1), 0)
    utility = tables.intrinsic.assign(metric="similarity", unbiased=np.nan)
    both = tables._replace(intrinsic=pd.concat([tables.intrinsic, utility]))
    found = correlate_slices(join_points(both))
    of = {
        metric: [each for each in found if each.names["metric"] == metric]
        for metric in ("m0", "similarity")
    }
    assert {each.judgement.role for each in of["similarity"]} == {"exploratory"}
    assert all(np.isnan(each.evidence.accuracy) for each in of["similarity"])
    assert all(np.isnan(each.evidence.absolute) for each in of["similarity"])
    confirmatory = [each for each in of["m0"] if each.judgement.role == "confirmatory"]
    assert len(confirmatory) == 6
    assert {each.judgement.family for each in confirmatory} == {6}
    assert all(np.isfinite(each.evidence.accuracy) for each in confirmatory)
