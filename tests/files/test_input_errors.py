"""The one error type, its suggestions and the exit status of a front door."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from biasbridge.files import InputError, nearest, run_cli

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("name", "expected"),
    [("weta", "; did you mean 'weat'?"), ("weat", "; did you mean 'weat'?"), ("zzz", "")],
)
def test_nearest_names_the_option_spelt_most_alike(name: str, expected: str) -> None:
    assert nearest(name, ["ripa", "weat", "ect"]) == expected


def _raise(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3)])
def test_run_cli_exits_with_the_status_of_main(result: int | None, status: int) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: result)
    assert stop.value.code == status


def test_run_cli_lets_a_bug_through() -> None:
    with pytest.raises(KeyError):
        run_cli(lambda: _raise(KeyError("bug")))


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (InputError("dose is 2; allowed is 0 to 1"), 2, "error: dose is 2; allowed is 0 to 1\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(), 1, ""),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.csv"),
            2,
            "error: cannot write a.csv: No space left on device; free some space, or choose another"
            " place\n",
        ),
    ],
)
def test_run_cli_answers_in_one_line_at_most(
    error: BaseException, status: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(error))
    assert (stop.value.code, *capsys.readouterr()) == (status, "", printed)


@pytest.mark.parametrize("command", ["gaps {}", "gaps --help", "check {}", "train --cfg job"])
def test_a_full_disk_under_the_output_is_one_line(command: str, tmp_path: Path) -> None:
    table = tmp_path / "posts.csv"
    table.write_text("label,prediction,group\n1,1,a\n0,1,a\n1,0,b\n0,0,b\n")
    line = [sys.executable, "-m", "biasbridge", *command.format(table).split()]
    if command.startswith("train"):
        line = [sys.executable, str(ROOT / "train.py"), *command.split()[1:]]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            line, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: cannot write the output: No space left on device; free some space, or choose"
        " another place"
    ]
