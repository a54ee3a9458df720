"""``biasbridge scatter``: figures of a results folder or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from files import InputError
from files.atomic import require_output
from files.charts import FORMATS
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw a table by column names, or figures 3 to 5 of a results folder."""
    args = _parser().parse_args(arguments)
    from analysis.correlate import correlate_slices
    from analysis.declaration import Declaration
    from analysis.figures import draw_figures
    from analysis.joined import join_points, open_table
    from analysis.results import read_tables
    from analysis.scatter import scatter_chart
    from files.charts import save_chart

    if Path(args.table).is_dir() and not args.x:
        out = Path(args.out or Path(args.table) / "figures")
        require_output(out / "x.svg", FORMATS)
        study = Declaration.of(Path(args.table))
        joined = join_points(read_tables(args.table), study.utility)
        slice_results = correlate_slices(joined, study)
        for path in draw_figures(
            joined,
            out,
            results=slice_results,
            confirmatory=study.confirmatory,
            smallest_change=study.smallest_change,
        ):
            print(path)
        return 0
    if args.out:
        require_output(args.out, FORMATS)
    table = open_table(args.table)
    if not (args.x and args.y and args.out):
        raise InputError(
            f"name --x, --y and --out; {args.table} has the columns"
            f" {', '.join(map(str, table.columns))}"
        )
    columns = ("x", "y", "row", "column", "colour", "shape", "title", "mark")
    chart = scatter_chart(table, **{name: getattr(args, name) for name in columns})
    print(save_chart(chart, args.out))
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge scatter",
        description="Draw scatter plots of a table, with Pearson's r; of results, with r_rm within"
        " parents.",
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    for name, description in (
        ("x", "column on the horizontal axis"),
        ("y", "column on the vertical axis"),
        ("row", "column whose values make rows of panels"),
        ("column", "column whose values make columns of panels"),
        ("colour", "column that colours the points"),
        ("shape", "column that shapes the points"),
        ("title", "title of the figure"),
        ("out", f"file to write ({', '.join(FORMATS)}), or folder for figures of a results folder"),
    ):
        parser.add_argument(f"--{name}", default="", help=description)
    parser.add_argument(
        "--mark",
        choices=("point", "line"),
        default="point",
        help="line: mean y at each x, shaded from minimum to maximum",
    )
    return parser
