"""``python -m extrinsic`` on other people's predictions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from extrinsic.__main__ import main
from extrinsic.gaps import gap_table
from files import InputError

COLUMNS = ["--gold", "y", "--pred", "yhat", "--group", "who", "--privileged", "m"]


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, (2, 80))
    return pd.DataFrame(
        {
            "y": labels,
            "yhat": predictions,
            "who": rng.choice(["m", "f", "NA", ""], 80),
            "text": "a, b",
        }
    )


def expected(data: pd.DataFrame, other: str, **options: int) -> pd.DataFrame:
    renamed = data.rename(columns={"y": "label", "yhat": "prediction", "who": "group"})
    renamed["group"] = renamed["group"].replace("", None)
    return gap_table(renamed, privileged="m", unprivileged=other, **({"seed": 0} | options))


def written(path: Path) -> pd.DataFrame:
    return pd.read_csv(
        path, keep_default_na=False, na_values={column: [""] for column in ("value", "low", "high")}
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_every_format_gives_the_table_of_the_library(
    data: pd.DataFrame, tmp_path: Path, suffix: str
) -> None:
    path, out = tmp_path / f"predictions{suffix}", tmp_path / "out" / "gaps.csv"
    if suffix == ".parquet":
        data.to_parquet(path)
    else:
        data.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    main(
        [
            str(path),
            *COLUMNS,
            "--unprivileged",
            "f",
            "--resamples",
            "50",
            "--seed",
            "4",
            "--csv",
            str(out),
        ]
    )
    table, wanted = written(out), expected(data, "f", resamples=50, seed=4)
    assert list(table["group"]) == list(wanted["group"])
    assert list(table["value"]) == pytest.approx(list(wanted["value"]), nan_ok=True)
    assert list(table["low"]) == pytest.approx(list(wanted["low"]), nan_ok=True)


def test_every_other_group_in_turn(
    data: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.to_csv(tmp_path / "p.csv", index=False)
    main([str(tmp_path / "p.csv"), *COLUMNS, "--csv", str(tmp_path / "gaps.csv")])
    table = written(tmp_path / "gaps.csv")
    assert not table.duplicated(["measure", "group"]).any()
    gaps = table[table["measure"] == "recall_gap"].set_index("group")["value"]
    assert list(gaps.index) == ["m-NA", "m-f"]
    for other in ("NA", "f"):
        wanted = expected(data, other)
        assert gaps[f"m-{other}"] == pytest.approx(
            wanted[wanted["measure"] == "recall_gap"]["value"].iloc[0]
        )
    printed = capsys.readouterr().out
    assert "recall_gap" in printed
    assert "m-NA" in printed


def test_markup_in_a_group_is_printed_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"y": [1, 1], "yhat": [1, 1], "who": ["m", "[bold]"]}).to_csv(
        tmp_path / "p.csv", index=False
    )
    main([str(tmp_path / "p.csv"), *COLUMNS])
    assert "[bold]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "y,yhot,who\n1,1,m\n", r"no column 'yhat'; did you mean 'yhot'\?"),
        ("p.csv", "y,yhat,woh\n1,1,m\n", r"no column 'who'; did you mean 'woh'\?"),
        ("p.csv", "y,yhat,who\n1,0.7,m\n0,,f\n", r"column 'yhat' holds '0.7', '' in 2 of 2 rows"),
        ("p.csv", "y,yhat,who\n1,1,m\n0,1,m\n", r"every row with a group is of group 'm'"),
        ("p.csv", "y,yhat,who\n", r"a gap needs a second group"),
        ("p.csv", "", r"cannot be read as csv"),
        ("p.csv", 'y,yhat,who\n1,1,"m\n', r"cannot be read as csv"),
        ("p.parquet", "y,yhat,who\n1,1,m\n", r"cannot be read as parquet"),
        ("p.xlsx", "", r"unknown format '.xlsx'; give .csv, .tsv or .parquet"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / name), *COLUMNS, "--csv", str(tmp_path / "gaps.csv")])
    assert not (tmp_path / "gaps.csv").exists()


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b"y,yhat,who\n1,1,m\xff\n")
    with pytest.raises(InputError, match="cannot be read as csv"):
        main([str(tmp_path / "p.csv"), *COLUMNS])


def test_the_front_door_ends_with_status_2_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "predictions.csv").touch()
    command = [sys.executable, "-m", "extrinsic", str(tmp_path / "prediction.csv"), *COLUMNS]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: no such file")
    assert "did you mean 'predictions.csv'?" in done.stderr
    assert done.stderr.count("\n") == 1
