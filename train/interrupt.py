"""Ctrl-C and SIGTERM end in one line, at whatever moment they come."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GO_ON = "interrupted; what is finished stays in the store, and the same command goes on from there"


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end; its number is the argument."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """While there is nothing to clean up, or at the second signal."""
    os.write(2, f"{GO_ON}\n".encode())
    os._exit(128 + number)


def listen() -> None:
    """End at once on a signal; for the seconds that imports take."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background of a shell
            signal.signal(number, end_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block the first signal raises ``Interrupted``, and another one ends at once.

    So does what libraries make of it: an error of their own, or an exit with its number.
    """
    asked: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        listen()
        asked.append(number)
        raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code == signal.SIGTERM:  # Ray's way
            asked.append(signal.SIGTERM)
        if not asked:
            raise
        raise Interrupted(asked[0]) from error
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])
