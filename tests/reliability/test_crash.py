"""Whatever ends a sweep, and however many run at once: nothing finished is built again, and the
tables are those of a quiet run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from train.store.entry import check

ROOT = Path(__file__).resolve().parent.parent.parent
# Four points a seed; conftest.py has the same.
SWEEP = [
    "+experiment=hatespeech_en",
    "corpus.sentences=3000",
    "size.dim=16",
    "size.epochs=2",
    "size.bucket=1000",
    "source.posts=1200",
]
SWEEP += ["classifier=linear", "debias.dose=1", "embedding=word2vec"]
TABLES = ("points.parquet", "intrinsic.parquet", "extrinsic.parquet", "correlations.csv")

Entries = dict[str, tuple[int, str]]


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    """The sweep in a process group of its own, as a terminal would start it."""
    folder.mkdir(exist_ok=True)
    # Tests in the background of a shell ignore interrupts, and so would what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, str(ROOT / "train.py"), *SWEEP, *more]
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What a sweep that must succeed printed."""
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, out + err
    return out


def entries(store: Path) -> Entries:
    """Every finished result: which folder on the disk it is, and the bytes that tell how it was
    made.
    """
    found = {}
    for recipe in store.glob("*/*/recipe.json"):
        if recipe.parent.parent.name not in ("work", "damaged"):
            found[str(recipe.parent.relative_to(store))] = (
                recipe.stat().st_ino,
                recipe.read_text(encoding="utf-8"),
            )
    return found


def tables(results: Path) -> dict[str, pd.DataFrame]:
    read: dict[str, Callable[[Path], pd.DataFrame]]
    read = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    return {name: read[Path(name).suffix](results / name) for name in TABLES}


def assert_same_tables(first: Path, second: Path) -> None:
    ours, theirs = tables(first), tables(second)
    for name in TABLES:
        pd.testing.assert_frame_equal(ours[name], theirs[name], check_exact=True)


def assert_whole(store: Path) -> None:
    """No entry fails its checksums, and nobody's half-built work is left."""
    for entry in entries(store):
        check(store / entry)
    assert not [path for path in (store / "work").iterdir() if not path.name.startswith(".")]
    assert not (store / "damaged").exists()


def gone(group: int, within: float = 10) -> bool:
    """Whether the last process of a group has ended."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def wait_for_work(process: subprocess.Popen[str], store: Path, entries_before: int) -> None:
    """Return when the sweep has begun a result, finished one, or ended."""
    while process.poll() is None:
        if (store / "work").is_dir() and any(
            not path.name.startswith(".") for path in (store / "work").iterdir()
        ):
            return
        if len(list(store.glob("*/*/recipe.json"))) > entries_before:
            return
        time.sleep(0.01)


def crash(folder: Path, kills: int, rng: random.Random, *more: str) -> tuple[int, Entries]:
    """Start the sweep and kill its group ``kills`` times; how often it was still running, and what
    was finished by then.
    """
    store, seen, hits = folder / "store", Entries(), 0
    for _ in range(kills):
        process = start(folder, *more)
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0, 6))  # at the start, in the plan, anywhere
        else:
            wait_for_work(process, store, len(seen))
            time.sleep(rng.uniform(0, 1.5))
        hits += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert gone(process.pid)
        now = entries(store)
        assert {name: now.get(name) for name in seen} == seen, (
            "a finished result was built again or lost"
        )
        seen = now
    return hits, seen


def undisturbed(folder: Path, *more: str) -> Path:
    finish(start(folder, *more))
    return folder / "results" / "hatespeech_en"


def crash_test(folder: Path, expected: Path, kills: int, *more: str) -> None:
    hits, seen = crash(folder, kills, random.Random(20210), *more)
    finish(start(folder, *more))
    assert hits >= kills / 2, "most kills came after the sweep had ended: nothing was tested"
    now = entries(folder / "store")
    assert {name: now.get(name) for name in seen} == seen
    assert_whole(folder / "store")
    assert_same_tables(folder / "results" / "hatespeech_en", expected)


@pytest.mark.slow
def test_killed_sweep_goes_on_where_it_was(tmp_path: Path, quiet: Path) -> None:
    crash_test(tmp_path / "crash", quiet, 2, "seed=0,1")


@pytest.mark.slow
@pytest.mark.stress
def test_thirty_kills_of_sixty_points(tmp_path: Path) -> None:
    crash_test(
        tmp_path / "crash", undisturbed(tmp_path / "quiet", "seed=range(15)"), 30, "seed=range(15)"
    )


@pytest.mark.slow
def test_interrupted_sweep_says_how_to_go_on(tmp_path: Path, quiet: Path) -> None:
    for number, whole_group in ((signal.SIGINT, True), (signal.SIGTERM, False)):
        process = start(tmp_path, "seed=0,1")
        wait_for_work(process, tmp_path / "store", len(entries(tmp_path / "store")))
        (os.killpg if whole_group else os.kill)(process.pid, number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 128 + number, err
        assert err.endswith("the same command goes on from there\n"), err
        assert "Traceback" not in err
        assert gone(process.pid)
    finish(start(tmp_path, "seed=0,1"))
    assert_whole(tmp_path / "store")
    assert_same_tables(tmp_path / "results" / "hatespeech_en", quiet)


def built(results: Path) -> Iterator[str]:
    """The stages that a sweep's points report to have built."""
    for outcome in (results / "points").glob("*.json"):
        yield from json.loads(outcome.read_text(encoding="utf-8"))["built"]


def crowd_test(folder: Path, expected: Path, size: int, *more: str) -> None:
    folder.mkdir()
    arguments = [[f"results.dir={folder / str(i)}", *more] for i in range(size)]
    for process in [start(folder, *each) for each in arguments]:
        finish(process)
    of_all = Counter(name for i in range(size) for name in built(folder / str(i)))
    assert of_all == Counter(Path(entry).parent.name for entry in entries(folder / "store"))
    assert_whole(folder / "store")
    for i in range(size):
        assert_same_tables(folder / str(i), expected)


@pytest.mark.slow
def test_sweeps_side_by_side_build_each_result_once(tmp_path: Path, quiet: Path) -> None:
    crowd_test(tmp_path / "crowd", quiet, 2, "seed=0,1")


@pytest.mark.slow
@pytest.mark.stress
def test_six_sweeps_side_by_side(tmp_path: Path) -> None:
    crowd_test(
        tmp_path / "crowd", undisturbed(tmp_path / "quiet", "seed=range(5)"), 6, "seed=range(5)"
    )
