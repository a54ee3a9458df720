"""The report of a results folder, or of predictions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.command_line import Command, output_file, say
from biasbridge.commands import gaps
from biasbridge.files.charts import FigureAxes, FigureStyle, FigureWidth, figures_as
from biasbridge.files.choice import as_names
from biasbridge.files.paths import require_results

if TYPE_CHECKING:
    from rich.console import Console


def report(
    results: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    figures: Sequence[str] = ("pdf",),
    width: FigureWidth = "page",
    axes: FigureAxes = "default",
) -> list[Path]:
    """Write report.html for a results folder, with figures and correlations.tex beside it.

    Parameters
    ----------
    results : path
        Results folder of a sweep, or, on the command line, a file of predictions, with the options
        of biasbridge gaps.
    out : path, optional
        Page to write, with its figures beside it (default: report.html in the results folder).
    figures : sequence of str
        Formats of the figures, beside SVG: pdf, png (default: pdf).
    width : {"page", "column"}
        Of a PDF: with its title, or without, in the width of a column of a paper.
    axes : {"default", "paper"}
        For "paper" figure 3 has the gap on the horizontal axis and the score on the vertical one.

    Returns
    -------
    list of pathlib.Path
        The page, the table and the figures.

    Raises
    ------
    InputError
        A table is missing or damaged.
    """
    require_results(results)
    from biasbridge.analysis.correlate import StudyResults

    study = StudyResults.read(results)  # before charts, which are slow, are imported
    from biasbridge.analysis.figures import draw_figures
    from biasbridge.analysis.report.page import build_report
    from biasbridge.analysis.result_folder import require_own
    from biasbridge.files.terminal import open_console

    style = FigureStyle(tuple(as_names(figures)), width, axes)  # type: ignore[arg-type]
    with figures_as(style):
        page = None if out is None else Path(out)
        if page is None:
            require_own(study.folder, ["figures"])
        folder = (page.parent if page else study.folder) / "figures"
        slices, joined, declared = study.correlate(), study.joined, study.declared
        return [
            *build_report(study.folder, study.tables, joined, slices, declared=declared, out=page),
            *draw_figures(
                joined,
                folder,
                results=slices,
                confirmatory=declared.confirmatory,
                console=open_console(),
            ),
        ]


def _show(paths: list[Path], console: Console) -> None:
    for path in paths:
        say(console, path)


class _ReportCommand(Command):
    """The command ``report``, which on predictions is ``gaps`` with a page."""

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        arguments = sys.argv[1:] if arguments is None else arguments
        if not arguments or not Path(arguments[0]).is_file():
            return super().__call__(arguments)
        has_page = any(argument.startswith("--report") for argument in arguments)
        page = [] if has_page else ["--report", f"{Path(arguments[0]).stem}.html"]
        return gaps.main([*arguments, *page])


main = _ReportCommand(
    report, _show, spelling="out PAGE.html; figures A,B", types={"out": output_file(".html")}
)
