"""Correlations of two columns of any tidy table, by slices of its other columns.

python -m analysis.correlate results/hatespeech_en python -m analysis.correlate my.csv --x WEAT --y
"Performance Gap" --by Metric,Embedding --cluster Name --out slices.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from analysis.clusters import NORMAL_975
from analysis.evidence import EVIDENCE_COLUMNS, FEWEST_UNITS, adjust, evidence
from analysis.join import open_table
from analysis.pairs import RESULT_COLUMNS, correlate_pair
from analysis.pooling import reversal
from analysis.read import labels, numbers, require_columns
from analysis.show import print_correlations, print_evidence, print_slices
from analysis.verdict import RULES, verdict
from files import InputError, atomic_path, run_cli

ALL = "all"
UNMODIFIED = "none"
SLICE_COLUMNS = ("task", "embedding", "metric", "query", "gap", "method")
JUDGED = ("p_holm", "p_bh", "verdict")
MARKS = ("repeated", "generated")
JOINED_COLUMNS = (*SLICE_COLUMNS, "point", "x", "y", "generated")


def correlate(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    by: Sequence[str] = (),
    cluster: Sequence[str] = (),
    unbiased: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """One row per slice of the ``by`` columns, in order of appearance (one row in all when ``by``
    is empty).

    Columns: the ``by`` columns; n, n_missing, pearson, pearson_low, pearson_high (95%, rows taken
    as independent), pearson_p, spearman, spearman_p, kendall, kendall_p, reason, which
    ``analysis.pairs`` defines; those of ``analysis.evidence``, for units; p_holm and p_bh, the
    adjusted ``r_p`` over the slices; and the verdict. Rows that agree in the columns ``cluster``
    are one unit; without them each row is. The ``by`` columns are read as text, and an empty cell
    is a slice of its own, ``(empty)``. Raises ``InputError`` for an unknown or non-numeric column
    and for a table without rows.
    """
    by = list(dict.fromkeys(by))
    require_columns(table, [x, y, *by, *cluster], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    taken = [name for name in by if name in (*RESULT_COLUMNS, *EVIDENCE_COLUMNS, *JUDGED)]
    if taken:
        raise InputError(f"column {taken[0]!r} has the name of a result column; rename it")
    units = (
        labels(table, cluster[0]) if cluster else pd.Series(range(len(table)), index=table.index)
    )
    for name in cluster[1:]:
        units = units + " " + labels(table, name)
    values = pd.DataFrame(
        {"x": numbers(table, x), "y": numbers(table, y), "unit": units.to_numpy()}
    )
    slices = (
        values.groupby([labels(table, name).to_numpy() for name in by], sort=False)
        if by
        else [((), values)]
    )
    rows = []
    for key, part in slices:
        statistics = correlate_pair(part["x"].to_numpy(), part["y"].to_numpy(), names=(x, y))
        found = evidence(part["x"], part["y"], units=part["unit"], unbiased=unbiased, seed=seed)
        repeated = 0 if cluster else int(part[["x", "y"]].dropna().duplicated().sum())
        if repeated:
            told = (
                f"{repeated} rows repeat another one; if they are of one unit, name it with"
                " --cluster"
            )
            found["caution"] = "; ".join(filter(None, [found["caution"], told]))
        rows.append(dict(zip(by, key, strict=True)) | _told(statistics, found))
    return _judged(rows, by)


def correlate_slices(joined: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Every slice that the paper breaks out: task x embedding {each, all} x query {each, all} x gap
    x method {each, all}.

    ``joined`` comes from ``join_points``. Metrics are on different scales and never pooled. The
    slice of a method holds the unmodified embeddings too: they are the dose 0 of every method
    (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it).

    Columns: task, embedding, metric, query, gap, method (``"all"`` where pooled), the columns of
    ``correlate`` (the adjusted p-values over the slices of a task and metric), then

    * ``repeated``: the slice holds a unit more than once. A slice pooled over queries repeats every
      gap once per query, so its pairs are not independent: the columns that count rows overstate
      the evidence, those that count units do not.
    * ``generated``: the slice holds points made from generated data.
    * ``reversal``: what is to be said where the slice pools queries or embeddings whose
      correlations differ in sign.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    # Only these columns, and as plain objects: slicing is most of the work.
    plain = joined[[*SLICE_COLUMNS, "point"]].astype(object)
    plain = plain.assign(
        x=numbers(joined, "x"),
        y=numbers(joined, "y"),
        generated=labels(joined, "generated") == "True",
    )
    plain = plain.assign(
        **{name: joined[name] if name in joined else joined["point"] for name in ("unit", "base")}
    )
    plain = plain.assign(
        x_error=_error(joined, "x_low", "x_high"), y_error=_error(joined, "low", "high")
    )
    plain = plain.assign(unbiased=numbers(joined, "unbiased") if "unbiased" in joined else 0.0)
    rows = []
    for names, part in _slices(plain):
        marks = {
            "repeated": bool(part["unit"].duplicated().any()),
            "generated": bool(part["generated"].any()),
        }
        columns = {name: part[name].to_numpy() for name in ("x", "y")}
        found = evidence(
            **columns,
            units=part["unit"],
            bases=part["base"],
            x_error=part["x_error"],
            y_error=part["y_error"],
            unbiased=float(np.nan_to_num(part["unbiased"].iloc[0])),
            seed=seed,
        )
        rows.append(names | _told(correlate_pair(**columns), found) | marks)
    blocks = pd.DataFrame(rows).groupby(["task", "metric"], sort=False) if rows else []
    parts = [_judged(block.to_dict("records"), SLICE_COLUMNS, MARKS) for _, block in blocks]
    whole = pd.concat(parts, ignore_index=True) if parts else _judged([], SLICE_COLUMNS, MARKS)
    return whole.assign(reversal=_reversals(whole))


def _told(statistics: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Both kinds of columns; rows of fewer than three units have no correlation, however many they
    are.
    """
    if found["n_units"] < FEWEST_UNITS and not statistics["reason"]:
        statistics = {
            name: value if name in ("n", "n_missing") else float("nan")
            for name, value in statistics.items()
        }
        statistics["reason"] = found["caution"]
    return statistics | found


