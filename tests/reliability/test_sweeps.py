"""Whatever ends a sweep, whatever runs it and however many run at once: no process lives on,
nothing finished is built again, and the tables are those of a quiet run.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.commands.store import main as store_command
from biasbridge.files import InputError
from tests.reliability.sweeps import (
    ENGINES,
    MODELS,
    SWEEP,
    assert_kept,
    assert_same_tables,
    assert_whole,
    entries,
    finish,
    left,
    need,
    processes,
    results_of,
    start,
    wait_for_work,
)

if TYPE_CHECKING:
    import subprocess

GO_ON = "interrupted; finished results stay in the store. Run the same command to continue"


@pytest.mark.parametrize(
    "engine",
    [
        "local",
        pytest.param("submitit_local", marks=pytest.mark.slow),
        pytest.param("ray", marks=pytest.mark.stress),
    ],
)
def test_a_killed_sweep_leaves_no_process_and_goes_on(
    engine: str, quiet: Path, tmp_path: Path
) -> None:
    need(engine)
    words = [*ENGINES[engine], "seed=0"]
    process = start(tmp_path, *words)
    wait_for_work(process, tmp_path / "store")
    assert len(processes(tmp_path)) > 1
    process.kill()
    process.communicate()
    assert not left(tmp_path)
    before = entries(tmp_path / "store")
    finish(start(tmp_path, *words))
    assert_kept(before, tmp_path / "store")
    assert_whole(tmp_path / "store")
    assert_same_tables(results_of(tmp_path), results_of(quiet))


@pytest.mark.slow
def test_a_killed_worker_costs_no_point(quiet: Path, tmp_path: Path) -> None:
    process = start(tmp_path, *ENGINES["local"], "seed=0")
    wait_for_work(process, tmp_path / "store")
    workers = [number for number, line in processes(tmp_path).items() if "popen_loky" in line]
    os.kill(workers[0], signal.SIGKILL)
    assert "killed by SIGKILL" in finish(process)
    assert_same_tables(results_of(tmp_path), results_of(quiet))


@pytest.mark.stress
def test_thirty_kills_of_sixty_points(tmp_path: Path) -> None:
    words, rng, hits = ["seed=range(15)"], random.Random(20210), 0
    finish(start(tmp_path / "quiet", *words))
    folder = tmp_path / "crash"
    for _ in range(30):
        before = entries(folder / "store")
        process = start(folder, *words)
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0, 6))  # at the start, in the plan, anywhere
        else:
            wait_for_work(process, folder / "store", len(before))
            time.sleep(rng.uniform(0, 1.5))
        hits += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not left(folder)
        assert_kept(before, folder / "store")
    assert hits >= 15, "most kills came after the sweep had ended: nothing was tested"
    finish(start(folder, *words))
    assert_kept(before, folder / "store")
    assert_whole(folder / "store")
    assert_same_tables(results_of(folder), results_of(tmp_path / "quiet"))


@pytest.mark.stress
@pytest.mark.parametrize(
    ("engine", "sweep"),
    [("ray", SWEEP), ("local", MODELS), ("ray", MODELS)],
    ids=["ray-posts", "local-models", "ray-models"],
)
def test_ten_kills_of_ten_are_made_good_to_the_digit(
    engine: str, sweep: Sequence[str], tmp_path: Path
) -> None:
    need(engine)
    finish(start(tmp_path / "quiet", "seed=0", "hydra/launcher=basic", sweep=sweep))
    words, rng, hits = [*ENGINES[engine], "seed=0"], random.Random(36), 0
    process = start(tmp_path / "timed", *words, sweep=sweep)
    wait_for_work(process, tmp_path / "timed" / "store")
    begun = time.monotonic()
    finish(process)
    lasts = time.monotonic() - begun
    for tenth in range(10):
        folder = tmp_path / str(tenth)
        process = start(folder, *words, sweep=sweep)
        if tenth < 2:
            time.sleep(rng.uniform(1, 8))  # in the plan, or while the engine starts
        else:
            wait_for_work(process, folder / "store")
            time.sleep((tenth - 2 + rng.random()) / 8 * lasts)
        hits += process.poll() is None
        whole_group = tenth % 2 == 1  # or the parent alone
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        assert not left(folder)
        before = entries(folder / "store")
        print(f"{engine} {tenth}: {len(before)} results at the kill, {whole_group=}")
        finish(start(folder, *words, sweep=sweep))
        assert_kept(before, folder / "store")
        assert_whole(folder / "store")
        assert_same_tables(results_of(folder), results_of(tmp_path / "quiet"))
    assert hits >= 8, "most kills came after the sweep had ended: nothing was tested"


@pytest.mark.stress
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_lives_on_after_any_of_many_kills(engine: str, tmp_path: Path) -> None:
    need(engine)
    rng = random.Random(11)
    for round_ in range(12):
        process = start(tmp_path, *ENGINES[engine], f"seed={round_}")
        time.sleep(rng.uniform(1, 12))
        number = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
        victims = sorted(processes(tmp_path))
        if rng.random() < 0.5 and number == signal.SIGKILL and victims:
            os.kill(rng.choice(victims), number)  # a worker, a child, or the parent
            time.sleep(rng.uniform(0, 2))
        process.send_signal(number)
        process.communicate(timeout=60)
        assert not left(tmp_path), (round_, number)


def wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """Until the program has a handler of its own for SIGTERM, its first act."""
    status, caught = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None and not caught >> (signal.SIGTERM - 1) & 1:
        [line] = [each for each in status.read_text().splitlines() if each.startswith("SigCgt")]
        caught = int(line.split()[1], 16)


@pytest.mark.slow
def test_an_interrupt_at_any_moment_ends_in_one_line(tmp_path: Path) -> None:
    processes(tmp_path)  # skips where there is no /proc
    for number, at_work, whole_group in (
        (signal.SIGINT, False, True),
        (signal.SIGHUP, True, True),
        (signal.SIGTERM, True, True),
        (signal.SIGTERM, True, False),
    ):
        before = entries(tmp_path / "store")
        process = start(tmp_path, *ENGINES["local"], "seed=0")
        wait_until_it_listens(process)
        if at_work:
            wait_for_work(process, tmp_path / "store", len(before))
        (os.killpg if whole_group else os.kill)(process.pid, number)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (128 + number, f"{GO_ON}\n")
        assert not left(tmp_path)
        assert_kept(before, tmp_path / "store")


def built(results: Path) -> Iterator[str]:
    """The steps that a sweep's points report to have built."""
    for outcome in (results / "points").glob("*.json"):
        yield from json.loads(outcome.read_text(encoding="utf-8"))["built"]


