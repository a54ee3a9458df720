"""What a study can do, and the one that most sweeps conclude with: score against gap."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from analysis.declaration import SETTINGS, WRITES, Declaration
from files import Choice, atomic_path, choice

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
        """Print what the tables show and write it beside them in ``folder``, under names of
        ``writes``; the paths written.

        What cannot be concluded or drawn is said on the console and is no failure.
        """
        ...


@choice
class Correlation(Declaration):
    """Intrinsic scores against gaps, slice by slice, as in Goldfarb-Tarrant et al. (2021).

    Prints the points, where there are gaps the correlations, and what conditions did; writes
    ``correlations.csv``, ``effects.csv`` where something was modified (``analysis.effects``),
    ``crossed.csv`` where doses of labels were crossed with embeddings (``analysis.crossed``), and,
    of three points or more, the figures, ``report.html`` and ``correlations.tex``; where there are
    two specifications or more their curve, ``specifications.csv`` and ``specification_levels.csv``.
    Its fields are those of ``Declaration``; the confirmatory measures are printed and drawn in
    figure 3.
    """

    name: ClassVar[str] = "correlation"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = WRITES

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, correlate and draw; the paths written."""
        from analysis.concluding import conclude

        with atomic_path(folder / SETTINGS) as path:
            path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        return conclude(self, tables, folder, console)
