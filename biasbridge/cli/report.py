"""``biasbridge report``: the report of a results folder, written again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the report and print the paths."""
    given = _parser().parse_args(arguments)
    from rich.console import Console

    from analysis.alignment import alignments
    from analysis.correlate import correlate_slices
    from analysis.declaration import Declaration
    from analysis.figures import draw_figures
    from analysis.joined import join_points
    from analysis.report import build_report
    from analysis.results import read_tables
    from analysis.specification_curve import draw_curves
    from analysis.specifications import specification_curves

    folder, study = given.results, Declaration.of(given.results)
    figures = (given.out.parent if given.out else folder) / "figures"
    tables = read_tables(folder)
    joined = join_points(tables, study.utility)
    found = correlate_slices(joined, study)
    curves = specification_curves(joined, found)
    aligned = alignments(joined)
    for path in [
        *build_report(
            folder,
            tables,
            joined,
            found,
            declared=study,
            curves=curves,
            aligned=aligned,
            out=given.out,
        ),
        *draw_figures(
            joined, figures, found=found, confirmatory=study.confirmatory, console=Console()
        ),
        *draw_curves(curves, figures),
    ]:
        print(path)
    return 0


def _parser() -> Parser:
    description = (
        "Write report.html for a results folder, with its figures as SVG, PNG and PDF and"
        " correlations.tex beside it."
    )
    parser = Parser(prog="python -m analysis.report", description=description)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    page = "the page, with its figures beside it (default: report.html in the results folder)"
    parser.add_argument("--out", type=Path, help=page)
    return parser
