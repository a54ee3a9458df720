"""Scatter plots of any tidy table, or the paper's figures from a results folder.

python -m analysis.scatter results/hatespeech_en
python -m analysis.scatter my.csv --x WEAT --y "Performance Gap" --row Metric --column Embedding \\
    --out my.svg
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.correlate import correlate_slices
from analysis.declaration import Declaration
from analysis.figures import STAMP, draw_figures
from analysis.frame import labels, numbers, require_columns, texts
from analysis.grid import INTERVALS, PLACES, ChartText, scatter_grid
from analysis.joined import is_joined, join_points, open_table
from analysis.naming import REVERSED
from analysis.results import read_tables
from files import InputError, run_cli
from files.charts import FORMATS, save_chart
from files.options import Parser

MIXED = f"r is of scores with their sign changed where {REVERSED}"


class ScatterArguments(argparse.Namespace):
    """What the command line gives; empty text where nothing."""

    table: str
    x: str
    y: str
    row: str
    column: str
    colour: str
    shape: str
    title: str
    out: str
    mark: str


def grid_data(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
) -> pd.DataFrame:
    """The named columns under the names that ``scatter_grid`` draws; those not named are blank. Of
    a table that comes from ``join_points`` those too that name models and parents, so that r is
    taken within these. ``InputError`` for an unknown one.
    """
    named = dict(zip(PLACES, (row, column, colour, shape), strict=True))
    require_columns(table, [x, y, *filter(None, named.values())], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least one")
    blank = [""] * len(table)
    places = {name: labels(table, of) if of else blank for name, of in named.items()}
    sides = {"x": numbers(table, x), "y": numbers(table, y)}
    if not is_joined(table):
        return pd.DataFrame(sides | places)
    of_others = [f"{name}_resampled" for name, of in (("x", x), ("y", y)) if of != name]
    dropped = [*INTERVALS, *of_others, *([] if x == "x" else ["reverse_scored"])]
    return table.drop(columns=dropped, errors="ignore").assign(**sides, **places)


def main(argv: Sequence[str] | None = None) -> int:
    """Draw a table by column names, or figures 3 to 5 of a results folder."""
    args = _parser().parse_args(argv, ScatterArguments())
    if Path(args.table).is_dir() and not args.x:
        out = Path(args.out or Path(args.table) / "figures")
        study = Declaration.of(Path(args.table))
        joined = join_points(read_tables(args.table), study.utility)
        found = correlate_slices(joined, study.declared)
        for path in draw_figures(joined, out, found=found, confirmatory=study.confirmatory):
            print(path)
        return 0
    table = open_table(args.table)
    if not (args.x and args.y and args.out):
        raise InputError(
            f"name --x, --y and --out; {args.table} has the columns"
            f" {', '.join(map(str, table.columns))}"
        )
    data = grid_data(
        table,
        x=args.x,
        y=args.y,
        row=args.row,
        column=args.column,
        colour=args.colour,
        shape=args.shape,
    )
    signs = set(texts(data, "reverse_scored"))
    turned = signs == {"True"}
    notes = [STAMP] if "True" in texts(table, "generated") else []
    if "True" in signs and not turned:
        notes.append(MIXED)
    text = ChartText(
        title=args.title or f"{args.y} against {args.x}",
        x=f"{args.x}, {REVERSED}" if turned else args.x,
        y=args.y,
        colour=args.colour,
        shape=args.shape,
        notes=notes,
        reverse=turned,
    )
    y = numbers(data, "y")
    crosses_zero = bool((y < 0).any() and (y > 0).any())
    print(save_chart(scatter_grid(data, text, mark=args.mark, zero=crosses_zero), args.out))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m analysis.scatter",
        description="Scatter plots of a table, Pearson's r above each.",
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    for name, what in (
        ("x", "column on the horizontal axis"),
        ("y", "column on the vertical axis"),
        ("row", "column whose values make rows of panels"),
        ("column", "column whose values make columns of panels"),
        ("colour", "column that colours the points"),
        ("shape", "column that shapes the points"),
        ("title", "title of the figure"),
        ("out", f"file to write ({', '.join(FORMATS)}); of a results folder the figures' folder"),
    ):
        parser.add_argument(f"--{name}", default="", help=what)
    parser.add_argument(
        "--mark",
        choices=("point", "line"),
        default="point",
        help="line: mean y at each x, shaded from least to greatest",
    )
    return parser


if __name__ == "__main__":
    run_cli(main)
