"""The base, without the packages of extras: the commands and functions that need no
more of it work, the others say what they lack, and each import is declared.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from biasbridge.analysis.result_folder import write_tables
from biasbridge.commands import COMMANDS
from biasbridge.files import InputError
from biasbridge.files.documents import Document, write_documents
from biasbridge.files.extras import EXTRAS, named_extra
from biasbridge.files.paths import ROOMS
from tests.analysis.conftest import make_tables
from tests.extrinsic.bbq_items import item
from tests.extrinsic.test_logs import choice_line, write

ROOT = Path(__file__).resolve().parent.parent
REMEDY = "run pip install '.[{}]' in the clone of biasbridge"
OPTIONAL = {name: package for packages in EXTRAS.values() for name, package in packages.items()}
EXTRA_OF = {package: extra for extra, packages in EXTRAS.items() for package in packages.values()}
BROUGHT = {  # modules by the distribution that brings them, where its name is another
    "pydantic_core": "pydantic",
    "typing_extensions": "pydantic",
    "yaml": "pyyaml",
}
# Of the start of every process, those that a command starts too
BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
# Runs the commands of the first argument, then the Python of the second
CODE = """
import contextlib, io, json, sys
commands, statements = map(json.loads, sys.argv[1:])
from biasbridge.__main__ import main

ended = {}
for command in commands:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            status = main(command)
        except SystemExit as stop:
            status = stop.code
        except Exception as error:
            status = f"{type(error).__name__}: {error}"
    ended[" ".join(command)] = status, out.getvalue()
names = {}
for statement in statements:
    try:
        exec(statement, names)
        ended[statement] = 0, ""
    except Exception as error:
        ended[statement] = f"{type(error).__name__}: {error}", ""
print(json.dumps(ended))
"""
Ends = dict[str, tuple[int | str, str]]
LOG = "samples_toxic_2026-01-02T03-04-05.678901.jsonl"
WORK = {  # commands, and a part of what they print
    "gaps p.csv --report gaps.html": "note: charts need altair: run pip install '.[plots]'",
    "gaps p.csv --csv gaps.csv --write gaps.md --write gaps.tex": "women",
    "gaps p.csv --pred prediction --pred later --report two.html": "later",
    "gaps p.csv --score score --threshold all --report thresholds.html": "note: charts need altair",
    f"gaps {LOG} --group group": "women",
    f"check {LOG}": "lm-eval",
    "check p.csv": "to measure gaps: biasbridge gaps p.csv",
    "check versions.csv": "--pred v1 --pred v2 --group women",
    "check bbq.jsonl": "to use it: biasbridge bbq bbq.jsonl",
    "check key.jsonl key.jsonl": "biasbridge coreference key.jsonl key.jsonl",
    "bbq bbq.jsonl": "ambiguous",
    "correlate u.csv --x x --y y": "x",
    "coreference key.jsonl key.jsonl": "MUC",
}
GATE = "gaps p.csv --fail-above recall=.01"
POSTS = "check posts.csv"
LACK = {
    "gaps p.parquet": "pyarrow",
    "report results": "pyarrow",
    "correlate results": "pyarrow",
    "scatter u.csv --x x --y y --out u.svg": "altair",
    "audit a.vec": "gensim",
    "debias a.vec b.vec --direction debias": "gensim",
    "tsne a.vec --query weat7 --out t.svg": "gensim",
    "train seed=0": "hydra-core",
    "certify weat": "hydra-core",
    "predict model p.csv out.csv --text text --pred mine": "torch",
}
HELP = [f"{name} --help" for name in COMMANDS]
STATEMENTS = (
    "from biasbridge import bbq, correlate, gaps, gate, plot, predict, query, read_results",
    "from biasbridge import thresholds; thresholds('p.csv', score='score')",
    "table = gaps('p.csv')",
    "assert gate('p.csv', {'recall': 0.9})",
    "bbq('bbq.jsonl'); query('weat7')",
    "import pickle; assert pickle.loads(pickle.dumps(gaps)) is gaps",
)
NEEDY = {
    "import biasbridge; biasbridge.audit('a.vec')": "gensim",
    "biasbridge.debias('a.vec', 'weat7')": "gensim",
    "biasbridge.plot.gaps(table)": "altair",
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    """Status, or the error, and output of all commands and statements, in one process."""
    folder = tmp_path_factory.mktemp("base")
    _write_files(folder)
    commands = [line.split() for line in (*WORK, GATE, POSTS, *LACK, *HELP)]
    arguments = [json.dumps(value) for value in (commands, [*STATEMENTS, *NEEDY])]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{folder / 'start'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: tuple(end) for name, end in json.loads(done.stdout.splitlines()[-1]).items()}


def _write_files(folder: Path) -> None:
    (folder / "start").mkdir()
    block = BLOCK.format(blocked={*OPTIONAL})
    (folder / "start" / "sitecustomize.py").write_text(block, encoding="utf-8")
    rows = [
        (f"text {number}", number % 2, number % 3 % 2, number % 5 % 2, number % 7 / 7, group)
        for number in range(120)
        for group in ("men", "women")
    ]
    columns = ["text", "label", "prediction", "later", "score", "group"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "p.csv", index=False)
    table = pd.DataFrame(rows, columns=columns)
    posts = table[["text", "label", "group"]]
    posts.to_csv(folder / "posts.csv", index=False)
    versions = {"prediction": "v1", "later": "v2", "group": "women"}
    table = table.rename(columns=versions).drop(columns="score")
    table.assign(women=(table["women"] == "women") * 1).to_csv(folder / "versions.csv", index=False)
    (folder / "p.parquet").write_bytes(b"PAR1")
    docs = [{"id": n, "label": n % 2, "group": ("men", "women")[n // 2 % 2]} for n in range(80)]
    write(folder / LOG, [choice_line(n, doc, target=str(n % 2)) for n, doc in enumerate(docs)])
    items = [item(number) for number in range(64)]
    write(folder / "bbq.jsonl", [row | {"answer": row["ans0"]} for row in items])
    (folder / "results").mkdir()
    write_tables(folder / "results", make_tables())
    pairs = {"x": range(12), "y": [(7 * number) % 12 for number in range(12)]}
    pd.DataFrame(pairs).to_csv(folder / "u.csv", index=False)
    document = Document("a", (("The", "nurse", "said", "she", "left"),), (((0, 2), (3, 4)),))
    write_documents([document], folder / "key.jsonl")
    (folder / "a.vec").write_text("2 2\nhe 1 0\nshe 0 1\n", encoding="utf-8")
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}", encoding="utf-8")


@pytest.mark.parametrize("line", WORK)
def test_a_command_works_on_the_base(line: str, ended: Ends) -> None:
    status, printed = ended[line]
    assert status in (0, 3, 4)
    assert WORK[line] in printed


def test_the_gate_decides_on_the_base(ended: Ends) -> None:
    assert ended[GATE][0] == 4  # nobody can tell


def test_posts_are_described_on_the_base(ended: Ends) -> None:
    status, printed = ended[POSTS]
    assert status == 1
    assert "posts posts.csv: 240, text 'text', label 'label', group 'group'" in printed
    assert "missing: a run on them needs hydra-core: run pip install" in printed


@pytest.mark.parametrize("line", HELP)
def test_help_needs_the_base_alone(line: str, ended: Ends) -> None:
    status, printed = ended[line]
    assert status == 0
    assert line.split()[0] in printed


@pytest.mark.parametrize("line", LACK)
def test_a_command_names_the_extra_it_lacks(line: str, ended: Ends) -> None:
    needs = f"biasbridge {line.split()[0]} needs {LACK[line]}"
    assert ended[line][0] == f"InputError: {needs}: {REMEDY.format(EXTRA_OF[LACK[line]])}"


@pytest.mark.parametrize("statement", STATEMENTS)
def test_functions_work_on_the_base(statement: str, ended: Ends) -> None:
    assert ended[statement][0] == 0


@pytest.mark.parametrize("statement", NEEDY)
def test_a_function_names_the_extra_it_lacks(statement: str, ended: Ends) -> None:
    name, package = statement.partition("(")[0].rpartition("biasbridge.")[2], NEEDY[statement]
    needs = f"InputError: biasbridge.{name} needs {package}"
    assert ended[statement][0] == f"{needs}: {REMEDY.format(EXTRA_OF[package])}"


def test_other_missing_modules_are_no_matter_of_extras() -> None:
    with pytest.raises(ModuleNotFoundError, match="nosuch"), named_extra("biasbridge gaps"):
        raise ModuleNotFoundError("No module named 'nosuch'", name="nosuch")
    with pytest.raises(ModuleNotFoundError), named_extra("biasbridge gaps"):
        raise ModuleNotFoundError("No module named 'torch.nosuch'", name="torch.nosuch")
    with pytest.raises(InputError, match="gaps needs scikit-learn: "), named_extra("gaps"):
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")


def declared() -> dict[str, set[str]]:
    """The distributions that ``pyproject.toml`` lists, of the base and of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"base": project["dependencies"], **project["optional-dependencies"]}
    return {
        name: {canonicalize_name(Requirement(text).name) for text in listed}
        for name, listed in lists.items()
    }


