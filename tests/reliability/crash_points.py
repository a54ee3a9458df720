"""A sweep that is ended at one file-system event after the other; see test_crash_points.py.

``python crash_points.py FOLDER FIRST LAST STEP WORDS...``: for every STEP-th event from FIRST to
LAST (0: the last there is) the sweep of these words is begun in a copy of ``FOLDER/before``, ended
at the event, and begun again. What then is other than where it ran undisturbed is printed. Each
sweep is a fork of this process, which has imported everything.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import train.finish  # noqa: F401 - what a sweep imports late, so that no fork has to
from tests.events import CRASHED, count
from train.front.door import main


def run(folder: Path, words: Sequence[str], crash_at: int = 0) -> tuple[int, int]:
    """The exit status of a sweep in a process of its own, and how many events it came to."""
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
        if re.match("store/(locks|digests)/|results/.*/points/.*json", name):
            continue
        table = path.suffix == ".parquet" and name.startswith("results")
        found[name] = pd.read_parquet(path).to_csv() if table else path.is_dir()
    return found


def differences(ours: dict[str, object], theirs: dict[str, object]) -> list[str]:
    left = [f"{name} is left" for name in ours.keys() - theirs.keys()]
    lacking = [f"{name} is lacking" for name in theirs.keys() - ours.keys()]
    other = [
        f"{name} differs" for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]
    ]
    return sorted([*left, *lacking, *other])


def crash_everywhere(folder: Path, places: range, words: Sequence[str]) -> int:
    """How many events were tried; each that was not recovered is printed."""
    undisturbed = folder / "undisturbed"
    shutil.copytree(folder / "before", undisturbed)
    status, events = run(undisturbed, words)
    assert status == 0, "the undisturbed sweep failed"
    expected = state(undisturbed)
    last = places.stop or events
    print(f"{events} events", flush=True)
    for place in range(places.start, last + 1, places.step):
        work = folder / str(place)
        shutil.copytree(folder / "before", work)
        status, _ = run(work, words, place)
        if status != CRASHED:
            print(f"{place}: ended with {status}")
        status, _ = run(work, words)
        if found := differences(state(work), expected) + ([f"status {status}"] if status else []):
            print(f"{place}: {'; '.join(found)}", flush=True)
        else:
            shutil.rmtree(work)
    return len(range(places.start, last + 1, places.step))


if __name__ == "__main__":
    where, first, final, step, *command = sys.argv[1:]
    tried = crash_everywhere(Path(where), range(int(first), int(final), int(step)), command)
    print(f"{tried} tried")
