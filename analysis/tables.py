"""The tables of a results folder: typed where they enter, written whole, never over those of other
points; and where the results come from.
"""

from __future__ import annotations

import filecmp
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from biasbridge.files import InputError, atomic_path
from biasbridge.files.columns import as_float, as_text, spell_names
from biasbridge.files.language import mask_slurs
from biasbridge.files.paths import require_results
from biasbridge.files.tables import (
    escape_control,
    read_table,
    require_columns,
    unescape_formulas,
    write_csv,
)
from biasbridge.files.text import read_nested

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
# The folders of a path in quotation marks, which may hold spaces, and of any other path
_FOLDERS = re.compile(r"""(?<=['"])/[^'"]*/|(?<![\w.:/~-])(?:file://)?/(?:[^\s/:;,'"()]+/)+""")
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
_DRAWN_PREFIX = "from_"  # prefix of queries whose words come from posts
_N_REQUIRED = 3  # number of tables that every folder has
SETTINGS_JSON = "correlation.json"
DETAILS_TXT = "details.txt"
WRITES = (  # by the default study
    *(SETTINGS_JSON, DETAILS_TXT),
    *("correlations.csv", "exploratory.csv", "gaps.csv", "scopes.csv", "effects.csv"),
    *("figures", "report.html", "correlations.tex"),
)
_CONCLUSIONS_JSON = "concluded.json"  # names of the files that studies wrote beside the tables
_RESERVED = frozenset({"", ".", "..", "points", "earlier"})  # names that no study may write
PROVENANCE_CSV = "provenance.csv"
INSTRUCTIONS = "CPU instructions"  # stand beside the versions of libraries


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


# The tables of a results folder: read, written whole, and never over those of other points.


FILES = tuple(f"{name}.parquet" for name in Tables._fields)


