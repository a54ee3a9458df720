"""Fixtures every room may use."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from biasbridge.files.terminal import LOG
from tests.data_server import Server, serve

# Small networks gain nothing from more threads, and two test processes would share the cores
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("COLUMNS", None)  # of the terminal that runs the tests
# The longest first, so that two test processes end together; of these some in slow tests
LONGEST = (
    *("test_recorded_runs", "test_decision", "test_crosses", "test_sweeps", "test_readme"),
    *("test_examples", "test_front", "test_debias_command", "test_calibration", "test_planting"),
    *("test_coreference_world", "test_crash_points", "test_text", "test_gap_table"),
    *("test_figures", "test_data", "test_coverage", "test_correlation", "test_wheel"),
    *("test_addition", "test_doses", "test_fuzz", "test_world"),
)


@pytest.fixture(autouse=True)
def _verbosity() -> None:
    """Forget what a command of an earlier test in this process set."""
    LOG.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data named by BIASBRIDGE_DATA; the test is skipped where there is none."""
    folder = os.environ.get("BIASBRIDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BIASBRIDGE_DATA names no folder of real data")
    return Path(folder).resolve()


@pytest.fixture
def only_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to other machines, and look-ups of their names."""
    real = socket.socket.connect, socket.getaddrinfo

    def connect(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", address
        real[0](self, address)

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        assert host == "127.0.0.1", host
        return real[1](host, *arguments, **options)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("BIASBRIDGE_MIRROR", "BIASBRIDGE_OFFLINE", "HF_HUB_OFFLINE", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(tmp_path: Path, only_local: None) -> Iterator[Server]:
    """A local server of the folder ``served``, which can misbehave."""
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as running:
        yield running


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the real data, which would be measured too."""
    monkeypatch.delenv("BIASBRIDGE_DATA", raising=False)
    monkeypatch.setattr("biasbridge.corpora.items.PACKAGED", {})


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    status: int | str | None
    out: str
    err: str


Train = Callable[..., Ended]


@pytest.fixture
def train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Train:
    """``python train.py`` with some arguments, in this process and in ``tmp_path``."""
    from biasbridge.train.cli.start import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASBRIDGE_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("PYTHONPATH", "")

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return Ended(stop.value.code, *capsys.readouterr())

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files by how long they take, as far as they are listed."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
