"""``biasbridge correlate``: correlations of a results folder or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from biasbridge.analysis.naming import SMALLEST_CHANGE
from biasbridge.cli.options import CSV, split_names
from biasbridge.files import InputError, atomic_path
from biasbridge.files.terminal import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, and with ``--out`` write, the correlations of a table or results folder."""
    args = _parser().parse_args(arguments)
    from biasbridge.analysis.answer import print_correlations, print_slices
    from biasbridge.analysis.correlate import Levels, correlate, correlate_slices
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.joined import is_joined, open_table
    from biasbridge.analysis.slices import (
        CORRELATION_COLUMNS,
        RESULT_COLUMNS,
        correlation_table,
        scope_table,
        without_repeats,
    )
    from biasbridge.analysis.verdict import RULES
    from biasbridge.files.tables import write_csv
    from biasbridge.files.terminal import open_console

    study = Declaration.of(Path(args.table))
    table = open_table(args.table, study.utility)
    is_results = is_joined(table)
    console = open_console()
    levels = Levels(
        args.observation, args.parent, args.condition, args.cluster, args.utility, args.classifier
    )
    has_options = args.x or args.y or args.by or args.confirmatory or levels.named or levels.utility
    if is_results and not has_options:
        columns: Sequence[str] = CORRELATION_COLUMNS
        if args.smallest_change is not None:
            study = replace(study, smallest_change=args.smallest_change)
        slice_results = correlate_slices(table, study)
        print_correlations(slice_results, console)
        slice_results = without_repeats(slice_results)
    else:
        if not is_results and not (args.x and args.y):
            raise InputError(
                f"name two columns with --x and --y; {args.table} has"
                f" {', '.join(map(str, table.columns))}"
            )
        x, y = args.x or "x", args.y or "y"
        slice_results = correlate(
            table,
            x=x,
            y=y,
            by=args.by,
            levels=levels,
            confirmatory=args.confirmatory,
            smallest_change=study.smallest_change
            if args.smallest_change is None
            else args.smallest_change,
        )
        columns = [*slice_results[0].names, *RESULT_COLUMNS]
        print_slices(slice_results, f"{y} against {x}, {len(table)} rows", console)
        if args.confirmatory:
            console.print(RULES, soft_wrap=True)
    if args.out:
        scopes_path = args.out.with_name(f"{args.out.stem}_scopes{args.out.suffix}")
        with atomic_path(args.out) as path, atomic_path(scopes_path) as path_of_scopes:
            write_csv(correlation_table(slice_results, columns), path)
            write_csv(scope_table(slice_results), path_of_scopes)
        console.print(f"{args.out}, {scopes_path}", soft_wrap=True)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge correlate", description="Correlations of two columns, by slices."
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    parser.add_argument("--x", default="", help="column of the intrinsic metric")
    parser.add_argument("--y", default="", help="column of the gap")
    for name, purpose in (
        ("by", "that define the slices"),
        ("observation", "that identify one model of a parent; default: each row is one"),
        ("parent", "that identify the unmodified model; r is taken within these"),
        ("condition", "that identify the modification (method, words, dose)"),
        ("cluster", "above parents (corpus, language): their parents are averaged"),
    ):
        text = f"columns {purpose}; separated by commas"
        parser.add_argument(f"--{name}", type=split_names, default=[], metavar="COL,...", help=text)
    parser.add_argument(
        "--classifier",
        default="",
        metavar="COL",
        help="column of the classifier: each has slices of its own (default: classifier, if the"
        " table has that column)",
    )
    parser.add_argument("--utility", default="", help="column of the performance on the task")
    parser.add_argument(
        "--confirmatory",
        type=split_names,
        default=[],
        metavar="SLICE,...",
        help="slices declared beforehand, which get a verdict: their values of --by, joined by"
        " spaces; or all",
    )
    parser.add_argument(
        "--smallest-change",
        type=float,
        help=f"smallest change of the gap of interest (default {SMALLEST_CHANGE}, or as the"
        " results folder declares)",
    )
    parser.add_argument(
        "--out",
        type=CSV,
        help="also write one row per slice to this CSV file, and one per slice and scope to"
        " FILE_scopes.csv",
    )
    return parser
