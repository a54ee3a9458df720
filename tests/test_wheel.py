"""The wheel holds every room with its data under ``biasbridge``, and nothing else; it works beside
a user's own modules of the rooms' names, and so do a checkout and an editable install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

import numpy as np
import pytest

from biasbridge.files.paths import ROOMS
from biasbridge.files.vectors import keyed, save_vectors

ROOT = Path(__file__).resolve().parent.parent
NOT_SHIPPED = {"examples", ".ci", "benchmarks", "docs", "tests", "typings"}
LATER = ("analysis/new/__init__.py", "analysis/new/__init__.pyi", "conf/new/choice.yaml")
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
BUILD_SDIST = BUILD.replace("build_wheel", "build_sdist")
BUILD_EDITABLE = BUILD.replace("build_wheel", "build_editable")
FUNCTIONS = ("audit", "correlate", "debias", "gaps", "gate", "query", "thresholds")
USERS = (*ROOMS, "conf")
API = """
import files
from biasbridge import audit, correlate, debias, gaps, query

assert files.MINE
words = {"X": ["he", "him"], "Y": ["she", "her"], "A": ["office"], "B": ["home"]}
[value] = audit("a.vec", words, metrics=["weat"])["value"]
assert -2 <= value <= 2
assert type(debias("a.vec", words)).__module__.startswith("gensim")
import train
assert train.MINE
"""
# Prints where the process and its worker find a room
ONE_NAME = """
import pickle, sys
from pathlib import Path
from joblib import Parallel, delayed
import biasbridge.debias.erasers
import biasbridge.files
from biasbridge import debias
from biasbridge.debias.erasers import Leace
from biasbridge.intrinsic.metrics.weat import effect_size

def where(function):
    import biasbridge.files
    return biasbridge.files.__file__

if __name__ == "__main__":
    for named in (Leace, effect_size, debias):
        assert pickle.loads(pickle.dumps(named)) is named
    assert debias.__name__ == "debias"
    print(biasbridge.files.__file__)
    print(*Parallel(2)(delayed(where)(effect_size) for _ in range(2)), sep="\\n")
    home = str(Path(biasbridge.files.__file__).parent.parent)
    loaded = [str(getattr(module, "__file__", "")) for module in [*sys.modules.values()]]
    ours = [file for file in loaded if file.startswith(home)]
    assert len(ours) == len({*ours}) > 10
"""
SMALL = ["corpus.sentences=1000", "size.dim=8", "size.epochs=1", "source.posts=400"]
SMALL += ["classifier=linear", "intrinsic.weat.min_found=0", "seed=0"]


def kept_by_git() -> list[str]:
    """Every file that git tracks or would add."""
    if not (ROOT / ".git").exists():
        pytest.skip("no clone, so nothing to compare the wheel with")
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def a_clone(project: Path, *, on_windows: bool = False) -> Path:
    """A copy of the files of the project; on Windows git writes a link as a text of its target."""
    for name in kept_by_git():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for room in USERS:
        link = project / "biasbridge" / room
        assert (ROOT / "biasbridge" / room).readlink() == Path("..", room)
        link.write_text(f"../{room}") if on_windows else link.symlink_to(f"../{room}")
    return project


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, with files that are added later."""
    project = a_clone(tmp_path_factory.mktemp("checkout") / "project")
    for name in LATER:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    return project


def build(command: str, project: Path) -> Path:
    """What a clone is built to."""
    out = mkdtemp(dir=project.parent)
    subprocess.run(
        [sys.executable, "-c", command, out], cwd=project, capture_output=True, check=True
    )
    [built] = Path(out).iterdir()
    return built


@pytest.fixture(scope="module")
def installed(checkout: Path) -> Path:
    """The folder that a wheel is unpacked in."""
    with zipfile.ZipFile(build(BUILD, checkout)) as wheel:
        wheel.extractall(checkout.parent / "site")
    return checkout.parent / "site"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A folder with modules of one's own that have the names of the rooms, and vectors."""
    for name in USERS:
        (tmp_path / f"{name}.py").write_text("MINE = True\n", encoding="utf-8")
    words = ["he", "him", "she", "her", "office", "home"]
    rows = np.random.default_rng(0).normal(size=(len(words), 5)).astype(np.float32)
    save_vectors(keyed(words, rows), tmp_path / "a.vec")
    return tmp_path


