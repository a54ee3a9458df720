"""Any table comes in by column names, and a bad one is refused in words."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.read import labels, numbers, read_table, read_tables
from files import InputError

ROWS = [["6", "1.5", "a, b"], ["6_old", "", "none"], ["6.0", "-2", 'say "x"']]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.tab", "t.csv.gz"])
def test_delimited_text_keeps_labels_as_written(name: str, tmp_path: Path) -> None:
    sep = "," if "csv" in name else "\t"
    path = tmp_path / name
    pd.DataFrame(ROWS, columns=["Test", "d", "note"]).to_csv(path, sep=sep, index=False)
    table = read_table(path)
    assert table.columns.tolist() == ["Test", "d", "note"]
    assert table.to_numpy().tolist() == ROWS
    assert numbers(table, "d").tolist() == pytest.approx([1.5, np.nan, -2], nan_ok=True)


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfx,y\r\n1,2\r\n\r\n3,4\r\n")
    table = read_table(tmp_path / "t.csv")
    assert [numbers(table, name).tolist() for name in ("x", "y")] == [[1, 3], [2, 4]]


def test_parquet(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"x": [1.0, None], "n": pd.array([1, None], dtype="Int64"), "name": ["a", None]}
    )
    table.to_parquet(tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert numbers(read, "n").tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert labels(read, "name").tolist() == ["a", "(empty)"]


def test_labels_of_numbers() -> None:
    table = pd.DataFrame(
        {
            "dose": [1.0, 0.25, 0.1234567, np.nan],
            "mixed": [6, "6", "6_old", None],
            "on": [True, False, True, True],
        }
    )
    assert labels(table, "dose").tolist() == ["1", "0.25", "0.1234567", "(empty)"]
    assert labels(table, "mixed").tolist() == ["6", "6", "6_old", "(empty)"]
    assert labels(table, "on").tolist() == ["True", "False", "True", "True"]


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", "null", "-"])
def test_words_for_missing_are_nan(word: str) -> None:
    assert np.isnan(numbers(pd.DataFrame({"x": [word]}), "x")).all()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, the header 2"),
        ("t.csv", b"a,b\n1\n", "line 2 has 1 cells"),
        ("t.csv", b"a,b,a\n1,2,3\n", "'a' more than once"),
        ("t.csv", b"a\n\xff\n", "line 2 is not UTF-8"),
        ("t.csv", b'a,b\n"1,2\n', "not delimited text"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "damaged"),
        ("t.parquet", b"not parquet", "not a readable Parquet file"),
    ],
)
def test_bad_files_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["tabel.csv", "tabel.parquet"])
def test_missing_file_names_the_nearest(name: str, tmp_path: Path) -> None:
    (tmp_path / name.replace("tabel", "table")).write_text("x")
    with pytest.raises(InputError, match=r"no such file: .*did you mean 'table"):
        read_table(tmp_path / name)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file: .*points.parquet"):
        read_tables(tmp_path)


def test_text_in_a_number_column_names_the_cell() -> None:
    with pytest.raises(InputError, match=r"column 'x' holds 'high' in row 2"):
        numbers(pd.DataFrame({"x": ["1", "high"]}), "x")
