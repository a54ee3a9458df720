"""``python -m extrinsic``: performance gaps with intervals from anybody's predictions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import isnan
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.gaps import Gaps, Row, as_table, binary, column_of, gap_rows
from extrinsic.measures import MEASURES
from files import InputError, atomic_path, run_cli
from files.tables import read_table, write_csv

EPILOG = """\
A gap is the privileged group's value minus the other group's, of the false positive rate (fpr) the
other way round: positive = worse for the other group. Intervals are Wilson's score intervals at
95 %, of gaps Newcombe's. Gold and predicted labels must be 0 or 1; an empty group counts in the
rows "all" only."""

SHOWN = 200  # values, and as many gaps: no more can be read in a terminal


class Options(argparse.Namespace):
    """What the command line says."""

    predictions: Path
    gold: str
    pred: str
    group: str
    privileged: str
    unprivileged: str | None
    least_support: int
    csv: Path | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Read predictions, print the table of measures and gaps, and write it where ``--csv`` says."""
    options = _parser().parse_args(arguments, namespace=Options())
    table = read_table(options.predictions)
    predictions = prepare(table, gold=options.gold, pred=options.pred, group=options.group)
    rows = compare(predictions, options)
    _print(rows, Console())
    if options.csv:
        with atomic_path(options.csv) as work:
            write_csv(as_table(rows).drop(columns="resampled"), work)


def prepare(table: pd.DataFrame, *, gold: str, pred: str, group: str) -> pd.DataFrame:
    """The columns by the names ``gap_table`` knows; an empty group becomes a missing one."""
    groups = column_of(table, group).astype("string")
    labels = {"label": binary(table, gold), "prediction": binary(table, pred)}
    return pd.DataFrame(labels | {"group": groups.mask(groups == "")})


def compare(predictions: pd.DataFrame, options: Options) -> list[Row]:
    """The group named against the privileged one; where none is named, each other in turn."""
    present = set(predictions["group"].dropna())
    privileged = options.privileged
    others = [options.unprivileged] if options.unprivileged else sorted(present - {privileged})
    if not others:
        only = f"every row with a group is of group {privileged!r}"
        raise InputError(f"{only}; a gap needs a second group")
    return gap_rows(predictions, Gaps(privileged, others[0], options.least_support), *others[1:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m extrinsic", description="Performance gaps between groups.", epilog=EPILOG
    )
    add = parser.add_argument
    predictions = "a .csv, .tsv (also .gz, .bz2, .xz) or .parquet file, one row an item"
    add("predictions", type=Path, help=predictions)
    add("--gold", required=True, metavar="COL", help="column of the true labels, 0 or 1")
    add("--pred", required=True, metavar="COL", help="column of the predicted labels, 0 or 1")
    add("--group", required=True, metavar="COL", help="column of the groups")
    add("--privileged", required=True, metavar="VALUE", help="the privileged group")
    unprivileged = "the other group; without it every other group in turn"
    add("--unprivileged", metavar="VALUE", help=unprivileged)
    fewest = "fewest items that give a group a value (default 10; 0: any)"
    add("--least-support", type=int, default=10, metavar="N", help=fewest)
    add("--csv", type=Path, metavar="OUT", help="write the table here as well")
    return parser


def _print(rows: Sequence[Row], console: Console) -> None:
    shown = [
        row for kind in ("value", "gap") for row in [r for r in rows if r.kind == kind][:SHOWN]
    ]
    console.print(_render(shown))
    if more := len(rows) - len(shown):
        console.print(f"and {more:,} more rows; --csv OUT writes all", highlight=False)


def _render(rows: Sequence[Row]) -> Table:
    """The table for a terminal: a gap is written as the difference it is, with both supports."""
    out = Table()
    for column in ("measure", "group", "value", "95 % interval", "support", "note"):
        left = column in ("measure", "group", "note")
        out.add_column(column, justify="left" if left else "right", no_wrap=column != "note")
    for row in rows:
        measure, group, sign, support = row.measure, row.group, "", str(row.support)
        if row.kind == "gap":
            sides = [
                (row.privileged, row.support_privileged),
                (row.unprivileged, row.support_unprivileged),
            ]
            (a, n), (b, m) = sides if MEASURES[measure].larger_is_better else sides[::-1]
            measure, group, sign, support = f"{measure} gap", f"{a} - {b}", "+", f"{n} / {m}"
        interval = "" if isnan(row.low) else f"{row.low:{sign}.3f}, {row.high:{sign}.3f}"
        value = "undefined" if isnan(row.value) else f"{row.value:{sign}.3f}"
        out.add_row(*map(Text, (measure, group, value, interval, support, row.reason)))
    return out


if __name__ == "__main__":
    run_cli(lambda: main())
