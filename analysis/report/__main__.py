"""Write ``report.html`` for a results folder, with its figures as SVG, PNG and PDF and
``correlations.tex`` beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from analysis.alignment import alignments
from analysis.correlate import correlate_slices
from analysis.figures import draw_figures
from analysis.joined import join_points
from analysis.results import read_tables
from analysis.specification_curve import draw_curves
from analysis.specifications import specification_curves
from analysis.study import Correlation
from files import run_cli
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the report and print the paths."""
    parser = Parser(prog="python -m analysis.report", description=__doc__)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    parser.add_argument(
        "--out",
        type=Path,
        help="the page, with its figures beside it (default: report.html in the results folder)",
    )
    given = parser.parse_args(arguments)
    folder: Path = given.results
    figures = (given.out.parent if given.out else folder) / "figures"
    tables, study = read_tables(folder), Correlation.of(folder)
    joined = join_points(tables, study.utility)
    found = correlate_slices(joined, study.declared)
    curves = specification_curves(joined, found)
    aligned = alignments(joined)
    for path in [
        *study.report(folder, tables, joined, found, curves, aligned, given.out),
        *draw_figures(
            joined, figures, found=found, confirmatory=study.confirmatory, console=Console()
        ),
        *draw_curves(curves, figures),
    ]:
        print(path)
    return 0


if __name__ == "__main__":
    run_cli(main)
