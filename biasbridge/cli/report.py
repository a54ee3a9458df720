"""``biasbridge report``: the report of a results folder, written again; of a file of predictions,
the page of ``biasbridge gaps``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import PAGE
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the report and print the paths."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and Path(words[0]).is_file():
        from biasbridge.cli import gaps

        named = any(word.startswith("--report") for word in words)
        page = [] if named else ["--report", f"{Path(words[0]).stem}.html"]
        return gaps.main([*words, *page])
    given = _parser().parse_args(words)
    from analysis.correlate import correlate_slices
    from analysis.declaration import Declaration
    from analysis.figures import draw_figures
    from analysis.joined import join_points
    from analysis.report import build_report
    from analysis.results import read_tables
    from analysis.specification_curve import draw_curves
    from analysis.specifications import specification_curves
    from files.terminal import open_console

    folder, study = given.results, Declaration.of(given.results)
    figures = (given.out.parent if given.out else folder) / "figures"
    tables = read_tables(folder)
    joined = join_points(tables, study.utility)
    found = correlate_slices(joined, study)
    curves = specification_curves(joined, found)
    for path in [
        *build_report(
            folder,
            tables,
            joined,
            found,
            declared=study,
            curves=curves,
            out=given.out,
        ),
        *draw_figures(
            joined, figures, found=found, confirmatory=study.confirmatory, console=open_console()
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
    parser = Parser(prog="biasbridge report", description=description)
    results = "a results folder, as a sweep writes it; a file of predictions with the options of"
    parser.add_argument("results", type=Path, help=results + " biasbridge gaps")
    page = "the page, with its figures beside it (default: report.html in the results folder)"
    parser.add_argument("--out", type=PAGE, help=page)
    return parser
