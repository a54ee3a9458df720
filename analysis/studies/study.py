"""What a study can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.results import Tables


@runtime_checkable
class Study(Choice, Protocol):
    """Concludes something from the tables of an experiment.

    ``writes``: the names, in the results folder, of all files and folders that ``conclude`` may
    write; a sweep of other points sets them aside together with the tables they rest on.
    """

    writes: ClassVar[tuple[str, ...]]

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print what the tables tell and write it beside them in ``folder``, under names of
        ``writes``; the paths written.

        What cannot be concluded or drawn is said on the console and is no failure.
        """
        ...
