"""The rules of the house: which room may import which, and who may know Hydra, torch and gensim."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import jedi
import pytest

from biasbridge.files.choice import choice_classes
from biasbridge.files.paths import HOME
from biasbridge.train.cli.choices import choice_groups

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "stats": set(),
    "files": {"stats"},
    "intrinsic": {"stats", "files"},
    "corpora": {"stats", "files", "intrinsic"},
    "debias": {"stats", "files", "intrinsic"},
    "extrinsic": {"stats", "files", "intrinsic"},
    "analysis": {"stats", "files"},
    "studies": {"stats", "files", "intrinsic", "analysis"},
    "train": {"stats", "files", "intrinsic", "corpora", "debias", "extrinsic", "analysis"},
    "biasbridge": {
        *("stats", "files", "intrinsic", "corpora", "debias", "extrinsic", "analysis", "studies"),
        "train",
    },
}
# Lines that a reader of a command may have to hold
REACH = {
    "biasbridge.commands.correlate": 8_000,
    "biasbridge.commands.gaps": 10_950,
    "biasbridge.commands.audit": 17_700,
    "biasbridge.commands.debias": 18_200,
    "biasbridge.train.cli.start": 25_950,
}
MODULES = [path for room in MAY_IMPORT for path in sorted((ROOT / room).rglob("*.py"))]

# Classes of the choices that conf names, and what none of their modules may load
CLASS = re.compile(r"_target_: ([\w.]+)$", re.MULTILINE)
HEAVY = {"datasets", "gensim", "nltk", "scipy", "sklearn", "statsmodels", "torch", "transformers"}
# What further libraries some modules may not load
LIGHT = {
    ("biasbridge.files",): {"gensim", "numpy"},
    ("biasbridge.intrinsic.words",): {"gensim", "numpy", "scipy", "torch"},
    ("biasbridge.intrinsic.registry", "biasbridge.intrinsic.describe"): {
        "gensim",
        "scipy.stats",
        "sklearn",
        "torch",
    },
    ("biasbridge.debias.text", "biasbridge.debias.attract_repel", "biasbridge.debias.words"): HEAVY
    | {"pandas"},
    (
        "biasbridge.extrinsic.coreference.scorer",
        "biasbridge.train.engine.device",
        "biasbridge.train.tasks.posts",
    ): HEAVY,
}


def loaded_by(modules: Iterable[str]) -> set[str]:
    """What a fresh process has loaded after importing some modules."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    return {*subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> set[str]:
    """The rooms and the libraries that a file imports, anywhere in it. The version is no room's."""
    names = imported_names(ast.walk(tree(path)))
    return {room_of(name) for name in names - {"biasbridge.__version__"}}


def imported_names(nodes: Iterable[ast.AST]) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room_of(name: str) -> str:
    """The room that an imported name belongs to; the library, if it is none of ours."""
    top, *rest = name.split(".")
    return rest[0] if top == "biasbridge" and rest and rest[0] in MAY_IMPORT else top


def test_imports_point_one_way() -> None:
    for path in MODULES:
        room = path.relative_to(ROOT).parts[0]
        assert imported(path) & {*MAY_IMPORT} <= MAY_IMPORT[room] | {room}, path


def test_a_room_has_one_name() -> None:
    for path in [*MODULES, *sorted(ROOT.glob("tests/**/*.py")), *sorted(ROOT.glob("docs/**/*.py"))]:
        tops = {name.split(".")[0] for name in imported_names(ast.walk(tree(path)))}
        assert not tops & {*MAY_IMPORT} - {"biasbridge"}, path


def imports_of(name: str, *, for_checkers: bool = True) -> set[str]:
    """The modules of ours that a module imports anywhere in it, for type checkers too."""
    nodes = {*ast.walk(tree(paths()[name]))}
    for node in () if for_checkers else [*nodes]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes -= {*ast.walk(node)}
    names = imported_names(nodes)
    found = {each if each in paths() else each.rpartition(".")[0] for each in names}
    return (found & paths().keys()) - {name}


@cache
def paths() -> dict[str, Path]:
    """The files of our modules by the name by which they are imported."""
    return {module_of(path): path for path in MODULES}


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    whole = parts if parts[0] == "biasbridge" else ("biasbridge", *parts)
    return ".".join(whole[:-1] if whole[-1] == "__init__" else whole)


def test_imports_form_no_circle() -> None:
    """Those for type checkers alone included."""
    left = {name: imports_of(name) for name in paths()}
    assert left
    while free := [name for name, needed in left.items() if not needed & left.keys()]:
        for name in free:
            del left[name]
    assert not left


@pytest.mark.parametrize(("command", "limit"), REACH.items())
def test_a_command_reaches_few_lines(command: str, limit: int) -> None:
    """The lines of all modules that its imports lead to, those inside functions included."""
    reached, left = set[str](), {command}
    while left:
        reached.add(name := left.pop())
        left |= imports_of(name, for_checkers=False) - reached
    assert sum(paths()[name].read_bytes().count(b"\n") for name in reached) <= limit


