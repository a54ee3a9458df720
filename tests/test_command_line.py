"""The command line of a function: what a parameter becomes, and what is written where."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pytest

import biasbridge
from biasbridge.command_line import Command, Group, read_parameters, returns
from biasbridge.commands import COMMANDS
from biasbridge.files import InputError
from biasbridge.files.choice import Count  # noqa: TC001 - read for the command line
from biasbridge.files.writers import Document, text_table

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent


def _number(values: dict[str, Any]) -> Any:
    return values["number"]


@returns(_number)
def toy(
    source: str,
    *,
    number: int = 3,
    share: float | None = None,
    kind: Literal["one", "two"] = "one",
    is_fast: bool = False,
    checked: bool = True,
    names: str | Sequence[str] = (),
    columns: Sequence[str] = (),
    files: Sequence[str] = (),
    limit: Count | None = None,
    secret: str = "",
) -> dict[str, Any]:
    """Do nothing with a source.

    Parameters
    ----------
    source : path
        What is read. A second sentence is for the documentation.
    number : int
        A number of
        things.
    share, limit : float, int
        Two with ``one`` text.
    kind : {"one", "two"}
        Of 100% of them.
    is_fast : bool
        Be fast.
    checked : bool
        Do not check.
    names : sequence of str
        Names, repeated.
    columns : sequence of str
        Columns, by commas.
    files : sequence of path
        Files, as many as there are.
    secret : str
        Not on the command line.

    Returns
    -------
    int
        The number.
    """
    return {**locals(), "table": pd.DataFrame({"x": [1.5, float("nan")]})}


def show(values: dict[str, Any], console: Console, *, is_loud: bool = False) -> int:
    """Print.

    Parameters
    ----------
    is_loud : bool
        Be loud.
    """
    console.print("loud" if is_loud else "quiet", values["source"])
    return 4 if is_loud else 0


command = Command(
    toy,
    show,
    table=lambda values: values["table"],
    document=lambda values: Document([values["source"]], (), [text_table("t", values["table"])]),
    report=lambda values, path: path.write_text("page", encoding="utf-8"),
    spelling="names NAME...; columns A,B; files --file FILE+,; checked --unchecked; secret; csv"
    " --csv --out",
    name="toy",
)


def test_files_are_written_though_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    """As ``biasbridge gaps ... | head -1`` ends its pipe."""

    def end(values: dict[str, Any], console: Console) -> None:
        raise BrokenPipeError

    piped = Command(toy, end, report=lambda _, path: path.write_text("page", encoding="utf-8"))
    page = tmp_path / "page.html"
    with pytest.raises(BrokenPipeError):
        piped(["source", "--report", str(page)])
    assert page.read_text(encoding="utf-8") == "page"


def values_of(*arguments: str) -> dict[str, Any]:
    return command.read(arguments)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("x", {}),
        ("x --number 4 --share .5", {"number": 4, "share": 0.5}),
        ("x --kind two --is-fast --unchecked", {"kind": "two", "is_fast": True, "checked": False}),
        ("x --names a,b --names c", {"names": ["a,b", "c"]}),
        ("x --columns a,b", {"columns": ["a", "b"]}),
        ("--file a,b c -- x", {"files": ["a", "b", "c"]}),
        ("x --limit 1 --is-loud", {"limit": 1, "is_loud": True}),
        ("x --csv", {"csv": Path("-")}),
        ("x --out a.csv", {"csv": Path("a.csv")}),
    ],
)
def test_options_are_those_of_the_signature(arguments: str, values: dict[str, Any]) -> None:
    assert values_of(*arguments.split()) == {"source": "x", **values}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: source; biasbridge toy --help"),
        ("x --number y", "invalid int value: 'y'"),
        ("x --limit 0", "'0': give a whole number of at least 1"),
        ("x --kind three", "invalid choice: 'three'"),
        ("x --number 1 --number 2", "--number is given twice; give it once"),
        ("x --secret y", "unrecognized arguments: --secret y"),
        ("x --csv a.txt", "the name must end in .csv"),
        ("x --csv a.csv --json a.csv", "the name must end in .json"),
        ("x --csv --json", "--csv and --json both print rows; give one of them a file"),
    ],
)
def test_mistakes_are_one_line(arguments: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        command(arguments.split())
    assert message in str(refusal.value)


def test_python_gets_the_result_and_the_command_what_it_is_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert toy("x", number=5) == 5
    assert command(["x", "--is-loud", "--json", "a.json", "--report", "a.html"]) == 4
    assert capsys.readouterr() == ("loud x\na.html\n", "")
    assert json.loads(Path("a.json").read_text("utf-8")) == [{"x": 1.5}, {"x": None}]
    assert Path("a.html").read_text("utf-8") == "page"
    files = [word for kind in ("md", "tex", "json") for word in ("--write", f"b.{kind}")]
    assert command(["x", *files]) == 0
    assert Path("b.json").read_text("utf-8") == Path("a.json").read_text("utf-8")
    assert Path("b.md").read_text("utf-8").startswith("## toy\n\nx\n\nt:\n\n| x |")
    assert r"\caption{t}" in Path("b.tex").read_text("utf-8")
    assert capsys.readouterr().out == "quiet x\n"
    assert command(["x", "--csv"]) == 0
    assert capsys.readouterr() == ('x\n1.5\n""\n', "")
    assert command(["x", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_first_sentence_is_the_help() -> None:
    texts = read_parameters(toy)
    assert texts["source"] == "What is read"
    assert texts["number"] == "A number of things"
    assert texts["share"] == texts["limit"] == "Two with one text"
    help_text = command.parser().format_help()
    assert "A number of things (default: 3)" in help_text
    assert "Of 100% of them (default: one)" in help_text
    assert help_text.startswith("usage: biasbridge toy")
    assert "secret" not in help_text


def parsers() -> Iterator[argparse.ArgumentParser]:
    for name in sorted(COMMANDS.keys() - {"train"}):
        main = importlib.import_module(f"biasbridge.commands.{name}").main
        commands = main.commands.values() if isinstance(main, Group) else [main]
        yield from (command.parser() for command in commands)


@pytest.mark.parametrize("parser", list(parsers()), ids=lambda parser: parser.prog)
def test_every_option_has_a_plain_sentence(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001
        text = str(action.help)
        assert 1 < len(text.split()) <= 30, action.dest
        assert not re.search(r"[`*]|:func:|\.$", text), text
        assert text[0].isupper() or action.dest == "help", text


@pytest.mark.parametrize("name", ["audit", "bbq", "certify", "correlate", "debias", "gaps"])
def test_every_parameter_is_documented(name: str) -> None:
    function = getattr(biasbridge, name)
    names = [*inspect.signature(function).parameters]
    assert names == [*read_parameters(function)]


def test_functions_on_predictions_share_their_options() -> None:
    by_name = {
        name: inspect.signature(getattr(biasbridge, name)).parameters
        for name in ("gaps", "gate", "thresholds", "changed_items")
    }
    options = by_name["gaps"]
    assert by_name["gate"].keys() == options.keys()
    assert [*by_name["gate"]][:2] == ["predictions", "bounds"]
    assert options.keys() - by_name["changed_items"].keys() == {"bounds", "harm"}
    assert options.keys() - by_name["thresholds"].keys() == {"bounds", "harm", "threshold"}
    with pytest.raises(TypeError, match="a required argument: 'bounds'"):
        biasbridge.gate("p.csv")  # type: ignore[call-arg]


def test_the_list_of_commands_loads_no_library() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    code = "import sys; from biasbridge.__main__ import main; main(['--help']); print(*sys.modules)"
    out = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert not {*out.splitlines()[-1].split()} & {"numpy", "pandas", "rich", "hydra"}
