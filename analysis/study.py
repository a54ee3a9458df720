"""What a study can do, and the one that most sweeps conclude with: score against gap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from rich.console import Console

from analysis.declaration import DETAILS, SETTINGS, WRITES, Declaration
from analysis.frame import texts
from analysis.naming import confirmatory_of
from files import Choice, InputError, atomic_path, choice
from files.verbosity import LOG

if TYPE_CHECKING:
    import pandas as pd

    from analysis.effects import Effect
    from analysis.findings import Finding
    from analysis.results import Tables

FEWEST = 3  # points that a correlation needs


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
    two specifications or more their curve, ``specifications.csv`` and ``specification_levels.csv``;
    where a metric was asked ``from_task`` and otherwise, ``alignment.csv``.
    Its fields are those of ``Declaration``; the confirmatory measures are printed and drawn in
    figure 3.
    """

    name: ClassVar[str] = "correlation"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = WRITES

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print the answer, write the tables and draw; the paths written. Where nothing can be
        correlated the points are printed; ``details.txt`` has everything that could be.
        """
        from analysis.correlate import correlate_slices
        from analysis.effects import effects
        from analysis.effects.table import TABLE, write_effects
        from analysis.findings import CORRELATION_COLUMNS, correlation_table
        from analysis.joined import has_gaps, join_points
        from analysis.results import write_conclusions
        from analysis.show import print_correlations, print_words
        from analysis.show_points import print_points
        from analysis.summary import print_answer

        said = StringIO()
        details = Console(file=said, width=100)
        print_points(tables, details, confirmatory=self.confirmatory, utility=self.utility)
        print_words(tables, details)
        found: list[Finding] = []
        moved: list[Effect] = []
        joined = None
        if has_gaps(tables):
            with _said("not correlated", console):
                joined = join_points(tables, self.utility)
                found = correlate_slices(joined, self)
        with atomic_path(folder / SETTINGS) as path:
            path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        table = correlation_table(found, CORRELATION_COLUMNS)
        written = write_conclusions(folder, {"correlations": table})
        with _said("what conditions did is not known", console):
            if moved := effects(tables, self.utility):
                written.append(write_effects(moved, self.confirmatory, folder / TABLE, details))
        if joined is None or len(tables.points) < FEWEST or not found:
            print_points(tables, console, confirmatory=self.confirmatory, utility=self.utility)
            return written
        print_answer(tables, found, moved, self, console)
        print_correlations(found, details)
        written += self._cross(joined, folder, details)
        written += self._draw(tables, joined, found, folder, details)
        with atomic_path(folder / DETAILS) as path:
            path.write_text(said.getvalue(), encoding="utf-8")
        LOG.info("%s", said.getvalue())
        return [*written, folder / DETAILS]

    def _cross(self, joined: pd.DataFrame, folder: Path, console: Console) -> list[Path]:
        from analysis.crossed import crossed_table
        from analysis.results import write_conclusions
        from analysis.show import print_described, varying

        table = crossed_table(joined)
        if table is None:
            return []
        shown = table[
            table["measure"].isin(confirmatory_of(texts(table, "measure"), self.confirmatory))
        ]
        title = "embedding crossed with labels: shares of the gap's variance within parents"
        print_described(title, varying(shown), console)
        return write_conclusions(folder, {"crossed": table})

    def _draw(
        self,
        tables: Tables,
        joined: pd.DataFrame,
        found: list[Finding],
        folder: Path,
        console: Console,
    ) -> list[Path]:
        from analysis.alignment import alignments, write_alignment
        from analysis.figures import draw_figures
        from analysis.report import build_report
        from analysis.specification_curve import write_curves
        from analysis.specifications import specification_curves

        written: list[Path] = []
        curves = specification_curves(joined, found)
        written += write_curves(curves, folder, console)
        aligned = alignments(joined)
        written += write_alignment(aligned, folder, console)
        with _said("not drawn", console):
            figures = folder / "figures"
            written += draw_figures(
                joined, figures, found=found, confirmatory=self.confirmatory, console=console
            )
        with _said("not drawn", console):
            written += build_report(
                folder, tables, joined, found, declared=self, curves=curves, aligned=aligned
            )
        return written


@contextmanager
def _said(what: str, console: Console) -> Iterator[None]:
    """The tables are written, and what is too much for a picture is no failure: it is said."""
    try:
        yield
    except InputError as refusal:
        console.print(f"{what}: {refusal}", soft_wrap=True, highlight=False, markup=False)
