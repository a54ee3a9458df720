"""The correlation study as a run calls it: what it prints and writes, and what it says where there
is nothing to conclude or draw.
"""

from __future__ import annotations

import io
import subprocess
import sys
from math import nan
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.answer import print_answer
from biasbridge.analysis.charts import PALETTE
from biasbridge.analysis.concluding import _EXPLORATORY_COLUMNS
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.correlation_study import _NO_TASK, Correlation
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.slices import CORRELATION_COLUMNS
from biasbridge.analysis.verdicts import VERDICTS
from biasbridge.commands.correlate import main as correlate
from biasbridge.commands.report import main as report
from biasbridge.files import InputError
from biasbridge.files.terminal import open_console

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.analysis.study import Study
    from biasbridge.analysis.tables import Tables


def concluded(study: Study, folder: Path, tables: Tables) -> tuple[list[Path], str]:
    """What a study writes and prints."""
    printed = io.StringIO()
    written = study.conclude(tables, folder, Console(file=printed, width=120))
    return written, printed.getvalue()


def test_points_and_correlations_are_printed_and_everything_is_written(
    tables: Tables, tmp_path: Path, slices: pd.DataFrame
) -> None:
    written, printed = concluded(Correlation(), tmp_path, tables)
    assert "10 of 11 points done" in printed
    assert "not 2; WEAT 7, 8 cannot be judged." in " ".join(printed.split())
    details = (tmp_path / "details.txt").read_text(encoding="utf-8")
    assert "hatespeech_en, weat: r_rm" in details
    names = [path.name for path in written if path.parent == tmp_path]
    assert names == [
        *("correlations.csv", "exploratory.csv", "gaps.csv", "scopes.csv"),
        *("report.html", "correlations.tex", "details.txt"),
    ]
    assert all(path.is_file() for path in written)
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {
        ".svg",
        ".pdf",
        ".csv",
    }
    declared, exploratory = (
        pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False)
        for name in ("correlations", "exploratory")
    )
    assert declared.columns.tolist() == slices.columns.tolist() == list(CORRELATION_COLUMNS)
    assert exploratory.columns.tolist() == list(_EXPLORATORY_COLUMNS)
    assert len(declared) + len(exploratory) == len(slices) == 54
    assert set(declared["verdict"]) <= set(VERDICTS)


@pytest.mark.parametrize(
    ("doses", "parents", "line"),
    [
        (9, 3, "10 conditions of 3 parents: a verdict is possible"),
        (9, 2, "10 conditions of 2 parents: a verdict is possible, one on gaps takes 3 parents"),
        (8, 3, "9 conditions of 3 parents: no verdict is possible, 10 conditions are needed"),
        (9, 1, "10 conditions of 1 parent: a verdict is possible, one on gaps takes 3 parents"),
        (0, 9, "1 condition of 1 parent: no verdict is possible, 8 degrees of freedom are needed"),
        (0, 10, "1 condition of 1 parent: a verdict is possible"),
    ],
)
def test_a_plan_says_whether_a_verdict_is_possible(doses: int, parents: int, line: str) -> None:
    facts = [
        {"method": "balance" if dose else "none", "direction": "debias" * bool(dose), "dose": dose}
        | {"embedding": "word2vec", "seed": parent, "task": "hatespeech_en"}
        | {"unit_key": f"{parent} {dose}", "parent_key": str(parent), "corpus_key": str(parent)}
        for parent in range(parents)
        for dose in range(doses + 1)
    ]
    [printed] = Correlation().outline(facts)
    assert printed == line
    assert len(printed) <= 80
    [without] = Correlation().outline([fact | {"task": _NO_TASK} for fact in facts])
    assert without == "no task: there are scores and no gaps, so no verdict is possible"


@pytest.mark.parametrize(
    ("corpora", "stereotype", "more"),
    [
        (2, nan, ""),  # of two parents each
        (2, 0.5, ", one on gaps takes 3 worlds"),
        (3, 0.5, ""),
    ],
)
def test_a_plan_counts_the_units_of_verdicts(corpora: int, stereotype: float, more: str) -> None:
    """Of two algorithms in each corpus, or synthetic world."""
    facts = [
        {"method": "balance" if dose else "none", "direction": "debias" * bool(dose), "dose": dose}
        | {"embedding": name, "seed": seed, "task": "hatespeech_en", "stereotype": stereotype}
        | {"unit_key": f"{name} {seed} {dose}", "parent_key": f"{name} {seed}"}
        | {"corpus_key": str(seed)}
        for name in ("word2vec", "fasttext")
        for seed in range(corpora)
        for dose in range(10)
    ]
    n = 2 * corpora
    line = f"10 conditions of {n} parents: a verdict is possible{more}"
    assert Correlation().outline(facts) == [line]


