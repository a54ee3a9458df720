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
    "engine", ["local", pytest.param("submitit_local", marks=pytest.mark.slow)]
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
@pytest.mark.parametrize(
    ("engine", "sweep"),
    [("local", SWEEP), ("submitit_local", SWEEP), ("ray", SWEEP), ("local", MODELS)],
    ids=["local", "submitit", "ray", "models"],
)
def test_twelve_signals_at_random_times_are_made_good_to_the_digit(
    engine: str, sweep: Sequence[str], tmp_path: Path
) -> None:
    need(engine)
    finish(start(tmp_path / "quiet", "seed=0", "hydra/launcher=basic", sweep=sweep))
    folder, rng, hits = tmp_path / "killed", random.Random(20210), 0
    for number in [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT] * 3:
        before = entries(folder / "store")
        process = start(folder, *ENGINES[engine], "seed=0", sweep=sweep)
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0, 6))  # at the start, in the plan, anywhere
        else:
            wait_for_work(process, folder / "store", len(before))
            time.sleep(rng.uniform(0, 1.5))
        hits += process.poll() is None
        whole_group = rng.random() < 0.5  # or the parent alone
        (os.killpg if whole_group else os.kill)(process.pid, number)
        process.communicate(timeout=60)
        assert not left(folder), number
        assert_kept(before, folder / "store")
    assert hits >= 8, "most signals came after the sweep had ended: nothing was tested"
    finish(start(folder, *ENGINES[engine], "seed=0", sweep=sweep))
    assert_kept(before, folder / "store")
    assert_whole(folder / "store")
    assert_same_tables(results_of(folder), results_of(tmp_path / "quiet"))


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
        process = start(tmp_path, *ENGINES["local"], "seed=0", "--quiet")
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


@pytest.mark.slow
def test_sweeps_side_by_side_build_each_result_once(tmp_path: Path, quiet: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    for process in [start(tmp_path, f"results.dir={each}", "seed=0") for each in folders]:
        finish(process)
    of_all = Counter(name for each in folders for name in built(each))
    assert of_all == Counter(Path(entry).parent.name for entry in entries(tmp_path / "store"))
    assert_whole(tmp_path / "store")
    for each in folders:
        assert_same_tables(each, results_of(quiet))


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
