"""The commands that ``biasbridge check`` prints run, for each data file that the tests have."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from biasbridge.__main__ import main as command
from biasbridge.files import InputError

TESTS = Path(__file__).parent
CASES = TESTS / "cases"
COMMAND = re.compile(r": biasbridge (.+)")
SLOW = ("audit", "init")  # of vectors and models: tested with these


def data_files() -> list[Path]:
    files = [path for path in CASES.rglob("*") if path.is_file()]
    plain = [path for path in files if not (path.parent / "config.json").exists()]
    own = [TESTS / "words.yaml", TESTS / "similar.tsv", *TESTS.glob("analysis/*/*.parquet")]
    return sorted([*plain, *own])


def printed_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The commands that check prints; a refusal prints none."""
    try:
        status = command(["check", *arguments])
    except InputError:
        return []
    finally:
        printed = capsys.readouterr().out
    commands = [shlex.split(text) for text in COMMAND.findall(printed)]
    assert commands or status == 1 or "give" in printed or "write" in printed
    return commands


@pytest.mark.parametrize("path", data_files(), ids=lambda path: path.name)
def test_each_command_that_check_prints_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree if path.is_dir() else shutil.copy
    copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    for words in printed_commands([path.name], capsys):
        if words[0] not in SLOW:
            plan = ["plan=true"] if words[0] == "train" else []
            assert status_of([*words, *plan]) == 0


def status_of(words: list[str]) -> object:
    """The status of a command; train exits by itself."""
    try:
        return command(words)
    except SystemExit as end:
        return end.code


def test_two_files_of_documents_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(CASES / "predictions" / f"four_{name}.conll") for name in ("key", "res")]
    [words] = printed_commands(paths, capsys)
    assert words == ["coreference", *paths]
    assert command([*words, "--json"]) == 0
    assert '"conll"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("label,prediction,group", ["1,1,a", "0,1,b"], ""),
        ("text,class,prediction,sex", ["x y,1,1,a", "z z,0,1,b"], " --gold class --group sex"),
        ("y,prediction,g", ["1,1,a", "0,1,b"], " --gold y --group g"),
        ("y_true,y_pred,muslim", ["mild,mild,1", "bad,mild,0"],
         " --gold y_true --pred y_pred --group muslim --multiclass"),
        ("label,prediction,group", ["1,1,a;b", "0,1,b"], " --group-sep ';'"),
    ],
)  # fmt: skip
def test_a_table_of_predictions_is_for_gaps(
    header: str, rows: list[str], options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("\n".join([header, *rows * 6]) + "\n", encoding="utf-8")
    assert command(["check", str(path)]) == 0
    line = f"{path}: predictions; to measure gaps: biasbridge gaps {path}{options}\n"
    assert capsys.readouterr().out == line
    assert command(shlex.split(line.partition(": biasbridge ")[2])) == 0


@pytest.mark.parametrize(
    ("header", "problem"), [("prediction,x", "the label"), ("label,prediction", "the group")]
)
def test_what_a_table_of_predictions_lacks_is_named(
    header: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text(f"{header}\n" + "1,a b\n0,c d\n" * 6, encoding="utf-8")
    assert command(["check", str(path)]) == 1
    assert f"missing: {path}: no column is recognised as {problem}" in capsys.readouterr().out
