"""A results folder: written whole, read back, never over other points; and what the terminal shows
of it.
"""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis import results
from biasbridge.analysis.points_table import print_points
from biasbridge.analysis.results import (
    FILES,
    Tables,
    read_tables,
    without_local_details,
    write_tables,
)
from biasbridge.analysis.terminal import p_value
from biasbridge.files import InputError
from biasbridge.stats.formatting import format_estimate, format_number
from tests.events import count


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("given", ["results", "results/mime", "mine", "results/mine/points"])
def test_a_folder_without_tables_is_answered_with_those_near_it(
    given: str, tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tables("results/mine", tables)
    near = "; results are in results/mine" if "points" not in given else ""
    with pytest.raises(InputError) as caught:
        read_tables(given)
    assert str(caught.value) == f"no such file: {given}/points.parquet{near}"


def test_written_and_read_back(tables: Tables, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert write_tables(folder, tables) == [folder / name for name in FILES[:3]]
    for stored, table in zip(read_tables(folder), tables, strict=True):
        pd.testing.assert_frame_equal(stored, table)
    assert names(folder) == {"points.parquet", "intrinsic.parquet", "extrinsic.parquet"}


def test_what_is_shared_says_nothing_of_the_machine(tables: Tables) -> None:
    home = str(Path.home())
    errors = {
        f"no such file: {home}/secret name/posts.csv": "no such file: .../secret name/posts.csv",
        f"{Path.cwd()}/v.txt: line 3 is bad": ".../v.txt: line 3 is bad",
        "[Errno 2] No such file: '/srv/my data/x.npy'": "[Errno 2] No such file: '.../x.npy'",
        "file:///srv/me/x.csv, /srv/me/y.csv": ".../x.csv, .../y.csv",
        "see https://example.org/a/b and 1/2 or a/b/c": "",
    }
    points = tables.points.assign(
        error=[*errors, *[""] * (len(tables.points) - len(errors))], traceback=f"File {home}/x.py"
    )
    intrinsic = tables.intrinsic.assign(query="weat\x1b[2J")
    shared = without_local_details(Tables(points, intrinsic, tables.extrinsic))
    assert "traceback" not in shared.points
    expected = [hidden or error for error, hidden in errors.items()]
    assert shared.points["error"].tolist()[: len(errors)] == expected
    assert set(shared.intrinsic["query"]) == {r"weat\x1b[2J"}
    pd.testing.assert_frame_equal(shared.extrinsic, tables.extrinsic)


def test_other_points_set_the_earlier_aside(tables: Tables, tmp_path: Path) -> None:
    write_tables(tmp_path, tables)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figure3.svg").write_text("drawn")
    (tmp_path / "mine.txt").write_text("kept")
    (tmp_path / "correlations.tex").write_text("concluded")
    before = {
        name: (tmp_path / name).read_bytes() for name in ("points.parquet", "correlations.tex")
    }
    fewer = tables.points.query("point != 'broken'")
    write_tables(tmp_path, tables._replace(points=fewer))
    write_tables(tmp_path, tables)  # and back, most likely within the same second
    first, second = sorted(
        (tmp_path / "earlier").iterdir(), key=lambda path: (len(path.name), path.name)
    )
    assert {name: (first / name).read_bytes() for name in before} == before
    assert (first / "figures" / "figure3.svg").read_text() == "drawn"
    assert len(read_tables(second).points) == 10
    assert len(read_tables(tmp_path).points) == 11
    assert "mine.txt" in names(tmp_path)


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_no_earlier_table(tables: Tables, tmp_path: Path) -> None:
    """Of ten moments between renames five lost the tables of another set of points."""
    write_tables(tmp_path / "before", tables)
    (tmp_path / "before" / "figures").mkdir()
    (tmp_path / "before" / "figures" / "figure3.svg").write_text("drawn")
    (tmp_path / "before" / "correlations.csv").write_text("concluded")
    fewer = tables._replace(points=tables.points.query("point != 'broken'"))
    write_tables(tmp_path / "after", fewer)
    before, after = (contents(tmp_path / name) for name in ("before", "after"))
    for moment in itertools.count(1):
        folder = tmp_path / str(moment)
        shutil.copytree(tmp_path / "before", folder)
        child = multiprocessing.get_context("fork").Process(
            target=write_and_die, args=(folder, fewer, moment)
        )
        child.start()
        child.join()
        aside = [contents(path) for path in (folder / "earlier").glob("[!.]*")]
        assert aside == [before] or contents(folder) == before
        write_tables(folder, fewer)
        assert contents(folder) == after
        assert [contents(path) for path in (folder / "earlier").glob("[!.]*")] == [before]
        if child.exitcode == 0:
            break
    assert moment > 15


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file in a folder, but for what is kept or half-written there."""
    found = {path.relative_to(folder): path for path in folder.rglob("[!.]*") if path.is_file()}
    return {str(name): found[name].read_bytes() for name in found if name.parts[0] != "earlier"}


def write_and_die(folder: Path, tables: Tables, moment: int) -> None:
    count(folder, lambda: None, moment)
    write_tables(folder, tables)
    os._exit(0)


def test_a_damaged_earlier_table_is_set_aside_too(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "points.parquet").write_text("damaged")
    write_tables(tmp_path, tables)
    (aside,) = (tmp_path / "earlier").iterdir()
    assert (aside / "points.parquet").read_text() == "damaged"


def test_an_error_while_writing_leaves_the_earlier_tables(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path, tables)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    odd = pd.Series([object()] * len(tables.extrinsic), dtype=object)
    unwritable = tables.extrinsic.assign(odd=odd)
    with pytest.raises(Exception, match="odd"):
        write_tables(tmp_path, Tables(tables.points[:3], tables.intrinsic, unwritable))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(results, "_set_earlier_aside", full)
    with pytest.raises(OSError, match="disk full"):
        write_tables(tmp_path, tables._replace(points=tables.points[:3]))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.314, 2, ".31"),
        (-0.314, 2, "-.31"),
        (-0.001, 2, ".00"),
        (0.999, 2, "1.00"),
        (-10.5, 1, "-10.5"),
        (np.nan, 2, "-"),
    ],
)
def test_short_numbers(value: float, digits: int, text: str) -> None:
    assert format_number(value, digits) == text


def test_estimates_carry_their_interval() -> None:
    assert format_estimate(0.31, -0.09, 0.62) == ".31 [-.09,.62]"
    assert format_estimate(0.31, np.nan, np.nan) == ".31"
    assert [p_value(p) for p in (0.0104, 1e-5, np.nan)] == [".0104", "<.0001", "-"]


def test_points_on_the_terminal_have_every_measure_and_say_what_is_missing(tables: Tables) -> None:
    first = tables.extrinsic.iloc[:1]
    spreads = [
        first.assign(kind="max_difference", measure="recall", value=0.31),
        first.assign(kind="ratio", measure="f1", subset="type1", value=0.62),
        first.assign(kind="ratio", measure="f1", subset="type2", value=0.84),
    ]
    more = tables._replace(extrinsic=pd.concat([tables.extrinsic, *spreads]))
    console = Console(record=True, file=io.StringIO(), width=300)
    print_points(more, console, confirmatory=("recall", "precision"), utility="f1")
    printed = console.export_text()
    for cell in (".10 [.07,.14]", ".02 [-.01,.06]", ".31 [", ".62 [", ".84 ["):
        assert cell in printed, cell
    assert "-: female: no item predicted positive" in printed
    assert "10 of 11 points done" in printed
    assert "failed" in printed


def test_tables_by_an_earlier_version_are_refused_and_those_of_language_models_are_not(
    tables: Tables, tmp_path: Path
) -> None:
    old = tables.points.drop(columns="unit_key", errors="ignore").assign(vectors_key="a")
    write_tables(tmp_path / "old", tables._replace(points=old))
    with pytest.raises(InputError, match="vectors_key is now unit_key"):
        read_tables(tmp_path / "old")
    gaps = tables.extrinsic.drop(columns="majority_baseline", errors="ignore").assign(constant=0.5)
    write_tables(tmp_path / "gaps", tables._replace(extrinsic=gaps))
    with pytest.raises(InputError, match="constant is now majority_baseline"):
        read_tables(tmp_path / "gaps")
    # Of a language model the vectors of its words are one step of several
    write_tables(tmp_path / "new", tables._replace(points=old.assign(unit_key="b")))
    assert "vectors_key" in read_tables(tmp_path / "new").points
