"""A results folder: written whole, read back, never over other points; and what the terminal shows
of it.
"""

from __future__ import annotations

import io
import itertools
import json
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis import result_folder
from biasbridge.analysis.correlation_study import Correlation
from biasbridge.analysis.effects import effects
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.printing import print_points
from biasbridge.analysis.report.page import build_report
from biasbridge.analysis.result_folder import (
    BuildRecord,
    describe_mixture,
    read_provenance,
    register_outputs,
    remove_older_conclusions,
    require_own,
    without_local_details,
    write_provenance,
    write_tables,
)
from biasbridge.analysis.tables import (
    _EXTRINSIC_TEXTS,
    _INTRINSIC_TEXTS,
    _POINT_TEXTS,
    FILES,
    Tables,
    read_tables,
    typed,
)
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.columns import as_arrays, as_float, as_labels, as_text
from biasbridge.stats.formatting import format_estimate, format_number, format_p
from biasbridge.studies.base_pairs import BasePairStudy
from biasbridge.studies.certificate import Certificate
from biasbridge.studies.score_properties import ScoreProperties
from biasbridge.studies.silhouettes import SilhouetteAnalysis
from biasbridge.studies.survey import Survey
from tests.analysis.conftest import make_ladders
from tests.analysis.test_columns import check_columns, read_schema, unwritten
from tests.events import count
from tests.studies import test_base_pairs as base_pairs
from tests.studies import test_certificate as certificate
from tests.studies import test_conclusion as survey
from tests.studies import test_score_properties as score_properties
from tests.studies import test_silhouettes as silhouettes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.study import Study


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
    actual = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    aside = ("earlier", ".biasbridge-tmp-")  # the second is what docs/reliability.md promises
    return {
        str(name): p.read_bytes() for name, p in actual.items() if not str(name).startswith(aside)
    }


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

    monkeypatch.setattr(result_folder, "_set_earlier_aside", full)
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
    assert [format_p(p) for p in (0.0104, 1e-5, np.nan)] == [".0104", "<.0001", "-"]


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


# Tables typed where they enter, and columns of any table as numbers and as text.


def test_every_column_is_there_and_of_its_type(tables: Tables) -> None:
    scores = tables.intrinsic.assign(value=tables.intrinsic["value"].astype(object), part=None)
    actual = typed(tables._replace(intrinsic=scores.drop(columns=["reason"])))
    for table, names in zip(
        actual, (_POINT_TEXTS, _INTRINSIC_TEXTS, _EXTRINSIC_TEXTS), strict=False
    ):
        for name in names:
            assert {type(value) for value in table[name]} == {str}, name
    assert actual.intrinsic["value"].dtype == float
    pd.testing.assert_frame_equal(typed(actual).points, actual.points)
    with pytest.raises(InputError, match="column 'value' holds 'high' in row 1"):
        typed(tables._replace(intrinsic=scores.assign(value="high")))


def test_a_table_of_gaps_alone_needs_no_groups(tables: Tables) -> None:
    gaps = tables.extrinsic.query("kind == 'gap'").drop(columns="group")
    parent = [name.split()[0] for name in tables.points["point"]]
    alone = tables._replace(points=tables.points.assign(parent_key=parent), extrinsic=gaps)
    console = Console(record=True, file=io.StringIO(), width=200)
    print_points(alone, console, confirmatory=("recall",), utility="f1")
    assert "recall gap" in console.export_text()
    assert {item.names["side"] for item in effects(alone)} == {"score", "gap"}


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


# What made the results comes from the recipes' own words, and mixed versions are said first.

ONE = BuildRecord("vectors", "Word2Vec", 3, "0.1.0", "", "aa", "Python 3.11.7, gensim 4.3.3")
SAME = ONE._replace(step="intrinsic", made_by="Weat", code="bb")
OTHER = ONE._replace(code="cc", libraries="Python 3.11.7, gensim 4.4.0")


def test_codes_of_one_stage_and_versions_of_any_are_compared() -> None:
    assert (
        describe_mixture([ONE, SAME, OTHER])
        == "vectors (Word2Vec) by 2 codes; gensim 4.3.3 and 4.4.0"
    )


def test_the_report_says_what_made_its_results_and_not_what_is_installed(
    tmp_path: Path, module_tables: Tables, findings: list[SliceResult]
) -> None:
    joined = join_points(module_tables)

    def page() -> str:
        return build_report(tmp_path, module_tables, joined, findings)[0].read_text("utf-8")

    assert "not recorded" in page()
    write_provenance(tmp_path, [ONE, OTHER, SAME])
    assert read_provenance(tmp_path) == [ONE, OTHER, SAME]
    line = "mixed: vectors (Word2Vec) by 2 codes; gensim 4.3.3 and 4.4.0. Biasbridge 0.1.0, Python"
    assert line in page()


# What a study writes: that it names all of it, and that it is set aside with the tables.


# Columns of studies with other options
NOT_HERE = {"published", "published_here", "documents", "steps"}


def tables_of_probes() -> Tables:
    probes = pd.concat([score_properties.searched(), score_properties.group_rows()])
    return Tables(score_properties.POINTS, pd.DataFrame(), pd.DataFrame(), probes)


