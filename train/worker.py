"""A child process that runs points, so that one that is killed, exits or crashes the interpreter costs only itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

import torch
from threadpoolctl import threadpool_limits

CONTEXT = multiprocessing.get_context("spawn")  # a fork would inherit the threads of torch and BLAS in an unknown state


class WorkerDiedError(RuntimeError):
    """The child ended without an answer; the message names the signal or the exit status."""


class Worker:
    """One child at a time, started with the first task and again after it died; it ends when its parent does."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Connection | None = None

    def __call__(self, function: Callable[..., Any], *args: Any) -> Any:
        """What ``function(*args)`` returns in the child. Raises ``WorkerDiedError``; the function must not raise."""
        if self._process is None or not self._process.is_alive():
            self._start()
        assert self._pipe is not None
        try:
            self._pipe.send((function, args))
            wait([self._pipe, self._process.sentinel])
            if self._pipe.poll():  # a grandchild may keep the pipe open after the child died, so the end of the file is not awaited
                return self._pipe.recv()
        except (EOFError, ConnectionError):
            pass
        except BaseException:  # an interrupt ends the child too
            self.stop()
            raise
        self._process.join()
        raise WorkerDiedError(how_it_ended(self._process.exitcode))

    def stop(self) -> None:
        """End the child, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        self._pipe, other = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()  # only the child holds it now, so its death is the end of the pipe


def how_it_ended(exitcode: int) -> str:
    """The exit code of a child in words."""
    if exitcode >= 0:
        return f"the process of this point ended with status {exitcode}"
    name = signal.Signals(-exitcode).name
    memory = "; the system kills so when memory runs out: give fewer workers or smaller models" if name == "SIGKILL" else ""
    return f"the process of this point was killed by {name}{memory}"


def keep_to_one_thread() -> None:
    """One thread for torch and BLAS in this process: cores are not oversubscribed, and sums in another order would change digits."""
    torch.set_num_threads(1)
    threadpool_limits(limits=1)


def silence_libraries() -> None:
    """No progress bars but the sweep's own."""
    os.environ["TQDM_DISABLE"] = "1"
    from datasets import disable_progress_bars

    disable_progress_bars()


def _serve(pipe: Connection) -> None:
    """Answer tasks until the parent closes the pipe or dies. Signals from the terminal are the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    keep_to_one_thread()
    silence_libraries()
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        pipe.send(function(*args))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
