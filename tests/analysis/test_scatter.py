"""Scatter plots of any table by column names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from analysis.correlate import correlate_slices
from analysis.declaration import Declaration
from analysis.grid import panel_statistics
from analysis.joined import join_points
from analysis.results import Tables, write_tables
from analysis.scatter import grid_data
from biasbridge.cli.scatter import main
from files import InputError
from tests.analysis.test_specifications import measured, tables_of

Texts = Callable[[Path], list[str]]
FOREIGN = "Kind,WEAT score,Gap.1[x],Test\n" + "\n".join(
    f"{k},{i},{y},{6 + i % 2}" for k in "ab" for i, y in enumerate([2, 1, 4, 3, 5])
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.csv"
    path.write_text(FOREIGN)
    return path


def test_foreign_table(
    foreign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: Texts
) -> None:
    out = tmp_path / "new" / "f.svg"
    command = [
        str(foreign),
        "--x",
        "WEAT score",
        "--y",
        "Gap.1[x]",
        "--column",
        "Kind",
        "--colour",
        "Test",
        "--shape",
        "Kind",
    ]
    assert main([*command, "--title", "A title", "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    found = texts(out)
    assert {"A title", "WEAT score", "Gap.1[x]", "a", "b", "Test", "6", "7", "Kind"} <= set(found)
    notes = [text for text in found if re.fullmatch(r"n = 5, r = \.80 \[-?\.\d\d, \.\d\d\]", text)]
    assert len(notes) == 2


def test_line_joins_means(foreign: Path, tmp_path: Path, texts: Texts) -> None:
    out = tmp_path / "line.svg"
    assert (
        main(
            [
                str(foreign),
                "--x",
                "WEAT score",
                "--y",
                "Gap.1[x]",
                "--mark",
                "line",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    drawing = out.read_text()
    assert len(re.findall(r'class="mark-line role-mark', drawing)) == 1
    assert "n = 10" in texts(out), "n alone: one r over several curves would mean nothing"


def test_a_results_folder_gets_the_papers_figures(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def draw(joined: pd.DataFrame, out: Path, **_: object) -> list[Path]:
        asked.append((len(joined), out))
        return []

    monkeypatch.setattr("analysis.figures.draw_figures", draw)
    write_tables(tmp_path, tables)
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--out", "elsewhere"]) == 0
    assert asked == [(44, tmp_path / "figures"), (44, Path("elsewhere"))]


def test_of_a_results_folder_r_is_that_within_parents() -> None:
    """Rows were taken for embeddings, with Fisher's interval over them."""
    joined = join_points(tables_of(measured(2, 20, 0.4)))
    exploratory = Declaration(embeddings=())  # with as many permutations as a panel
    found = {
        (each.names["measure"], each.names["query"]): each.within
        for each in correlate_slices(joined, exploratory)
        if (each.names["embedding"], each.names["method"]) == ("all", "all")
    }
    panels = panel_statistics(grid_data(joined, x="x", y="y", row="measure", column="query"))
    assert len(panels) == 6
    for panel in panels:
        behind = found[panel.row, panel.column]
        assert panel.models == 40
        assert (panel.r, panel.low, panel.high) == pytest.approx(behind.interval)
    (pooled,) = panel_statistics(grid_data(joined, x="x", y="y"))
    assert (pooled.n, pooled.models) == (240, 40)
    reverse = joined.assign(reverse_scored=True, dose=joined["x"])
    for x, sign in (("dose", 1), ("x", -1)):
        (panel,) = panel_statistics(grid_data(reverse, x=x, y="y"))
        assert panel.r == pytest.approx(sign * pooled.r)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name --x, --y and --out; .* has the columns Kind, WEAT score"),
        (
            ["--x", "WEAT scor", "--y", "Test", "--out", "f.svg"],
            "no column 'WEAT scor'; did you mean 'WEAT score'",
        ),
        (["--x", "Kind", "--y", "Test", "--out", "f.svg"], "not a number"),
        (
            ["--x", "Test", "--y", "Test", "--out", "f.pgn"],
            "must end in .svg, .png, .pdf, .html; did you mean '.png'",
        ),
    ],
)
def test_bad_options_are_refused(options: list[str], message: str, foreign: Path) -> None:
    with pytest.raises(InputError, match=message):
        main([str(foreign), *options])


def test_a_results_folder_gets_figures_of_the_measures_it_declared(
    tables: Tables, tmp_path: Path
) -> None:
    """Figure 3 showed recall and precision whatever the study had declared."""
    write_tables(tmp_path, tables)
    (tmp_path / "correlation.json").write_text('{"confirmatory": ["recall"]}', encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    drawn = pd.read_csv(tmp_path / "figures" / "figure3_hatespeech_en_weat.csv")
    assert set(drawn["panel_column"]) == {"word2vec, recall gap", "fasttext, recall gap"}
