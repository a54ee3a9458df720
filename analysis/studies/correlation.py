"""Does the score predict the gap? Correlations, their figures and their report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import MinLen
from rich.console import Console

from analysis.naming import PRIMARY, UTILITY
from files import InputError, atomic_path, choice

if TYPE_CHECKING:
    import pandas as pd

    from analysis.correlate import Finding
    from analysis.results import Tables

FEWEST = 3  # points that a correlation needs


@choice
class Correlation:
    """Intrinsic scores against gaps, slice by slice, as in Goldfarb-Tarrant et al. (2021).

    Prints the points and, where there are gaps, the correlations; writes ``correlations.csv`` and,
    of three points or more, the figures, ``report.html`` and ``correlations.tex``. The gaps in the
    ``primary`` measures are printed, drawn in figure 3 and counted in the report's answer (all gaps
    where there is none of these); ``utility`` is the measure over all posts that tells how well the
    task is done.
    """

    name: ClassVar[str] = "correlation"
    version: ClassVar[int] = 1

    primary: Annotated[tuple[str, ...], MinLen(1)] = PRIMARY
    utility: str = UTILITY

    def files(self) -> list[Path]:
        """A study reads the tables alone."""
        return []

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, correlate and draw; the paths written."""
        from analysis.correlate import CORRELATION_COLUMNS, as_table, correlate_slices
        from analysis.join import has_gaps, join_points
        from analysis.show import print_points

        print_points(tables, console, primary=self.primary, utility=self.utility)
        joined, found = None, []
        if has_gaps(tables):
            try:
                joined = join_points(tables)
                found = correlate_slices(joined)
            except InputError as refusal:
                _say(f"not correlated: {refusal}", console)
        written = [folder / "correlations.csv"]
        with atomic_path(written[0]) as path:
            as_table(found, CORRELATION_COLUMNS).to_csv(path, index=False)
        if joined is not None and len(tables.points) >= FEWEST:
            written += self._draw(tables, joined, found, folder, console)
        return written

    def _draw(
        self,
        tables: Tables,
        joined: pd.DataFrame,
        found: list[Finding],
        folder: Path,
        console: Console,
    ) -> list[Path]:
        from analysis.figures import draw_figures
        from analysis.report import build_report
        from analysis.show import print_correlations

        def figures() -> list[Path]:
            return draw_figures(joined, folder / "figures", primary=self.primary)

        def report() -> list[Path]:
            measures = {"primary": self.primary, "utility": self.utility}
            return build_report(folder, tables, joined, found, **measures)

        print_correlations(found, console)
        written = []
        for draw in (figures, report):
            try:
                written += draw()
            # The tables are written, and what is too much for a picture is no failure
            except InputError as refusal:
                _say(f"not drawn: {refusal}", console)
        return written


def _say(text: str, console: Console) -> None:
    console.print(text, soft_wrap=True, highlight=False, markup=False)
