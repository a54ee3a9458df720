"""The progress of a command: lines while it is at work, and a forecast of the time left."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from rich.text import Text

from biasbridge.files.terminal import LOG, is_quiet, open_console

PROGRESS_SECONDS = 30.0  # between two lines
_forecasts: list[_Forecast] = []  # the last one is at work
_is_shown = False  # whether a command runs on a terminal


@contextmanager
def progress_lines(describe: Callable[[], str]) -> Iterator[None]:
    """Log what ``describe`` returns every ``PROGRESS_SECONDS`` of the block, unless standard output
    is a terminal or ``--quiet`` was given.
    """
    if sys.stdout.isatty():
        global _is_shown
        _is_shown = sys.stderr.isatty() and not is_quiet()
        yield
        _is_shown = False
        return
    start, is_over = time.monotonic(), threading.Event()

    def report() -> None:
        while not is_over.wait(PROGRESS_SECONDS):
            LOG.warning("after %s: %s", duration(time.monotonic() - start), describe())

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class _Forecast:
    """Parts of a long work by cost; printed, it states the part at work and the time left."""

    def __init__(self, costs: Sequence[tuple[str, float]]) -> None:
        self._costs, self._total = dict(costs), sum(cost for _, cost in costs)
        self._n_parts, self._number, self._label = len(costs), 0, "loading"
        self._done, self._start, self._since, self.share = 0.0, 0.0, 0.0, 0.0

    def begin(self, label: str) -> None:
        """Count the part before as done."""
        now = time.monotonic()
        self._start = self._start or now
        self._done += self._costs.get(self._label, 0.0)
        self._number, self._label, self._since, self.share = self._number + 1, label, now, 0.0

    def __str__(self) -> str:
        """``seat seat7, 3 of 15, 20% of it, about 40 s left``."""
        place = f"{self._label}, {self._number} of {self._n_parts}" if self._number else "loading"
        place += f", {self.share:.0%} of it" if self.share else ""
        if not self._done:
            return place
        left = (self._total - self._done) / self._done * (self._since - self._start)
        return f"{place}, about {duration(left - (time.monotonic() - self._since))} left"

    def __rich__(self) -> Text:
        return Text(str(self))


@contextmanager
def forecast(costs: Sequence[tuple[str, float]]) -> Iterator[None]:
    """Tell in a command what is at work and the time left, of parts by label and cost.

    On a terminal it is a line that is removed at the end, else a part of ``progress_lines``.
    ``begin_part`` tells that a part begins.
    """
    _forecasts.append(_Forecast(costs))
    status = open_console(stderr=True).status(_forecasts[-1]) if _is_shown else nullcontext()
    try:
        with status:
            yield
    finally:
        _forecasts.pop()


def begin_part(label: str) -> None:
    """Tell the forecast, if there is one, that a part begins."""
    for last in _forecasts[-1:]:
        last.begin(label)


def tell_share(share: float) -> None:
    """Tell the forecast, if there is one, how much of the part at work is done, 0 to 1."""
    for last in _forecasts[-1:]:
        last.share = share


def work_at_hand(command: str) -> str:
    """Return what a command is at, and the time left where that is known."""
    return f"{command} is at work" + "".join(f": {last}" for last in _forecasts[-1:])


def duration(seconds: float) -> str:
    """Format a duration: ``<1 s``, ``4 s``, ``3 min``, ``2.5 h``, ``3.1 d``."""
    for unit, size in (("d", 86400), ("h", 3600)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"
