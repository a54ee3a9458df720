"""``biasbridge scatter``: figures of a results folder or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.files import InputError
from biasbridge.files.charts import FORMATS
from biasbridge.files.paths import require_output
from biasbridge.files.terminal import Parser

COLUMNS = ("x", "y", "row", "column", "colour", "shape")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw a table by column names, or figures 3 to 5 of a results folder."""
    args = _parser().parse_args(arguments)
    from biasbridge.analysis.correlate import correlate_slices
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.figures import draw_figures, scatter_chart
    from biasbridge.analysis.joined import join_points, open_table
    from biasbridge.analysis.tables import read_tables
    from biasbridge.files.charts import save_chart

    is_folder, out_suffix = Path(args.table).is_dir(), Path(args.out).suffix
    is_file = out_suffix[1:].isalpha() and not Path(args.out).is_dir()
    if is_folder and not is_file and not any(getattr(args, name) for name in COLUMNS):
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
    if is_folder:
        args.x, args.y = args.x or "x", args.y or "y"
    if not (args.x and args.y and args.out):
        raise InputError(
            f"name {'--out FILE' if is_folder else '--x, --y and --out'}; {args.table} has the"
            f" columns {', '.join(map(str, table.columns))}"
        )
    options = (*COLUMNS, "title", "mark")
    chart = scatter_chart(table, **{name: getattr(args, name) for name in options})
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
        ("out", f"file to write ({', '.join(FORMATS)}); of a results folder also a folder"),
    ):
        parser.add_argument(f"--{name}", default="", help=description)
    parser.add_argument(
        "--mark",
        choices=("point", "line"),
        default="point",
        help="line: mean y at each x, shaded from minimum to maximum",
    )
    return parser
