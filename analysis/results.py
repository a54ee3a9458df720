"""The tables of a results folder: read, written whole, and never over those of other points."""

from __future__ import annotations

import filecmp
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.declaration import WRITES
from analysis.frame import Tables as Tables
from analysis.frame import texts
from analysis.made import MADE
from files import InputError, atomic_path
from files.masking import mask_slurs
from files.nested import read_nested
from files.tables import read_table, without_control, write_csv

if TYPE_CHECKING:
    import pandas as pd

# Of a path in quotation marks, which may hold spaces, and of any other.
FOLDERS = re.compile(r"""(?<=['"])/[^'"]*/|(?<![\w.:/~-])(?:file://)?/(?:[^\s/:;,'"()]+/)+""")


RENAMED = {"vectors_key": "unit_key", "base_key": "parent_key"}
FROM = "from_"  # queries whose words come from posts
ALWAYS = 3  # tables that every folder has
FILES = tuple(f"{name}.parquet" for name in Tables._fields)
CONCLUDED = "concluded.json"  # names of what studies wrote beside the tables
RESERVED = frozenset({"", ".", "..", "points", "earlier"})  # no names of what a study writes


def read_tables(results_dir: str | Path) -> Tables:
    """The tables of a results folder; ``InputError`` when one is damaged, or absent (but for those
    of a probe and of words).
    """
    folder = Path(results_dir)
    paths = {name: folder / file for name, file in zip(Tables._fields, FILES, strict=True)}
    if not paths["points"].exists():
        near = (folder, folder.parent, folder.parent / "results")
        found = {path.parent: None for each in near for path in each.glob(f"*/{FILES[0]}")}
        near_by = f"; results lie in {', '.join(sorted(map(str, found))[:10])}" if found else ""
        raise InputError(f"no such file: {paths['points']}{near_by}")
    tables = Tables(
        **{
            name: read_table(path, lists="resampled")
            for name, path in paths.items()
            if path.name in FILES[:ALWAYS] or path.exists()
        }
    )
    for before, now in RENAMED.items():
        if before in tables.points and now not in tables.points:
            raise InputError(
                f"{paths['points']} was written by an earlier version ({before} is now {now}):"
                " give the command of its sweep again"
            )
    return tables


def shareable(tables: Tables) -> Tables:
    """The tables without what belongs to one machine: folders in errors, tracebacks (both lie in
    ``points/POINT.json``); control characters are escaped, and slurs masked in errors and among
    the words of the task's posts that the vectors lack.
    """
    points = tables.points.drop(columns="traceback", errors="ignore")
    if "error" in points:
        points = points.assign(
            error=[mask_slurs(without_folders(each)) for each in texts(points, "error")]
        )
    tables = tables._replace(points=points, intrinsic=_masked(tables.intrinsic))
    return Tables(*map(without_control, tables))


def _masked(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores, slurs masked in what is said of words drawn from posts."""
    drawn = [name.startswith(FROM) for name in texts(scores, "query")]
    columns = [name for name in ("lost", "reason") if name in scores and any(drawn)]
    return scores.assign(
        **{
            name: [
                mask_slurs(text) if own else text
                for own, text in zip(drawn, texts(scores, name), strict=True)
            ]
            for name in columns
        }
    )


def without_folders(text: str) -> str:
    """The text with ``...`` for the folders of every absolute path."""
    for folder in (Path.cwd(), Path.home()):
        text = text.replace(f"{folder}/", ".../") if folder != Path("/") else text
    return FOLDERS.sub(".../", text)


def write_tables(results_dir: str | Path, tables: Tables) -> list[Path]:
    """Write the tables as Parquet; their paths.

    Tables of other points that lie in the folder are kept first, with what was concluded from
    them, in ``earlier/<UTC time>/``. Whenever the process is killed, they lie in the folder or
    there, whole.
    """
    named = zip((Path(results_dir) / name for name in FILES), tables, strict=True)
    always = FILES[:ALWAYS]
    written = {path: table for path, table in named if path.name in always or len(table)}
    with ExitStack() as stack:
        # Names are taken as the stack unwinds: that of points.parquet last, for where it is the
        # others belong to it
        for path, table in written.items():
            table.to_parquet(stack.enter_context(atomic_path(path)), index=False)
        # Only now are the new tables known to be writable
        _set_earlier_aside(Path(results_dir), set(texts(tables.points, "point")))
    return list(written)


def write_conclusions(folder: Path, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write each table as ``NAME.csv`` of the folder; their paths."""
    written = [folder / f"{name}.csv" for name in tables]
    for path, table in zip(written, tables.values(), strict=True):
        with atomic_path(path) as work:
            write_csv(table, work)
    return written


def note_writes(folder: Path, names: Sequence[str]) -> None:
    """Note what a study is about to write into a results folder, so that it is set aside with the
    tables that it rests on, whichever study comes next. Raises ``InputError`` for what is no name
    of a file or folder there.
    """
    if strange := [each for each in names if not _is_name(each)]:
        raise InputError(f"a study writes {strange[0]!r}; give names in the results folder alone")
    noted = _noted(folder) if (folder / CONCLUDED).exists() else ()
    with atomic_path(folder / CONCLUDED) as path:
        path.write_text(json.dumps(sorted({*noted, *names}), indent=1), encoding="utf-8")


def _noted(folder: Path) -> tuple[str, ...]:
    """What studies wrote there; in a folder without a note, what the study wrote that is run where
    none is named.
    """
    path = folder / CONCLUDED
    if not path.exists():
        return WRITES
    noted = read_nested(path)
    names = [each for each in noted if _is_name(each)] if isinstance(noted, list) else []
    if not isinstance(noted, list) or len(names) < len(noted):
        raise InputError(f"{path} is no list of names of files beside it; delete it")
    return tuple(map(str, names))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value not in RESERVED and Path(value).name == value


def _of_these_points(folder: Path) -> list[str]:
    """The names of the tables and of all that was concluded from them. The note comes last: until
    all else is removed, it says what is left to remove.
    """
    return [*FILES, MADE, *_noted(folder), CONCLUDED]


def _set_earlier_aside(folder: Path, keys: set[str]) -> None:
    before = folder / "points.parquet"
    if before.exists() and _keys(before) != keys:
        if not any(_same(folder, kept) for kept in (folder / "earlier").glob("[!.]*")):
            _keep(folder)
        before.unlink()
    if not before.exists():  # what else is there was kept just now, or before a kill
        for name in _of_these_points(folder):
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)


def _keep(folder: Path) -> None:
    start = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    names = [start, *(f"{start}-{i}" for i in range(2, 1000))]
    aside = next(path for name in names if not (path := folder / "earlier" / name).exists())
    with atomic_path(aside) as work:
        work.mkdir()
        for name in _of_these_points(folder):
            if (folder / name).is_dir():
                shutil.copytree(folder / name, work / name)
            elif (folder / name).exists():
                shutil.copy2(folder / name, work / name)


def _same(folder: Path, kept: Path) -> bool:
    names = _of_these_points(folder)
    ours, theirs = (
        {
            path.relative_to(root): path
            for name in names
            for path in [root / name, *(root / name).rglob("*")]
            if path.is_file()
        }
        for root in (folder, kept)
    )
    return ours.keys() == theirs.keys() and all(
        filecmp.cmp(ours[name], theirs[name], shallow=False) for name in ours
    )


def _keys(path: Path) -> set[str]:
    try:
        return set(texts(read_table(path), "point"))
    except InputError:
        return set()
