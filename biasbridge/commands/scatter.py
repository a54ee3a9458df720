"""Figures of a results folder or of any table."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasbridge.command_line import Command, say
from biasbridge.files import InputError
from biasbridge.files.charts import FORMATS, save_chart
from biasbridge.files.paths import require_output
from biasbridge.input_tables import as_dataframe

if TYPE_CHECKING:
    from rich.console import Console


def scatter(
    table: str | PathLike[str],
    *,
    out: str = "",
    x: str = "",
    y: str = "",
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
    title: str = "",
    mark: Literal["point", "line"] = "point",
) -> list[Path]:
    """Draw scatter plots of a table (with Pearson's r) or of a results folder (with r_rm).

    Parameters
    ----------
    table : path
        A results folder, or a .csv, .tsv or .parquet file.
    out : path
        File to write (.svg, .png, .pdf, .html or .json); for a results folder also a folder. Of a
        results folder without columns all its figures are drawn, by default in ``figures`` in it.
    x : str
        Column on the horizontal axis.
    y : str
        Column on the vertical axis.
    row : str
        Column whose values make rows of panels.
    column : str
        Column whose values make columns of panels.
    colour : str
        Column that sets the colour of the points.
    shape : str
        Column that sets the shape of the points.
    title : str
        Title of the figure.
    mark : {"point", "line"}
        Draw points, or a line through the mean y at each x, shaded from minimum to maximum.

    Returns
    -------
    list of pathlib.Path
        The figures.
    """
    is_folder = Path(table).is_dir()
    is_file = Path(out).suffix[1:].isalpha() and not Path(out).is_dir()
    columns = {"x": x, "y": y, "row": row, "column": column, "colour": colour, "shape": shape}
    if is_folder and not is_file and not any(columns.values()):
        folder = Path(out or Path(table) / "figures")
        require_output(folder / "x.svg", FORMATS)
        from biasbridge.analysis.correlate import StudyResults

        study = StudyResults.read(table)
        from biasbridge.analysis.figures import draw_figures  # charts are slow to import

        return draw_figures(
            study.joined,
            folder,
            results=study.correlate(),
            confirmatory=study.declared.confirmatory,
        )
    if out:
        require_output(out, FORMATS)
    if is_folder:
        from biasbridge.analysis.joined import join_folder

        rows = join_folder(Path(table))
        columns |= {"x": x or "x", "y": y or "y"}
    else:
        rows = as_dataframe(table)
    if not (columns["x"] and columns["y"] and out):
        listed = ", ".join(map(str, rows.columns))
        needed = "--out FILE" if is_folder else "--x, --y and --out"
        raise InputError(f"name {needed}; {table} has the columns {listed}")
    from biasbridge.analysis.figures import scatter_chart

    return [save_chart(scatter_chart(rows, **columns, title=title, mark=mark), out)]


def _show(paths: list[Path], console: Console) -> None:
    for path in paths:
        say(console, path)


_SPELLING = "x COL; y COL; row COL; column COL; colour COL; shape COL; out FILE; title TEXT"
main = Command(scatter, _show, spelling=_SPELLING)
