"""Every table has the columns of its schema, of their types."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from biasbridge.analysis import schemas
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import SLICE_COLUMNS
from biasbridge.analysis.schemas import columns
from biasbridge.analysis.tables import BuildRecord
from biasbridge.commands.audit import audit
from biasbridge.extrinsic.coreference.challenge import ChallengeRow
from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.intrinsic.score import Score
from biasbridge.studies.base_pairs import _EMPTY_PAIR_ROW
from biasbridge.studies.score_properties import _COLUMNS, _EMPTY_GROUP_ROW
from tests.analysis.conftest import make_tables
from tests.studies import test_silhouettes as silhouettes

DOCS = Path(__file__).resolve().parents[2] / "docs"
CLASSES = [schema for _, schema in inspect.getmembers(schemas, inspect.isclass)]
SCHEMAS = {
    file: schema
    for schema in CLASSES
    for file in re.findall(r"``(\w+\.(?:csv|parquet))``: ", schema.__doc__ or "")
}
TYPES = {
    "str": {"string", "large_string"},
    "bool": {"bool"},
    "int": {"int64", "double"},  # double: with empty cells
    "float": {"int64", "double"},
    "list of float": {f"list<element: {of}>" for of in ("float", "double", "null")},
}
FURTHER = {"exploratory.csv": {"p": "float"}}
MULTICLASS = {"classifier", "earlier"}  # columns of ``biasbridge gaps`` alone


def check_columns(written: pa.Schema, file: str) -> None:
    """Every column is in the schema, of that type; of text a CSV file says no type."""
    known = columns(SCHEMAS[file]) | FURTHER.get(file, {})
    types = {name: str(written.field(name).type) for name in written.names if name[:2] != "__"}
    assert not types.keys() - known.keys(), file
    for name, written_type in types.items():
        is_any = file.endswith(".csv") and known[name] == "str"
        assert is_any or written_type in {*TYPES[known[name]], "null"}, (file, name)


def read_schema(path: Path) -> pa.Schema:
    return pq.read_schema(path) if path.suffix == ".parquet" else pc.read_csv(path).schema


def test_recorded_tables_have_no_other_columns() -> None:
    recorded = [path for path in DOCS.rglob("*.*") if path.name in SCHEMAS]
    assert len(recorded) > 90
    for path in recorded:
        check_columns(read_schema(path), path.name)


def test_rows_have_the_columns_of_their_tables() -> None:
    audited = audit({"he": [1, 0], "she": [0, 1]}, {"pairs": [["he", "she"]]}).columns
    expected = {
        schemas.Slice: SLICE_COLUMNS,
        schemas.Provenance: BuildRecord._fields,
        schemas.Intrinsic: (*Score._fields, *audited, "point", "intrinsic_key"),
        schemas.Extrinsic: (
            *({*GapRow._fields, *ChallengeRow._fields} - MULTICLASS),
            *("point", "task", "group_by", "coverage"),
        ),
    }
    for schema, names in expected.items():
        assert set(columns(schema)) == {*names}, schema
    tasks = (schemas.ChallengePosts, schemas.Coreference, schemas.Retrieval)
    for task in (*tasks, schemas.LanguageModelTasks):
        assert set(columns(task)) <= set(columns(schemas.Extrinsic))
    assert set(join_points(make_tables())) <= set(columns(schemas.Joined))
    probes = {*_COLUMNS, *_EMPTY_GROUP_ROW, *_EMPTY_PAIR_ROW, *silhouettes.make_tables().probes}
    assert probes | {"point", "probe"} == set(columns(schemas.Probes))
