"""``biasbridge report``: write the report of a results folder or of predictions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import PAGE
from biasbridge.files.terminal import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the report and print the paths."""
    raw_args = list(sys.argv[1:] if arguments is None else arguments)
    if raw_args and Path(raw_args[0]).is_file():
        from biasbridge.cli import gaps

        has_page = any(argument.startswith("--report") for argument in raw_args)
        page = [] if has_page else ["--report", f"{Path(raw_args[0]).stem}.html"]
        return gaps.main([*raw_args, *page])
    args = _parser().parse_args(raw_args)
    from biasbridge.analysis.correlate import correlate_slices
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.figures import draw_figures
    from biasbridge.analysis.joined import join_points
    from biasbridge.analysis.report import build_report
    from biasbridge.analysis.specifications import draw_curves, specification_curves
    from biasbridge.analysis.tables import read_tables
    from biasbridge.files.terminal import open_console

    folder, study = args.results, Declaration.of(args.results)
    figures = (args.out.parent if args.out else folder) / "figures"
    tables = read_tables(folder)
    joined = join_points(tables, study.utility)
    slice_results = correlate_slices(joined, study)
    curves = specification_curves(joined, slice_results)
    for path in [
        *build_report(
            folder,
            tables,
            joined,
            slice_results,
            declared=study,
            curves=curves,
            out=args.out,
        ),
        *draw_figures(
            joined,
            figures,
            results=slice_results,
            confirmatory=study.confirmatory,
            smallest_change=study.smallest_change,
            console=open_console(),
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
    results = "the results folder of a sweep; or predictions, with the options of biasbridge gaps"
    parser.add_argument("results", type=Path, help=results)
    page = "the page, with its figures beside it (default: report.html in the results folder)"
    parser.add_argument("--out", type=PAGE, help=page)
    return parser
