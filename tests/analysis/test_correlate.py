"""Correlations by slices: the paper's own results, the slices it breaks out, and the command
line.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.columns import numbers
from analysis.correlate import correlate, correlate_slices, main
from analysis.findings import CORRELATION_COLUMNS, correlation_table
from analysis.joined import join_points
from analysis.naming import SLICE_COLUMNS
from analysis.repeated_rows import repeats
from analysis.results import Tables, write_tables
from analysis.units import Rows
from files import InputError
from files.tables import read_table
from tests.analysis.designs import studies
from tests.analysis.test_specifications import tables_of

# Goldfarb-Tarrant et al. (2021), coreference results of their repository, computed with scipy
# alone: n, Pearson r and p.
Names = tuple[str, ...]
GOLDEN: dict[Names, dict[Names, tuple[float, float, float]]] = {
    (): {(): (84, 0.278192, 0.010399)},
    ("Metric",): {("Precision",): (42, 0.284948, 0.067389), ("Recall",): (42, 0.286107, 0.066234)},
    ("Embedding",): {
        ("word2vec",): (42, 0.397383, 0.009163),
        ("fastText",): (42, 0.272619, 0.080688),
    },
    ("Metric", "Embedding"): {
        ("Precision", "word2vec"): (21, 0.443735, 0.043908),
        ("Precision", "fastText"): (21, 0.266632, 0.242669),
        ("Recall", "word2vec"): (21, 0.400519, 0.071986),
        ("Recall", "fastText"): (21, 0.290352, 0.201670),
    },
}


@pytest.mark.realdata
@pytest.mark.parametrize("by", GOLDEN, ids="-".join)
def test_the_papers_coreference_results(by: tuple[str, ...], realdata: Path) -> None:
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    found = {
        tuple(each.names.values()): each.statistics
        for each in correlate(table, x="WEAT", y="Performance Gap", by=by)
    }
    assert found.keys() == GOLDEN[by].keys()
    for key, expected in GOLDEN[by].items():
        row = found[key]
        assert (row.n, row.pearson, row.pearson_p) == pytest.approx(expected, abs=5e-7)


@pytest.mark.realdata
def test_the_papers_rank_correlations(realdata: Path) -> None:
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    (whole,) = correlate(table, x="WEAT", y="Performance Gap")
    row = whole.statistics
    assert (row.spearman, row.spearman_p, row.kendall) == pytest.approx(
        (0.392936, 0.000218, 0.276091), abs=5e-7
    )
    fasttext, word2vec = correlate(table, x="WEAT", y="Performance Gap", by=["Embedding"])
    assert (word2vec.names, fasttext.names) == (
        {"Embedding": "word2vec"},
        {"Embedding": "fastText"},
    )
    rho = [word2vec.statistics.spearman, fasttext.statistics.spearman]
    assert rho == pytest.approx([0.622794, 0.247589], abs=5e-7)
    assert word2vec.statistics.spearman_p == pytest.approx(1.1e-5, abs=5e-7)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["coref_results_orig", "hsd_en"])
@pytest.mark.parametrize("by", [[], ["Metric"], ["Embedding"], ["Metric", "Test"]], ids="-".join)
def test_the_papers_tables_equal_scipy(name: str, by: list[str], realdata: Path) -> None:
    if not (path := realdata / "results" / f"{name}.csv").is_file():
        pytest.skip(f"no results/{name}.csv among the real data")
    table = read_table(path)
    for each in correlate(table, x="WEAT", y="Performance Gap", by=by):
        same = [table[key].astype(str) == value for key, value in each.names.items()]
        part = table[np.logical_and.reduce(same)] if same else table
        x, y = numbers(part, "WEAT"), numbers(part, "Performance Gap")
        expected = [
            of(x, y).statistic for of in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        ]
        row = each.statistics
        assert [row.pearson, row.spearman, row.kendall] == pytest.approx(expected, abs=1e-9)


@pytest.mark.realdata
def test_a_column_of_whole_numbers_and_an_almost_empty_one(realdata: Path) -> None:
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    for by, sizes in (
        ("Test", {"6": 28, "7": 28, "8": 28}),
        ("Name", {"baseline_ft": 6, "(empty)": 72, "baseline_w2v": 6}),
    ):
        found = correlate(table, x="WEAT", y="Performance Gap", by=[by])
        assert {each.names[by]: each.statistics.n for each in found} == sizes


def test_slices_of_a_foreign_table_equal_scipy() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.choice(["p", "q"], 60),
            "b": rng.choice([6, 7], 60),
            "x": rng.normal(size=60),
            "y": rng.normal(size=60),
        }
    )
    table.loc[3, "x"] = np.nan
    result = correlate(table, x="x", y="y", by=["a", "b"])
    assert sum(each.statistics.n for each in result) == 59
    assert sum(each.statistics.n_missing for each in result) == 1
    for each in result:
        a, b = each.names.values()
        part = table[(table["a"] == a) & (table["b"].astype(str) == b)].dropna()
        expected = stats.pearsonr(part["x"], part["y"])
        row = each.statistics
        assert (row.pearson, row.pearson_p) == pytest.approx((expected.statistic, expected.pvalue))
        assert (row.pearson_low, row.pearson_high) == pytest.approx(
            tuple(expected.confidence_interval())
        )


@pytest.mark.parametrize(
    ("x", "by", "message"),
    [
        ("WAET", [], "no column 'WAET'; did you mean 'WEAT'"),
        ("WEAT", ["tsk"], "no column 'tsk'; did you mean 'task'"),
        ("task", [], "holds 'a' in row 1, which is no number"),
        ("WEAT", ["n"], "'n' has the name of a result column"),
    ],
)
def test_bad_columns_are_refused(x: str, by: list[str], message: str) -> None:
    table = pd.DataFrame({"WEAT": [1.0], "gap": [1.0], "task": ["a"], "n": [1]})
    with pytest.raises(InputError, match=message):
        correlate(table, x=x, y="gap", by=by)
    with pytest.raises(InputError, match="no rows"):
        correlate(table[:0], x="WEAT", y="gap")


def pick(result: pd.DataFrame, **names: str) -> pd.Series:
    rows = result[np.logical_and.reduce([result[name] == value for name, value in names.items()])]
    assert len(rows) == 1
    return rows.iloc[0]


def test_every_slice_of_the_paper(slices: pd.DataFrame) -> None:
    # (2 embeddings + all) x (2 queries + all) x 2 gaps x (2 methods + all)
    assert len(slices) == 3 * 3 * 2 * 3
    assert not slices.duplicated(list(SLICE_COLUMNS)).any()
    assert set(slices["method"]) == {"balance", "attract_repel", "all"}
    assert slices["generated"].all()


@pytest.mark.parametrize(
    ("embedding", "query", "method", "n", "r", "repeated"),
    [
        ("word2vec", "weat7", "all", 5, 1, False),
        ("word2vec", "weat8", "all", 5, -1, False),
        ("fasttext", "weat7", "all", 5, -1, False),
        ("all", "weat7", "all", 10, 0, False),
        ("word2vec", "all", "all", 10, 0, True),
        ("all", "all", "all", 20, 0, True),
        # Two balanced embeddings and the unmodified one
        ("word2vec", "weat7", "balance", 3, 1, False),
        ("fasttext", "weat7", "attract_repel", 3, -1, False),
    ],
)
def test_recall_slices_by_hand(
    slices: pd.DataFrame, embedding: str, query: str, method: str, n: int, r: float, repeated: bool
) -> None:
    row = pick(slices, embedding=embedding, query=query, measure="recall", method=method)
    assert (row["n"], row["repeated"]) == (n, repeated)
    assert row["pearson"] == pytest.approx(r, abs=1e-12)


def test_a_constant_gap_has_no_correlation(slices: pd.DataFrame) -> None:
    result = slices.query("measure == 'precision'")
    assert result["pearson"].isna().all()
    row = pick(result, embedding="fasttext", query="weat7", method="all")
    assert (row["n"], row["n_missing"], row["reason"]) == (4, 1, "y is constant")


def test_real_points_are_not_called_generated(tables: Tables) -> None:
    points = tables.points.assign(generated=tables.points["embedding"].eq("fasttext"))
    found = correlate_slices(join_points(tables._replace(points=points)))
    result = correlation_table(found, CORRELATION_COLUMNS).groupby("embedding")["generated"].all()
    assert result.to_dict() == {"word2vec": False, "fasttext": True, "all": True}


def test_conventions_parts_and_groups_are_slices_of_their_own(tables: Tables) -> None:
    """They are told apart and never pooled."""
    intrinsic = pd.concat(
        [
            tables.intrinsic,
            tables.intrinsic.assign(convention="caliskan", value=tables.intrinsic["value"] ** 3),
            tables.intrinsic.assign(metric="sembias", part="definition"),
            tables.intrinsic.assign(metric="sembias", part="none"),
        ]
    )
    recall = tables.extrinsic.query("kind == 'gap' and measure == 'recall'")
    extrinsic = pd.concat([tables.extrinsic, recall.assign(unprivileged="non-binary")])
    found = correlate_slices(join_points(Tables(tables.points, intrinsic, extrinsic)))
    result = correlation_table(found, CORRELATION_COLUMNS)
    assert not result.duplicated(list(SLICE_COLUMNS)).any()
    # Two conventions and two parts, three gaps, 3 x 3 x 3 of embedding, query and method.
    assert len(result) == 4 * 3 * 27
    assert result["n"].max() == 20
    assert set(result["unprivileged"]) == {"female", "non-binary"}


def test_what_is_not_defined_is_told_by_method(tables: Tables) -> None:
    found = correlate_slices(join_points(tables))
    told = {
        each.marks.missing
        for each in found
        if each.marks and each.names["measure"] == "precision" and each.names["method"] == "all"
    }
    assert told == {"1 of 2 balance", "1 of 3 balance", "2 of 5 balance"}, "units, not rows"


def test_words_and_posts_of_a_metric_without_resamples_are_not_known(tables: Tables) -> None:
    """A metric with resamples beside one without: the first has a reliability all the same."""
    rng = np.random.default_rng(0)
    scores, gaps = tables.intrinsic, tables.extrinsic.query("measure == 'recall'")
    scores = scores.assign(value=scores["value"] + 0.1 * rng.normal(size=len(scores)))
    gaps = gaps.assign(value=gaps["value"] + 0.01 * rng.normal(size=len(gaps)))

    def resampled(table: pd.DataFrame, noise: float) -> pd.Series[str]:
        drawn = numbers(table, "value")[:, None] + noise * rng.normal(size=(len(table), 60))
        return pd.Series(list(drawn), index=table.index)

    empty = pd.Series([np.zeros(0)] * len(scores), index=scores.index)
    without = scores.assign(metric="ect", resampled=empty)
    scores = scores.assign(resampled=resampled(scores, 0.05))
    gaps = gaps.assign(resampled=resampled(gaps, 0.001))
    points = tables.points[tables.points["status"] == "done"]
    found = correlate_slices(join_points(Tables(points, pd.concat([scores, without]), gaps)))
    whole = {
        each.names["metric"]: each.evidence
        for each in found
        if each.names["query"] == "weat7" and each.names["embedding"] == "word2vec"
    }
    assert whole["weat"].reliability_x > 0.9
    assert np.isnan(whole["ect"].reliability_x)


REPEATED = "rows share their y with another x, as the rows of one embedding do; name what is one"


def test_rows_of_one_embedding_taken_as_units_are_refused_a_verdict() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=20)
    table = pd.DataFrame({"x": np.repeat(y, 3) + rng.normal(size=60), "y": np.repeat(y, 3)})
    table = table.assign(unit=np.arange(60) // 3)
    (rows,), (units,) = (correlate(table, x="x", y="y", cluster=c) for c in ([], ["unit"]))
    assert (rows.judgement.verdict, rows.evidence.n_units) == ("cannot tell", 60)
    assert rows.judgement.why.startswith(f"60 of 60 {REPEATED}")
    assert (units.judgement.verdict, units.evidence.n_units) == ("supports", 20)
    # The other way round: several gaps beside one score
    (rows,) = correlate(table, x="y", y="x")
    assert rows.judgement.why.startswith("60 of 60 rows share their x with another y")
    # A few values that happen to be equal are no repetition
    few = pd.DataFrame({"x": rng.normal(size=40), "y": [0.5, 0.5, *rng.normal(size=38)]})
    assert "share" not in correlate(few, x="x", y="y")[0].judgement.why


def test_a_results_folder_sliced_by_columns_keeps_its_units_and_bases() -> None:
    """Rows were taken for units, and each for a base of its own."""
    joined = join_points(tables_of(studies("normal", 2, 20, 0.4, 1), 0))
    drawn = list(numbers(joined, "x")[:, None] + np.arange(60) % 7 / 9)
    joined = joined.assign(x_resampled=pd.Series(drawn))
    sliced = correlate(joined, x="x", y="y", by=["query", "measure"])
    every = {
        (each.names["query"], each.names["measure"]): each
        for each in correlate_slices(joined)
        if (each.names["embedding"], each.names["method"]) == ("all", "all")
    }
    for each in sliced:
        same = every[each.names["query"], each.names["measure"]]
        assert repr(each.evidence) == repr(same.evidence)
        assert each.evidence.n_bases == 2
    (other,) = correlate(joined, x="y", y="x", by=[])
    assert np.isnan(other.evidence.words_error)
    (named,) = correlate(joined, x="x", y="y", cluster=["point"], base=["embedding"])
    assert named.evidence.n_units == 40


def test_a_results_folder_sliced_by_columns_claims_nothing_where_nothing_is() -> None:
    of = studies("normal", 2, 20, 0, 40, seed=8)
    by = ["metric", "query", "measure"]
    told = [
        correlate(join_points(tables_of(of, study)), x="x", y="y", by=by)[0] for study in range(40)
    ]
    claims = [each for each in told if each.judgement.verdict in ("supports", "contradicts")]
    assert len(claims) <= 4, "half of them where rows are units"


def test_without_bases_nothing_is_said_to_be_within_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    table = pd.DataFrame({"x": x, "y": x + 0.3 * rng.normal(size=40), "of": ["a", "b"] * 20})
    (found,) = correlate(table, x="x", y="y")
    assert found.judgement.why.startswith("r over units is above 0")
    (based,) = correlate(table, x="x", y="y", cluster=["y"], base=["of"])
    assert based.judgement.why.startswith("r within bases is above 0")
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main([str(tmp_path / "t.csv"), "--x", "x", "--y", "y"]) == 0
    printed = capsys.readouterr().out
    assert "r over units" in printed
    assert "All verdicts are about r over units." in printed
    assert "base" not in printed


@pytest.mark.parametrize("items", [(10, 10), (20, 20), (20, 30), (100, 120)])
@pytest.mark.parametrize("rows", [12, 40, 150])
def test_gaps_of_few_items_may_be_equal_by_chance(rows: int, items: tuple[int, int]) -> None:
    rng = np.random.default_rng(rows)
    refused = 0
    for _ in range(200):
        shares = (rng.binomial(n, p, rows) / n for n, p in zip(items, (0.8, 0.7), strict=True))
        y = np.subtract(*shares)
        refused += bool(repeats(Rows.of(rng.normal(size=rows), y, range(rows))))
    assert refused <= 6, "of 200"


@pytest.mark.parametrize("lost", [0, 0.2])
@pytest.mark.parametrize("times", [2, 3, 4])
def test_rows_of_one_embedding_are_seen_also_where_some_are_lost(times: int, lost: float) -> None:
    rng = np.random.default_rng(times)
    seen = 0
    for _ in range(200):
        y = np.repeat(np.round(rng.normal(0, 0.1, 24), 4), times)
        y = y[rng.random(len(y)) >= lost]
        seen += bool(repeats(Rows.of(rng.normal(size=len(y)), y, range(len(y)))))
    assert seen == 200 if lost == 0 else seen > 180


def test_units_named_by_several_columns_stay_apart() -> None:
    """``p q`` and ``r`` are another unit than ``p`` and ``q r``."""
    labels = [("p q", "r"), ("p", "q r")]
    rows = [(*label, number) for number in range(6) for label in labels]
    table = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(x=range(12), y=range(12))
    [found] = correlate(table, x="x", y="y", cluster=["a", "b", "c"])
    assert found.evidence.n_units == 12


@pytest.mark.realdata
@pytest.mark.parametrize("by", [[], ["Metric"], ["Metric", "Embedding"], ["Test"]])
def test_the_papers_rows_without_clusters_are_refused_a_verdict(
    by: list[str], realdata: Path
) -> None:
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    found = correlate(table, x="WEAT", y="Performance Gap", by=by)
    assert {each.judgement.verdict for each in found} == {"cannot tell"}
    assert all("--cluster" in each.judgement.why for each in found)


@pytest.mark.realdata
def test_the_papers_embeddings_cannot_tell(realdata: Path) -> None:
    """84 rows are 14 embeddings of two bases, each with two gaps and three scores."""
    gap = "Performance Gap"
    table = read_table(realdata / "results" / "coref_results_orig.csv")
    units = correlate(table, x="WEAT", y=gap, by=["Metric"], cluster=[gap], base=["Embedding"])
    assert [each.evidence.n_units for each in units] == [14, 14]
    assert [each.evidence.n_bases for each in units] == [2, 2]
    assert {each.judgement.verdict for each in units} == {"cannot tell"}
    rows = [each.statistics.pearson for each in units]
    assert rows == pytest.approx([0.284948, 0.286107], abs=5e-7)


def test_cli_on_a_foreign_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"{test},{i},{[2, 1, 4, 3, 5][i] * sign}"
        for test, sign in (("6", 1), ("", -1))
        for i in range(5)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["Test,WEAT,Performance Gap", *rows]))
    out = tmp_path / "out" / "slices.csv"
    command = [
        str(tmp_path / "t.csv"),
        "--x",
        "WEAT",
        "--y",
        "Performance Gap",
        "--by",
        "Test",
        "--out",
        str(out),
    ]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert ".80 [-.28,.99]" in printed
    assert "(empty)" in printed
    written = pd.read_csv(out)
    assert written["Test"].tolist() == ["6", "(empty)"]
    assert written["pearson"].tolist() == pytest.approx([0.8, -0.8])
    assert not [path for path in out.parent.iterdir() if path != out]


def test_cli_on_a_results_folder(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path, tables)
    assert main([str(tmp_path), "--out", str(tmp_path / "slices.csv")]) == 0
    printed = capsys.readouterr().out
    assert "hatespeech_en" in printed
    assert "generated data" in printed
    written = pd.read_csv(tmp_path / "slices.csv")
    assert written.columns.tolist() == list(CORRELATION_COLUMNS)
    assert len(written) == 54
    assert main([str(tmp_path), "--by", "measure,method"]) == 0
    assert "y against x, 44 rows" in capsys.readouterr().out


def test_cli_knows_a_joined_table_saved_as_text(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = join_points(tables).assign(generated=False)
    drawn = list(numbers(joined, "x")[:, None] + np.arange(200) / 7)
    joined = joined.assign(x_resampled=pd.Series(drawn))  # in the file shortened text
    joined.to_csv(tmp_path / "joined.csv", index=False)
    out = tmp_path / "slices.csv"
    assert main([str(tmp_path / "joined.csv"), "--out", str(out)]) == 0
    assert "generated" not in capsys.readouterr().out
    expected = [each.statistics.pearson for each in correlate_slices(joined)]
    assert pd.read_csv(out)["pearson"].tolist() == pytest.approx(expected, nan_ok=True)


def test_cli_asks_for_columns_it_cannot_guess(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"name the two columns with --x and --y; .* has a, b"):
        main([str(tmp_path / "t.csv")])
    with pytest.raises(InputError, match="no column 'c'"):
        main([str(tmp_path / "t.csv"), "--x", "a", "--y", "c", "--out", str(tmp_path / "o.csv")])
    assert not (tmp_path / "o.csv").exists()
