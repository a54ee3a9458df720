"""``biasbridge correlate``: correlations of a results folder or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analysis.naming import SESOI
from biasbridge.cli.options import CSV, split_names
from files import InputError, atomic_path
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, and with ``--out`` write, the correlations of a table or results folder."""
    args = _parser().parse_args(arguments)
    from analysis.correlate import correlate, correlate_slices
    from analysis.declaration import Declaration
    from analysis.findings import CORRELATION_COLUMNS, RESULT_COLUMNS, correlation_table
    from analysis.foreign import Levels
    from analysis.joined import is_joined, open_table
    from analysis.show import print_correlations, print_slices
    from analysis.slices import without_repeats
    from analysis.verdict import RULES
    from files.tables import write_csv
    from files.terminal import open_console

    study = Declaration.of(Path(args.table))
    table = open_table(args.table, study.utility)
    ours = is_joined(table)
    console = open_console()
    levels = Levels(args.observation, args.parent, args.condition, args.cluster, args.utility)
    asked = args.x or args.y or args.by or args.confirmatory or levels.named or levels.utility
    if ours and not asked:
        columns: Sequence[str] = CORRELATION_COLUMNS
        found = correlate_slices(table, replace(study, sesoi=args.sesoi or study.sesoi))
        print_correlations(found, console)
        found = without_repeats(found)
    else:
        if not ours and not (args.x and args.y):
            raise InputError(
                f"name the two columns with --x and --y; {args.table} has"
                f" {', '.join(map(str, table.columns))}"
            )
        x, y = args.x or "x", args.y or "y"
        columns = [*args.by, *RESULT_COLUMNS]
        found = correlate(
            table,
            x=x,
            y=y,
            by=args.by,
            levels=levels,
            confirmatory=args.confirmatory,
            sesoi=args.sesoi or SESOI,
        )
        print_slices(found, f"{y} against {x}, {len(table)} rows", console)
        if args.confirmatory:
            console.print(RULES, soft_wrap=True)
    if args.out:
        with atomic_path(args.out) as path:
            write_csv(correlation_table(found, columns), path)
        console.print(str(args.out), soft_wrap=True)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge correlate", description="Correlations of two columns, by slices."
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    parser.add_argument("--x", default="", help="column of the intrinsic metric")
    parser.add_argument("--y", default="", help="column of the gap")
    for name, what in (
        ("by", "to slice by"),
        ("observation", "that name one model of a parent; default: each row is one"),
        ("parent", "that name what it was made from; r is taken within these"),
        ("condition", "that name what was done to it (method, words, dose)"),
        ("cluster", "above parents (corpus, language): parents of one are averaged"),
    ):
        text = f"columns {what}; separated by commas"
        parser.add_argument(f"--{name}", type=split_names, default=[], metavar="COL,...", help=text)
    parser.add_argument("--utility", default="", help="column that says how well the task is done")
    parser.add_argument(
        "--confirmatory",
        type=split_names,
        default=[],
        metavar="SLICE,...",
        help="the slices that were declared beforehand and get a verdict, by their values of --by"
        " with a space between; or all",
    )
    parser.add_argument(
        "--sesoi",
        type=float,
        default=0.0,
        help=f"smallest correlation of interest: less is negligible (default {SESOI}, or what the"
        " results folder declares)",
    )
    parser.add_argument("--out", type=CSV, help="also write one row per slice to this CSV file")
    return parser