def python(*path: Path, cwd: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Python in a folder, with some folders on its path."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.usefixtures("installed")  # what an earlier build left is not shipped
def test_the_wheel_holds_every_room_and_its_data(checkout: Path, editable: Path) -> None:
    for project, later in ((checkout, LATER), (editable / "biasbridge", ())):
        with zipfile.ZipFile(build(BUILD, project)) as wheel:
            shipped = [name for name in wheel.namelist() if ".dist-info" not in name]
        assert sorted(shipped) == sorted(
            name if name.startswith("biasbridge") else f"biasbridge/{name}"
            for name in (*kept_by_git(), *later)
            if "/" in name and PurePosixPath(name).parts[0] not in NOT_SHIPPED
        )


def beside(installed: Path, users: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The wheel in the folder of a user, whose modules come first."""
    return python(users, installed, cwd=users, arguments=arguments)


def test_functions_and_command_work_beside_modules_of_the_rooms_names(
    installed: Path, users: Path
) -> None:
    done = beside(installed, users, "-c", API)
    assert done.returncode == 0, done.stderr
    done = beside(installed, users, "-m", "biasbridge", "store", "ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: store is not a store")
    done = beside(installed, users, "-m", "biasbridge", "debias", "--help")
    assert "usage: biasbridge debias" in done.stdout


@pytest.mark.slow
def test_a_sweep_runs_beside_modules_of_the_rooms_names(installed: Path, users: Path) -> None:
    sweep = ["-m", "biasbridge", "train", "+experiment=hatespeech_en", "embedding=word2vec"]
    sweep += ["debias=balance", "debias.direction=debias", "debias.dose=0,0.5,1"]
    sweep += ["hydra.launcher.n_jobs=1"]
    done = beside(installed, users, *sweep, *SMALL)
    assert done.returncode == 0, done.stdout + done.stderr
    recipe = next((users / "store" / "intrinsic").glob("*/recipe.json")).read_text()
    assert "biasbridge train hydra.mode=RUN" in recipe
    by_wheel = {path.parent.name for path in (users / "store").glob("*/*/recipe.json")}
    (checkout := users / "checkout").mkdir()
    done = python(cwd=checkout, arguments=[str(ROOT / "train.py"), *sweep[3:], *SMALL])
    assert done.returncode == 0, done.stdout + done.stderr
    assert by_wheel == {path.parent.name for path in (checkout / "store").glob("*/*/recipe.json")}


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds ``biasbridge``, a clone as on Windows, and its editable install ``site``.

    ``site`` is put on the path as an environment's own folder of packages is.
    """
    folder = tmp_path_factory.mktemp("editable")
    clone = a_clone(folder / "biasbridge", on_windows=True)
    with zipfile.ZipFile(build(BUILD_EDITABLE, clone)) as wheel:
        wheel.extractall(folder / "site")
    start = f"""
import site, sys
sys.path[:] = [path for path in sys.path if path != {str(ROOT)!r}]
site.addsitedir({str(folder / "site")!r})
"""
    (folder / "start").mkdir()
    (folder / "start" / "sitecustomize.py").write_text(start, encoding="utf-8")
    return folder


@pytest.mark.parametrize("ending", ["", ".py"])
def test_an_editable_install_works_beside_its_clone_and_what_has_the_rooms_names(
    ending: str, editable: Path, tmp_path: Path
) -> None:
    functions = ("-c", f"from biasbridge import {', '.join(FUNCTIONS)}")
    done = python(editable / "start", cwd=editable, arguments=functions)
    assert done.returncode == 0, done.stderr
    for name in USERS:
        (tmp_path / f"{name}.py").touch() if ending else (tmp_path / name).mkdir()
    for arguments in (functions, ("-m", "biasbridge", "audit", "--list")):
        done = python(editable / "start", cwd=tmp_path, arguments=arguments)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("place", ["checkout", "checkout on Windows", "editable", "wheel"])
def test_a_module_has_one_name_wherever_it_is(
    place: str, checkout: Path, installed: Path, editable: Path, users: Path
) -> None:
    (users / "one_name.py").write_text(ONE_NAME, encoding="utf-8")
    script = str(users / "one_name.py")
    path, cwd, home = {
        "checkout": ([], checkout, checkout / "biasbridge"),
        "checkout on Windows": ([], editable / "biasbridge", editable / "biasbridge"),
        "editable": ([editable / "start"], users, editable / "biasbridge"),
        "wheel": ([installed], users, installed / "biasbridge"),
    }[place]
    start = f"import runpy; runpy.run_path({script!r}, run_name='__main__')"
    done = python(*path, cwd=cwd, arguments=["-c", start])
    assert done.returncode == 0, done.stderr
    assert {Path(line).parent.parent for line in done.stdout.splitlines()} == {home}


def test_the_sdist_holds_all_that_the_tests_read(tmp_path: Path) -> None:
    with tarfile.open(build(BUILD_SDIST, a_clone(tmp_path / "project"))) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    ours = {name for name in kept_by_git() if not name.startswith((".ci/", ".git", ".pre"))}
    assert ours <= held
    assert not {name for name in held if name.split("/")[:2] in [["biasbridge", x] for x in USERS]}
