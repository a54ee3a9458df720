"""``biasbridge certify``: certify a bias metric on models with a planted bias."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from biasbridge.cli.options import CSV
from biasbridge.files import atomic_path
from biasbridge.files.terminal import Parser

if TYPE_CHECKING:
    import pandas as pd


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the models missing from the store, measure, print or write."""
    args = _parser().parse_args(arguments)
    from biasbridge.certifying import certify
    from biasbridge.files.tables import write_csv

    table = certify(
        args.metric,
        convention=args.convention,
        query=args.query,
        seeds=args.seeds,
        config_dir=args.config_dir,
        stale=args.stale,
        out=None if args.json else sys.__stdout__,  # the run prints the table
    )
    if args.export:
        with atomic_path(args.export) as work:
            write_csv(table, work)
    if args.json:
        print(as_json(table))
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


def _parser() -> Parser:
    description = (
        "Measure what a bias metric's score is worth, on small models with a planted bias of known"
        " strength. They are trained in some minutes and kept in store/."
    )
    parser = Parser(prog="biasbridge certify", description=description)
    add = parser.add_argument
    add("metric", help="its name, such as weat, or that of your own in --config-dir")
    add("--convention", default="all", metavar="NAME", help="of the metric (default: all)")
    query = "query of planted words; for a language model, a set of items"
    add("--query", metavar="NAME", help=f"{query} (default: all planted words, and others)")
    seeds = "models per strength (default: 8 embeddings or 3 language models)"
    add("--seeds", type=int, metavar="N", help=seeds)
    config_dir = "folder with the module of your own metric"
    add("--config-dir", metavar="FOLDER", help=config_dir)
    stale = "what to do with stored results of former code (default: refuse)"
    add("--stale", choices=("refuse", "use", "rebuild"), default="refuse", help=stale)
    add("--json", action="store_true", help="print the rows as JSON instead of the table")
    add("--export", type=CSV, metavar="FILE", help="write the rows, with library versions, as CSV")
    return parser