def _judged(
    rows: list[dict[str, Any]], by: Sequence[str], marks: Sequence[str] = ()
) -> pd.DataFrame:
    """The rows with p-values adjusted over all of them, and their verdicts."""
    table = pd.DataFrame(rows, columns=[*by, *RESULT_COLUMNS, *EVIDENCE_COLUMNS, *marks])
    table = table.assign(**adjust(table["r_p"]))
    verdicts = [verdict(row) for row in table.to_dict("records")]
    return table.assign(verdict=verdicts)[
        [*by, *RESULT_COLUMNS, *EVIDENCE_COLUMNS, *JUDGED, *marks]
    ]


def _error(joined: pd.DataFrame, low: str, high: str) -> Any:
    """The standard error that a 95% interval stands for."""
    return (
        (numbers(joined, high) - numbers(joined, low)) / (2 * NORMAL_975)
        if low in joined and high in joined
        else float("nan")
    )


def _reversals(table: pd.DataFrame) -> list[str]:
    """For every slice that pools queries, embeddings or both, how the correlations of its parts
    stand to its own.
    """
    found = []
    columns = {"r": "pearson", "low": "r_low", "high": "r_high"}
    pooled_over = ("embedding", "query", "method")
    for row in table.to_dict("records"):
        notes = []
        for over in (name for name in pooled_over if row[name] == ALL):
            shared = ["task", "metric", "gap", *(name for name in pooled_over if name != over)]
            part = table[
                (table[over] != ALL) & (table[shared] == [row[name] for name in shared]).all(axis=1)
            ]
            parts = [
                {key: each[column] for key, column in columns.items()}
                for each in part.to_dict("records")
            ]
            if note := reversal({key: row[column] for key, column in columns.items()}, parts):
                notes.append(f"by {over}: {note}")
        found.append("; ".join(notes))
    return found


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
    parser = argparse.ArgumentParser(
        prog="python -m analysis.correlate", description="Correlations of two columns, by slices."
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    parser.add_argument("--x", help="column of the intrinsic metric")
    parser.add_argument("--y", help="column of the gap")
    parser.add_argument("--by", default="", help="columns to slice by, separated by commas")
    parser.add_argument(
        "--cluster",
        default="",
        help=(
            "columns that together name the unit of each row, such as the embedding; default: each"
            " row is one"
        ),
    )
    parser.add_argument(
        "--unbiased",
        type=float,
        default=0.0,
        help="the value of --x without bias, for the ranking (default 0)",
    )
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
            raise InputError(
                f"name the two columns with --x and --y; {args.table} has"
                f" {', '.join(map(str, table.columns))}"
            )
        x, y = args.x or "x", args.y or "y"
        by, cluster = (
            [name.strip() for name in given.split(",") if name.strip()]
            for given in (args.by, args.cluster)
        )
        result = correlate(table, x=x, y=y, by=by, cluster=cluster, unbiased=args.unbiased)
        print_slices(result, f"{y} against {x}, {len(table)} rows", console)
        print_evidence(result, by, console)
        console.print(RULES, soft_wrap=True, highlight=False)
    if args.out:
        with atomic_path(args.out) as path:
            result.to_csv(path, index=False)
        console.print(args.out, soft_wrap=True, highlight=False, markup=False)
    return 0


if __name__ == "__main__":
    run_cli(main)