def test_what_cannot_be_correlated_is_said_and_is_no_failure(
    tables: Tables, tmp_path: Path
) -> None:
    """A done point of no task among others: it has scores and no gap."""
    some = tables.extrinsic[tables.extrinsic["point"] != "word2vec none"]
    written, printed = concluded(Correlation(), tmp_path, tables._replace(extrinsic=some))
    assert "not correlated: 1 done points have no row in the extrinsic table" in printed
    names = [path.name for path in written]
    assert names == ["correlations.csv", "exploratory.csv", "gaps.csv", "scopes.csv"]
    assert all(pd.read_csv(path).empty for path in written)


def test_what_cannot_be_drawn_is_said_and_is_no_failure(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More methods than there are colours."""
    monkeypatch.setattr("biasbridge.analysis.figures.PALETTE", PALETTE[:7])
    modified = tables.points["method"] != "none"
    names = [f"method {number}" for number in range(modified.sum())]
    points = tables.points.copy()
    points.loc[modified, "method"] = names
    written, printed = concluded(Correlation(), tmp_path, tables._replace(points=points))
    assert "not drawn: 8 colours" in printed
    assert tmp_path / "report.html" in written
    assert not list(tmp_path.glob("figures/*"))


def test_the_confirmatory_measures_and_the_utility_are_chosen(
    tables: Tables, tmp_path: Path
) -> None:
    accuracy = tables.extrinsic["measure"].replace("f1", "accuracy")
    tables = tables._replace(extrinsic=tables.extrinsic.assign(measure=accuracy))
    study = Correlation(confirmatory=("precision",), utility="accuracy")
    concluded(study, tmp_path, tables)
    details = (tmp_path / "details.txt").read_text(encoding="utf-8")
    heads = " ".join(details.splitlines()[1].split())
    assert "precision gap accuracy" in heads
    assert "recall" not in heads
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Precision gap: WEAT 7, 8 cannot be judged." in page
    assert "accuracy of the task" in page
    columns = pd.read_csv(tmp_path / "figures" / "figure3_hatespeech_en_weat.csv")["panel_column"]
    assert set(columns) == {"word2vec, precision gap", "fasttext, precision gap"}


def test_what_was_declared_is_kept_for_those_who_come_later(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path, tables)
    study = Correlation(
        confirmatory=("recall",),
        queries=("weat7",),
        embeddings=("word2vec",),
        smallest_change={"recall": 0.5},
        utility="f1",
    )
    concluded(study, tmp_path, tables)
    assert Correlation.of(tmp_path) == study
    before = pd.read_csv(tmp_path / "correlations.csv")
    names = before[before["verdict"].notna()][["measure", "query", "embedding", "method"]]
    assert names.to_numpy().tolist() == [["recall", "weat7", "word2vec", "all"]]
    assert report([str(tmp_path)]) == 0
    assert "WEAT 7 cannot be judged." in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert correlate([str(tmp_path), "--out", str(tmp_path / "again.csv")]) == 0
    again = pd.read_csv(tmp_path / "again.csv")
    again = again[again["verdict"].notna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, before, check_dtype=False)
    assert Correlation.of(tmp_path / "elsewhere") == Correlation()
    (tmp_path / "correlation.json").write_text('{"smallest_change": -2}')
    with pytest.raises(InputError, match="smallest_change=-2"):
        Correlation.of(tmp_path)


def test_choosing_a_study_loads_nothing_that_draws_or_computes() -> None:
    code = (
        "import sys, biasbridge.analysis.correlation_study, biasbridge.studies.survey;"
        "sys.exit(bool({'altair', 'scipy', 'statsmodels', 'vl_convert'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("text", ['{"small', "[1]", '{"confirmatory": ["recall"], "least": 1}'])
def test_a_damaged_declaration_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "correlation.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"correlation\.json"):
        Correlation.of(tmp_path)


def test_the_answer_says_why_a_gap_has_no_value(tables: Tables) -> None:
    rows = tables.extrinsic.copy()
    gap = rows.index[(rows["kind"] == "gap") & (rows["measure"] == "recall")][0]
    rows.loc[gap, ["value", "low", "high"]] = float("nan")
    rows.loc[gap, "reason"] = "3 actual positives, fewer than 10"
    tables = tables._replace(extrinsic=rows)
    printed = io.StringIO()
    results = correlate_slices(join_points(tables))
    print_answer(tables, results, Declaration(), open_console(file=printed, width=120))
    text = " ".join(printed.getvalue().split())
    assert "Recall gap: no value at 1 of " in text
    assert "Example: 3 actual positives, fewer than 10." in text


@pytest.mark.parametrize("metric", ["mine", "centroid_distance", "zzz"])
def test_a_metric_of_the_users_own_is_among_the_scores_shown(metric: str, tables: Tables) -> None:
    declared = Declaration()
    results = correlate_slices(join_points(tables), declared)
    more = [
        item._replace(names={**item.names, "metric": name})
        for name in ("ect", "rnd", "mac", metric)
        for item in results
    ]
    printed = io.StringIO()
    console = open_console(file=printed, width=200)
    print_answer(tables, [*results, *more], declared, console)
    lines = printed.getvalue().splitlines()
    rows = [line for line in lines if " to " in line and "[" in line and "[95%]" not in line]
    scores = [line.split()[0].lower() for line in rows]
    assert scores[0] == metric
