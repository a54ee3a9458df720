"""Correlations of two columns of any tidy table, by slices of its other columns.

python -m analysis.correlate results/hatespeech_en
python -m analysis.correlate my.csv --x WEAT --y "Performance Gap" --by Metric,Embedding --out slices.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import pandas as pd
from rich.console import Console

from analysis.join import open_table
from analysis.pairs import RESULT_COLUMNS, correlate_pair
from analysis.read import labels, numbers, require_columns
from analysis.show import print_correlations, print_slices
from files import InputError, atomic_path, run_cli

ALL = "all"
UNMODIFIED = "none"
SLICE_COLUMNS = ("task", "embedding", "metric", "query", "gap", "method")
JOINED_COLUMNS = (*SLICE_COLUMNS, "point", "x", "y", "generated")


def correlate(table: pd.DataFrame, *, x: str, y: str, by: Sequence[str] = ()) -> pd.DataFrame:
    """One row per slice of the ``by`` columns, in order of appearance (one row in all when ``by`` is empty).

    Columns: the ``by`` columns, then n, n_missing, pearson, pearson_low, pearson_high (95%), pearson_p, spearman, spearman_p, kendall,
    kendall_p, reason; ``analysis.pairs`` defines them. The ``by`` columns are read as text, and an empty cell is a slice of its own,
    ``(empty)``. Raises ``InputError`` for an unknown or non-numeric column and for a table without rows.
    """
    by = list(dict.fromkeys(by))
    require_columns(table, [x, y, *by], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    taken = [name for name in by if name in RESULT_COLUMNS]
    if taken:
        raise InputError(f"column {taken[0]!r} has the name of a result column; rename it")
    values = pd.DataFrame({"x": numbers(table, x), "y": numbers(table, y)})
    slices = values.groupby([labels(table, name).to_numpy() for name in by], sort=False) if by else [((), values)]
    rows = []
    for key, part in slices:
        statistics = correlate_pair(part["x"].to_numpy(), part["y"].to_numpy(), names=(x, y))
        rows.append(dict(zip(by, key, strict=True)) | statistics)
    return pd.DataFrame(rows, columns=[*by, *RESULT_COLUMNS])


def correlate_slices(joined: pd.DataFrame) -> pd.DataFrame:
    """Every slice that the paper breaks out: task x embedding {each, all} x query {each, all} x gap x method {each, all}.

    ``joined`` comes from ``join_points``. Metrics are on different scales and never pooled. The slice of a method holds the unmodified
    embeddings too: they are the dose 0 of every method (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it).

    Columns: task, embedding, metric, query, gap, method (``"all"`` where pooled), the columns of ``correlate``, then

    * ``repeated``: the slice holds a point more than once. A slice pooled over queries repeats every gap once per query, so its pairs
      are not independent, n overstates the evidence, and its p-values and interval are not to be believed.
    * ``generated``: the slice holds points made from generated data.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    # Only these columns, and as plain objects: slicing is most of the work.
    plain = joined[[*SLICE_COLUMNS, "point"]].astype(object)
    plain = plain.assign(x=numbers(joined, "x"), y=numbers(joined, "y"), generated=labels(joined, "generated") == "True")
    rows = []
    for names, part in _slices(plain):
        marks = {"repeated": bool(part["point"].duplicated().any()), "generated": bool(part["generated"].any())}
        rows.append(names | correlate_pair(part["x"].to_numpy(), part["y"].to_numpy()) | marks)
    return pd.DataFrame(rows, columns=[*SLICE_COLUMNS, *RESULT_COLUMNS, "repeated", "generated"])


def _slices(joined: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    for (task, metric, gap), block in joined.groupby(["task", "metric", "gap"], sort=False):
        for embedding in [*block["embedding"].unique(), ALL]:
            for query in [*block["query"].unique(), ALL]:
                for method in [*block.loc[block["method"] != UNMODIFIED, "method"].unique(), ALL]:
                    part = _pick(block, embedding, query, method)
                    if len(part):
                        names = (task, embedding, metric, query, gap, method)
                        yield dict(zip(SLICE_COLUMNS, names, strict=True)), part


def _pick(block: pd.DataFrame, embedding: str, query: str, method: str) -> pd.DataFrame:
    if embedding != ALL:
        block = block[block["embedding"] == embedding]
    if query != ALL:
        block = block[block["query"] == query]
    return block if method == ALL else block[block["method"].isin([method, UNMODIFIED])]


def main(argv: Sequence[str] | None = None) -> int:
    """Print, and with ``--out`` write, the correlations of a table or results folder."""
    parser = argparse.ArgumentParser(prog="python -m analysis.correlate", description="Correlations of two columns, by slices.")
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    parser.add_argument("--x", help="column of the intrinsic metric")
    parser.add_argument("--y", help="column of the gap")
    parser.add_argument("--by", default="", help="columns to slice by, separated by commas")
    parser.add_argument("--out", help="also write one row per slice to this CSV file")
    args = parser.parse_args(argv)
    table = open_table(args.table)
    ours = set(JOINED_COLUMNS) <= set(table.columns)
    console = Console()
    if ours and not (args.x or args.y or args.by):
        result = correlate_slices(table)
        print_correlations(result, console)
    else:
        if not ours and not (args.x and args.y):
            raise InputError(f"name the two columns with --x and --y; {args.table} has {', '.join(map(str, table.columns))}")
        x, y = args.x or "x", args.y or "y"
        by = [name.strip() for name in args.by.split(",") if name.strip()]
        result = correlate(table, x=x, y=y, by=by)
        print_slices(result, f"{y} against {x}, {len(table)} rows", console)
    if args.out:
        with atomic_path(args.out) as path:
            result.to_csv(path, index=False)
        console.print(args.out, soft_wrap=True, highlight=False, markup=False)
    return 0


if __name__ == "__main__":
    run_cli(main)