def imported() -> Iterator[str]:
    """The top-level modules of others that the packages import anywhere."""
    for path in (path for room in (*ROOMS, "biasbridge") for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            yield from (name.partition(".")[0] for name in names)


def test_base_and_study_share_no_package_and_declare_every_import() -> None:
    lists = declared()
    for extra, packages in EXTRAS.items():
        assert not lists["base"] & lists[extra]
        assert lists[extra] - {"biasbridge"} == {*packages.values()}
    needed = {OPTIONAL.get(name, BROUGHT.get(name, name)) for name in imported()}
    needed -= {*sys.stdlib_module_names, "biasbridge"}
    assert {canonicalize_name(name) for name in needed} <= (
        lists["base"]
        | {*OPTIONAL.values()}
        | lists["onnx"]
        | lists["adapters"]
        | {"pytest"}  # of the plugin
    )


def size_with_dependencies(names: set[str]) -> int:
    """The bytes of installed distributions and of all that they require."""
    closure = set[str]()
    while names:
        closure |= names
        required = {
            requirement
            for name in names
            for requirement in map(Requirement, metadata.requires(name) or ())
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        }
        names = {str(canonicalize_name(each.name)) for each in required} - closure
    files = {file for name in closure for file in metadata.files(name) or ()}
    paths = (Path(str(file.locate())) for file in files)
    return sum(path.stat().st_size for path in paths if path.is_file())


def test_the_base_stays_small() -> None:
    # The limit of 450 MB is of site-packages with pip, setuptools and the package itself
    assert size_with_dependencies(declared()["base"]) < 400e6


@pytest.mark.parametrize(
    ("extra", "included"),
    [
        ("study", {"parquet", "plots"}),
        ("dev", {"adapters", "excel", "onnx", "ray", "study", "submitit"}),
    ],
)
def test_an_extra_includes_others(extra: str, included: set[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = [Requirement(text) for text in project["optional-dependencies"][extra]]
    [extras] = [requirement.extras for requirement in ours if requirement.name == "biasbridge"]
    assert extras == included
