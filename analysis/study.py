"""The protocol of a study, and the default one: score against gap."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.tables import SETTINGS_JSON, WRITES
from biasbridge.files import Choice, atomic_path, choice

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables


@runtime_checkable
class Study(Choice, Protocol):
    """A study that draws conclusions from the tables of an experiment.

    ``writes``: the names, in the results folder, of all files and folders that ``conclude`` may
    write; a sweep of other points sets them aside together with the tables they rest on. A study
    may have a method ``forecast(facts)`` besides: given the columns of each planned point, it
    returns lines about what they cannot decide, which are printed before the run.
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


@choice
class Correlation(Declaration):
    """Intrinsic scores against gaps, slice by slice, as in Goldfarb-Tarrant et al. (2021).

    Prints the points, the correlations where there are gaps, and the effects of conditions; writes
    ``correlations.csv``, ``effects.csv`` where something was modified
    (``biasbridge.analysis.effects``), ``crossed.csv`` where doses of labels were crossed with
    embeddings (``biasbridge.analysis.effects``); with three points or more, the figures,
    ``report.html`` and ``correlations.tex``; with two specifications or more their curve,
    ``specifications.csv`` and ``specification_levels.csv``. Its fields are those of
    ``Declaration``; the confirmatory measures are printed and drawn in figure 3.
    """

    name: ClassVar[str] = "correlation"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = WRITES
    chosen_as: ClassVar[tuple[str, ...]] = ("study/correlation",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, correlate and draw; return the paths written."""
        from biasbridge.analysis.concluding import conclude

        with atomic_path(folder / SETTINGS_JSON) as path:
            path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        return conclude(self, tables, folder, console)
