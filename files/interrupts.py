"""Ctrl-C, SIGTERM and SIGHUP: a command cleans up and ends with one line, at any moment."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

# Windows has no SIGHUP
SIGNALS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
_MAX_SECONDS = 10  # of cleaning up
_ONE_SIGNAL = 1.0  # seconds in which a signal comes to a process and to its group


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end; its argument is the signal number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def _end_at_once(number: int, frame: FrameType | None = None) -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(128 + number)


def listen() -> None:
    """Exit at once on a signal, without cleaning up; one that is ignored, as by nohup, stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise ``Interrupted`` at the first signal within the block, and exit at the next one, or if
    the process has not ended ``_MAX_SECONDS`` later.

    Errors or exits that libraries raise because of the signal become ``Interrupted`` too.
    """
    received: list[int] = []
    start = 0.0

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal start
        if received:
            if time.monotonic() - start > _ONE_SIGNAL:
                _end_at_once(number)
            return
        start = time.monotonic()
        if hasattr(signal, "setitimer"):  # a library may swallow the exception
            signal.signal(signal.SIGALRM, lambda *_: _end_at_once(number))
            signal.setitimer(signal.ITIMER_REAL, _MAX_SECONDS)
        received.append(number)
        raise Interrupted(number)

    previous = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in previous.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code == signal.SIGTERM:  # Ray's way
            received.append(signal.SIGTERM)
        if not received:
            raise
        raise Interrupted(received[0]) from error
    finally:
        if not received:
            for number, handler in previous.items():
                signal.signal(number, handler)
