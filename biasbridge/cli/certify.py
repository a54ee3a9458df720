"""``biasbridge certify``: certify a bias metric on models with a planted bias."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.cli.options import CSV
from files import atomic_path
from files.options import Parser

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the models missing from the store, measure, print or write."""
    args = _parser().parse_args(arguments)
    from biasbridge.certifying import certify, check_certificate, compare
    from files.tables import read_table, write_csv
    from files.terminal import open_console

    earlier = read_table(args.compare) if args.compare else None
    if earlier is not None:
        check_certificate(earlier)
    is_table_printed = not args.json and earlier is None  # by the run
    table = certify(
        args.metric,
        convention=args.convention,
        query=args.query,
        seeds=args.seeds,
        config_dir=args.config_dir,
        stale=args.stale,
        out=sys.__stdout__ if is_table_printed else None,
    )
    console = open_console()
    if args.export:
        with atomic_path(args.export) as work:
            write_csv(table, work)
    if args.json:
        print(as_json(table))
    elif earlier is not None:
        _print_differences(compare(earlier, table), args.compare, console)
    else:
        _print_slopes(args.metric, console)
    return 0


def as_json(table: pd.DataFrame) -> str:
    """Return the rows as JSON; NaN is null."""
    rows = [
        {
            name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False)


def _print_slopes(metric: str, console: Console) -> None:
    from analysis.terminal import format_estimate, print_table
    from studies.certificate.recorded import recorded_transfer

    def interval(row: Mapping[str, str], name: str, digits: int) -> str:
        value, low, high = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
        return format_estimate(value, low, high, digits)

    rows = [
        {
            **{name: row[name] for name in ("run", "score", "gap", "planted", "conditions")},
            "slope": interval(row, "slope", 4),
            "r_rm": interval(row, "r_rm", 2),
        }
        for row in recorded_transfer(metric)
    ]
    if rows:
        title = "Change of the gap per unit of the score, in the recorded runs"
        print_table(title, rows, console, left=("run", "score", "gap"))


def _print_differences(differences: pd.DataFrame, path: Path, console: Console) -> None:
    from analysis.terminal import print_as_text, print_lines

    if differences.empty:
        print_lines([f"no number differs from {path}"], console)
    else:
        print_as_text(f"Differences from {path}", differences, console)


def _parser() -> Parser:
    description = (
        "Measure what a bias metric's score is worth, on small models with a planted bias of known"
        " strength. They are trained in some minutes and kept in store/."
    )
    parser = Parser(prog="biasbridge certify", description=description)
    add = parser.add_argument
    add("metric", help="name of its file in conf/intrinsic, such as weat, or in --config-dir")
    add("--convention", default="all", metavar="NAME", help="of the metric (default: all)")
    query = "query of planted words; for a language model, a set of items"
    add("--query", metavar="NAME", help=f"{query} (default: all planted words, and others)")
    seeds = "models per strength (default: 8 embeddings or 3 language models)"
    add("--seeds", type=int, metavar="N", help=seeds)
    config_dir = "folder with intrinsic/METRIC.yaml and the module of your own metric"
    add("--config-dir", metavar="FOLDER", help=config_dir)
    stale = "what to do with stored results of former code (default: refuse)"
    add("--stale", choices=("refuse", "use", "rebuild"), default="refuse", help=stale)
    add("--json", action="store_true", help="print the rows as JSON instead of the table")
    add("--export", type=CSV, metavar="FILE", help="write the rows, with library versions, as CSV")
    add("--compare", type=Path, metavar="FILE", help="show differences from an exported file")
    return parser
