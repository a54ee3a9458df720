"""A mistake at the command line is answered by one line and status 2, and leaves nothing behind."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from rich.console import Console

from biasbridge.__main__ import main
from files import InputError
from files.errors import run_cli
from tests.mistakes import MISTAKES, prepare
from train.front.compose import compose_point
from train.front.sweep import check_input

DOORS = [
    "benchmarks.__main__",
    "debias.__main__",
    "extrinsic.__main__",
    "extrinsic.agreement.__main__",
    "extrinsic.coreference.__main__",
    "intrinsic.__main__",
    "intrinsic.tsne.__main__",
    "train.store.__main__",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    prepare(folder)
    return folder


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_are_fifty() -> None:
    assert len({command for command, _ in MISTAKES}) == 50


def test_a_mistake_in_the_first_cell_is_answered_before_others_are_composed(folder: Path) -> None:
    posts = ["source=csv", f"source.path={folder / 'posts.csv'}", "source.text=tekst"]
    point = compose_point([*posts, "embedding=pretrained", f"embedding.path={folder / 'own.vec'}"])
    points = iter([point, point])
    with pytest.raises(InputError, match="has no column 'tekst'"):
        check_input(points, Console(quiet=True))
    assert next(points) is point


@pytest.mark.parametrize(("command", "answer"), MISTAKES, ids=[each[0] for each in MISTAKES])
def test_a_mistake(
    command: str,
    answer: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(sys, "argv", ["biasbridge", *command.split()])
    before = files_in(folder)
    with pytest.raises(SystemExit) as stop:
        run_cli(main)
    out, error = capsys.readouterr()
    assert (stop.value.code, out) == (2, ""), error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert answer in error
    assert files_in(folder) == before


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_option_is_bad_input_at_every_door(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [door, "--nonsense"])
    with pytest.raises(InputError, match=rf"; python -m {door.removesuffix('.__main__')} --help"):
        importlib.import_module(door).main()


@pytest.mark.parametrize("door", ["biasbridge.cli.check", "analysis.report.__main__"])
def test_no_help_has_the_marks_of_a_docstring(
    door: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [door, "--help"])
    with pytest.raises(SystemExit):
        importlib.import_module(door).main()
    assert "``" not in capsys.readouterr().out
