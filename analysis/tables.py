"""The tables of a results folder, read and typed where they enter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from biasbridge.files import InputError
from biasbridge.files.columns import as_float, as_text, spell_names
from biasbridge.files.paths import require_results
from biasbridge.files.tables import read_table, require_columns

Key = TypeVar("Key", bound=Hashable)

# Text and number columns of each table; an older or smaller table may lack some
_POINT_TEXTS = (
    *("point", "experiment", "task", "source", "positive_class", "challenge"),
    *("challenge_positive_class", "corpus", "embedding", "method", "method_family", "direction"),
    *("wordset", "classifier", "label_method", "label_direction", "synthetic_mix", "word_groups"),
    "status",
    *("parent_options", "method_options", "task_options"),
    *("unit_key", "parent_key", "corpus_key", "extrinsic_key"),
)
_POINT_NUMBERS = ("dose", "label_dose", "stereotype")
_INTRINSIC_TEXTS = ("point", "metric", "convention", "query", "part", "oov", "reason")
_INTRINSIC_NUMBERS = (
    *("value", "low", "high", "unbiased", "scale_min", "scale_max", "n_found", "n_oov"),
)
_EXTRINSIC_TEXTS = (
    *("point", "task", "kind", "measure", "subset", "group", "privileged", "unprivileged"),
    *("group_by", "reason"),
)
_NAMES = [  # which tell points, scores and gaps apart
    name
    for name in dict.fromkeys((*_POINT_TEXTS, *_INTRINSIC_TEXTS, *_EXTRINSIC_TEXTS))
    if not name.endswith(("point", "_key", "_options", "oov", "reason"))
]
_EXTRINSIC_NUMBERS = (
    *("value", "low", "high", "support", "coverage"),
    *("majority_baseline", "expected_from_base_rates"),
)
_RENAMED = {  # by table: columns of former versions
    "points": {
        "vectors_key": "unit_key",
        "base_key": "parent_key",
        "mixture": "synthetic_mix",
        "asks_about": "word_groups",
    },
    "intrinsic": {"least": "scale_min", "most": "scale_max", "lost": "oov", "n_lost": "n_oov"},
    "extrinsic": {"constant": "majority_baseline", "from_base_rates": "expected_from_base_rates"},
}
SETTINGS_JSON = "correlation.json"


class Tables(NamedTuple):
    """The tables of a results folder: one row per point, per intrinsic score, per extrinsic
    measure; the results of probes of vectors or metrics; and the words drawn from the task's posts.
    """

    points: pd.DataFrame
    intrinsic: pd.DataFrame
    extrinsic: pd.DataFrame
    probes: pd.DataFrame = pd.DataFrame(columns=["point", "probe"])
    words: pd.DataFrame = pd.DataFrame(columns=["point", "query"])


def typed(tables: Tables) -> Tables:
    """Return the tables with all text and number columns.

    Text is empty, and a number NaN, where a cell or the whole column is missing; a missing unbiased
    score is 0. Raises ``InputError`` for text in a number column.
    """
    if "unbiased" not in tables.intrinsic:
        tables = tables._replace(intrinsic=tables.intrinsic.assign(unbiased=0.0))
    return tables._replace(
        points=_typed(tables.points, _POINT_TEXTS, _POINT_NUMBERS),
        intrinsic=_typed(tables.intrinsic, _INTRINSIC_TEXTS, _INTRINSIC_NUMBERS),
        extrinsic=_typed(tables.extrinsic, _EXTRINSIC_TEXTS, _EXTRINSIC_NUMBERS),
    )


def _typed(table: pd.DataFrame, text: Sequence[str], number: Sequence[str]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {}
    for name in text:
        if name not in table or table[name].dtype != "str" or table[name].hasnans:
            columns[name] = pd.Series(as_text(table, name), table.index, dtype=str)
    for name in number:
        if name not in table or not is_numeric_dtype(table[name]):
            columns[name] = pd.Series(as_float(table, name), table.index)
    return table.assign(**columns) if columns else table


def require_rows(
    table: pd.DataFrame, columns: Iterable[str], key: Sequence[str], table_name: str
) -> None:
    """Raise ``InputError`` for missing columns, no rows, or a duplicate ``key``."""
    require_columns(table, columns, table_name)
    if table.empty:
        raise InputError(f"{table_name} has no rows; run the experiment first")
    duplicates = table[table.duplicated(list(key))] if key else table[:0]
    if len(duplicates):
        first = ", ".join(f"{name} {as_text(duplicates, name)[0]!r}" for name in key)
        raise InputError(
            f"{table_name} holds {first} more than once; give each score a name of its own"
        )


def group_indices(keys: Iterable[Key]) -> dict[Key, NDArray[np.intp]]:
    """Return the positions of each key, in order of appearance."""
    places_by_key: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        places_by_key.setdefault(key, []).append(place)
    return {key: np.array(places) for key, places in places_by_key.items()}


FILES = tuple(f"{name}.parquet" for name in Tables._fields)
REQUIRED_FILES = FILES[:3]


def read_tables(results_dir: str | Path) -> Tables:
    """Read the tables of a results folder. Raise ``InputError`` if one is damaged or missing."""
    folder = Path(results_dir)
    paths = {name: folder / file for name, file in zip(Tables._fields, FILES, strict=True)}
    require_results(folder)
    tables = Tables(
        **{
            name: spell_names(read_table(path, lists="resampled"), _NAMES)
            for name, path in paths.items()
            if path.name in REQUIRED_FILES or path.exists()
        }
    )
    for name, columns in _RENAMED.items():
        table = getattr(tables, name)
        renamed = [
            f"{old} is now {new}"
            for old, new in columns.items()
            if old in table and new not in table
        ]
        if renamed:
            raise InputError(
                f"{paths[name]} was written by an earlier version, columns were renamed"
                f" ({', '.join(renamed)}): run its sweep again"
            )
    return tables
