"""The paper's figures: what they show, and the numbers beside them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge import plot, read_results
from biasbridge.analysis.change_chart import change_chart, change_data
from biasbridge.analysis.claims import declared
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.figures import (
    Panel,
    _grid_data,
    _panel_note,
    _panel_statistics,
    draw_figures,
)
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import GAP, query_title
from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.slices import CORRELATION_COLUMNS, correlation_table
from biasbridge.commands.scatter import main
from biasbridge.files import InputError
from biasbridge.files.charts import FigureStyle, figures_as
from biasbridge.files.columns import text_rows
from biasbridge.files.tables import read_table
from biasbridge.stats.formatting import format_number
from tests.analysis.conftest import make_ladders

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables


Texts = Callable[[Path], list[str]]
NUMBERS = ("r_rm", "low", "high", "r_pearson")
STEMS = [f"figure{number}_hatespeech_en_weat" for number in (3, 4, 5)]


def test_three_figures_with_their_numbers(drawn: Path) -> None:
    assert {path.name for path in drawn.iterdir()} == {
        f"{stem}{suffix}" for stem in STEMS for suffix in (".svg", ".pdf", ".csv")
    }


def test_figure_3_has_one_panel_per_experiment(drawn: Path, texts: Texts) -> None:
    actual = texts(drawn / f"{STEMS[0]}.svg")
    for label in (
        "WEAT 7",
        "WEAT 8",
        "WEAT effect size (d)",
        "gap(above 0: worse for female)",  # over two lines
        "unmodified",
        "balance",
        "attract_repel",
    ):
        assert label in actual
    # Word2vec with WEAT 7, fasttext with WEAT 8
    # Of the 120 orders of five doses 2 have |r| of 1 and 8 of .9: one in twenty reaches that
    assert actual.count("n = 5, r_rm = 1.00 [.90, 1.00], Pearson 1.00") == 2
    assert actual.count("n = 5, r_rm = -1.00 [-1.00, -.90], Pearson -1.00") == 2
    assert actual.count("n = 5, r undefined") == 2
    assert actual.count("n = 4, r undefined") == 2
    assert (
        "hatespeech_en, synthetic data: WEAT effect size (d) and performance gaps, by query,"
        " embedding and gap" in actual
    )
    assert any(text.startswith("Synthetic data: ") for text in actual)


def test_figure_4_pools_the_queries_and_says_so(drawn: Path, texts: Texts) -> None:
    actual = texts(drawn / f"{STEMS[1]}.svg")
    # Every model has x and -x: its mean does not vary
    assert actual.count("n = 12 (6 models), r undefined") == 3
    assert actual.count("n = 10 (5 models), r undefined") == 1
    assert {
        "balance",
        "attract_repel",
        "recall gap",
        "precision gap",
        "word2vec",
        "fasttext",
    } <= set(actual)
    assert any("counts every embedding once per query" in text for text in actual)


@pytest.mark.parametrize(("stem", "rows"), [(STEMS[0], 40), (STEMS[1], 48), (STEMS[2], 40)])
def test_the_numbers_beside_a_figure_are_the_joined_tables(
    stem: str, rows: int, drawn: Path, tables: Tables
) -> None:
    numbers = pd.read_csv(
        drawn / f"{stem}.csv", keep_default_na=False, na_values={"x": "", "y": ""}
    )
    key = ["point", "query", *GAP]
    assert len(numbers) == rows
    joined = join_points(tables).query("status == 'done'").set_index(key)[["x", "y"]].sort_index()
    shown = numbers.drop_duplicates(key).set_index(key)[["x", "y"]].sort_index()
    pd.testing.assert_frame_equal(shown, joined)


@pytest.mark.parametrize(
    ("models", "n", "averaged", "count"),
    [
        (44, 44, 22, "n = 44 (44 models as 22)"),
        (26, 78, 13, "n = 78 (26 models as 13)"),
        (26, 78, 26, "n = 78 (26 models)"),
        (26, 26, 0, "n = 26"),
    ],
)
def test_averaged_models_stand_beside_their_number(
    models: int, n: int, averaged: int, count: str
) -> None:
    panel = Panel("", "", models, n, 0.5, 0.2, 0.7, r_pearson=0.4, averaged=averaged)
    assert _panel_note(panel) == f"{count}, r_rm = .50 [.20, .70], Pearson .40"


@pytest.mark.parametrize("models", ["of two parents", "that nothing was made from"])
def test_a_panel_shows_the_slice_of_the_same_name(
    models: str, noisy: Tables, tmp_path: Path, texts: Texts
) -> None:
    if models != "of two parents":
        noisy = noisy._replace(points=noisy.points.drop(columns="parent_key"))
    joined = join_points(noisy)
    results = correlate_slices(joined)
    draw_figures(joined, tmp_path, results=results, suffixes=[".svg"])
    slices = correlation_table(results, CORRELATION_COLUMNS)
    named = text_rows(slices, ("embedding", "query", "measure", "method"))
    checks = [
        (STEMS[0], "WEAT 7", "fasttext, recall gap", ("fasttext", "weat7", "recall", "all")),
        (STEMS[1], "recall gap", "balance", ("all", "all", "recall", "balance")),
        (STEMS[2], "", "recall gap", ("all", "all", "recall", "all")),
    ]
    for stem, row, column, name in checks:
        numbers = pd.read_csv(tmp_path / f"{stem}.csv", keep_default_na=False)
        panel = numbers[(numbers["panel_row"] == row) & (numbers["panel_column"] == column)].iloc[0]
        of = slices.iloc[named.index(name)]
        queries = 2 if name[1] == "all" else 1
        assert [int(panel["panel_n"]), int(panel["panel_models"])] == [of["n"] * queries, of["n"]]
        shown = [float(panel[f"panel_{item}"]) for item in ("r", "low", "high")]
        assert shown == pytest.approx([of["r_rm"], of["low"], of["high"]])
        assert float(panel["panel_r_pearson"]) == pytest.approx(of["r_pearson"])
        counts = int(of["n"]), int(of["n"]) * queries
        note = _panel_note(
            Panel(row, column, *counts, shown[0], shown[1], shown[2])._replace(
                r_pearson=of["r_pearson"]
            )
        )
        note = note.replace("\u2212", "-")
        assert note in texts(tmp_path / f"{stem}.svg")


def test_embeddings_of_one_model_share_a_panel(tables: Tables, tmp_path: Path) -> None:
    """A panel of one embedding's single point shows nothing."""
    points = tables.points.query("method == 'none'").drop(columns="parent_key", errors="ignore")
    left = tables._replace(points=points)
    left = left._replace(
        intrinsic=tables.intrinsic[tables.intrinsic["point"].isin(points["point"])],
        extrinsic=tables.extrinsic[tables.extrinsic["point"].isin(points["point"])],
    )
    joined = join_points(left).assign(model=lambda table: table["embedding"])
    draw_figures(joined, tmp_path, suffixes=[])
    assert {path.name for path in tmp_path.iterdir()} == {f"{STEMS[0]}.csv", f"{STEMS[2]}.csv"}
    columns = pd.read_csv(tmp_path / f"{STEMS[0]}.csv")["panel_column"]
    assert set(columns) == {"recall gap", "precision gap"}


