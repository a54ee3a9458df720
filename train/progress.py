"""One progress bar over a sweep, whatever engine runs it: a thread counts the points that have left a record."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class SweepProgress:
    """A bar with the time left in a terminal; elsewhere one plain line a finished point."""

    def __init__(self, records: Sequence[Path], console: Console) -> None:
        self._waiting = list(records)
        self._total = len(self._waiting)
        self._console = console
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Show what finished last and end."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        if not self._console.is_terminal:
            self._poll(self._print_line)
            return
        columns = (TextColumn("points"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task("points", total=self._total)
            self._poll(lambda path: bar.advance(task))

    def _poll(self, show: object) -> None:
        while True:
            last = self._stop.wait(0.25)
            done = [path for path in self._waiting if path.is_file()]
            self._waiting = [path for path in self._waiting if path not in done]
            for path in done:
                show(path)  # type: ignore[operator]
            if last:
                return

    def _print_line(self, path: Path) -> None:
        record = json.loads(path.read_text(encoding="utf-8"))
        self._count = getattr(self, "_count", 0) + 1
        label = " ".join(str(record[k]) for k in ("embedding", "method", "direction", "dose", "seed", "status") if record[k] != "")
        self._console.print(f"[{self._count}/{self._total}] {label}, {record['seconds']:.1f} s", markup=False, highlight=False)
