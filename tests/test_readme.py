"""What README and docs show: their commands, names, files and links are there, and print that."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasbridge.__main__ import main as biasbridge
from biasbridge.analysis.naming import measure_title
from biasbridge.analysis.result_folder import write_tables
from biasbridge.commands import COMMANDS
from biasbridge.files.charts import save_chart
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.words import load_query
from tests.analysis.conftest import make_tables
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from tests.conftest import Train

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
TEXTS["docs/results.md"] += (ROOT / "docs/columns.csv").read_text(encoding="utf-8")  # shown there
EXTENDING = "docs/extending.md"  # tests/test_extending.py runs what it shows
FIRST = "python train.py +experiment=hatespeech_en"
NUMBER = r"[-+]?(?:\d*\.\d+|\d+)"
ONES_OWN = {"mine", "NAME"}  # experiments of a reader's own


def blocks(language: str, page: str = "README.md") -> list[str]:
    """Return the fenced blocks of a page in a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXTS[page], re.DOTALL | re.MULTILINE)


def shown_study() -> list[str]:
    """The lines that the README shows of the first study, but for those it leaves out."""
    (block,) = re.findall(
        rf"{re.escape(FIRST)}\n```\n\n```\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    )
    return [line for line in block.splitlines() if line.strip(" .…")]


def words_of(line: str) -> str:
    """A line without its numbers, which another run may have otherwise, and without spacing."""
    return " ".join(re.sub(NUMBER, "#", line).split())


def numbers_of(line: str) -> list[float]:
    return [float(number) for number in re.findall(NUMBER, line)]


@pytest.mark.slow
def test_the_first_study_prints_what_the_readme_shows(tmp_path: Path, train: Train) -> None:
    status, out, err = train(*FIRST.split()[2:])
    assert status == 0, out + err
    printed = out.splitlines()
    for line in shown_study():
        numbers = pytest.approx(numbers_of(line), abs=0.0101)
        same = [each for each in printed if words_of(each) == words_of(line)]
        assert [each for each in same if numbers_of(each) == numbers], (line, same)
    assert len(printed) <= 25
    assert max(map(len, printed)) <= 80
    for path in re.findall(r"results/hatespeech_en/[\w./]+", "\n".join(shown_study())):
        assert (tmp_path / path.rstrip(".")).exists(), path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with files of the names that the README's examples read."""
    rng = np.random.default_rng(0)
    people_words = ["he", "him", "man", "she", "her", "woman"]
    words = [*people_words, "office", "work", "home", "family", "is", "at", "nice", "awful"]
    words += ["job", "salary", "kitchen", "children"]
    vectors = keyed(words, rng.normal(size=(len(words), 8)).astype(np.float32))
    for name in ("vectors.vec", "glove.6B.50d.txt"):
        save_vectors(vectors, tmp_path / name)
    people, label = rng.choice(["men", "women"], 200), rng.integers(0, 2, 200)
    items = pd.DataFrame({"label": label, "prediction": rng.integers(0, 2, 200), "group": people})
    items["probability"] = rng.random(200)
    items.to_csv(tmp_path / "predictions.csv", index=False)
    who = np.where(people == "men", "he", "she")
    how = np.where(label == 1, "awful", "nice")
    text = [
        f"{one} is {other} at work {n}" for n, (one, other) in enumerate(zip(who, how, strict=True))
    ]
    pd.DataFrame({"text": text, "label": label}).to_csv(tmp_path / "posts.csv", index=False)
    (tmp_path / "words.yaml").write_text(
        "work: {X: [office, work], Y: [home, family], A: [he, him, man], B: [she, her, woman]}\n"
    )
    (tmp_path / "mine.yaml").write_text(*blocks("yaml", "docs/howto/vectors.md"))
    (tmp_path / "mine.csv").write_text(*blocks("csv", "docs/howto/models.md"))
    write_tables(tmp_path / "results" / "mine", make_tables())
    save_model(tmp_path / "path" / "to" / "model", "bert", head="masked")
    return tmp_path


RUN = {"gaps": 1, "audit": 2, "check": 1, "init": 1}  # commands, and the lines that have them


def test_the_commands_on_ones_own_files_run(
    files: Path, no_data: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    bash = "".join(blocks("bash"))
    for command, count in RUN.items():
        lines = re.findall(rf"^biasbridge ({command} .*?)(?: +#.*)?$", bash, re.MULTILINE)
        assert len(lines) == count
        for line in lines:
            status = biasbridge(line.split())
            # A small random model may know no word of an audit
            has_no_score = re.search(r"(\d+) of \1 scores have no value", capsys.readouterr().out)
            assert status == bool(has_no_score), line
    assert (files / "audit.html").exists()
    assert (files / "experiment" / "mine.yaml").exists()


@pytest.mark.parametrize(
    "page", [page for page in TEXTS if page != EXTENDING and blocks("python", page)]
)
def test_python_on_a_page_runs_and_gives_numbers(
    page: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores, gaps and slices have values, and vectors moved until WEAT is 0 have a WEAT of 0."""
    monkeypatch.chdir(files)
    query = load_query("weat7").lowered()
    rng = np.random.default_rng(0)
    words = sorted({word for role in "XYAB" for word in query[role].words})
    names: dict[str, Any] = {
        "vectors": keyed(words, rng.normal(size=(len(words), 8)).astype(np.float32))
    }
    names |= dict(zip("xyab", rng.normal(size=(4, 8, 5)), strict=True))
    for code in blocks("python", page):
        exec(compile(code, page, "exec"), names)
    for name, column in (("table", "value"), ("scores", "value"), ("rows", "y")):
        assert name not in names or np.isfinite(names[name][column]).any()
    if "moved" in names:
        assert names["moved"].attrs["scores"]["after"].iloc[0] == pytest.approx(0, abs=0.01)


def first_calls(language: str) -> list[str]:
    """Return the first call of each block of the README, and those that its comments show."""
    lines = [re.sub(r"  +# .*", "", block.splitlines()[0]) for block in blocks(language)]
    return [line.split(" && ")[0] for line in lines]


def test_the_first_call_of_each_block_is_run() -> None:
    """By the tests above; an environment is set up before there are tests."""
    installs = {"make study", "pip install torch==2.13.0"}
    calls = {*first_calls("bash")} - installs - {FIRST}
    assert len(calls) == len(blocks("bash")) - 3
    assert {tuple(call.split()[:2]) for call in calls} <= {("biasbridge", name) for name in RUN}
    assert len(blocks("python")) == 1


def test_the_figures_of_the_readme_are_drawn(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last comment too: of a study with two gaps, each has its panels and its own r."""
    monkeypatch.chdir(files)
    [code] = blocks("python")
    [comment] = re.findall(r"^# after a study: (.*)$", code, re.MULTILINE)
    import biasbridge

    names: dict[str, Any] = {"biasbridge": biasbridge, "plot": biasbridge.plot}
    *statements, drawing = comment.split("; ")
    exec("\n".join(statements), names)
    chart = eval(drawing, names)
    save_chart(chart, files / "scatter.svg")
    panels = {
        row["note"]: row
        for data in chart.to_dict()["datasets"].values()
        for row in data
        if row.get("note")
    }
    scores, gaps = ({*names["rows"][name]} for name in ("query", "measure"))
    assert len({(row["row"], row["column"]) for row in panels.values()}) <= len(scores) * len(gaps)
    assert {row["column"].removesuffix(" gap") for row in panels.values()} <= {
        measure_title(name) for name in gaps
    }
    drawn = (files / "scatter.svg").read_text(encoding="utf-8")
    for name in gaps:
        assert f"{measure_title(name)} gap" in drawn
    exec(compile(code, "README.md", "exec"), names)
    save_chart(names["plot"].gaps(names["table"]), files / "gaps.svg")
    assert "women" in (files / "gaps.svg").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 700


def slug(heading: str) -> str:
    """The anchor that GitHub and mkdocs give a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_leads_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), link


def named(pattern: str) -> Iterator[tuple[str, str]]:
    """Every page with what it names."""
    for page, text in TEXTS.items():
        for found in re.findall(pattern, text):
            yield page, found


def test_every_command_there_is_stands_in_the_list_of_commands() -> None:
    listed = TEXTS["docs/commands.md"]
    assert [name for name in COMMANDS if f"`biasbridge {name}" not in listed] == []


@pytest.mark.parametrize("page", TEXTS)
def test_every_command_and_module_named_exists(page: str) -> None:
    commands = re.findall(r"(?:^|[`$(]|-m )biasbridge ([a-z]+)", TEXTS[page], re.MULTILINE)
    assert set(commands) <= {*COMMANDS}
    modules = set(re.findall(r"python -m ([\w.]+)", TEXTS[page]))
    names = [name.rstrip(".") for name in modules]
    packages = [name for name in names if (ROOT / name.replace(".", "/")).is_dir()]
    runnable = [f"{name}.__main__" if name in packages else name for name in names]
    assert [name for name in runnable if not importlib.util.find_spec(name)] == []


@pytest.mark.parametrize("group", ["experiment", "sweep"])
def test_every_experiment_named_exists(group: str) -> None:
    known = {path.stem for path in (ROOT / "conf" / group).glob("*.yaml")} | ONES_OWN
    assert [each for each in named(rf"\+{group}=(\w+)") if each[1] not in known] == []


def test_every_source_file_named_exists() -> None:
    rooms = "analysis|biasbridge|conf|corpora|debias|extrinsic|files|intrinsic|studies|tests|train"
    paths = named(rf"`((?:{rooms})/[\w/]+\.(?:py|yaml))`")
    of_examples = EXTENDING  # it says how to write files that are not there
    missing = [each for each in paths if not (ROOT / each[1]).exists() and each[0] != of_examples]
    assert missing == []


def test_make_study_prints_what_it_installs(tmp_path: Path) -> None:
    """With an environment whose pip and Python do nothing."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml", "tests/peers.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    links = "for name in pip python; do ln -s /bin/true .venv/bin/$name; done"
    (tmp_path / "python").write_text(f"#!/bin/sh\nmkdir -p .venv/bin\n{links}\n")
    (tmp_path / "python").chmod(0o755)
    command = ["make", "study", f"PYTHON={tmp_path}/python"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    packages = sum(not line.startswith(("#", " ")) for line in lines)
    assert f"torch 2.13.0, the {packages} packages of requirements.lock, tests" in done.stdout
    assert "--quiet" not in done.stdout