def crowd(folder: Path, expected: Path, size: int, *words: str) -> None:
    """So many sweeps of the same points in one store, each with results of its own."""
    folders = [folder / str(i) for i in range(size)]
    for process in [start(folder, f"results.dir={each}", *words) for each in folders]:
        finish(process)
    of_all = Counter(name for each in folders for name in built(each))
    assert of_all == Counter(Path(entry).parent.name for entry in entries(folder / "store"))
    assert_whole(folder / "store")
    for each in folders:
        assert_same_tables(each, expected)


@pytest.mark.slow
def test_sweeps_side_by_side_build_each_result_once(tmp_path: Path, quiet: Path) -> None:
    crowd(tmp_path, results_of(quiet), 2, "seed=0", "hydra/launcher=basic")


@pytest.mark.stress
def test_six_sweeps_side_by_side(tmp_path: Path) -> None:
    finish(start(tmp_path / "quiet", "seed=range(5)"))
    crowd(tmp_path / "crowd", results_of(tmp_path / "quiet"), 6, "seed=range(5)")


def wait_until_running(process: subprocess.Popen[str], store: Path) -> None:
    """Until a result is being built."""
    while process.poll() is None and not any((store / "work").glob("[!.]*")):
        time.sleep(0.01)
    assert process.poll() is None


@pytest.mark.slow
def test_gc_takes_nothing_from_a_sweep_and_what_is_removed_is_built_again(
    quiet: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(quiet / "store", store)
    for step in ("predictions", "extrinsic"):
        shutil.rmtree(store / step)
    process = start(tmp_path, "seed=0", "hydra/launcher=basic")
    wait_until_running(process, store)
    process.send_signal(signal.SIGSTOP)
    before = entries(store)
    with pytest.raises(InputError, match=rf"a sweep is running \(process {process.pid} on "):
        store_command(["gc", "--store", str(store), "--older-than", "0m"])
    assert_kept(before, store)
    shutil.rmtree(store / "intrinsic")
    process.send_signal(signal.SIGCONT)
    assert ", because an input file changed during the sweep" in finish(process)
    assert_whole(store)
    assert_same_tables(results_of(tmp_path), results_of(quiet))


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", pytest.param("local", marks=pytest.mark.stress)])
def test_an_input_changed_under_a_sweep_is_named_and_used(launcher: str, tmp_path: Path) -> None:
    posts = tmp_path / "posts.csv"
    rows = [f"{i},he is the best man of number {i},{i % 2}" for i in range(400)]
    rows += [f"{i},she is the best woman of number {i},{i % 2}" for i in range(400, 800)]
    posts.write_text("\n".join(["id,text,label", *rows]) + "\n", encoding="utf-8")
    small = [word for word in SWEEP if not word.startswith("source.")]
    words = [
        *small,
        "corpus=generated",
        "source=csv",
        f"source.path={posts}",
        "seed=0",
        f"hydra/launcher={launcher}",
    ]
    process = start(tmp_path, sweep=words)
    wait_until_running(process, tmp_path / "store")
    posts.write_text("\n".join(["id,text,label", *rows[:-20]]) + "\n", encoding="utf-8")
    changed = ", because an input file changed during the sweep"
    assert changed in finish(process)
    gaps = pd.read_parquet(results_of(tmp_path) / "extrinsic.parquet")
    recall = gaps.query("measure == 'recall' and group == 'female'")
    assert set(recall["support"]) == {200 - 10}


def test_slurm_that_is_not_there_is_said_once_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))
    process = start(tmp_path, "engine=slurm", "seed=0")
    out, err = process.communicate()
    assert process.returncode == 2
    warning, error = (line for line in err.splitlines() if "Could not detect" in line)
    assert warning.startswith("the engine stopped; resubmitting its unfinished points: ")
    assert error.startswith("error: the engine ran none of the ")
    assert "RuntimeError: Could not detect" in error
    assert "failed" not in out, "no list of points"
    assert not list((tmp_path / "results").rglob("points.parquet"))
