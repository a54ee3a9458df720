"""The pages in ``docs/runs`` say what their recorded tables say; and the statistic gives what a
prototype written before it gave of a study of November 2026.
"""

from __future__ import annotations

import lzma
import re
import statistics
from collections.abc import Hashable
from io import StringIO
from pathlib import Path
from typing import Any

import pages
import pandas as pd
import paper_tables
import pytest
import slice_tables
from recorded_runs import recorded_slices

from biasbridge.analysis.concluding import gap_table
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.scopes import DOSES
from biasbridge.analysis.slices import correlation_table, scope_table
from biasbridge.analysis.tables import read_tables
from biasbridge.commands.correlate import main as correlate
from biasbridge.commands.effects import main as effects
from biasbridge.stats.formatting import format_number
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
    # The page on all tasks repeats numbers of the others
    sources = PAGES if page.stem == "findings" else [page]
    tables = "".join(map(recorded_tables, sources))
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
    gaps = read_correlations(RUNS / run / "gaps.csv")
    pd.testing.assert_frame_equal(as_read(gap_table(results)), gaps)
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


def recorded_tables(page: Path) -> str:
    """The tables of a page, also those in files."""
    tables = ""
    for block in pages.BLOCK.finditer(page.read_text(encoding="utf-8")):
        kind, run, *place = block["name"].split()
        tables += block["body"]
        if place == [pages.FILE]:
            tables += pages.table_file(kind, run, page.parent).read_text(encoding="utf-8")
    return tables


def as_read(table: pd.DataFrame) -> pd.DataFrame:
    """The table as it is read from its file."""
    return read_correlations(StringIO(table.to_csv(index=False)))


def read_correlations(path: Path | StringIO) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def assert_same(again: pd.DataFrame, recorded: pd.DataFrame) -> None:
    exact = [name for name in ESTIMATES if name != "p_holm"]
    pd.testing.assert_frame_equal(again[exact], recorded[exact])
    # Which of 9,999 permutations are as large may turn on a processor's last digit
    pd.testing.assert_frame_equal(again[["p_holm"]], recorded[["p_holm"]], atol=2.5e-4)
    texts = ["verdict", "why"]
    pd.testing.assert_frame_equal(as_read(again[texts]), recorded[texts])
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


def literal_rows(run: str, **cells: str) -> list[dict[Hashable, Any]]:
    """Rows of gaps and values of the CNN, each with the cells of its point."""
    points, rows = (
        pd.read_parquet(RUNS / run / f"{name}.parquet").to_dict("records")
        for name in ("points", "extrinsic")
    )
    of_cnn = {point["point"]: point for point in points if point["classifier"] == "cnn"}
    both = [of_cnn[row["point"]] | row for row in rows if row["point"] in of_cnn]
    return [row for row in both if all(row[name] == cell for name, cell in cells.items())]


@pytest.mark.parametrize(
    "run", [run for run in paper_tables.RUNS["paper001"] if run != paper_tables.COREFERENCE]
)
def test_claims_of_the_paper_are_those_of_a_literal_loop(run: str) -> None:
    for measure in ("precision", "recall"):
        rows = [
            row
            for row in literal_rows(run, kind="gap", measure=measure)
            if row["method"] in ("none", "balance", "attract_repel")
            and not row["task"].endswith("_share")
        ]
        for embedding in paper_tables.EMBEDDINGS:
            gaps = [
                row["value"]
                for row in rows
                if row["embedding"] == embedding and row["method"] == "none"
            ]
            expected = sum(gaps) / len(gaps)
            actual = paper_tables.unmodified_gap(run, measure, embedding)
            assert actual == pytest.approx(expected)
        trainings: dict[tuple[object, object], list[float]] = {}
        for row in rows:
            key = (row["parent_key"], row["unit_key"])
            trainings.setdefault(key, []).append(row["value"])
        parents: dict[object, list[float]] = {}
        for (parent, _), values in trainings.items():
            parents.setdefault(parent, []).append(statistics.fmean(values))
        around = [value - statistics.fmean(part) for part in parents.values() for value in part]
        assert paper_tables.sd_among_copies(run, measure) == pytest.approx(statistics.stdev(around))