def read_tables(results_dir: str | Path) -> Tables:
    """Read the tables of a results folder. Raise ``InputError`` if one is damaged or missing."""
    folder = Path(results_dir)
    paths = {name: folder / file for name, file in zip(Tables._fields, FILES, strict=True)}
    require_results(folder)
    tables = Tables(
        **{
            name: spell_names(read_table(path, lists="resampled"), _NAMES)
            for name, path in paths.items()
            if path.name in FILES[:_N_REQUIRED] or path.exists()
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


def without_local_details(tables: Tables) -> Tables:
    """Return the tables without details of one machine.

    Tracebacks are dropped (``points/POINT.json`` keeps them) and folders in errors shortened;
    control characters are escaped, and slurs masked in errors and in the out-of-vocabulary words of
    the task's posts.
    """
    points = tables.points.drop(columns="traceback", errors="ignore")
    if "error" in points:
        points = points.assign(
            error=[mask_slurs(_without_folders(error)) for error in as_text(points, "error")]
        )
    tables = tables._replace(points=points, intrinsic=_mask_words(tables.intrinsic))
    return Tables(*map(escape_control, tables))


def _mask_words(scores: pd.DataFrame) -> pd.DataFrame:
    """Mask slurs in the columns about words that were drawn from posts."""
    drawn = [name.startswith(_DRAWN_PREFIX) for name in as_text(scores, "query")]
    columns = [name for name in ("oov", "reason") if name in scores and any(drawn)]
    return scores.assign(
        **{
            name: [
                mask_slurs(text) if is_from_posts else text
                for is_from_posts, text in zip(drawn, as_text(scores, name), strict=True)
            ]
            for name in columns
        }
    )


def _without_folders(text: str) -> str:
    """Replace the folders of every absolute path by ``...``."""
    for folder in (Path.cwd(), Path.home()):
        text = text.replace(f"{folder}/", ".../") if folder != Path("/") else text
    return _FOLDERS.sub(".../", text)


def write_tables(results_dir: str | Path, tables: Tables) -> list[Path]:
    """Write the tables as Parquet; return their paths.

    Tables of other points in the folder are first moved, with the conclusions drawn from them, to
    ``earlier/<UTC time>/``. Whenever the process is killed, they are complete in one of the two
    places.
    """
    table_paths = zip((Path(results_dir) / name for name in FILES), tables, strict=True)
    required = FILES[:_N_REQUIRED]
    written = {path: table for path, table in table_paths if path.name in required or len(table)}
    with ExitStack() as stack:
        # Files are renamed as the stack unwinds, points.parquet last: where it is, the others
        # belong to it
        for path, table in written.items():
            table.to_parquet(stack.enter_context(atomic_path(path)), index=False)
        # Only now is it certain that the new tables can be written
        _set_earlier_aside(Path(results_dir), set(as_text(tables.points, "point")))
    return list(written)


def write_csv_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write each table as ``NAME.csv`` of the folder; return the paths."""
    written = [folder / f"{name}.csv" for name in tables]
    for path, table in zip(written, tables.values(), strict=True):
        with atomic_path(path) as work:
            write_csv(table, work)
    return written


def require_own(folder: Path, names: Iterable[str]) -> None:
    """Raise ``InputError`` if a folder without tables has files or folders of these names: those of
    the user, which would be replaced or removed. So would files behind a link to a folder.
    """
    for path in (folder / name for name in (*names, *WRITES, "points", "earlier")):
        if path.is_symlink() and path.is_dir():
            reason = f"{path.name} in it is a link, and files behind it would be replaced"
            raise InputError(f"results.dir={folder}: {reason}; remove the link")
    if (folder / FILES[0]).exists() or (folder / _CONCLUSIONS_JSON).exists():
        return
    if foreign := [name for name in (*names, *WRITES) if (folder / name).exists()]:
        raise InputError(
            f"results.dir={folder}: {foreign[0]} in it is not of a sweep and would be replaced;"
            " choose another folder"
        )


def register_outputs(folder: Path, names: Sequence[str]) -> None:
    """Note which files a study will write into a results folder, so that the next study sets them
    aside with the tables that they rest on. Raise ``InputError`` for anything but plain file names.
    """
    if invalid := [name for name in names if not _is_name(name)]:
        raise InputError(f"a study writes {invalid[0]!r}; give plain names in the results folder")
    previous = _noted_names(folder) if (folder / _CONCLUSIONS_JSON).exists() else ()
    with atomic_path(folder / _CONCLUSIONS_JSON) as path:
        path.write_text(json.dumps(sorted({*previous, *names}), indent=1), encoding="utf-8")


def remove_older_conclusions(folder: Path, names: Iterable[str]) -> None:
    """Remove what a study wrote under ``names`` on earlier tables, and on these did not write
    again.
    """
    tables_time = (folder / FILES[0]).stat().st_mtime_ns
    for path in [folder / name for name in names]:
        for file in [path, *path.rglob("*")]:
            if file.is_file() and file.stat().st_mtime_ns < tables_time:
                file.unlink()


def _noted_names(folder: Path) -> tuple[str, ...]:
    """Return what studies wrote there; without a note, what the default study writes."""
    path = folder / _CONCLUSIONS_JSON
    if not path.exists():
        return WRITES
    content = read_nested(path)
    names = [name for name in content if _is_name(name)] if isinstance(content, list) else []
    if not isinstance(content, list) or len(names) < len(content):
        raise InputError(f"{path} is not a list of names of files beside it; delete it")
    return tuple(map(str, names))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value not in _RESERVED and Path(value).name == value


def _dependent_names(folder: Path) -> list[str]:
    """Return the names of the tables and conclusions, the list of them last."""
    return [*FILES, PROVENANCE_CSV, *_noted_names(folder), _CONCLUSIONS_JSON]


def _set_earlier_aside(folder: Path, keys: set[str]) -> None:
    points_path = folder / "points.parquet"
    if points_path.exists() and _point_keys(points_path) != keys:
        if not any(_is_copy(folder, copy) for copy in (folder / "earlier").glob("[!.]*")):
            _copy_aside(folder)
        points_path.unlink()
    if not points_path.exists():  # the other files were copied just now, or before a kill
        for name in _dependent_names(folder):
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)


def _copy_aside(folder: Path) -> None:
    timestamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    names = [timestamp, *(f"{timestamp}-{i}" for i in range(2, 1000))]
    target = next(path for name in names if not (path := folder / "earlier" / name).exists())
    with atomic_path(target) as work:
        work.mkdir()
        for name in _dependent_names(folder):
            if (folder / name).is_dir():
                shutil.copytree(folder / name, work / name)
            elif (folder / name).exists():
                shutil.copy2(folder / name, work / name)


def _is_copy(folder: Path, copy: Path) -> bool:
    names = _dependent_names(folder)
    ours, theirs = (
        {
            path.relative_to(root): path
            for name in names
            for path in [root / name, *(root / name).rglob("*")]
            if path.is_file()
        }
        for root in (folder, copy)
    )
    return ours.keys() == theirs.keys() and all(
        filecmp.cmp(ours[name], theirs[name], shallow=False) for name in ours
    )


def _point_keys(path: Path) -> set[str]:
    try:
        return set(as_text(read_table(path), "point"))
    except InputError:
        return set()


# Provenance of the results of a sweep: the code version and library versions that made them.


class BuildRecord(NamedTuple):
    """Results of a step that the same code and libraries made; docs/results.md describes the
    columns.
    """

    step: str
    made_by: str
    results: int
    project: str
    commit: str
    code: str
    libraries: str


def write_provenance(folder: Path, makers: Iterable[BuildRecord]) -> Path:
    """Write ``provenance.csv``; return its path."""
    with atomic_path(folder / PROVENANCE_CSV) as path:
        write_csv(pd.DataFrame(list(makers), columns=list(BuildRecord._fields)), path)
    return folder / PROVENANCE_CSV


def read_provenance(folder: Path) -> list[BuildRecord]:
    """Return the rows of ``provenance.csv``; none where it is missing or damaged."""
    try:
        table = unescape_formulas(read_table(folder / PROVENANCE_CSV))
        columns = [as_text(table, name) for name in BuildRecord._fields]
        return [
            BuildRecord(step, made_by, int(count), *details)
            for step, made_by, count, *details in zip(*columns, strict=True)
        ]
    except (InputError, ValueError):
        return []


def describe_mixture(makers: Iterable[BuildRecord]) -> str:
    """Return how results of one kind differ in provenance: ``vectors (Word2Vec) by 2 codes; gensim
    4.3.3 and 4.4.0``; empty where they do not.
    """
    codes: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        codes[f"{maker.step} ({maker.made_by})"].add(maker.code)
    parts = [f"{name} by {len(hashes)} codes" for name, hashes in codes.items() if len(hashes) > 1]
    for library, versions in _versions_by_library(makers).items():
        if len(versions) > 1:
            parts.append(f"{library} {' and '.join(versions)}")
    return "; ".join(parts)


def describe_processor(makers: Iterable[BuildRecord]) -> str:
    """Return a note where networks were trained on a CPU; empty where none was."""
    sets = _versions_by_library(makers).get(INSTRUCTIONS)
    other = "On another processor digits of networks may differ"
    return f"{INSTRUCTIONS}: {' and '.join(sets)}. {other}" if sets else ""


def _versions_by_library(makers: Iterable[BuildRecord]) -> Mapping[str, list[str]]:
    """Return the versions of the project and of each library that made any of the results."""
    versions: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        for library in (f"Biasbridge {maker.project or '?'}", *maker.libraries.split(", ")):
            name, _, version = library.rpartition(" ")
            versions[name].add(version)
    return {name: sorted(versions[name]) for name in sorted(versions)}


def describe_provenance(makers: Iterable[BuildRecord]) -> str:
    """Return one line with every version, after any mix of synthetic and real data."""
    records = list(makers)
    if not records:
        return "not recorded"
    versions_by_name = _versions_by_library(records).items()
    versions = ", ".join(f"{name} {' and '.join(numbers)}" for name, numbers in versions_by_name)
    return (
        f"mixed: {differing}. {versions}" if (differing := describe_mixture(records)) else versions
    )