def test_only_the_front_door_knows_commands() -> None:
    for name in paths().keys() - {"biasbridge.__main__"}:
        if not name.startswith("biasbridge.commands"):
            assert not [each for each in imports_of(name) if "biasbridge.commands" in each], name


def test_editors_find_names_of_other_rooms() -> None:
    script = "from biasbridge.debias.erasers import Leace\nfrom biasbridge import debias"
    editor = jedi.Script(script, path=ROOT / "biasbridge" / "new.py")
    for line, column, found in (
        (1, 39, "biasbridge.debias.erasers.Leace"),
        (2, 24, "biasbridge.commands.debias.debias"),
    ):
        [name] = editor.goto(line, column, follow_imports=True)
        assert name.full_name == found
    editor = jedi.Script("from biasbridge.stats.proportions import wil", path=ROOT / "new.py")
    assert "wilson" in [name.name for name in editor.complete()]


def thresholds(path: Path) -> Iterator[tuple[str, float]]:
    """The numbers that a module gives a name."""
    for node in tree(path).body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Constant(value=int() | float() as value)
            ) if name.isupper():
                yield name, value


def test_a_threshold_that_two_rooms_share_stands_in_one() -> None:
    rooms: dict[tuple[str, float], set[str]] = {}
    for path in MODULES:
        for named in thresholds(path):
            rooms.setdefault(named, set()).add(path.relative_to(ROOT).parts[0])
    assert ("MIN_COVERAGE", 0.8) in rooms
    for named, homes in rooms.items():
        assert not any(homes & MAY_IMPORT[room] for room in homes), named


def test_only_the_front_knows_hydra() -> None:
    for path in MODULES:
        if path.parent != ROOT / "train" / "cli":
            assert not imported(path) & {"hydra", "omegaconf"}, path


def test_analysis_needs_neither_torch_nor_gensim() -> None:
    modules = [
        f"biasbridge.analysis.{path.stem}" for path in sorted((ROOT / "analysis").glob("*.py"))
    ]
    assert not loaded_by(modules) & {"torch", "gensim", "datasets", "hydra"}


def test_choices_load_no_heavy_library() -> None:
    """To plan a sweep needs the fields of its choices only; some metrics and studies need scipy."""
    choices = {module for module, _ in parts()}
    reckoning = tuple(f"biasbridge.{room}." for room in ("analysis", "intrinsic", "studies"))
    reckon = {name for name in choices if name.startswith(reckoning)}
    assert len(choices) > 50
    assert not loaded_by(sorted(choices - reckon)) & HEAVY
    assert not loaded_by(sorted(reckon)) & HEAVY - {"scipy"}


@pytest.mark.parametrize(("modules", "libraries"), LIGHT.items())
def test_a_module_is_light(modules: tuple[str, ...], libraries: set[str]) -> None:
    assert not loaded_by(modules) & libraries


def test_no_module_opens_a_pickle() -> None:
    for path in MODULES:
        engine = {"joblib"} if path == ROOT / "train" / "cli" / "engines.py" else set()
        assert not imported(path) & {"pickle", "dill", "joblib", "cloudpickle"} - engine, path


def parts() -> set[tuple[str, str]]:
    """The module and name of each class that ``conf`` names or stands for."""
    files = [path.read_text(encoding="utf-8") for path in (ROOT / "conf").rglob("*.yaml")]
    names = [name for text in files for name in CLASS.findall(text)]
    names += [each.target for group in choice_groups() for each in choice_classes(HOME, group)]
    return {(module, name) for module, _, name in (each.rpartition(".") for each in names)}


def asked_for(path: Path) -> Iterator[tuple[str, str]]:
    """The module and name of each class that a file imports and asks for by ``isinstance``."""
    nodes = list(ast.walk(tree(path)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    origin = {alias.name: str(node.module) for node in imports for alias in node.names}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                names = [each.id for each in ast.walk(kind) if isinstance(each, ast.Name)]
                yield from ((origin[name], name) for name in names if name in origin)


# Of this project: a constant, or a name with parentheses
NAMED = re.compile(r"``(?:\w*[a-z]\w*\.)*(_?[A-Z][A-Z0-9_]+|\w+(?=\())(?:\([^`]*\))?``")


def words_of_code(path: Path) -> Iterator[str]:
    """The words of all but comments and docstrings."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type != tokenize.COMMENT and '"""' not in token.string:
                yield from re.findall(r"\w+", token.string)


def test_names_in_docstrings_exist() -> None:
    existing = {*dir(builtins)}.union(*map(words_of_code, MODULES))
    for path in MODULES:
        assert {*NAMED.findall(path.read_text(encoding="utf-8"))} <= existing, path


def test_nobody_asks_which_part_it_is() -> None:
    """What others must know of a part is in its protocol, so that a new one is one file."""
    assert len(parts()) > 50
    assert not {(path.name, name) for path in MODULES for _, name in {*asked_for(path)} & parts()}
