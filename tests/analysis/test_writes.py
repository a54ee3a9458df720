"""What a study writes: that it names all of it, and that it is set aside with the tables."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.results import (
    Tables,
    read_tables,
    register_outputs,
    remove_older_conclusions,
    require_own,
    write_tables,
)
from biasbridge.analysis.study import Correlation
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.studies.base_pairs.study import BasePairs
from biasbridge.studies.certificate.study import Certificate
from biasbridge.studies.control.study import Control
from biasbridge.studies.score_properties.study import ScoreProperties
from biasbridge.studies.silhouettes.study import SilhouetteAnalysis
from biasbridge.studies.survey import Survey
from tests.analysis.test_specifications import measured, tables_of
from tests.studies import test_base_pairs as base_pairs
from tests.studies import test_certificate as certificate
from tests.studies import test_control as control
from tests.studies import test_score_properties_table as score_properties
from tests.studies import test_silhouettes_scores as silhouettes
from tests.studies import test_survey as survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasbridge.analysis.study import Study


def tables_of_probes() -> Tables:
    probes = pd.concat([score_properties.searched(), score_properties.group_rows()])
    return Tables(score_properties.POINTS, pd.DataFrame(), pd.DataFrame(), probes)


@pytest.mark.parametrize(
    ("study", "tables"),
    [
        (Correlation(), tables_of(measured(4, 9, 0.8, seed=2))),
        (Survey(), survey.tables()),
        (Certificate(resamples=20), certificate.make_tables()),
        (Control(controls=("control",), draws=20), control.make_tables()),
        (SilhouetteAnalysis(), silhouettes.make_tables()),
        (ScoreProperties(), tables_of_probes()),
        (BasePairs(resamples=10), base_pairs.tables()),
    ],
)
def test_a_study_names_all_that_it_writes(study: Study, tables: Tables, tmp_path: Path) -> None:
    written = study.conclude(tables, tmp_path, Console(file=io.StringIO(), width=150))
    assert len(written) > 1
    lying = {path.name for path in tmp_path.iterdir()}
    assert {path.relative_to(tmp_path).parts[0] for path in written} <= lying <= set(study.writes)


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
    swept(Correlation(), tables, tmp_path)  # another study of the same points: both are kept
    assert (tmp_path / "toy.csv").is_file()
    swept(Correlation(), fewer(tables), tmp_path)  # and of others
    (aside,) = (tmp_path / "earlier").iterdir()
    assert len(read_tables(aside).points) == len(tables.points)
    for name in ("toy.csv", "toys/one.txt"):
        assert (aside / name).read_text(encoding="utf-8") == "11 points"
        assert not (tmp_path / name).exists()
    assert (aside / "correlations.csv").is_file()
    assert not (aside / "mine.csv").exists()
    assert (tmp_path / "mine.csv").is_file()
    noted = json.loads((tmp_path / "concluded.json").read_text(encoding="utf-8"))
    assert noted == sorted(Correlation.writes), "the toy's names went with what it wrote"


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
