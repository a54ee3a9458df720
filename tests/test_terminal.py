"""Names that look like markup are printed as they are, by every command that prints names."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge.__main__ import main
from biasbridge.commands import COMMANDS
from biasbridge.files.vectors import keyed, save_vectors

ROOT = Path(__file__).resolve().parent.parent
NAMES = ["[male]", "[/w]", "[red]x[/red]", ":x:"]
FIRST, SECOND, THIRD, FOURTH = NAMES
# What prints names of the user's: the command, and which of the names it prints
PRINTED = {
    "gaps": [
        ("gaps p.csv --report p.html --csv p-gaps.csv", NAMES),
        ("gaps p.csv --pred [/w] --pred :x:", NAMES),
        ("gaps p.csv --privileged [male] --fail-above recall=.9", NAMES),
        ("gaps p.csv --privileged [male] --unprivileged [/w]", [FIRST, SECOND]),
        ("gaps p.csv --score x --threshold all --privileged [male] --unprivileged [/w]", [SECOND]),
        ("gaps p.csv --gold group --pred guess --group label --multiclass", NAMES),
    ],
    "audit": [
        ("audit [male].vec :x:.vec --words w.json --query [/w] [red]x[/red] --case lower", NAMES),
        ("audit [male].vec --words w.json --query [/w] --verbose --single-scores", [FIRST, SECOND]),
    ],
    "agreement": [("agreement p.csv --text text --female [male]", NAMES)],
    "correlate": [("correlate p.csv --x x --y [/w] --by group --out [red].csv", NAMES)],
    "scatter": [("scatter p.csv --x x --y [/w] --row group --out :x:.svg", [FOURTH])],
    "tsne": [
        ("tsne [male].vec --words w.json --query [/w] --iterations 250 --out :x:.svg", [":x:"])
    ],
    "check": [("check p.csv --text text --label group --positive [male]", NAMES)],
    "debias": [
        ("debias [male].vec [red].vec --method leace --words w.json --query [/w]", ["[red].vec"])
    ],
    "store": [("store ls --store [red]", ["[red]"])],
}
# What prints no names but those of its results folder, of metrics and of built-in sets
OTHERS = {
    "analogy",  # words of letters, and the three of the command line
    "data",
    "train",
    "bbq",
    "certify",
    "coreference",
    "effects",
    "report",
    "init",
    "predict",
    "relate",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Predictions, words and vectors with such names."""
    folder = tmp_path_factory.mktemp("names")
    rng = np.random.default_rng(0)
    n = 240
    label = rng.integers(0, 2, n)
    guesses = {name: np.where(rng.random(n) < 0.2, 1 - label, label) for name in (SECOND, FOURTH)}
    table = pd.DataFrame({"label": label, "prediction": guesses[SECOND], **guesses})
    table["group"], table["x"] = rng.choice(NAMES, n), rng.normal(size=n)
    table["guess"] = np.where(rng.random(n) < 0.2, NAMES[0], table["group"])
    table["text"] = [f"{word} left {number}" for number, word in enumerate(["she", "he"] * 120)]
    table.to_csv(folder / "p.csv", index=False)
    words = [f"w{number}" for number in range(40)]
    roles = {role: words[10 * place : 10 * place + 10] for place, role in enumerate("XYAB")}
    queries = {"language": "en", "queries": dict.fromkeys(NAMES, roles)}
    (folder / "w.json").write_text(json.dumps(queries), encoding="utf-8")
    for name in (FIRST, FOURTH):
        save_vectors(keyed(words, rng.normal(size=(40, 8)).astype("f")), folder / f"{name}.vec")
    (folder / "[red]" / "locks").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("command", "names"),
    [pytest.param(*each, id=each[0]) for several in PRINTED.values() for each in several],
)
def test_a_name_is_printed_as_it_is(
    command: str,
    names: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    assert main(command.split()) in (0, 4)  # gaps of two versions: nobody can tell
    printed = capsys.readouterr().out
    for name in names:
        assert name in printed


def test_every_command_is_looked_at() -> None:
    assert {*PRINTED} | OTHERS == {*COMMANDS}


def test_nothing_else_opens_a_console_or_reads_markup() -> None:
    rooms = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests"]
    found = set()
    for path in (path for room in rooms for path in room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ("Console", "from_markup", "render_markup"):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == {"files/terminal.py"}
