"""``biasbridge certify``: what the score of a metric is worth, on models with a planted bias."""

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
    """Train the models that the store lacks, measure, print or write."""
    given = _parser().parse_args(arguments)
    from biasbridge.certifying import certify, check_certificate, compare
    from files.tables import read_table, write_csv
    from files.terminal import open_console

    earlier = read_table(given.compare) if given.compare else None
    if earlier is not None:
        check_certificate(earlier)
    shown = not given.json and earlier is None  # the run prints the table
    table = certify(
        given.metric,
        convention=given.convention,
        query=given.query,
        seeds=given.seeds,
        config_dir=given.config_dir,
        stale=given.stale,
        out=sys.__stdout__ if shown else None,
    )
    console = open_console()
    if given.export:
        with atomic_path(given.export) as work:
            write_csv(table, work)
    if given.json:
        print(as_json(table))
    elif earlier is not None:
        _print_moved(compare(earlier, table), given.compare, console)
    else:
        _print_slopes(given.metric, console)
    return 0


def as_json(table: pd.DataFrame) -> str:
    """The rows; NaN is null."""
    rows = [
        {
            name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False)


def _print_slopes(metric: str, console: Console) -> None:
    """How far gaps moved with the metric's scores in the recorded runs."""
    from analysis.show import estimate, print_table
    from studies.certificate.recorded import slopes

    def interval(row: Mapping[str, str], name: str, digits: int) -> str:
        value, low, high = (float(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
        return estimate(value, low, high, digits)

    rows = [
        {
            **{name: row[name] for name in ("run", "score", "gap", "planted", "conditions")},
            "slope": interval(row, "slope", 4),
            "r_rm": interval(row, "r_rm", 2),
        }
        for row in slopes(metric)
    ]
    if rows:
        title = "By how much a gap moves where the score is 1 larger, in the recorded runs"
        print_table(title, rows, console, left=("run", "score", "gap"))


def _print_moved(moved: pd.DataFrame, path: Path, console: Console) -> None:
    from analysis.show import print_described, print_lines

    if moved.empty:
        print_lines([f"no number differs from {path}"], console)
    else:
        print_described(f"What differs from {path}", moved, console)


def _parser() -> Parser:
    description = (
        "What a bias metric's score is worth: on small models, trained here, in which a bias of"
        " known strength is planted. Some minutes; models are kept in store/."
    )
    parser = Parser(prog="biasbridge certify", description=description)
    add = parser.add_argument
    add("metric", help="the name of its file in conf/intrinsic, such as weat, or of your own")
    add("--convention", default="all", metavar="NAME", help="of the metric; default: all")
    query = "words of the planted world to ask about, of a language model a set of items"
    add("--query", metavar="NAME", help=f"{query}; default: all planted words, beside them others")
    add("--seeds", type=int, metavar="N", help="worlds of each strength; default 8, of models 3")
    add(
        "--config-dir",
        metavar="FOLDER",
        help="where intrinsic/METRIC.yaml of your own and its class lie",
    )
    stale = "what becomes of stored results that other code made"
    add("--stale", choices=("refuse", "use", "rebuild"), default="refuse", help=stale)
    add("--json", action="store_true", help="the rows as JSON in place of the table")
    add("--export", type=CSV, metavar="FILE", help="write the rows, with versions and keys, as CSV")
    add("--compare", type=Path, metavar="FILE", help="show which numbers differ from such a file")
    return parser
