"""A signal ends every command with a line and 128 + its number, and what it had begun is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = """
import sys, time
from pathlib import Path
from tempfile import TemporaryDirectory
from biasbridge.files import atomic_path, interrupts, run_cli

def main():
    with TemporaryDirectory(dir="."), atomic_path("out.csv") as path:
        path.write_text("half")
        {work}

def wait():
    print("at work", flush=True)
    time.sleep(60)

run_cli(main)
"""
WAIT = "wait()"
CLEANS_UP = """
        interrupts._ONE_SIGNAL = {seconds}
        try:
            wait()
        finally:
            while not Path("go_on").exists():
                time.sleep(0.05)
            Path("cleaned").touch()"""
SWALLOWED = """
        interrupts._MAX_SECONDS = 0.2
        try:
            wait()
        except BaseException:
            time.sleep(60)"""


def hear_signals() -> None:
    """Undo what the shell that runs the tests may have told them to ignore."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(folder: Path, work: str, *before: str) -> subprocess.Popen[str]:
    """Start a command, and return when it is at work."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", COMMAND.format(work=work)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    assert process.stdout
    assert process.stdout.readline() == "at work\n"
    return process


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, error = process.communicate(timeout=50)
    return process.returncode, error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_in_a_line_and_leaves_nothing(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = start(tmp_path, WAIT)
    process.send_signal(number)
    assert end(process) == (128 + number, "interrupted\n")
    assert not list(tmp_path.iterdir())


def test_nohup_is_heeded(tmp_path: Path) -> None:
    process = start(tmp_path, WAIT, "nohup")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.terminate()
    assert end(process)[0] == 128 + signal.SIGTERM


def test_a_signal_to_a_process_and_its_group_is_one(tmp_path: Path) -> None:
    process = start(tmp_path, CLEANS_UP.format(seconds=30))
    for _ in range(2):
        process.terminate()
        time.sleep(0.1)
    (tmp_path / "go_on").touch()
    assert end(process) == (128 + signal.SIGTERM, "interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cleaned", "go_on"]


def test_another_signal_later_ends_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, CLEANS_UP.format(seconds=0.1))
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(1)
    assert end(process) == (128 + signal.SIGINT, "interrupted\n")
    assert not (tmp_path / "cleaned").exists()


def test_a_library_that_swallows_the_signal_delays_the_end_only(tmp_path: Path) -> None:
    process = start(tmp_path, SWALLOWED)
    process.send_signal(signal.SIGINT)
    assert end(process) == (128 + signal.SIGINT, "interrupted\n")
