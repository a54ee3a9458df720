"""A child process that runs points, so that one that is killed, exits or crashes the interpreter
costs only itself.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import TypeVar, TypeVarTuple

from threadpoolctl import threadpool_limits

# Not multiprocessing.Process: an engine's own workers (loky's, ray's) may not start one.
# It starts with interrupts blocked, and ignores them before it imports anything else.
SERVE = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    " signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT});"
    f" import sys; sys.path[:] = sys.argv[2:]; from {__name__} import serve;"
    " serve(int(sys.argv[1]))"
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LOOK = 0.2  # seconds between two looks whether the child lives

R = TypeVar("R")
Ts = TypeVarTuple("Ts")
Tasks = queue.SimpleQueue[tuple[Callable[..., object], tuple[object, ...]]]


class WorkerDiedError(RuntimeError):
    """The child ended without an answer; the message names the signal or the exit status."""


class WorkerStoppedError(RuntimeError):
    """The child was ended from here, in the middle of a task or before it."""


class Worker:
    """One child at a time, started with the first task and again after it died, until it is
    stopped; it ends when its parent does.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._stopped = False

    def __call__(self, function: Callable[[*Ts], R], *args: *Ts) -> R:
        """What ``function(*args)`` returns in the child. Raises ``WorkerDiedError``, or
        ``WorkerStoppedError`` after ``stop``; the function must not raise.
        """
        if self._stopped:
            raise WorkerStoppedError
        process, pipe = self._child()
        try:
            pipe.send((function, args))
            while not wait([pipe], timeout=LOOK):
                # A process that the child started may keep the pipe open: its end is not awaited
                if process.poll() is not None and not pipe.poll():
                    break
            else:
                answer: R = pipe.recv()
                return answer
        except (EOFError, ConnectionError):
            pass
        except BaseException:  # an interrupt ends the child too
            self.stop()
            raise
        if self._stopped:
            raise WorkerStoppedError
        raise WorkerDiedError(how_it_ended(process.wait()))

    def stop(self) -> None:
        """End the child, whatever it is doing, and start no other."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _child(self) -> tuple[subprocess.Popen[bytes], Connection]:
        if self._process is None or self._pipe is None or self._process.poll() is not None:
            self._process, self._pipe = _start()
        return self._process, self._pipe


def _start() -> tuple[subprocess.Popen[bytes], Connection]:
    pipe, other = multiprocessing.Pipe()
    command = [sys.executable, "-c", SERVE, str(other.fileno()), *sys.path]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    other.close()  # only the child holds it now, so its death is the end of the pipe
    return process, pipe


def how_it_ended(status: int) -> str:
    """The return code of a child in words."""
    if status >= 0:
        return f"the process of this point ended with status {status}"
    name = signal.Signals(-status).name
    memory = (
        "; the system kills so when memory runs out: give fewer workers or smaller models"
        if name == "SIGKILL"
        else ""
    )
    return f"the process of this point was killed by {name}{memory}"


def keep_to_one_thread() -> None:
    """One thread for torch and BLAS, loaded already or later: cores are not oversubscribed, and
    sums in another order would change digits.
    """
    os.environ.update(dict.fromkeys(THREADS, "1"))
    threadpool_limits(limits=1)


def silence_libraries() -> None:
    """No progress bars but the sweep's own."""
    os.environ |= {"TQDM_DISABLE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}


def serve(descriptor: int) -> None:
    """Answer tasks in the child until the parent closes the pipe or dies. Signals from the terminal
    are the parent's business: they are ignored here.
    """
    os.set_inheritable(descriptor, False)
    pipe = Connection(descriptor)
    tasks: Tasks = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    keep_to_one_thread()
    silence_libraries()
    while True:
        function, args = tasks.get()
        pipe.send(function(*args))


def _receive(pipe: Connection, tasks: Tasks) -> None:
    """Pass tasks on; the end of the pipe means that the parent is gone, and then nobody waits for
    the work under way.
    """
    while True:
        try:
            tasks.put(pipe.recv())
        except (EOFError, ConnectionError):
            os._exit(1)
