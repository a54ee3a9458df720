"""Any table comes in by column names, and a bad one is refused in words."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError, tables
from biasbridge.files.tables import csv_text, read_table, unescape_formulas, write_csv
from tests.fuzz import PACK

HEADER = ["Test", "d", "note"]
ROWS = [["6", "1.5", "a, b"], ["01", "", "NA"], ["6.0", "-2", 'say "x"'], ["a", "b\tc", "d\ne"]]


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".tab"])
def test_cells_stay_as_written(suffix: str, packed: str, tmp_path: Path) -> None:
    path = tmp_path / f"table{suffix}{packed}"
    separator = "," if suffix == ".csv" else "\t"
    text = pd.DataFrame(ROWS, columns=HEADER).to_csv(sep=separator, index=False)
    path.write_bytes(PACK[packed](text.encode()))
    table = read_table(path)
    assert table.columns.tolist() == HEADER
    assert table.to_numpy().tolist() == ROWS


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r"))


@given(rows=st.lists(st.tuples(cells, cells)))
@settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_what_pandas_writes_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    table = pd.DataFrame(rows, columns=["x", "y"], dtype=str)
    table.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), table)


odd = st.sampled_from(["", "NA", "01", "#x", " ", "\x85", "\ufeff", "sep=;", "\r", "\0", '"\n"'])
rows_of_any_length = st.lists(st.lists(odd | cells, max_size=4), min_size=1, max_size=5)
encodings = st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"])


@given(rows_of_any_length, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), encodings)
@example([["x", "y", ""], ["", '"a\nb"', ""]], ",", "\n", "utf-8")
@example([["x", "sep=;"], ["1", "2"]], ",", "\n", "utf-8")
@settings(max_examples=500, deadline=None)
def test_a_plain_file_is_read_as_any_other(
    rows: list[list[str]], mark: str, end: str, encoding: str
) -> None:
    def read() -> tuple[object, ...]:
        try:
            table = read_table(path)
        except InputError as error:
            return (str(error),)
        return (table.to_dict("tight"), [*map(str, table.dtypes)], table.attrs)

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "t.csv")
        path.write_bytes(end.join(map(mark.join, rows)).encode(encoding, "replace"))
        found = read()
        patch.setattr(tables, "_read_plain", lambda *_: None)
        assert found == read()


@pytest.mark.parametrize("name", ["x", '"x"'])
def test_byte_order_mark_windows_line_ends_and_blank_lines(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(f"\ufeff{name},y\r\n1,2\r\n\r\n3,4\r\n".encode())
    assert read_table(tmp_path / "t.csv").to_dict("list") == {"x": ["1", "3"], "y": ["2", "4"]}


@pytest.mark.parametrize("packed", PACK)
def test_json_lines_are_a_row_each(packed: str, tmp_path: Path) -> None:
    lines = ('{"text": "01", "n": 2, "ok": true, "of": ["a"]}', "", '{"x": 1.5, "text": null}')
    path = tmp_path / f"t.jsonl{packed}"
    path.write_bytes(PACK[packed]("\n".join(lines).encode()))
    assert read_table(path).to_dict("list") == {
        "text": ["01", ""],
        "n": ["2", ""],
        "ok": ["True", ""],
        "of": [["a"], ""],
        "x": ["", "1.5"],
    }


def test_the_nan_of_python_is_an_empty_cell(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"group": NaN, "label": 1}\n')
    assert read_table(tmp_path / "t.jsonl").to_dict("list") == {"group": [""], "label": ["1"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]\n", r"t\.jsonl: line 1 is not a JSON object"),
        ('{"a": 1}\n{"a": \n', r"t\.jsonl: line 2 is not a JSON object"),
        ('{"a": ' + "[" * 5000 + "\n", "line 1 is not a JSON object"),
        ("", "is empty"),
    ],
)
def test_json_lines_that_are_no_table(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "t.jsonl")


def test_a_separator_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("x;y\n1,5;2\n", encoding="utf-8")
    assert read_table(tmp_path / "t.txt", separator=";").to_numpy().tolist() == [["1,5", "2"]]


def test_quotation_marks_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text('x\ty\n"lone\t2\n', encoding="utf-8")
    assert read_table(tmp_path / "t.tsv", quoted=False).to_numpy().tolist() == [['"lone', "2"]]


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv").shape == (0, 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv is empty"),
        ("t.csv", b"\n\n", "t.csv is empty"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), "t.csv.gz is empty"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, the header 2; quote cells"),
        ("t.csv", b"a,b\n1,2,3\n1,2,3\n", "line 2 has 3 cells"),
        ("t.csv", b'a,b\n"1\n",2\n\n1\n', "line 5 has 1 cells, the header 2"),
        ("t.csv", b"a,b,a\n1,2,3\n", "the header names 'a' more than once; rename one"),
        ("t.csv", b"a\n\x81\n", "line 2 is not UTF-8 .*iconv"),
        ("t.csv", pickle.dumps([1]), "line 1 is not UTF-8 .*it is binary: give a text file"),
        ("t.csv", b'a,b\n1,2\n"1,2\n3,4\n', "line 3 is not delimited text .*quoted=false"),
        ("t.csv", b'a,b\n"1"x,2\n', "line 2 is not delimited text"),
        ("t.csv", b"a,b\r1,2\r", "line 1 is not delimited text"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "damaged archive.*copy the file"),
        ("t.csv.xz", b"a,b\n1,2\n", "damaged archive"),
        ("t.parquet", b"", "t.parquet is not a Parquet file, or is damaged"),
        ("t.parquet", b"a,b\n1,2\n", "t.parquet is not a Parquet file, or is damaged .*write it"),
        ("t.xls", b"PK", "unknown format '.xls'; give .csv, .tsv, .tab.*or .parquet or .xlsx"),
        ("t.parquet.gz", b"", "unknown format '.parquet'"),
    ],
)
def test_bad_files_are_refused_in_one_line(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("separator", ["||", "\n", '"'])
def test_a_separator_is_one_character(separator: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"separator=.*: give one character"):
        read_table(tmp_path / "t.csv", separator=separator)


def test_csv_that_a_spreadsheet_takes_for_text(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "=1+1": ["=cmd|' /C calc'!A0", "+1+1", "-a", "@sum(1)", "male - female", None],
            "text": ["-0.5", "+3e-2", "-inf", "a\x1b[2Jb\nc", "\t=1", "\u202egpj"],
            "n": [-1.5, 2.0, float("nan"), float("-inf"), 0.1, 1e-9],
            "whole": range(-3, 3),
        }
    )
    write_csv(table, tmp_path / "t.csv")
    back = read_table(tmp_path / "t.csv")
    assert back.columns.tolist() == ["'=1+1", "text", "n", "whole"]
    assert back["'=1+1"].tolist() == [
        *("'=cmd|' /C calc'!A0", "'+1+1", "'-a", "'@sum(1)", "male - female", "")
    ]
    assert back["text"].tolist() == [
        *("-0.5", "+3e-2", "-inf", r"a\x1b[2Jb\nc", r"\t=1", r"\u202egpj")
    ]
    assert back["n"].tolist() == ["-1.5", "2.0", "", "-inf", "0.1", "1e-09"]
    written = unescape_formulas(back)
    assert written.columns[0] == "=1+1"
    assert written["=1+1"].tolist()[:3] == ["=cmd|' /C calc'!A0", "+1+1", "-a"]
    plain = table[["n", "whole"]]
    assert csv_text(plain) == plain.to_csv(index=False, lineterminator="\n")


@pytest.mark.parametrize(
    "text", ["-4.98 [-6.61, -3.36]", "=a", "'-a", "''@b", "'quoted'", "'", "-3", "@", "a=b", ""]
)
def test_the_apostrophe_before_a_formula_comes_off_and_no_other(text: str, tmp_path: Path) -> None:
    write_csv(pd.DataFrame({text or "none": [text, "x"]}), tmp_path / "t.csv")
    back = unescape_formulas(read_table(tmp_path / "t.csv"))
    assert back.columns.tolist() == [text or "none"]
    assert back.iloc[0, 0] == text


def test_binary_and_nested_cells_of_parquet_are_text(tmp_path: Path) -> None:
    cells = {
        "binary": [b"caf\xc3\xa9", b"\xff", None],
        "list": [["A", "B"], [], None],
        "lists": [[[1, 2], [3]], [[]], None],
        "struct": [{"a": 1, "b": ["x"]}, {"a": None, "b": None}, None],
    }
    table = pa.table(cells | {"number": [1, 2, 3], "text": ["a", None, "c"]})
    pq.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read["binary"].iloc[:2].tolist() == ["café", r"\xff"]
    assert read["list"].iloc[:2].tolist() == ["['A', 'B']", "[]"]
    assert read["number"].tolist() == [1, 2, 3]
    assert read.isna().sum().tolist() == [1, 1, 1, 1, 0, 1]
    for name in cells:
        assert {type(cell) for cell in read[name].dropna()} == {str}


def test_lists_of_columns_that_are_named_stay(tmp_path: Path) -> None:
    cells = [[1.0, 2.0], [3.0, 4.0]]
    pq.write_table(pa.table({"x_resampled": cells, "other": cells}), tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet", lists="resampled")
    assert [cell.tolist() for cell in read["x_resampled"]] == cells
    assert read["other"].tolist() == ["[1.0, 2.0]", "[3.0, 4.0]"]