@pytest.mark.parametrize(
    ("study", "tables"),
    [
        (Correlation(), make_ladders(4, 9, 0.8, seed=2)),
        (Survey(), survey.tables()),
        (Certificate(resamples=20), certificate.make_tables()),
        (SilhouetteAnalysis(), silhouettes.make_tables()),
        (ScoreProperties(), tables_of_probes()),
        (BasePairStudy(resamples=10), base_pairs.tables()),
    ],
)
def test_a_study_names_all_that_it_writes(study: Study, tables: Tables, tmp_path: Path) -> None:
    written = study.conclude(tables, tmp_path, Console(file=io.StringIO(), width=150))
    assert len(written) > 1
    lying = {path.name for path in tmp_path.iterdir()}
    assert {path.relative_to(tmp_path).parts[0] for path in written} <= lying <= set(study.writes)
    columns: dict[str, set[str]] = {}
    for path in tmp_path.glob("*.csv"):
        if path.name != "survey.csv":  # a column per score
            check_columns(read_schema(path), path.name)
            columns[path.name] = {*read_schema(path).names}
    assert unwritten(columns) <= NOT_HERE


@choice
class Toy(Fileless):
    """A study from outside."""

    name: ClassVar[str] = "toy"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("toy.csv", "toys")

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        (folder / "toys").mkdir(exist_ok=True)
        paths = [folder / "toy.csv", folder / "toys" / "one.txt"]
        for path in paths:
            path.write_text(f"{len(tables.points)} points", encoding="utf-8")
        return paths


class Other(Toy):
    """Another one."""

    name: ClassVar[str] = "other"
    writes: ClassVar[tuple[str, ...]] = ("other.csv",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        (folder / "other.csv").write_text("concluded", encoding="utf-8")
        return [folder / "other.csv"]


def swept(study: Study, tables: Tables, folder: Path) -> None:
    """As a sweep ends."""
    write_tables(folder, tables)
    register_outputs(folder, study.writes)
    study.conclude(tables, folder, Console(file=io.StringIO()))


def fewer(tables: Tables) -> Tables:
    return tables._replace(points=tables.points.query("point != 'broken'"))


def test_what_a_study_from_outside_wrote_is_set_aside(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine", encoding="utf-8")
    swept(Toy(), tables, tmp_path)
    swept(Other(), tables, tmp_path)  # another study of the same points: both are kept
    assert (tmp_path / "toy.csv").is_file()
    swept(Other(), fewer(tables), tmp_path)  # and of others
    (aside,) = (tmp_path / "earlier").iterdir()
    assert len(read_tables(aside).points) == len(tables.points)
    for name in ("toy.csv", "toys/one.txt"):
        assert (aside / name).read_text(encoding="utf-8") == "11 points"
        assert not (tmp_path / name).exists()
    assert (aside / "other.csv").is_file()
    assert not (aside / "mine.csv").exists()
    assert (tmp_path / "mine.csv").is_file()
    noted = json.loads((tmp_path / "concluded.json").read_text(encoding="utf-8"))
    assert noted == sorted(Other.writes), "the toy's names went with what it wrote"


@pytest.mark.parametrize(
    "names", [["../mine.csv"], ["points"], [".."], ["a/b"], [""], [3], {"toy.csv": 1}]
)
def test_a_note_names_what_lies_beside_it_or_is_refused(
    names: Sequence[object], tables: Tables, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    write_tables(folder, tables)
    (tmp_path / "mine.csv").write_text("mine", encoding="utf-8")
    (folder / "concluded.json").write_text(json.dumps(names), encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    if isinstance(names, list):
        with pytest.raises(InputError, match="give plain names in the results folder"):
            register_outputs(tmp_path / "other", names)
    with pytest.raises(InputError, match="not a list of names of files beside it; delete it"):
        write_tables(folder, fewer(tables))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_no_table_of_a_study_is_taken_for_formulas(tmp_path: Path) -> None:
    """A metric from a stranger's file: three studies wrote what a spreadsheet would run."""
    given = tables_of_probes()
    named = given._replace(probes=given.probes.assign(metric="=1+1"))
    ScoreProperties().conclude(named, tmp_path, Console(file=io.StringIO(), width=150))
    assert set(pd.read_csv(tmp_path / "score_properties.csv")["metric"]) == {"'=1+1"}


def test_what_a_study_did_not_write_again_goes(tables: Tables, tmp_path: Path) -> None:
    """As where results of new code fail: the page of those before would stand beside them."""
    swept(Toy(), tables, tmp_path)
    write_tables(tmp_path, tables)
    os.utime(tmp_path / "toys" / "one.txt", (1, 1))
    (tmp_path / "toy.csv").write_text("again", encoding="utf-8")
    remove_older_conclusions(tmp_path, Toy.writes)
    assert (tmp_path / "toy.csv").read_text(encoding="utf-8") == "again"
    assert not (tmp_path / "toys" / "one.txt").exists()


@pytest.mark.parametrize("name", ["figures", "report.html", "of_the_study.csv"])
def test_a_folder_with_files_of_the_user_is_not_written(
    name: str, tables: Tables, tmp_path: Path
) -> None:
    require_own(tmp_path, ["of_the_study.csv"])
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name} in it is not of a sweep .* choose another"):
        require_own(tmp_path, ["of_the_study.csv"])
    write_tables(tmp_path / "results", tables)
    (tmp_path / "results" / name).mkdir()  # of an earlier version, which noted no names
    require_own(tmp_path / "results", ["of_the_study.csv"])
