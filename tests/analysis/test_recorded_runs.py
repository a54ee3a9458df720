"""The pages in ``docs/runs`` say what their recorded tables say; and the statistic gives what a
prototype written before it gave of a study of November 2026.
"""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pandas as pd
import pytest
import slice_tables
from recorded_runs import recorded_slices

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.scopes import DOSES
from biasbridge.analysis.slices import correlation_table, scope_table
from biasbridge.analysis.tables import read_tables
from biasbridge.commands.correlate import main as correlate
from biasbridge.commands.effects import main as effects
from biasbridge.studies.certificate_verdicts import _RECORDED_CSV

RUNS = Path(__file__).resolve().parents[2] / "docs" / "runs"
STUDIES = RUNS.parent / "studies"
PAGES = [*sorted(RUNS.glob("*.md")), STUDIES / "certificate.md"]
# Pages of many transfers and of a whole answer take a minute
SLOW_PAGES = {"answer", "transfer"}
TABLED = [
    pytest.param(page, marks=pytest.mark.slow) if page.stem in SLOW_PAGES else page
    for page in PAGES
]
RECORDED = sorted(path.parent.name for path in RUNS.glob("*/points.parquet"))
NUMBER = re.compile(r"(?<![\w.])-?\d?\.\d+")
PLANNED = {".05", ".30", ".35", ".39", ".8"}
ESTIMATES = [
    *("gap_unmodified", "score_low", "score_high", "change", "change_low", "change_high"),
    *("detectable_change", "r_rm", "low", "high", "r_pearson", "p_holm"),
]
# By a prototype, without the sampling error of words and items: r within parents, and over
# conditions, with its p.
PRECISION = {
    "weat6b": ((0.25, 0.12, 0.37), (0.49, -0.04, 0.80, 0.07)),
    "weat7": ((0.17, 0.04, 0.29), (0.35, -0.18, 0.72, 0.17)),
    "weat8": ((0.21, 0.10, 0.32), (0.40, -0.07, 0.73, 0.09)),
}
RECALL = {"weat6b": (0.07, 0.10), "weat7": (-0.04, -0.09), "weat8": (0.04, 0.04)}


def test_the_comparison_in_the_docs_is_that_of_the_recorded_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (RUNS.parent / "commands.md").read_text(encoding="utf-8")
    section = page.partition("## Two methods")[2].partition("\n## ")[0]
    shown = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    assert effects([str(RUNS / "answer_en"), "attract_repel", "leace"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert len(shown) == 7
    assert {*shown} - {"..."} <= {*printed}


def test_intervals_are_those_of_the_prototype() -> None:
    joined = join_points(read_tables(Path(__file__).parent / "november_2026"))
    actual = {
        (item.names["query"], item.names["measure"]): item
        for item in correlate_slices(joined)
        if item.confirmatory
    }
    for query, (within, conditions) in PRECISION.items():
        of = actual[query, "precision"]
        assert (of.n, of.n_parents, of.n_conditions, of.n_lost) == (192, 8, 24, 0)
        over = of.scopes[DOSES]
        assert of.within.interval == pytest.approx(within, abs=0.03)
        assert (*over.interval, over.p) == pytest.approx(conditions, abs=0.05)
    for query, expected in RECALL.items():
        of = actual[query, "recall"]
        assert (of.within.r, of.scopes[DOSES].r) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("page", TABLED, ids=lambda path: path.stem)
def test_every_table_of_a_page_is_that_of_its_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert pages.BLOCK.search(text), "a recorded page has no table of a recorded run"
    assert pages.render(text, page.parent) == text
    for path, table in pages.table_files(text, page.parent).items():
        assert path.read_text(encoding="utf-8") == table


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_number_in_the_words_of_a_page_is_in_a_table_of_it(page: Path) -> None:
    """Decimal fractions are scores, gaps and what is made of them. ``PLANNED``: what was said
    before a run; intervals of commands stand in code. Tables in files are read as they lie there.
    """
    text = page.read_text(encoding="utf-8")
    tables = ""
    for block in pages.BLOCK.finditer(text):
        kind, run, *place = block["name"].split()
        tables += block["body"]
        if place == [pages.FILE]:
            tables += pages.table_file(kind, run, page.parent).read_text(encoding="utf-8")
    words = re.sub(r"```.*?```|`[^`]*`", "", pages.BLOCK.sub("", text), flags=re.DOTALL)
    message, shown = (set(NUMBER.findall(part)) for part in (words, tables))
    assert {item.lstrip("-") for item in message - PLANNED} <= {item.lstrip("-") for item in shown}


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run, marks=pytest.mark.slow)
        if run in ("answer_en_link", "transfer_hatespeech")
        else run
        for run in RECORDED
    ],
)
def test_confirmatory_correlations_are_those_of_the_tables(run: str) -> None:
    recorded = read_correlations(RUNS / run / "correlations.csv")
    results = [result for result, _ in recorded_slices(run)]
    assert_same(correlation_table(results), recorded)
    scopes = read_correlations(RUNS / run / "scopes.csv")
    assert scope_table(results)["holds"].tolist() == scopes["holds"].tolist()


def test_the_command_writes_what_is_recorded(tmp_path: Path) -> None:
    run = RUNS / "transfer_retrieval"
    before = {path: path.stat().st_mtime_ns for path in run.iterdir()}
    assert correlate([str(run), "--out", str(tmp_path / "again.csv")]) == 0
    again = read_correlations(tmp_path / "again.csv").query("verdict.notna()")
    assert_same(again.reset_index(drop=True), read_correlations(run / "correlations.csv"))
    assert effects([str(run)]) == 0
    assert before == {path: path.stat().st_mtime_ns for path in run.iterdir()}


def read_correlations(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def assert_same(again: pd.DataFrame, recorded: pd.DataFrame) -> None:
    exact = [name for name in ESTIMATES if name != "p_holm"]
    pd.testing.assert_frame_equal(again[exact], recorded[exact])
    # Which of 9,999 permutations are as large may turn on a processor's last digit
    pd.testing.assert_frame_equal(again[["p_holm"]], recorded[["p_holm"]], atol=2.5e-4)
    assert again["verdict"].tolist() == recorded["verdict"].tolist()
    # How many common factors there are may turn on the last digit
    name = ["reliability_y"]
    pd.testing.assert_frame_equal(again[name], recorded[name], atol=0.02)


@pytest.mark.parametrize("run", RECORDED)
def test_recorded_tables_hold_no_post_and_no_path(run: str) -> None:
    tables = read_tables(RUNS / run)
    assert "parent_key" in tables.points
    for table in tables:
        for name in table:
            cells = [cell for cell in table[name] if isinstance(cell, str)]
            assert not any(re.search(r"(^|[\s\"'])/\w+/", cell) for cell in cells)
            assert max(map(len, cells), default=0) < 4000


def test_the_certificate_that_ships_is_the_recorded_one() -> None:
    assert _RECORDED_CSV.read_bytes() == (STUDIES / "certificate.csv").read_bytes()


def test_two_tests_on_one_cell_of_a_table_are_refused() -> None:
    by_corpus = slice_tables.LAYOUTS["by_corpus"]
    with pytest.raises(ValueError, match="paper001_open_davidson: two tests"):
        slice_tables.tabulate_tests(
            by_corpus._replace(rows=("gap", "score")), "paper001_open_davidson"
        )
