"""The protocol of a study: what it concludes from the tables of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from biasbridge.files import Choice

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables


@runtime_checkable
class Study(Choice, Protocol):
    """A study that draws conclusions from the tables of an experiment.

    ``writes``: the names, in the results folder, of all files and folders that ``conclude`` may
    write; a sweep of other points sets them aside together with the tables they rest on. A study
    may have two methods besides. Given the columns of each planned point, ``forecast(facts)``
    returns lines about what they cannot decide, which are printed before the run, and
    ``outline(facts)`` those that ``plan=true`` prints.
    """

    writes: ClassVar[tuple[str, ...]]

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print what the tables show and write it beside them.

        Failures to conclude or draw are reported on the console and raise nothing.

        Parameters
        ----------
        tables : Tables
            One row per point, per intrinsic score and per extrinsic measure.
        folder : Path
            The results folder; files go there under names of ``writes``.
        console : Console
            Where to print.

        Returns
        -------
        list of Path
            The paths written.
        """
        ...