def test_figure_6_has_one_column_per_type_of_test_item(
    tables: Tables, tmp_path: Path, texts: Texts
) -> None:
    """Held-out items of the task itself are no type of the challenge set."""
    subsets = ("type1", "type2", "held_out")
    rows = pd.concat([tables.extrinsic.assign(subset=subset) for subset in subsets])
    draw_figures(join_points(tables._replace(extrinsic=rows)), tmp_path, suffixes=[".svg"])
    numbers = pd.read_csv(tmp_path / "figure6_hatespeech_en_weat.csv")
    assert set(numbers["panel_column"]) == {"type1", "type2"}
    assert set(numbers["panel_row"]) == {"recall gap", "precision gap"}
    actual = texts(tmp_path / "figure6_hatespeech_en_weat.svg")
    assert {"type1", "type2", "recall gap", "precision gap"} <= set(actual)


def fields(node: Any, axis: str) -> set[str]:
    """The columns that a chart has on an axis."""
    if isinstance(node, list):
        return set[str]().union(*(fields(part, axis) for part in node))
    if not isinstance(node, dict):
        return set()
    found = node.get("encoding", {}).get(axis, {}).get("field")
    return {found} - {None} | fields([*node.values()], axis)


def test_figures_for_a_paper(tables: Tables, tmp_path: Path) -> None:
    """Figure 3, and only it, has the paper's axes; PDFs fit a column, grids the text."""
    joined = join_points(tables)
    unit = joined["measure"].map({"recall": 20.0, "precision": 1.0})
    joined["y"] += unit * np.random.default_rng(0).normal(size=len(joined))
    results = correlate_slices(joined)
    with figures_as(FigureStyle(width="column", axes="paper")):
        draw_figures(
            joined,
            tmp_path,
            results=results,
            confirmatory=["precision", "recall"],
            suffixes=(".json", ".pdf"),
        )
    figure3, figure5, change = (
        json.loads((tmp_path / f"{stem}.json").read_text("utf-8"))
        for stem in (STEMS[0], STEMS[2], "change")
    )
    assert {"y", "y_low", "fit_y"} <= fields(figure3, "x")
    assert {"x", "x_low", "fit_x"} <= fields(figure3, "y")
    assert "x" in fields(figure5, "x") & fields(change, "x")
    # Gaps of several units have a scale each
    assert figure3["resolve"]["scale"] == {"x": "independent", "y": "shared"}
    for stem, width in ((STEMS[0], b"455"), ("change", b"219")):
        assert b"/MediaBox [0 0 " + width in (tmp_path / f"{stem}.pdf").read_bytes()


