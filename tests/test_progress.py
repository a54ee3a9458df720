"""A line every 30 s where no terminal shows a bar: of sweeps, and of every other command."""

from __future__ import annotations

import io
import logging
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import biasbridge.commands.check as check
from biasbridge.__main__ import main as biasbridge
from biasbridge.files import progress
from biasbridge.files.progress import duration, progress_lines
from biasbridge.files.terminal import LOG
from biasbridge.train.engine.cost import SweepProgress
from biasbridge.train.engine.locks import locked
from biasbridge.train.engine.point import Outcome, write_outcome
from biasbridge.train.engine.store import Store
from tests.points import plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Train

LONG = 0.35  # seconds in which three lines are due


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line every tenth of a second in place of every 30 s."""
    assert progress.PROGRESS_SECONDS == 30
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.1)


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if line.startswith("after ")]


def test_a_line_is_logged_again_and_again_until_the_block_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbers = iter(range(100))
    with progress_lines(lambda: f"look {next(numbers)}"):
        time.sleep(LONG)
    found = lines_of(caplog)
    assert found[:2] == ["after <1 s: look 0", "after <1 s: look 1"]
    time.sleep(LONG)
    assert lines_of(caplog) == found
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_a_terminal_and_a_short_block_and_quiet_get_none(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress_lines(lambda: "short"):
        pass
    before = LOG.level
    LOG.setLevel(logging.ERROR)  # as --quiet does
    with progress_lines(lambda: "quiet"):
        time.sleep(LONG)
    LOG.setLevel(before)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with progress_lines(lambda: "terminal"):
        time.sleep(LONG)
    assert not lines_of(caplog)


def test_any_command_says_that_it_is_at_work(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(arguments: Sequence[str] | None = None) -> int:
        time.sleep(LONG)
        return 3

    monkeypatch.setattr(check, "main", slow)
    assert biasbridge(["check", "posts.csv"]) == 3
    assert lines_of(caplog)[0] == "after <1 s: biasbridge check is at work"


def test_a_sweep_says_how_far_it_is(
    tmp_path: Path, train: Train, caplog: pytest.LogCaptureFixture
) -> None:
    small = ["corpus.sentences=1000", "source.posts=400", "size.dim=4", "size.epochs=1"]
    sweep = ["seed=0,1,2", "classifier=linear", "hydra/launcher=basic", "name=three"]
    status, _, error = train("hydra.mode=MULTIRUN", "debias.dose=0", *small, *sweep)
    assert status == 0, error
    found = lines_of(caplog)
    assert any(line.endswith(": 0 of 3 points done") or "; building " in line for line in found)
    assert found[-1].endswith("writing the tables and conclusions")
    [note] = (line for line in caplog.messages if line.startswith("first classifier: "))
    assert "recall - FPR of the task is " in note  # said once, of vectors that tell nothing


def test_what_a_sweep_says(tmp_path: Path) -> None:
    """The time left is that of the points left at the rate of those that were finished."""
    store, results = Store(tmp_path / "store"), tmp_path / "results"
    plans = [plan(store.root, seed=seed) for seed in range(9)]
    shown = SweepProgress(plans, store, results, Console())
    shown._start -= 200  # noqa: SLF001
    assert shown.describe() == "0 of 9 points done"
    write_outcome(Outcome(plans[0].key, "failed", "no luck"), results)
    assert shown.describe() == "1 of 9 points done, 1 failed"  # at no rate
    write_outcome(Outcome(plans[1].key), results)
    write_outcome(Outcome(plans[2].key), results)
    assert shown.describe() == "3 of 9 points done, 1 failed, about 10 min left"  # 6 x 200 s / 2


def test_a_long_step_within_a_point_is_seen(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    plans = [plan(store.root, seed=seed) for seed in range(2)]
    store.prove_writable()
    shown = SweepProgress(plans, store, tmp_path, Console())
    with ExitStack() as stack:
        for minutes, planned in zip((9, 47), plans, strict=True):
            (store.root / "work" / planned.unit.key).mkdir()
            lock = store.lock(store.path(planned.unit))
            stack.enter_context(locked(lock))
            began = time.time() - 60 * minutes
            os.utime(lock, (began, began))
        label = plans[0].unit.label
        assert shown.describe() == f"0 of 2 points done; building {label} x2 for 47 min"
    assert shown.describe() == "0 of 2 points done"  # what a killed process left is not built


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        *[(0.99, "<1 s"), (1, "1 s"), (99.4, "99 s"), (100, "2 min"), (3599, "60 min")],
        *[(3600, "1.0 h"), (86399, "24.0 h"), (86400, "1.0 d")],
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_a_pipe_that_is_called_a_terminal_shows_no_bar(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jupyter says so of the commands of a notebook, which showed 94 lines of progress."""
    monkeypatch.setenv(variable, "1")
    shown = io.StringIO()
    console = Console(file=shown)
    assert console.is_terminal
    plans = [plan(tmp_path / "store", seed=seed) for seed in range(2)]
    with SweepProgress(plans, Store(tmp_path / "store"), tmp_path / "results", console).shown():
        time.sleep(0.7)
    assert shown.getvalue() == ""


def test_the_notebooks_show_no_progress() -> None:
    for path in (Path(__file__).resolve().parent.parent / "examples").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "points \\u001b" not in text
        assert "\\u2501" not in text
        assert "\u2501" not in text
