"""Scatter plots of any table by column names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import plot
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.grid import panel_statistics
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import query_title
from biasbridge.analysis.results import Tables, write_tables
from biasbridge.analysis.scatter import grid_data
from biasbridge.commands.scatter import main
from biasbridge.files import InputError
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

    monkeypatch.setattr("biasbridge.analysis.figures.draw_figures", draw)
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
            "must end in .svg, .png, .pdf, .html, .json; did you mean '.png'",
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


def notes_of(chart: Any) -> dict[tuple[str, str], str]:
    """The text above each panel of a figure, by its row and column."""
    rows = [row for data in chart.to_dict()["datasets"].values() for row in data]
    return {
        (row["row"], row["column"]): row["note"].replace("\u2212", "-")
        for row in rows
        if row.get("note")
    }


def literal_r(part: pd.DataFrame) -> float:
    """r of the points without the means of their parents."""
    x, y = (part[name] - part.groupby("parent")[name].transform("mean") for name in ("x", "y"))
    return float(np.corrcoef(x, y)[0, 1])


def varied(joined: pd.DataFrame, column: str, values: tuple[str, str]) -> pd.DataFrame:
    """One score and one gap, and again under another name with other numbers."""
    one = joined[(joined["measure"] == "recall") & (joined["query"] == joined["query"].iloc[0])]
    y = one["y"].iloc[::-1].to_numpy() * 3 + 0.5
    first, second = (one.assign(**{column: value}) for value in values)
    both: pd.DataFrame = pd.concat([first, second.assign(y=y)], ignore_index=True)
    return both


@pytest.mark.parametrize(
    "column",
    [*("metric", "query", "convention", "part", "measure", "subset", "privileged"), "task", "mark"],
)
@pytest.mark.parametrize("options", [{"colour": "method"}, {"row": "seed_of", "shape": "method"}])
def test_different_scores_and_gaps_are_not_pooled(column: str, options: dict[str, str]) -> None:
    """The README's call drew two gaps in one cloud, with an r of neither."""
    joined = varied(join_points(tables_of(measured(2, 20, 0.4))), column, ("one", "two"))
    joined = joined.assign(seed_of="a")
    notes = notes_of(plot.scatter(joined, **options))
    if column == "mark":  # no name of a score or a gap
        assert len(notes) == 1
        return
    assert len(notes) == 2
    for name, part in joined.groupby(column):
        [note] = [note for panel, note in notes.items() if str(name) in " ".join(panel).lower()]
        assert note.startswith(f"n = {len(part)}")
        assert float(note.split("r_rm = ")[1].split()[0]) == pytest.approx(
            literal_r(part), abs=0.0051
        )


def test_a_table_with_names_of_scores_but_not_of_models_is_not_pooled_either() -> None:
    joined = join_points(tables_of(measured(2, 20, 0.4)))
    kept = joined[["metric", "query", "measure", "privileged", "unprivileged", "x", "y"]]
    notes = notes_of(plot.scatter(kept))
    assert len(notes) == 6
    for (query, measure), part in kept.groupby(["query", "measure"]):
        [note] = [
            note
            for (row, column), note in notes.items()
            if row.replace(" ", "").lower() == query and column.startswith(str(measure))
        ]
        r = float(np.corrcoef(part["x"], part["y"])[0, 1])
        assert float(note.split("r = ")[1].split()[0]) == pytest.approx(r, abs=0.0051)


def test_axes_are_called_by_score_and_gap() -> None:
    joined = varied(join_points(tables_of(measured(2, 20, 0.4))), "seed", ("0", "1"))
    joined = joined.assign(metric="weat", privileged="male", unprivileged="female")
    text = plot.scatter(joined, colour="method").to_json()
    query = query_title(joined["query"].iloc[0])
    assert f'"{query} effect size (d)"' in text
    assert '"recall gap"' in text
    assert '"(above 0: worse for female)"' in text
    assert '"x"' not in re.findall(r'"title": ("[^"]*")', text)


def test_too_many_panels_are_refused() -> None:
    joined = join_points(tables_of(measured(2, 20, 0.4)))
    many = pd.concat([joined.assign(part=str(part)) for part in range(11)])
    with pytest.raises(InputError, match=r"33 scores and 2 gaps make more than 60 panels; choose"):
        plot.scatter(many)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        *(("fig3.pdf", b"%PDF"), ("f.svg", b"<svg"), ("f.png", b"\x89PNG"), ("f.html", b"<!")),
        ("f.json", b'{"config"'),
    ],
)
def test_a_results_folder_is_drawn_into_one_file(
    name: str, start: bytes, tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path / "r", tables)
    places = ["--row", "measure", "--column", "query", "--colour", "method", "--shape", "embedding"]
    assert main([str(tmp_path / "r"), "--out", str(tmp_path / name), *places]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / name)
    assert (tmp_path / name).read_bytes().lstrip().startswith(start)
    if name == "f.svg":
        drawn = (tmp_path / name).read_text(encoding="utf-8")
        for text in ("recall", "precision", "weat7", "balance", "fasttext", ">method<"):
            assert text in drawn


def test_a_results_folder_with_columns_wants_a_file(tables: Tables, tmp_path: Path) -> None:
    write_tables(tmp_path / "r", tables)
    with pytest.raises(InputError, match=r"name --out FILE; .* has the columns"):
        main([str(tmp_path / "r"), "--row", "measure"])
    with pytest.raises(InputError, match=r"must end in \.svg"):
        main([str(tmp_path / "r"), "--out", str(tmp_path / "fig3.eps")])
    assert not (tmp_path / "fig3.eps").exists()