def test_of_too_many_points_nothing_is_drawn(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasbridge.analysis.figures._MAX_POINTS_DRAWN", 1)
    console = Console(record=True, width=300, file=io.StringIO())
    assert draw_figures(join_points(tables), tmp_path, console=console) == []
    assert f"not drawn: {STEMS[0]} (" in console.export_text()


def swept(noisy: Tables) -> tuple[pd.DataFrame, list[SliceResult]]:
    joined = join_points(noisy)
    return joined, declared(correlate_slices(joined))


def test_the_first_picture_has_models_means_of_conditions_and_changes(noisy: Tables) -> None:
    joined, results = swept(noisy)
    data = change_data(joined, results)
    titles = [("recall gap", "WEAT 7"), ("recall gap", "WEAT 8")]
    titles += [("precision gap", "WEAT 7"), ("precision gap", "WEAT 8")]
    assert sorted(set(zip(data["gap"], data["score"], strict=True))) == sorted(titles)
    part = data[(data["gap"] == "recall gap") & (data["score"] == "WEAT 7")]
    rows = joined.query("query == 'weat7' and measure == 'recall' and status == 'done'")
    models = part[part["kind"] == "model"]
    assert sorted(models["x"]) == pytest.approx(sorted(rows["x"]))
    assert models["method"].tolist() == rows["method"].replace("none", "unmodified").tolist()
    means = part[part["kind"] == "condition"]
    # Deviations from the embedding's mean, averaged, about the mean of the unmodified models
    for side in ("x", "y"):
        deviations = rows[side] - rows.groupby("embedding")[side].transform("mean")
        expected = deviations.groupby([rows["method"], rows["direction"]]).mean()
        expected += rows.loc[rows["method"] == "none", side].mean() - expected["none", ""]
        for method in ("balance", "attract_repel"):
            line = [expected["none", ""], *expected[method]]
            of_method = means.loc[means["method"] == method, side]
            assert sorted(of_method) == pytest.approx(sorted(line)), method
    (result,) = (
        item
        for item in results
        if item.names["query"] == "weat7" and item.names["measure"] == "recall"
    )
    (change,) = part[part["kind"] == "change"].to_dict("records")
    assert [change[name] for name in ("x", "low", "high")] == [*result.change]
    assert change["verdict"] == result.verdict


def test_the_first_picture_has_the_band_of_the_smallest_change(
    noisy: Tables, tmp_path: Path, texts: Texts
) -> None:
    joined, results = swept(noisy)
    results = [result._replace(x=0.04) for result in results]
    draw_figures(joined, tmp_path, results=results, suffixes=[".svg"])
    assert len(pd.read_csv(tmp_path / "change.csv")) == len(change_data(joined, results))
    actual = texts(tmp_path / "change.svg")
    assert {"unmodified", "balance", "attract_repel", "cannot tell", "change of the gap"} <= {
        *actual
    }
    assert any("Grey: .04 up and down from" in text for text in actual)
    assert any("Synthetic data" in text for text in actual)
    spec = change_chart(change_data(joined, results), results).to_dict()
    panels, forest = spec["hconcat"]
    assert len(panels["concat"]) == 4
    for panel, result in zip(panels["concat"], results, strict=True):
        band = panel["layer"][0]["encoding"]
        ends = [band[side]["datum"] for side in ("y", "y2")]
        assert ends == pytest.approx([result.gap_unmodified - 0.04, result.gap_unmodified + 0.04])
    band = forest["layer"][0]["encoding"]
    assert [band[side]["datum"] for side in ("x", "x2")] == [-0.04, 0.04]
    several = [result._replace(x=0.1 * n) for n, result in enumerate(results, 1)]
    chart = change_chart(change_data(joined, several), several).to_dict()
    bands = [layer["encoding"] for layer in chart["hconcat"][1]["layer"][: len(several)]]
    assert [band["x2"]["datum"] for band in bands] == [result.x for result in several]
    assert len({band["y"]["datum"] for band in bands}) == len(several)


def test_reverse_scored_metrics_keep_their_scores_on_a_reversed_axis(noisy: Tables) -> None:
    joined, results = swept(noisy)
    turned = joined.assign(x=1 - joined["x"], unbiased=1.0, reverse_scored=True)
    of_turned = declared(correlate_slices(turned))
    data = change_data(turned, of_turned)
    scores = data.loc[(data["kind"] == "model") & (data["score"] == "WEAT 7 (sign reversed)"), "x"]
    expected = turned.loc[(turned["query"] == "weat7") & turned["y"].notna(), "x"]
    assert sorted(scores) == pytest.approx(sorted(expected))
    assert [item.change.value for item in of_turned] == pytest.approx(
        [item.change.value for item in results], nan_ok=True
    )
    panel = change_chart(data, of_turned).to_dict()["hconcat"][0]["concat"][0]
    assert panel["layer"][1]["encoding"]["x"]["scale"]["reverse"] is True


def test_of_many_tests_six_have_a_panel_and_all_a_row(noisy: Tables) -> None:
    joined, results = swept(noisy)
    many = [
        result._replace(names=result.names | {"task": f"t{i}"})
        for i in range(2)
        for result in results
    ]
    tables = [joined.assign(task=f"t{i}") for i in range(2)]
    chart = change_chart(change_data(pd.concat(tables, ignore_index=True), many), many).to_dict()
    panels, forest = chart["hconcat"]
    assert len(panels["concat"]) == 6
    assert len(forest["layer"][-1]["encoding"]["y"]["scale"]["domain"]) == 8
    assert "Left: the first 6 of 8 tests." in chart["title"]["subtitle"]


# Scatter plots of any table by column names.

Texts_scatter = Callable[[Path], list[str]]
FOREIGN = "Kind,WEAT score,Gap.1[x],Test\n" + "\n".join(
    f"{k},{i},{y},{6 + i % 2}" for k in "ab" for i, y in enumerate([2, 1, 4, 3, 5])
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.csv"
    path.write_text(FOREIGN)
    return path


def test_foreign_table(
    foreign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: Texts_scatter
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
    actual = texts(out)
    assert {"A title", "WEAT score", "Gap.1[x]", "a", "b", "Test", "6", "7", "Kind"} <= set(actual)
    notes = [text for text in actual if re.fullmatch(r"n = 5, r = \.80 \[-?\.\d\d, \.\d\d\]", text)]
    assert len(notes) == 2


def test_line_joins_means(foreign: Path, tmp_path: Path, texts: Texts_scatter) -> None:
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
    joined = join_points(make_ladders(2, 20, 0.4))
    all_measures = Declaration(confirmatory=tuple({*joined["measure"]}))
    actual = {
        (item.names["measure"], item.names["query"]): item.within
        for item in correlate_slices(joined, all_measures)
        if (item.names["embedding"], item.names["method"]) == ("all", "all")
    }
    panels = _panel_statistics(_grid_data(joined, x="x", y="y", row="measure", column="query"))
    assert len(panels) == 6
    for panel in panels:
        behind = actual[panel.row, panel.column]
        assert panel.models == 40
        assert (panel.r, panel.low, panel.high) == pytest.approx(behind.interval)
    (pooled,) = _panel_statistics(_grid_data(joined, x="x", y="y"))
    assert (pooled.n, pooled.models) == (240, 40)
    reverse = joined.assign(reverse_scored=True, dose=joined["x"])
    for x, sign in (("dose", 1), ("x", -1)):
        (panel,) = _panel_statistics(_grid_data(reverse, x=x, y="y"))
        assert panel.r == pytest.approx(sign * pooled.r)


def test_a_chart_of_recorded_results_has_the_numbers_of_their_report() -> None:
    folder = Path(__file__).parents[2] / "docs" / "runs" / "transfer_minilm"
    chart = plot.scatter(read_results(folder, resamples=True)).to_dict()
    shown = {row["note"] for rows in chart["datasets"].values() for row in rows if "note" in row}
    recorded = read_table(folder / "correlations.csv")
    for row in recorded.to_dict("records"):
        r, low, high, pearson = (format_number(float(row[name])) for name in NUMBERS)
        note = f"n = {row['n']}, r_rm = {r} [{low}, {high}], Pearson {pearson}"
        assert note.replace("-", "\u2212") in shown
    without = plot.scatter(read_results(folder)).to_json()
    assert "without resamples: read_results(..., resamples=True) reads them" in without


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
    ("column", "options"),
    [
        *product(
            ("metric", "query", "convention", "part", "measure", "subset", "privileged", "task"),
            [{"colour": "method"}],
        ),
        *product(("query", "mark"), [{"row": "seed_of", "shape": "method"}]),
    ],
)
def test_different_scores_and_gaps_are_not_pooled(column: str, options: dict[str, str]) -> None:
    """The README's call drew two gaps in one cloud, with an r of neither."""
    joined = varied(join_points(make_ladders(2, 20, 0.4)), column, ("one", "two"))
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
    joined = join_points(make_ladders(2, 20, 0.4))
    selected = joined[["metric", "query", "measure", "privileged", "unprivileged", "x", "y"]]
    notes = notes_of(plot.scatter(selected))
    assert len(notes) == 6
    for (query, measure), part in selected.groupby(["query", "measure"]):
        [note] = [
            note
            for (row, column), note in notes.items()
            if row.replace(" ", "").lower() == query and column.startswith(str(measure))
        ]
        r = float(np.corrcoef(part["x"], part["y"])[0, 1])
        assert float(note.split("r = ")[1].split()[0]) == pytest.approx(r, abs=0.0051)


def test_axes_are_called_by_score_and_gap() -> None:
    joined = varied(join_points(make_ladders(2, 20, 0.4)), "seed", ("0", "1"))
    joined = joined.assign(metric="weat", privileged="male", unprivileged="female")
    text = plot.scatter(joined, colour="method").to_json()
    query = query_title(joined["query"].iloc[0])
    assert f'"{query} effect size (d)"' in text
    assert '"recall gap"' in text
    assert '"(above 0: worse for female)"' in text
    assert '"x"' not in re.findall(r'"title": ("[^"]*")', text)


def test_too_many_panels_are_refused() -> None:
    joined = join_points(make_ladders(2, 20, 0.4))
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
