"""Columns of any table as numbers and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from analysis.columns import labels, lists, numbers, require_columns, texts
from analysis.results import read_tables
from files import InputError

if TYPE_CHECKING:
    from pathlib import Path


def test_missing_cells() -> None:
    table = pd.DataFrame(
        {"x": [1.0, None], "n": pd.array([1, None], dtype="Int64"), "name": ["a", None]}
    )
    assert numbers(table, "n").tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert labels(table, "name") == ["a", "(empty)"]
    assert texts(table, "name") == ["a", ""]
    assert texts(table, "n") == ["1", ""]


def test_lists_of_numbers_are_rows_as_long_as_the_longest() -> None:
    table = pd.DataFrame({"drawn": [[1.0, 2.0, 3.0], np.array([4.0]), None]})
    nan = np.nan
    expected = [[1, 2, 3], [4, nan, nan], [nan, nan, nan]]
    np.testing.assert_array_equal(lists(table, "drawn"), expected)
    assert lists(table, "absent").shape == (3, 0)


def test_a_column_that_a_table_lacks() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0]})
    assert np.isnan(numbers(table, "low")).tolist() == [True, True]
    assert texts(table, "part") == ["", ""]
    with pytest.raises(InputError, match="the table has no column 'z'; it has x"):
        require_columns(table, ["z"], "the table")


def test_labels_of_numbers() -> None:
    table = pd.DataFrame(
        {
            "dose": [1.0, 0.25, 0.1234567, np.nan],
            "mixed": [6, "6", "6_old", None],
            "on": [True, False, True, True],
        }
    )
    assert labels(table, "dose") == ["1", "0.25", "0.1234567", "(empty)"]
    assert labels(table, "mixed") == ["6", "6", "6_old", "(empty)"]
    assert labels(table, "on") == ["True", "False", "True", "True"]


def test_lists_of_numbers() -> None:
    table = pd.DataFrame({"v": [[1.0, 2.0], [], None, [3.0]]})
    nan = np.nan
    expected = np.array([[1, 2], [nan, nan], [nan, nan], [3, nan]])
    assert lists(table, "v") == pytest.approx(expected, nan_ok=True)
    assert lists(table, "w").shape == (4, 0)


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", "null", "-"])
def test_words_for_missing_are_nan(word: str) -> None:
    assert np.isnan(numbers(pd.DataFrame({"x": [word]}), "x")).all()


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file: .*points.parquet"):
        read_tables(tmp_path)


def test_text_in_a_number_column_names_the_cell() -> None:
    with pytest.raises(InputError, match=r"column 'x' holds 'high' in row 2"):
        numbers(pd.DataFrame({"x": ["1", "high"]}), "x")
