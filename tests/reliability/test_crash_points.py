"""A sweep is ended at file-system events - a file opened for writing, renamed, removed, a folder
made - and the same command goes on from there with nothing lost. What is left behind are temporary
folders beside results, which nobody reads.

``python test_crash_points.py FOLDER FIRST STEP WORDS...``: for every STEP-th event from FIRST on
the sweep of these words is begun in a copy of ``FOLDER/before``, ended at the event, and begun
again. What then is other than where it ran undisturbed is printed. Each sweep is a fork of this
process, which has imported everything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from biasbridge.files.paths import _TEMPORARY
from tests.events import CRASHED, count

ROOT = Path(__file__).resolve().parent.parent.parent
SMALL = ["name=sweep", "hydra.mode=MULTIRUN", "corpus.sentences=1000", "size.dim=8"]
SMALL += ["size.epochs=1", "size.min_count=1"]
# The tables of the first sweep lie in the second one's way
FIRST, SECOND = "seed=1", "seed=2,3"


def run(folder: Path, words: Sequence[str], crash_at: int = 0) -> tuple[int, int]:
    """The exit status of a sweep in a process of its own, and how many events it came to."""
    from biasbridge.train.cli.start import main

    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        with os.fdopen(reading) as pipe:
            seen = len(pipe.read())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen
    status = 1
    try:
        os.chdir(folder)
        quiet = os.open("/dev/null", os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.argv = ["train.py", *words, "hydra/launcher=basic"]
        count(folder, lambda: os.write(writing, b"."), crash_at)
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(status)


def state(folder: Path) -> dict[str, object]:
    """What lies in a folder: names of files and folders, and the tables; neither the files of locks
    nor what is remembered of files from outside, nor how attempts at points ended: of a point whose
    results were there before its sweep was killed nothing is attempted again.
    """
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = re.sub(r"earlier/[^/]+", "earlier/TIME", str(path.relative_to(folder)))
        if re.match("store/(locks|digests)/|results/.*/points/.*json", name) or _TEMPORARY in name:
            continue
        table = path.suffix == ".parquet" and name.startswith("results")
        found[name] = pd.read_parquet(path).to_csv() if table else path.is_dir()
    return found


def differences(ours: dict[str, object], theirs: dict[str, object]) -> list[str]:
    names = sorted(ours.keys() | theirs.keys())
    return [name for name in names if ours.get(name) != theirs.get(name)]


def crash_everywhere(folder: Path, first: int, step: int, words: Sequence[str]) -> None:
    """Print how many events there are, what each left that was not recovered, and how many were
    tried.
    """
    import gensim.models  # noqa: F401 - what a sweep imports late, so that no fork has to
    import scipy.stats  # noqa: F401

    import biasbridge.train.engine.tables  # noqa: F401

    undisturbed = folder / "undisturbed"
    shutil.copytree(folder / "before", undisturbed)
    status, events = run(undisturbed, words)
    assert status == 0, "the undisturbed sweep failed"
    expected = state(undisturbed)
    places = range(first, events + 1, step)
    print(f"{events} events", flush=True)
    for place in places:
        work = folder / str(place)
        shutil.copytree(folder / "before", work)
        status, _ = run(work, words, place)
        if status != CRASHED:
            print(f"{place}: ended with {status}")
        status, _ = run(work, words)
        differing = differences(state(work), expected)
        if status or differing:
            print(f"{place}: status {status}; differing: {differing}", flush=True)
        else:
            shutil.rmtree(work)
    print(f"{len(places)} tried")


def crash_at(folder: Path, first: int, step: int, *words: str) -> list[str]:
    """What is wrong after a crash at every ``step``-th event, line by line."""
    before = folder / "before"
    before.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    environment |= {"PYTHONPATH": str(ROOT)}

    def python(*arguments: object, cwd: Path = ROOT) -> str:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.check_output(command, cwd=cwd, env=environment, text=True)

    python(ROOT / "train.py", *SMALL, *words, FIRST, cwd=before)
    printed = python(__file__, folder, first, step, *SMALL, *words, SECOND)
    events, *wrong, tried = printed.splitlines()
    assert int(events.split()[0]) > 100
    assert int(tried.split()[0]) > 3
    return wrong


@pytest.mark.slow
def test_crash_at_some_file_system_events(tmp_path: Path) -> None:
    assert not crash_at(tmp_path / "some", 7, 41, "source=none")


@pytest.mark.stress
def test_crash_at_every_file_system_event(tmp_path: Path) -> None:
    words = ["debias=balance", "debias.direction=debias", "debias.dose=1"]
    words += ["source.posts=1200", "classifier=linear"]
    assert not crash_at(tmp_path / "every", 1, 1, *words)


if __name__ == "__main__":
    where, begin, every, *asked = sys.argv[1:]
    crash_everywhere(Path(where), int(begin), int(every), asked)