def test_claims_in_words_are_those_of_the_table() -> None:
    runs = [run for run in paper_tables.RUNS["paper001"] if run != paper_tables.COREFERENCE]
    for run in runs:
        gaps = [paper_tables.unmodified_gap(run, "precision", e) for e in paper_tables.EMBEDDINGS]
        assert abs(gaps[0] - gaps[1]) < 0.01
        recall, precision = (
            paper_tables.sd_among_copies(run, name) for name in ("recall", "precision")
        )
        assert recall > precision
    for measure, n_less_regular in {"recall": 2, "precision": 3}.items():
        r = [[paper_tables.r_rm(run, measure, e) for e in paper_tables.EMBEDDINGS] for run in runs]
        assert sum(abs(fasttext) < abs(word2vec) for word2vec, fasttext in r) == n_less_regular
    breakouts = (RUNS / "paper001_en" / "breakouts.csv").read_text("utf-8")
    for embedding in paper_tables.EMBEDDINGS:
        r_rm = format_number(paper_tables.r_rm("paper001_en", "recall", embedding), 2)
        assert f'"{r_rm} [' in breakouts


@pytest.mark.parametrize("group", ["women", "migrants"])
def test_spanish_f1_is_that_of_a_literal_loop(group: str) -> None:
    run = f"paper001_es_{group}"
    rows = literal_rows(run, kind="value", measure="f1", group=group, method="none")
    expected = statistics.fmean(row["value"] for row in rows)
    assert paper_tables.unmodified_f1(run, group) == pytest.approx(expected)
    assert expected == pytest.approx({"women": 0.768, "migrants": 0.652}[group], abs=5e-4)


CONF = RUNS.parents[1] / "conf"


@pytest.mark.parametrize("run", paper_tables.PANELS)
def test_recorded_settings_are_those_declared(run: str) -> None:
    """The experiment, or the sweep over it, was written before the run."""
    of_run = next(
        CONF / folder / f"{run}.yaml"
        for folder in ("sweep", "experiment")
        if (CONF / folder / f"{run}.yaml").is_file()
    )
    text = of_run.read_text("utf-8")
    epochs = re.search(r"(?:classifier\.epochs|resolver:\n  epochs): (\d+)", text)
    assert epochs
    assert paper_tables.recorded_options(run, "predictions.epochs") == [epochs[1]]
    assert paper_tables.recorded_options(run, "vectors.bucket") == ["200000"]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("corpus", "files"),
    {
        "en_tweets": ["en_tweets"],
        "en_plots": ["en_wiki_plots_plus"],
        "en_edited": ["en_gutenberg", "en_wiki_plots_plus"],
        "es_tweets_subtitles": ["es_tweets", "es_subtitles"],
    }.items(),
)
def test_words_of_restricted_corpora_are_those_counted(
    realdata: Path, corpus: str, files: list[str]
) -> None:
    n = 0
    for name in files:
        with lzma.open(realdata / "corpora" / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
            n += sum(len(line.split()) for line in lines)
    assert paper_tables.n_words(corpus) == n


def test_kept_neighbours_in_words_are_those_of_the_table() -> None:
    table = pd.read_csv(RUNS / "paper001_clusters.csv", keep_default_na=False)
    kept = table.set_index(["method", "direction", "seed", "embedding"])["neighbours_kept"]
    erasing = pd.concat([kept["hard"], kept["leace"]])
    pairs = [
        [kept["attract_repel"].min(), kept["attract_repel"].max()],
        [erasing.min(), erasing.max()],
        *(
            [kept[(*condition, name)] for name in paper_tables.EMBEDDINGS]
            for condition in (("none", "", 1), ("balance", "debias", 0), ("balance", "overbias", 0))
        ),
    ]
    page = (RUNS / "paper001.md").read_text("utf-8").partition("changes much which words")[2]
    said = [f"`{format_number(value)}`" for pair in pairs for value in pair]
    assert re.findall(r"`[.\d]+`", page)[: len(said)] == said
