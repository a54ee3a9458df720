"""Every table has the columns that docs/columns.csv lists, of their types."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import SLICE_COLUMNS
from biasbridge.analysis.result_folder import BuildRecord
from biasbridge.commands.audit import audit
from biasbridge.extrinsic.coreference.challenge import ChallengeRow
from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.intrinsic.score import Score
from biasbridge.studies.base_pairs import _EMPTY_PAIR_ROW
from biasbridge.studies.score_properties import _COLUMNS, _EMPTY_GROUP_ROW
from tests.analysis.conftest import make_tables
from tests.studies import test_silhouettes as silhouettes

DOCS = Path(__file__).resolve().parents[2] / "docs"
with (DOCS / "columns.csv").open(encoding="utf-8", newline="") as _file:
    LISTED = [(*row[:3],) for row in csv.reader(_file)][1:]
TYPES = {
    "str": {"string", "large_string"},
    "bool": {"bool"},
    "int": {"int64", "double"},  # double: with empty cells
    "float": {"int64", "double"},
    "list of float": {f"list<element: {of}>" for of in ("float", "double", "null")},
}
MULTICLASS = {"classifier", "earlier"}  # columns of ``biasbridge gaps`` alone


def columns(table: str) -> dict[str, str]:
    """The type of each column of a table, by name; a row may name several tables."""
    return {
        name: kind
        for tables, names, kind in LISTED
        for name in names.split(", ")
        if name and table in tables.split(", ")
    }


def check_columns(written: pa.Schema, file: str) -> None:
    """Every column is listed, of that type; of text a CSV file says no type."""
    known = columns(file)
    types = {name: str(written.field(name).type) for name in written.names if name[:2] != "__"}
    assert not types.keys() - known.keys(), file
    for name, written_type in types.items():
        is_any = file.endswith(".csv") and known[name] == "str"
        assert is_any or written_type in {*TYPES[known[name]], "null"}, (file, name)


def unwritten(written: Mapping[str, set[str]]) -> set[str]:
    """The columns listed for written tables, given by file, that none of those named with them
    has.
    """
    missing: set[str] = set()
    for tables, names, _ in LISTED:
        of = [written[file] for file in tables.split(", ") if file in written]
        missing |= {*filter(None, names.split(", "))}.difference(*of) if of else set()
    return missing


def read_schema(path: Path) -> pa.Schema:
    return pq.read_schema(path) if path.suffix == ".parquet" else pc.read_csv(path).schema


def test_recorded_tables_have_no_other_columns() -> None:
    recorded = [path for path in DOCS.rglob("*.*") if columns(path.name)]
    assert len(recorded) > 90
    for path in recorded:
        check_columns(read_schema(path), path.name)


def test_rows_have_the_columns_of_their_tables() -> None:
    audited = audit({"he": [1, 0], "she": [0, 1]}, {"pairs": [["he", "she"]]}).columns
    extrinsic = {*GapRow._fields, *ChallengeRow._fields} - MULTICLASS
    probes = {*_COLUMNS, *_EMPTY_GROUP_ROW, *_EMPTY_PAIR_ROW, *silhouettes.make_tables().probes}
    expected = {
        "provenance.csv": {*BuildRecord._fields},
        "intrinsic.parquet": {*Score._fields, *audited, "point", "intrinsic_key"},
        "extrinsic.parquet": extrinsic | {"point", "task", "group_by", "coverage"},
        "probes.parquet": probes | {"point", "probe"},
    }
    for table, names in expected.items():
        assert {*columns(table)} == names, table
    assert {*SLICE_COLUMNS} <= {*columns("scopes.csv")}
    tasks = {tables for tables, *_ in LISTED if tables.startswith("extrinsic.parquet of ")}
    assert len(tasks) == 4
    for task in tasks:
        assert {*columns(task)} <= {*columns("extrinsic.parquet")}
    three = ("points.parquet", "intrinsic.parquet", "extrinsic.parquet", "joined table")
    assert {*join_points(make_tables())} <= {name for table in three for name in columns(table)}


def test_the_page_shows_every_table() -> None:
    spec = importlib.util.spec_from_file_location("columns_page", DOCS / "columns.py")
    assert spec
    assert spec.loader
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    page = hook.on_page_markdown((DOCS / "results.md").read_text(encoding="utf-8"), page=None)
    rows = [line for line in page.splitlines() if line.count(" | ") == 2 and "`" in line]
    assert len(rows) >= sum(bool(names) for _, names, _ in LISTED)
    for tables in dict.fromkeys(tables for tables, *_ in LISTED):
        assert f"### {tables}\n" in page
