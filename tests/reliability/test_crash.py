"""Whatever ends a sweep, and however many run at once: nothing finished is built again, and the
tables are those of a quiet run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.sweeps import (
    Entries,
    assert_same_tables,
    assert_whole,
    entries,
    finish,
    start,
    undisturbed,
    wait_for_work,
)


def gone(group: int, within: float = 60) -> bool:
    """Whether the last process of a group has ended."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


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
