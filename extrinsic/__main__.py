"""``python -m extrinsic``: performance gaps with intervals from anybody's predictions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.gaps import binary, gap_table
from files import InputError, atomic_path, nearest, run_cli

SEPARATORS = {".csv": ",", ".tsv": "\t"}
EPILOG = """\
A gap is the privileged group's value minus the other group's: positive = worse for the other group.
Intervals are 95 % percentile bootstrap intervals over the items, within groups. Gold and predicted
labels must be 0 or 1; an empty group counts in the rows "all" only."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read predictions, print the table of measures and gaps, and write it where ``--csv`` says."""
    options = _parse(arguments)
    predictions = prepare(
        read_table(options.predictions), gold=options.gold, pred=options.pred, group=options.group
    )
    table = all_gaps(
        predictions, options.privileged, options.unprivileged, options.resamples, options.seed
    )
    Console().print(_render(table))
    if options.csv:
        with atomic_path(options.csv) as work:
            table.to_csv(work, index=False)


def read_table(path: Path) -> pd.DataFrame:
    """A .csv, .tsv or .parquet file; every cell of the first two stays text, so that a group may be
    called "NA" or "01".
    """
    if not path.is_file():
        siblings = (
            [sibling.name for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
        )
        raise InputError(f"no such file: {path}{nearest(path.name, siblings)}")
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix in SEPARATORS:
            return pd.read_csv(path, sep=SEPARATORS[path.suffix], dtype=str, keep_default_na=False)
    except (ValueError, OSError) as error:  # pandas and pyarrow derive their errors from these
        raise InputError(
            f"{path} cannot be read as {path.suffix[1:]}: {str(error).strip()}"
        ) from error
    raise InputError(f"{path}: unknown format {path.suffix!r}; give .csv, .tsv or .parquet")


def prepare(table: pd.DataFrame, *, gold: str, pred: str, group: str) -> pd.DataFrame:
    """The three columns under the names ``gap_table`` knows; an empty group becomes a missing
    one.
    """
    if group not in table.columns:
        raise InputError(
            f"no column {group!r}{nearest(group, table.columns)}; columns present:"
            f" {', '.join(map(repr, table.columns))}"
        )
    groups = table[group].astype("string")
    return pd.DataFrame(
        {
            "label": binary(table, gold),
            "prediction": binary(table, pred),
            "group": groups.mask(groups == ""),
        }
    )


def all_gaps(
    predictions: pd.DataFrame, privileged: str, unprivileged: str | None, resamples: int, seed: int
) -> pd.DataFrame:
    """``gap_table`` against one group or, where none is named, against each other group in turn;
    every row once.
    """
    others = (
        [unprivileged]
        if unprivileged
        else sorted(set(predictions["group"].dropna()) - {privileged})
    )
    if not others:
        raise InputError(
            f"every row with a group is of group {privileged!r}; a gap needs a second group"
        )
    tables = [
        gap_table(
            predictions, privileged=privileged, unprivileged=other, resamples=resamples, seed=seed
        )
        for other in others
    ]
    table = pd.concat(tables).drop_duplicates(["measure", "group"], ignore_index=True)
    is_gap = table["measure"].str.endswith("_gap")
    return pd.concat([table[~is_gap], table[is_gap]], ignore_index=True)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m extrinsic", description="Performance gaps between groups.", epilog=EPILOG
    )
    parser.add_argument(
        "predictions", type=Path, help="a .csv, .tsv or .parquet file with one row an item"
    )
    parser.add_argument(
        "--gold", required=True, metavar="COL", help="column of the true labels, 0 or 1"
    )
    parser.add_argument(
        "--pred", required=True, metavar="COL", help="column of the predicted labels, 0 or 1"
    )
    parser.add_argument("--group", required=True, metavar="COL", help="column of the groups")
    parser.add_argument("--privileged", required=True, metavar="VALUE", help="the privileged group")
    parser.add_argument(
        "--unprivileged",
        metavar="VALUE",
        help="the other group; without it every other group in turn",
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=1000,
        metavar="N",
        help="bootstrap resamples (default 1000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of the bootstrap (default 0)"
    )
    parser.add_argument("--csv", type=Path, metavar="OUT", help="write the table here as well")
    return parser.parse_args(arguments)


def _render(table: pd.DataFrame) -> Table:
    """The table for a terminal: a gap's support is that of its two groups."""
    out = Table()
    for column in ("measure", "group", "value", "95 % interval", "support", "note"):
        out.add_column(
            column,
            justify="left" if column in ("measure", "group", "note") else "right",
            no_wrap=column != "note",
        )
    for row in table.itertuples():
        gap = str(row.measure).endswith("_gap")
        support = (
            f"{row.support_privileged} / {row.support_unprivileged}" if gap else str(row.support)
        )
        sign = "+" if gap else ""
        interval = "" if pd.isna(row.low) else f"{row.low:{sign}.3f}, {row.high:{sign}.3f}"
        value = "undefined" if pd.isna(row.value) else f"{row.value:{sign}.3f}"
        out.add_row(
            *map(
                Text, (str(row.measure), str(row.group), value, interval, support, str(row.reason))
            )
        )
    return out


if __name__ == "__main__":
    run_cli(lambda: main())
