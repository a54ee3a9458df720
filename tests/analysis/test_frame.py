"""Tables typed where they enter, and columns of any table as numbers and as text."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.effects import effects
from biasbridge.analysis.frame import (
    EXTRINSIC_TEXTS,
    INTRINSIC_TEXTS,
    POINT_TEXTS,
    Tables,
    as_arrays,
    as_float,
    as_labels,
    as_text,
    typed,
)
from biasbridge.analysis.points_table import print_points
from biasbridge.files import InputError


def test_every_column_is_there_and_of_its_type(tables: Tables) -> None:
    scores = tables.intrinsic.assign(value=tables.intrinsic["value"].astype(object), part=None)
    found = typed(tables._replace(intrinsic=scores.drop(columns=["reason"])))
    for table, names in zip(found, (POINT_TEXTS, INTRINSIC_TEXTS, EXTRINSIC_TEXTS), strict=False):
        for name in names:
            assert {type(value) for value in table[name]} == {str}, name
    assert found.intrinsic["value"].dtype == float
    pd.testing.assert_frame_equal(typed(found).points, found.points)
    with pytest.raises(InputError, match="column 'value' holds 'high' in row 1"):
        typed(tables._replace(intrinsic=scores.assign(value="high")))


def test_a_table_of_gaps_alone_needs_no_groups(tables: Tables) -> None:
    gaps = tables.extrinsic.query("kind == 'gap'").drop(columns="group")
    parent = [name.split()[0] for name in tables.points["point"]]
    alone = tables._replace(points=tables.points.assign(parent_key=parent), extrinsic=gaps)
    console = Console(record=True, file=io.StringIO(), width=200)
    print_points(alone, console, confirmatory=("recall",), utility="f1")
    assert "recall gap" in console.export_text()
    assert {each.names["side"] for each in effects(alone)} == {"score", "gap"}


def test_missing_cells() -> None:
    table = pd.DataFrame(
        {"x": [1.0, None], "n": pd.array([1, None], dtype="Int64"), "name": ["a", None]}
    )
    assert as_float(table, "n").tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert as_labels(table, "name") == ["a", "(empty)"]
    assert as_text(table, "name") == ["a", ""]
    assert as_text(table, "n") == ["1", ""]


def test_lists_of_numbers_are_rows_as_long_as_the_longest() -> None:
    table = pd.DataFrame({"drawn": [[1.0, 2.0, 3.0], np.array([4.0]), None, []]})
    nan = np.nan
    expected = [[1, 2, 3], [4, nan, nan], [nan, nan, nan], [nan, nan, nan]]
    np.testing.assert_array_equal(as_arrays(table, "drawn"), expected)
    assert as_arrays(table, "absent").shape == (4, 0)


def test_labels_of_numbers() -> None:
    table = pd.DataFrame(
        {
            "dose": [1.0, 0.25, 0.1234567, np.nan],
            "mixed": [6, "6", "6_old", None],
            "on": [True, False, True, True],
        }
    )
    assert as_labels(table, "dose") == ["1", "0.25", "0.1234567", "(empty)"]
    assert as_labels(table, "mixed") == ["6", "6", "6_old", "(empty)"]
    assert as_labels(table, "on") == ["True", "False", "True", "True"]


def test_text_in_a_number_column_names_the_cell() -> None:
    with pytest.raises(InputError, match=r"column 'x' holds 'high' in row 2"):
        as_float(pd.DataFrame({"x": ["1", "high"]}), "x")
