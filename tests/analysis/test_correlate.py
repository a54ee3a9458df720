"""Correlations by slices: the paper's own results, anybody's table, and the command line."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biasbridge
from biasbridge.analysis.correlate import Levels, _describe_repeats, correlate, correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.scopes import CORPORA, SEEDS
from biasbridge.analysis.slices import CORRELATION_COLUMNS, SliceResult
from biasbridge.commands.correlate import main
from biasbridge.files import InputError
from biasbridge.files.tables import read_table
from tests.analysis.conftest import make_rows, make_sweep

if TYPE_CHECKING:
    from biasbridge.analysis.tables import Tables

# What users read; others may come and go.
FIXED = (
    *("n", "n_parents", "n_conditions", "n_lost", "gap_unmodified"),
    *("change", "change_low", "change_high", "verdict", "detectable_change", "why", "p_holm"),
    *("r_rm", "low", "high", "r_pearson"),
)
# Goldfarb-Tarrant et al. (2021), coreference results of their repository, computed with scipy
# alone: n and Pearson r.
GOLDEN: dict[tuple[str, ...], dict[tuple[str, ...], tuple[int, float]]] = {
    (): {(): (84, 0.278192)},
    ("Metric",): {("Precision",): (42, 0.284948), ("Recall",): (42, 0.286107)},
    ("Embedding",): {("word2vec",): (42, 0.397383), ("fastText",): (42, 0.272619)},
    ("Metric", "Embedding"): {
        ("Precision", "word2vec"): (21, 0.443735),
        ("Precision", "fastText"): (21, 0.266632),
        ("Recall", "word2vec"): (21, 0.400519),
        ("Recall", "fastText"): (21, 0.290352),
    },
}
GAP = "Performance Gap"


@pytest.fixture(scope="session")
def paper(realdata: Path) -> pd.DataFrame:
    return read_table(realdata / "results" / "coref_results_orig.csv")


@pytest.mark.realdata
@pytest.mark.parametrize("by", GOLDEN, ids="-".join)
def test_the_papers_coreference_results(by: tuple[str, ...], paper: pd.DataFrame) -> None:
    """Its rows are no models of their own, so none has a verdict."""
    result = correlate(paper, x="WEAT", y=GAP, by=by, confirmatory=["all"])
    actual = {tuple(item.names.values()): (item.n, item.within.r) for item in result}
    assert actual.keys() == GOLDEN[by].keys()
    for key, expected in GOLDEN[by].items():
        assert actual[key] == pytest.approx(expected, abs=5e-7)
    assert [item.r_pearson for item in result] == pytest.approx([item.within.r for item in result])
    assert {item.verdict for item in result} == {"cannot tell"}
    assert all("--observation" in item.why for item in result)


@pytest.mark.realdata
def test_the_papers_embeddings_cannot_tell(paper: pd.DataFrame) -> None:
    """84 rows are 14 embeddings of two algorithms, each with two gaps and three scores."""
    levels = Levels(observation=[GAP], parent=["Embedding"])
    actual = correlate(paper, x="WEAT", y=GAP, by=["Metric"], levels=levels, confirmatory=["all"])
    assert [(item.n, item.n_parents, item.within.df) for item in actual] == [(14, 2, 11)] * 2
    assert {item.verdict for item in actual} == {"cannot tell"}


def foreign(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    letters = {"a": rng.choice(["p", "q"], n), "b": rng.choice([6, 7], n)}
    return pd.DataFrame(letters | {"x": rng.normal(size=n), "y": rng.normal(size=n)})


def test_slices_of_a_foreign_table_equal_scipy() -> None:
    table = foreign()
    table.loc[3, "x"] = np.nan
    actual = correlate(table, x="x", y="y", by=["a", "b"])
    assert sum(item.n for item in actual) == 59
    assert sum(item.n_lost for item in actual) == 1
    for item in actual:
        a, b = item.names.values()
        part = table[(table["a"] == a) & (table["b"].astype(str) == b)].dropna()
        expected = stats.pearsonr(part["x"], part["y"])
        assert item.within.r == pytest.approx(expected.statistic)
        assert item.verdict == ""


@pytest.mark.parametrize(
    ("x", "by", "message"),
    [
        ("WAET", [], "no column 'WAET'; did you mean 'WEAT'"),
        ("WEAT", ["tsk"], "no column 'tsk'; did you mean 'task'"),
        ("task", [], "holds 'a' in row 1, which is not a number"),
        ("WEAT", ["n"], "'n' has the name of a result column"),
    ],
)
def test_bad_columns_are_refused(x: str, by: list[str], message: str) -> None:
    table = pd.DataFrame({"WEAT": [1.0], "gap": [1.0], "task": ["a"], "n": [1]})
    with pytest.raises(InputError, match=message):
        correlate(table, x=x, y="gap", by=by)
    with pytest.raises(InputError, match="no rows"):
        correlate(table[:0], x="WEAT", y="gap")


@pytest.mark.parametrize("change", [0, -0.1])
def test_a_smallest_change_that_is_not_above_0_is_refused(change: float) -> None:
    with pytest.raises(InputError, match=f"smallest_change={change}"):
        correlate(foreign(), x="x", y="y", smallest_change=change)


def test_confirmatory_slices_are_named_or_all() -> None:
    def asked(*names: str) -> list[str]:
        actual = correlate(foreign(), x="x", y="y", by=["a", "b"], confirmatory=names)
        assert [item.verdict != "" for item in actual] == [item.confirmatory for item in actual]
        return [" ".join(item.names.values()) for item in actual if item.confirmatory]

    assert asked() == []
    assert sorted(asked("all")) == ["p 6", "p 7", "q 6", "q 7"]
    assert asked("q 7") == ["q 7"]
    with pytest.raises(InputError, match=r"no slice 'q 8'; the table has .*'p 6'.*; or give all"):
        asked("q 7", "q 8")


def test_rows_of_one_embedding_taken_as_models_are_refused_a_verdict() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=20)
    table = pd.DataFrame({"x": np.repeat(y, 3) + rng.normal(size=60), "y": np.repeat(y, 3)})
    table = table.assign(name=np.arange(60) // 3)

    def whole(table: pd.DataFrame, *observation: str) -> SliceResult:
        levels = Levels(observation)
        (actual,) = correlate(table, x="x", y="y", levels=levels, confirmatory=["all"])
        return actual

    rows, models = whole(table), whole(table, "name")
    assert (rows.verdict, rows.n) == ("cannot tell", 60)
    assert "60 of 60 rows share their y with another x, as the rows of one embed" in rows.why
    assert "--observation" in rows.why
    assert (models.verdict, models.n) == ("rises", 20)
    # The other way round: several gaps beside one score
    rows = whole(table.rename(columns={"x": "y", "y": "x"}))
    assert "60 of 60 rows share their x with another y" in rows.why
    # A few values that happen to be equal are no repetition
    few = pd.DataFrame({"x": rng.normal(size=40), "y": [0.5, 0.5, *rng.normal(size=38)]})
    assert "share" not in whole(few).why


@pytest.mark.parametrize("items", [(10, 10), (20, 30), (100, 120)])
@pytest.mark.parametrize("rows", [12, 40, 150])
def test_gaps_of_few_items_may_be_equal_by_chance(rows: int, items: tuple[int, int]) -> None:
    rng = np.random.default_rng(rows)
    refused = 0
    for _ in range(100):
        shares = (rng.binomial(n, p, rows) / n for n, p in zip(items, (0.8, 0.7), strict=True))
        refused += bool(_describe_repeats(make_rows(rng.normal(size=rows), np.subtract(*shares))))
    assert refused <= 4, "of 100"


@pytest.mark.parametrize(("lost", "least"), [(0, 100), (0.2, 90)])
@pytest.mark.parametrize("times", [2, 3, 4])
def test_rows_of_one_embedding_are_seen_also_where_some_are_lost(
    times: int, lost: float, least: int
) -> None:
    rng = np.random.default_rng(times)
    seen = 0
    for _ in range(100):
        y = np.repeat(np.round(rng.normal(0, 0.1, 24), 4), times)
        y = y[rng.random(len(y)) >= lost]
        seen += bool(_describe_repeats(make_rows(rng.normal(size=len(y)), y)))
    assert seen >= least


def test_a_joined_table_says_levels_itself() -> None:
    """Rows were taken for models, and each for a parent of its own."""
    joined = join_points(make_sweep(0, 0.3, classifier=("cnn", "linear")))
    sliced = correlate(joined, x="x", y="y", by=["query"], confirmatory=["all"])
    every = {
        (item.names["query"], item.names["classifier"]): item
        for item in correlate_slices(joined)
        if (item.names["embedding"], item.names["method"]) == ("all", "all")
    }
    for item in sliced:
        same = every[item.names["query"], item.names["classifier"]]
        assert (item.n, item.n_parents, item.n_conditions) == (36, 4, 9)
        assert repr(item.within) == repr(same.within)
        assert (item.verdict, item.holds, item.why) == (same.verdict, same.holds, same.why)
    named = correlate(joined, x="x", y="y", levels=Levels(["point"], ["embedding"]))
    assert [(item.n, item.n_parents) for item in named] == [(36, 1), (36, 1)]


def written(tmp_path: Path, table: pd.DataFrame | Tables, *options: str) -> pd.DataFrame:
    """What the command writes of a table."""
    if isinstance(table, pd.DataFrame):
        source = tmp_path / "t.csv"
        table.to_csv(source, index=False)
    else:
        source = tmp_path / "sweep"
        write_tables(source, table)
    out = tmp_path / "out" / "slices.csv"
    assert main([str(source), *options, "--out", str(out)]) == 0
    assert {path.name for path in out.parent.iterdir()} == {"slices.csv", "slices_scopes.csv"}
    return pd.read_csv(out, keep_default_na=False, na_values=[""])


def test_cli_on_a_foreign_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"Test": ["6"] * 36 + [""] * 36, "of": [*"abcd"] * 18})
    table = table.assign(name=np.arange(72) % 36, WEAT=rng.normal(size=72))
    table[GAP] = table["WEAT"] * (table["Test"] == "6") + 0.3 * rng.normal(size=72)
    options = ["--x", "WEAT", "--y", GAP, "--by", "Test", "--observation", "name"]
    actual = written(tmp_path, table, *options, "--parent", "of")
    assert actual["Test"].tolist() == ["6", "(empty)"]
    assert set(FIXED) <= set(actual.columns)
    assert actual["n"].tolist() == [36, 36]
    assert actual[["verdict", "p_holm"]].isna().all(axis=None)
    assert "rises" not in capsys.readouterr().out.partition("Verdicts are")[0]
    actual = written(tmp_path, table, *options, "--parent", "of", "--confirmatory", "6")
    assert actual["verdict"].tolist()[0] == "rises"
    assert actual["verdict"].isna().tolist() == [False, True]
    printed = capsys.readouterr().out
    r = f"{actual['r_rm'][0]:.2f}".lstrip("0")
    assert f"{r} [" in printed
    assert "(empty)" in printed
    assert re.search(r"6 .* rises ", printed)


def test_cli_on_a_results_folder(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actual = written(tmp_path, tables)
    printed = capsys.readouterr().out
    assert "hatespeech_en" in printed
    assert "synthetic data" in printed
    assert actual.columns.tolist() == list(CORRELATION_COLUMNS)
    assert set(FIXED) <= set(actual.columns)
    assert len(actual) == 54
    confirmatory = actual[actual["verdict"].notna()]
    assert set(zip(confirmatory["query"], confirmatory["measure"], strict=True)) == {
        (query, measure) for query in ("weat7", "weat8") for measure in ("recall", "precision")
    }
    assert set(confirmatory["embedding"] + confirmatory["method"]) == {"allall"}
    assert main([str(tmp_path / "sweep"), "--by", "measure,method"]) == 0
    assert "y against x, 44 rows" in capsys.readouterr().out


def test_a_wide_table_is_folded_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    levels = {"corpus": ["a long name of a corpus"], "algorithm": ["one", "two"]}
    levels |= {"language": ["en", "es"], "metric": ["weat", "ect"], "parent": [*"abcd"]}
    table = pd.DataFrame(product(*levels.values(), range(4)), columns=[*levels, "dose"])
    table = table.assign(score=rng.normal(size=len(table)), gap=rng.normal(size=len(table)))
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.to_csv(path, index=False)
    by = ["--by", "corpus,algorithm,language,metric", "--parent", "parent", "--condition", "dose"]
    asked = [str(path), "--x", "score", "--y", "gap", *by, "--observation", "dose"]
    monkeypatch.setenv("COLUMNS", "80")
    main([*asked, "--out", str(out)])
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.endswith("; of all rows: corpus a long name of a corpus")
    parts = [number for number, line in enumerate(lines) if line.startswith("algorithm")]
    assert len(parts) == 2
    assert max(map(len, lines[: parts[-1] + 9])) <= 80
    headings = lines[parts[0]] + lines[parts[1]]
    for name in ("language", "metric", "r_rm [95%]", "change", "lost"):
        assert name in headings
    assert {"corpus", "n_lost", "change", "note"} <= {*pd.read_csv(out)}


def test_notes_name_the_most_influential_model_and_the_slice() -> None:
    rng = np.random.default_rng(0)
    cells = product("ab", (1, 2), ("up", "down"), (0.5, 1))
    table = pd.DataFrame(cells, columns=["query", "seed", "way", "dose"])
    table["x"], table["y"] = rng.normal(size=(2, len(table)))
    table.loc[11, ["x", "y"]] = 9
    found = biasbridge.correlate(
        table, "x", "y", by="query", parent="seed", condition=["way", "dose"]
    )
    said = "b: without the most influential model (down, dose 1, seed 1, row 12) r_rm is "
    assert any(note.startswith(said) for note in found.attrs["notes"])
    note, left_out = biasbridge.correlate(table[8:], "x", "y", parent="seed").attrs["notes"]
    assert note.startswith("without the most influential model (seed 1, row 4) r_rm is ")
    assert left_out.startswith("intervals leave out the sampling error")


@pytest.mark.parametrize("blank", ["", " "])
def test_a_corpus_that_is_named_like_a_seed_is_no_synthetic_world(blank: str) -> None:
    """Of two parents and five conditions in each of five corpora."""
    n = np.arange(50)
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    names = {"parent": n // 5, "way": n % 5, "corpus": [f"{blank}seed {i // 10}" for i in n]}
    table = pd.DataFrame({"x": x, "y": y} | names)
    levels = Levels(parent=["parent"], condition=["way"], cluster=["corpus"])
    [result] = correlate(table, x="x", y="y", levels=levels, confirmatory=["all"])
    assert (result.scopes[SEEDS].n, result.scopes[CORPORA].n) == (10, 5)
