"""``biasbridge gaps`` on other people's predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge.commands.gaps import main
from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.ranking import RANKINGS
from biasbridge.files import InputError

COLUMNS = ["--gold", "y", "--pred", "yhat", "--group", "who", "--privileged", "m"]


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, (2, 400))
    return pd.DataFrame(
        {
            "y": labels,
            "yhat": predictions,
            "who": rng.choice(["m", "f", "na", ""], 400),
            "text": "a, b",
        }
    )


def expected(data: pd.DataFrame, other: str, min_support: int = 10) -> pd.DataFrame:
    renamed = data.rename(columns={"y": "label", "yhat": "prediction", "who": "group"})
    renamed["group"] = renamed["group"].replace("", None)
    measures = ("base_rate", "recall", "fpr", "precision", "f1")
    return gap_table(renamed, Gaps("m", other, min_support, measures=measures))


def written(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    numbers = ["value", "low", "high"]
    return table.assign(**table[numbers].apply(pd.to_numeric))


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".parquet"])
def test_every_format_gives_the_table_of_the_library(
    data: pd.DataFrame, tmp_path: Path, suffix: str
) -> None:
    path, out = tmp_path / f"predictions{suffix}", tmp_path / "out" / "gaps.csv"
    if suffix == ".parquet":
        data.to_parquet(path)
    else:
        data.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    options = ["--unprivileged", "f", "--min-support", "8", "--csv", str(out)]
    main([str(path), *COLUMNS, *options])
    table, wanted = written(out), expected(data, "f", 8).drop(columns="resampled")
    assert list(table.columns) == list(wanted.columns)
    for column in ("kind", "measure", "group", "privileged", "unprivileged", "reason"):
        assert list(table[column]) == list(wanted[column])
    assert list(table["value"]) == pytest.approx(list(wanted["value"]), nan_ok=True)
    assert list(table["low"]) == pytest.approx(list(wanted["low"]), nan_ok=True)


@pytest.mark.parametrize(
    ("options", "column", "names"),
    [
        (["--score", "p"], "measure", ["base_rate", "recall", "fpr", "precision", "f1", *RANKINGS]),
        (["--pred", "other"], "classifier", ["yhat", "other", "other - yhat"]),
        (["--multiclass"], "subset", ["0", "1", "macro"]),
        ([], "kind", ["value", "gap", "max_difference", "ratio"]),
        (["--compare", "one-vs-rest"], "kind", ["value", "gap"]),
    ],
)
def test_what_an_option_adds(
    data: pd.DataFrame, tmp_path: Path, options: list[str], column: str, names: list[str]
) -> None:
    more = data.assign(other=1 - data["yhat"], p=np.linspace(0, 1, 400))
    out = tmp_path / "gaps.csv"
    main([str(saved(more, tmp_path / "p.csv")), *COLUMNS, *options, "--csv", str(out)])
    assert list(written(out)[column].unique()) == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pred", "yhat"], "--pred yhat is given twice"),
        (["--score", "p", "--score", "q"], "2 --score and 1 --pred"),
        (["--measures", "auc"], "--measures auc needs scores; give their column by --score"),
        (["--measures", "recal"], "did you mean 'recall'"),
        (["--compare", "others"], "each item one of pair, pairwise, one-vs-rest, one-vs-none,"),
        (["--compare", "pair"], "--compare pair compares --privileged with --unprivileged"),
        (["--multiclass", "--pred", "other"], "--multiclass measures one classifier"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    data: pd.DataFrame, tmp_path: Path, options: list[str], message: str
) -> None:
    data.to_csv(tmp_path / "p.csv", index=False)
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / "p.csv"), *COLUMNS, *options])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "y,yhot,who\n1,1,m\n", r"no column 'yhat'; did you mean 'yhot'\?"),
        ("p.csv", "y,yhat,woh\n1,1,m\n", r"no column 'who'; did you mean 'woh'\?"),
        ("p.csv", "y,yhat,who\n1,0.7,m\n0,,f\n", r"column 'yhat' holds '0.7', '' in 2 of 2 rows"),
        ("p.csv", "y,yhat,who\n1,1,m\n0,1,m\n", r"every row with a group is of group 'm'"),
        ("p.csv", "y,yhat,who\n", r"the table of predictions has no rows"),
        ("p.csv", "", r"p\.csv is empty"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / name), *COLUMNS, "--csv", str(tmp_path / "gaps.csv")])
    assert not (tmp_path / "gaps.csv").exists()


def saved(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False)
    return path


def test_columns_by_their_usual_names_need_no_option_and_a_page_is_written(
    data: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = data.rename(columns={"y": "label", "yhat": "prediction", "who": "group"})
    page = tmp_path / "page.html"
    main([str(saved(usual, tmp_path / "p.csv")), "--privileged", "m", "--report", str(page)])
    assert "Does the classifier treat the groups alike?" in page.read_text(encoding="utf-8")
    shown = capsys.readouterr().out
    assert "gap to m (positive: worse for the group)" in shown
    assert str(page) in shown


def test_many_groups_are_a_line_each_the_largest_gap_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"label": rng.integers(0, 2, 6_000)})
    table["group"] = rng.choice([f"g{i:02d}" for i in range(30)], 6_000)
    wrong = rng.random(6_000) < np.where(table["group"] == "g17", 0.5, 0.1)
    table["prediction"] = table["label"] ^ wrong
    main([str(saved(table, tmp_path / "p.csv"))])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = [line[0] for line in lines if line and line[0].startswith("g") and line[0] != "gap"]
    groups = [name for name in first if name != "group"]
    assert len(groups) <= 2 * 20
    assert groups[0] == "g17"
