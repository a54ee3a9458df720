"""The protocol of a study: what it concludes from the tables of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from biasbridge.files import Choice, InputError

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Console

    from biasbridge.analysis.tables import Tables

POINTS = "points.parquet"  # the first table of a results folder


def require_results(results: str | PathLike[str]) -> None:
    """Raise ``InputError`` for a folder without tables, before anything slow is imported."""
    folder = Path(results)
    if not (folder / POINTS).exists():
        nearby = (folder, folder.parent, folder.parent / "results")
        candidates = {str(path.parent) for root in nearby for path in root.glob(f"*/{POINTS}")}
        hint = f"; results are in {', '.join(sorted(candidates)[:10])}" if candidates else ""
        raise InputError(f"no such file: {folder / POINTS}{hint}")


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
