"""The paper's figures: what stands in them, and the numbers beside them."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from analysis.tables import write_tables

from analysis.figures import draw_figures, gap_title, group_title, metric_title, query_title
from analysis.grid import BLACK, PALETTE
from analysis.join import join_points
from analysis.read import Tables
from files import InputError

Texts = Callable[[Path], list[str]]
STEMS = [f"figure{number}_hatespeech_en_weat" for number in (3, 4, 5)]


def symbols(svg: Path) -> list[str]:
    """The fill colours of the points, legends left out."""
    drawing = svg.read_text()
    groups = re.findall(r'<g class="mark-symbol role-mark[^"]*"[^>]*>(.*?)</g>', drawing)
    return [fill for group in groups for fill in re.findall(r'fill="(#\w+)"', group)]


def test_three_figures_with_their_numbers(drawn: Path) -> None:
    assert {path.name for path in drawn.iterdir()} == {
        f"{stem}{suffix}" for stem in STEMS for suffix in (".svg", ".png", ".pdf", ".csv")
    }


def test_figure_3_has_one_panel_per_experiment(drawn: Path, texts: Texts) -> None:
    found = texts(drawn / f"{STEMS[0]}.svg")
    for label in (
        "WEAT 7",
        "WEAT 8",
        "WEAT effect size (d)",
        "performance gap (male - female)",
        "unmodified",
        "balance",
        "attract_repel",
    ):
        assert label in found
    # Word2vec with WEAT 7, fasttext with WEAT 8
    assert found.count("n = 5, r = 1.00 [1.00, 1.00]") == 2
    assert found.count("n = 5, r = -1.00 [-1.00, -1.00]") == 2
    assert found.count("n = 5, r undefined") == 2
    assert found.count("n = 4, r undefined") == 2
    assert (
        "hatespeech_en, generated data: WEAT effect size (d) and performance gaps, by query,"
        " embedding and gap" in found
    )
    assert any(text.startswith("Generated data: ") for text in found)


def test_figure_4_pools_the_queries_and_says_so(drawn: Path, texts: Texts) -> None:
    found = texts(drawn / f"{STEMS[1]}.svg")
    # Every unit has x and -x: r is 0 whatever is drawn
    assert found.count("n = 12 (6 units), r = .00") == 2
    assert {
        "balance",
        "attract_repel",
        "recall gap",
        "precision gap",
        "word2vec",
        "fasttext",
    } <= set(found)
    assert any("counts every embedding once per query" in text for text in found)


def test_figure_5_has_one_panel_per_gap(drawn: Path, texts: Texts) -> None:
    found = texts(drawn / f"{STEMS[2]}.svg")
    assert "n = 20 (10 units), r = .00" in found
    assert "n = 18 (9 units), r undefined" in found


@pytest.mark.parametrize(
    ("stem", "black", "others"), [(STEMS[0], 8, 30), (STEMS[1], 16, 30), (STEMS[2], 8, 30)]
)
def test_unmodified_embeddings_are_black(stem: str, black: int, others: int, drawn: Path) -> None:
    fills = [fill.upper() for fill in symbols(drawn / f"{stem}.svg")]
    assert fills.count(BLACK) == black
    assert sum(fill in PALETTE for fill in fills) == others
    assert len(fills) == black + others


@pytest.mark.parametrize("stem", STEMS)
def test_png_is_twice_the_svg(stem: str, drawn: Path) -> None:
    size = struct.unpack(">II", (drawn / f"{stem}.png").read_bytes()[16:24])
    match = re.search(r'width="(\d+)" height="(\d+)"', (drawn / f"{stem}.svg").read_text())
    assert match
    assert size == pytest.approx([2 * int(side) for side in match.groups()], abs=2)
    assert all(500 < side < 4000 for side in size)


@pytest.mark.parametrize("stem", STEMS)
def test_nothing_is_loaded_from_elsewhere(stem: str, drawn: Path) -> None:
    assert not re.findall(r'(?:href|src)="http', (drawn / f"{stem}.svg").read_text())


@pytest.mark.parametrize(("stem", "rows"), [(STEMS[0], 40), (STEMS[1], 48), (STEMS[2], 40)])
def test_the_numbers_beside_a_figure_are_the_joined_tables(
    stem: str, rows: int, drawn: Path, tables: Tables
) -> None:
    numbers = pd.read_csv(
        drawn / f"{stem}.csv", keep_default_na=False, na_values={"x": "", "y": ""}
    )
    key = ["point", "query", "gap"]
    assert len(numbers) == rows
    joined = join_points(*tables).set_index(key)[["x", "y"]].sort_index()
    shown = numbers.drop_duplicates(key).set_index(key)[["x", "y"]].sort_index()
    pd.testing.assert_frame_equal(shown, joined)


def test_a_panel_shows_the_slice_of_the_same_name(drawn: Path, slices: pd.DataFrame) -> None:
    slices = slices.set_index(["embedding", "query", "gap", "method"])
    checks = [
        (STEMS[0], "WEAT 7", "fasttext, recall gap", ("fasttext", "weat7", "recall_gap", "all")),
        (STEMS[1], "recall gap", "balance", ("all", "all", "recall_gap", "balance")),
        (STEMS[2], "", "recall gap", ("all", "all", "recall_gap", "all")),
    ]
    for stem, row, column, name in checks:
        numbers = pd.read_csv(drawn / f"{stem}.csv", keep_default_na=False)
        panel = numbers[(numbers["panel_row"] == row) & (numbers["panel_column"] == column)].iloc[0]
        assert int(panel["panel_n"]) == slices.loc[name, "n"]
        assert float(panel["panel_pearson"]) == pytest.approx(slices.loc[name, "pearson"])


def test_real_data_carry_no_stamp_and_a_results_folder_will_do(
    tables: Tables, tmp_path: Path, texts: Texts
) -> None:
    kept = tables.points["method"].isin(["none"])
    write_tables(
        tmp_path, tables.points[kept].assign(generated=False), tables.intrinsic, tables.extrinsic
    )
    paths = draw_figures(tmp_path, tmp_path / "figures")
    for path in paths:
        if path.suffix == ".svg":
            assert not any("enerated" in text for text in texts(path))
            assert "unmodified" in texts(path)


def test_nothing_to_draw_is_refused(tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the 11 points is done"):
        draw_figures(tables._replace(points=tables.points.assign(status="failed")), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("title", "name", "words"),
    [
        (gap_title, "f1_gap", "F1 gap"),
        (gap_title, "recall_gap (male-other)", "recall gap (male-other)"),
        (group_title, "male-female", "male - female"),
        (group_title, "non-binary-other", "non-binary-other"),
        (query_title, "weat6b", "WEAT 6b"),
        (query_title, "my_query", "my_query"),
        (metric_title, "weat", "WEAT effect size (d)"),
        (metric_title, "weat (caliskan)", "WEAT effect size (d), caliskan"),
        (metric_title, "ripa", "RIPA score"),
    ],
)
def test_names_in_words(title: object, name: str, words: str) -> None:
    assert title(name) == words  # type: ignore[operator]
