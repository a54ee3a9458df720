"""Handlers of Ctrl-C and SIGTERM: the process ends with one line at any moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
GO_ON = "interrupted; finished results stay in the store. Run the same command to continue"


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end; its argument is the signal number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def _end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """Exit without cleaning up: during imports, or at the second signal."""
    os.write(2, f"{GO_ON}\n".encode())
    os._exit(128 + number)


def listen() -> None:
    """Exit at once on a signal, as long as imports run."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background of a shell
            signal.signal(number, _end_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise ``Interrupted`` at the first signal within the block and exit at the second.

    Errors or exits that libraries raise because of the signal become ``Interrupted`` too.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        listen()
        received.append(number)
        raise Interrupted(number)

    previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        if previous_handlers[number] is not signal.SIG_IGN:
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
        for number in _SIGNALS:
            signal.signal(number, previous_handlers[number])
