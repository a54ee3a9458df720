"""How studies of the instruments are shown: a page whole in one file, safe whatever tables hold."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from rich.console import Console

from biasbridge.analysis.naming import STAMP
from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from biasbridge.files.charts import FigureStyle, figures_as
from biasbridge.files.vectors import save_vectors
from biasbridge.intrinsic.words import load_query
from biasbridge.studies.base_pairs import BasePairStudy
from biasbridge.studies.certificate import Certificate
from biasbridge.studies.conclusion import _MAX_ROWS, Conclusion, conclude
from biasbridge.studies.score_properties import ScoreProperties
from biasbridge.studies.silhouettes import SilhouetteAnalysis
from biasbridge.studies.survey import Survey, _survey_scores, _survey_table
from biasbridge.train.cli.start import main
from biasbridge.train.engine.tables import _write

if TYPE_CHECKING:
    from biasbridge.analysis.study import Study


POINTS = pd.DataFrame({"point": ["a", "b"], "status": ["done", "failed"], "generated": True})
SCORES = pd.DataFrame({"point": ["a"], "metric": ["weat"], "query": ["q"], "value": [1.0]})
PROBES = pd.DataFrame({"point": ["a"], "probe": ["other"]})


def test_a_page_holds_answer_tables_and_figures_and_asks_for_nothing(tmp_path: Path) -> None:
    words = pd.DataFrame({"of_word": ["<b>x</b>", "$y"], "value": [0.25, float("nan")]})
    long = pd.DataFrame({"n": range(_MAX_ROWS + 7)})
    many = pd.DataFrame({"value": range(5_001)})  # more than altair takes unasked
    chart = alt.Chart(many).mark_point().encode(x="value:Q")
    chart = chart.properties(title=alt.TitleParams("A < B", subtitle="C"))
    result = Conclusion(
        "A & B", "It <holds>.", {"words": words}, {"W": words, "L": long}, {"f": chart}, ["a note"]
    )
    console = Console(file=io.StringIO(), width=150)
    written = conclude(result, POINTS, tmp_path, console)
    assert {path.name for path in written} == {*("words.csv", "f.svg", "f.pdf", "report.html")}
    with figures_as(FigureStyle(("png",))):  # the page shows the SVG
        written = conclude(result, POINTS, tmp_path, console)
    assert {path.name for path in written} == {*("words.csv", "f.svg", "f.png", "report.html")}
    with pytest.raises(InputError, match="each item one of svg, pdf, png"):
        FigureStyle(("gif",))  # type: ignore[arg-type]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "It &lt;holds&gt;." in page
    cells = '<td class="text" data-name="of_word">&lt;b&gt;x&lt;/b&gt;</td>'
    assert f'{cells}<td data-name="value">.250</td>' in page
    assert STAMP in page
    assert "1 of 2 done, 1 failed" in page
    assert "and 7 more rows" in page
    assert page.count('<img alt="A &lt; B" src="data:image/svg+xml;base64,') == 1
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert not re.search(r"https?://", page)


@pytest.mark.parametrize(
    ("study", "remedy"),
    [
        (BasePairStudy(), "add probe=base_pairs"),
        (Certificate(), "plant a bias of known strength"),
        (ScoreProperties(), "choose probe=score_properties"),
        (SilhouetteAnalysis(), "choose probe=silhouettes"),
    ],
)
def test_where_nothing_was_examined_it_says_what_to_choose(
    study: Study, remedy: str, tmp_path: Path
) -> None:
    out = io.StringIO()
    tables = Tables(POINTS, SCORES, pd.DataFrame({"point": [], "kind": []}), PROBES)
    assert study.conclude(tables, tmp_path, Console(file=out, width=200)) == []
    assert remedy in out.getvalue()


# The table and the figures of pre-trained embeddings side by side.


def tables() -> Tables:
    files = {
        "p1": ("glove.27B.25d.txt", 25),
        "p2": ("glove.27B.50d.txt", 50),
        "p3": ("googlenews-300.bin.gz", 300),
    }
    points = pd.DataFrame(
        [
            {"point": point, "embedding": name, "corpus": "none", "source": "none"}
            for point, (name, _) in files.items()
        ]
    )
    rows = []
    for number, (point, (_, dim)) in enumerate(files.items()):
        lost = math.nan if point == "p2" else 1.0
        scores = [
            ("weat", "weat3", "", 1.5, -0.4 + number),
            ("weat", "weat4", "", lost, 0.1 * lost),
            ("sembias", "sembias", "definition", 0.8, 0.0),
            ("sembias", "sembias", "none", 0.1, 0.0),
            ("ect", "names_professions", "", 0.7, math.nan),
        ]
        names = ("metric", "query", "part", "value", "statistic")
        common = {"point": point, "dim": dim, "n_found": 10, "n_oov": 0}
        rows += [common | dict(zip(names, score, strict=True)) for score in scores]
    return Tables(points, pd.DataFrame(rows), pd.DataFrame())


def concluded(folder: Path, given: Tables) -> tuple[list[Path], str]:
    """What the study writes and prints."""
    printed = io.StringIO()
    written = Survey().conclude(given, folder, Console(file=printed, width=100))
    return written, printed.getvalue()


@pytest.mark.parametrize(
    "changed", ["", "scores", "libraries", "code", "file", "failure", "width", "force_terminal"]
)
def test_unchanged_conclusions_are_kept(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish(given: Tables, **options: Any) -> tuple[list[Path], str, int]:
        printed = io.StringIO()
        console = Console(file=printed, color_system=None, **{"width": 100, **options})
        written = _write(given, [], Survey(), tmp_path, console)
        return written, printed.getvalue(), (tmp_path / "survey.csv").stat().st_mtime_ns

    monkeypatch.setattr("biasbridge.studies.survey._draw_survey", lambda *_: [])
    given = tables()._replace(extrinsic=pd.DataFrame({"point": ["p1"]}))
    given.points["generated"] = "False"
    original = Survey.conclude

    def fail(self: Survey, given: Tables, folder: Path, console: Console) -> list[Path]:
        written = original(self, given, folder, console)
        console.print("not drawn: no space left")
        return written

    if changed == "failure":
        monkeypatch.setattr(Survey, "conclude", fail)
    before = finish(given)
    if changed == "scores":
        given.intrinsic["value"] /= 2
    if changed == "libraries":
        monkeypatch.setattr("biasbridge.train.engine.tables._LIBRARIES", ())
    if changed == "code":
        monkeypatch.setattr("biasbridge.train.engine.tables.project_digest", lambda: "other")
    if changed == "file":
        (tmp_path / "survey.csv").write_text("edited")
    options = {changed: 90} if changed in ("width", "force_terminal") else {}
    after = finish(given, **options)
    assert (after == before) == (not changed)


def test_one_row_a_file_and_one_column_a_score() -> None:
    table = _survey_table(_survey_scores(tables()))
    assert table.columns.tolist() == [
        *("vectors", "dim", "weat3", "weat4", "sembias definition", "sembias none", "ect")
    ]
    assert table["vectors"].tolist() == [
        "glove.27B.25d.txt",
        "glove.27B.50d.txt",
        "googlenews-300.bin.gz",
    ]
    assert table["dim"].tolist() == [25, 50, 300]
    assert table["weat3"].tolist() == pytest.approx([0.4, 0.6, 1.6]), (
        "the absolute statistic, not the effect size"
    )
    assert table["weat4"].tolist() == pytest.approx([0.1, math.nan, 0.1], nan_ok=True)
    assert table["ect"].tolist() == [0.7] * 3


def test_conventions_have_columns_of_their_own() -> None:
    points, intrinsic, extrinsic, *_ = tables()
    both = [intrinsic.assign(convention=name) for name in ("default", "wefe")]
    table = _survey_table(_survey_scores(Tables(points, pd.concat(both), extrinsic)))
    assert {"weat3 default", "weat3 wefe", "sembias wefe none"} <= set(table.columns)
    assert table["weat3 wefe"].tolist() == pytest.approx([0.4, 0.6, 1.6])


def test_a_file_without_the_words_adds_no_column_to_parts_that_another_file_has() -> None:
    points, intrinsic, extrinsic, *_ = tables()
    lost = (intrinsic["point"] == "p2") & (intrinsic["metric"] == "sembias")
    one = intrinsic[lost].head(1).assign(part="", value=math.nan)
    given = Tables(points, pd.concat([intrinsic[~lost], one]), extrinsic)
    table = _survey_table(_survey_scores(given))
    columns = [name for name in map(str, table) if "sembias" in name]
    assert columns == ["sembias definition", "sembias none"]
    assert table["sembias none"].tolist() == pytest.approx([0.1, math.nan, 0.1], nan_ok=True)


def test_figures_have_a_column_for_each_family_and_their_numbers_beside_them(
    tmp_path: Path,
) -> None:
    written, _ = concluded(tmp_path, tables())
    assert all(path.is_file() for path in written)
    names = {path.name for path in written}
    assert names >= {"survey.csv", "figure2_weat.svg", "figure2_sembias.svg", "figure2_ect.pdf"}
    svg = (tmp_path / "figures" / "figure2_weat.svg").read_text(encoding="utf-8")
    assert all(
        name in svg
        for name in ("glove.27B", "googlenews", "vector length", "WEAT, absolute statistic")
    )
    numbers = pd.read_csv(tmp_path / "figures" / "figure2_weat.csv")
    assert numbers["family"].unique().tolist() == ["glove.27B", "googlenews"]
    assert len(numbers) == 5


@pytest.mark.slow
def test_the_experiment_on_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = list(
        dict.fromkeys(
            word
            for query in ("weat3_sesari", "weat7", "ect_sesari")
            for item in load_query(query).sets.values()
            for word in item.words
        )
    )
    for dim in (5, 10):
        vectors = KeyedVectors(vector_size=dim)
        vectors.add_vectors(
            names, np.random.default_rng(dim).normal(size=(len(names), dim)).astype(np.float32)
        )
        save_vectors(vectors, tmp_path / f"it's {dim}d.vec")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sys.argv",
        ["train.py", "+experiment=pretrained_audit", 'vectors=["it\'s 5d.vec","it\'s 10d.vec"]'],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None), capsys.readouterr()
    table = pd.read_csv(tmp_path / "results" / "pretrained_audit" / "survey.csv")
    assert table["dim"].tolist() == [5, 10]
    assert table[["weat3_sesari", "weat7", "ect_sesari"]].notna().all(axis=None)
    assert (tmp_path / "results" / "pretrained_audit" / "figures" / "figure2_ect.svg").exists()


def test_the_experiment_without_files_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["train.py", "+experiment=pretrained_audit"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert (
        "embedding.path needs values to sweep over; the first lines of the experiment's file show"
        " a command" in capsys.readouterr().err
    )
