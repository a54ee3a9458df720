"""A process that has loaded the engine and nothing of a user; it forks for every run of a test."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent

if TYPE_CHECKING:
    from biasbridge.train.engine.store import Step


class FreshProcess:
    """Client of such a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, function: str, folder: Path, *modules: str) -> dict[str, list[str] | str]:
        """Return what a function of this file answers, called in a fork."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([function, str(folder), *modules]) + "\n")
        self._process.stdin.flush()
        answer: dict[str, list[str] | str] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def fresh_process() -> Iterator[FreshProcess]:
    """Start the process, and end it after the block."""
    command = [sys.executable, "-m", "tests.fresh_process"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:  # type: ignore[call-overload]
        yield FreshProcess(process)


def plan(folder: str, *modules: str) -> dict[str, Step]:
    """Return the steps that modules of the folder define."""
    from biasbridge.train.engine.steps import StepBuilder
    from biasbridge.train.engine.store import Store

    os.chdir(folder)
    sys.path.insert(0, folder)
    loaded = [import_module(name) for name in modules]
    steps = StepBuilder(0, Store(Path(folder).parent / "store"))
    return {one.__name__: steps(one.__name__, one.Mine(), one.write) for one in loaded}


def save_plan(folder: str, *modules: str) -> dict[str, str]:
    """Write the planned steps for another process."""
    Path(folder, "plan").write_bytes(pickle.dumps(plan(folder, *modules)))
    return {}


def run_plan(folder: str) -> dict[str, str]:
    """Make the results of a written plan, or return the error."""
    sys.path.insert(0, folder)
    return _make(folder, pickle.loads(Path(folder, "plan").read_bytes()))  # noqa: S301


def judge(folder: str, *modules: str) -> dict[str, list[str]]:
    """Return why each stored result is outdated; nothing if it is not."""
    from biasbridge.train.engine.store import Store
    from biasbridge.train.engine.store_tools import outdated

    found = outdated(Store(Path(folder).parent / "store"), plan(folder, *modules).values())
    return {one.step.name: [*one.modules, *one.libraries] or ["inputs"] for one in found}


def make(folder: str, *modules: str) -> dict[str, str]:
    """Return the results by module, stored or made."""
    return _make(folder, plan(folder, *modules))


def remake(folder: str, *modules: str) -> dict[str, str]:
    """Return the results by module, made again."""
    from biasbridge.train.engine.store import Store

    steps = plan(folder, *modules)
    for step in steps.values():
        Store(Path(folder).parent / "store").discard(step)
    return _make(folder, steps)


def _make(folder: str, steps: dict[str, Step]) -> dict[str, str]:
    from biasbridge.files import InputError
    from biasbridge.train.engine.store import Store

    store = Store(Path(folder).parent / "store")
    try:
        return {name: (store.make(step) / "text").read_text() for name, step in steps.items()}
    except InputError as error:
        return {"error": str(error)}


def _serve() -> None:
    from biasbridge.train.engine import source, steps, store, store_tools  # noqa: F401

    store._commit = lambda: ""  # type: ignore[assignment] # noqa: SLF001 - takes a process
    source.source_of((steps.__name__, "biasbridge.files.choice"))  # which stay parsed
    for line in sys.stdin:
        function, *arguments = json.loads(line)
        if not os.fork():
            print(json.dumps(globals()[function](*arguments)), flush=True)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    _serve()
