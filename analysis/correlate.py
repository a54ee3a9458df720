"""Correlations of two columns of any tidy table, by slices of its other columns.

python -m analysis.correlate results/hatespeech_en
python -m analysis.correlate my.csv --x WEAT --y "Performance Gap" --by Metric,Embedding \\
    --cluster Name --out slices.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.console import Console

from analysis.clusters import Estimate
from analysis.coefficients import (
    NORMAL_975,
    Coefficients,
    Floats,
    Truths,
    both_finite,
    coefficients,
)
from analysis.columns import labels, numbers, require_columns, text_rows, texts
from analysis.evidence import FEWEST_UNITS, Evidence, evidence
from analysis.findings import CORRELATION_COLUMNS, STATISTICS, Finding, Marks, correlation_table
from analysis.joined import open_table
from analysis.naming import ALL, FAMILY, KINDS, POOLED_OVER, SLICE_COLUMNS, UNMODIFIED
from analysis.pooling import reversal
from analysis.show import print_correlations, print_evidence, print_slices
from analysis.verdict import RULES, judged
from files import InputError, atomic_path, run_cli

if TYPE_CHECKING:
    import pandas as pd

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
) -> list[Finding]:
    """One finding per slice of the ``by`` columns, in order of appearance (one in all when ``by``
    is empty).

    Rows that agree in the columns ``cluster`` are one unit; without them each row is. The ``by``
    columns are read as text, and an empty cell is a slice of its own, ``(empty)``. The p-values
    are adjusted over the slices. Raises ``InputError`` for an unknown or non-numeric column and for
    a table without rows.
    """
    by = list(dict.fromkeys(by))
    require_columns(table, [x, y, *by, *cluster], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    if taken := [name for name in by if name in STATISTICS]:
        raise InputError(f"column {taken[0]!r} has the name of a result column; rename it")
    units = np.arange(len(table)).astype(str)
    if cluster:
        units = np.array([" ".join(unit) for unit in _rows(table, cluster)])
    first, second = numbers(table, x), numbers(table, y)
    found = []
    for key, rows in _positions(_rows(table, by)).items():
        sides = first[rows], second[rows]
        statistics = coefficients(*sides, names=(x, y))
        behind = evidence(*sides, units=units[rows], unbiased=unbiased, seed=seed)
        behind = behind if cluster else _with_repeats(behind, *sides)
        found.append(
            Finding(dict(zip(by, key, strict=True)), _supported(statistics, behind), behind)
        )
    return _judged(found)


def correlate_slices(joined: pd.DataFrame, *, seed: int = 0) -> list[Finding]:
    """Every slice that the paper breaks out: task, metric, convention, part, measure and groups,
    and in each embedding {each, all} x query {each, all} x method {each, all}.

    ``joined`` comes from ``join_points``. Metrics are on different scales and never pooled. The
    slice of a method holds the unmodified embeddings too: they are the dose 0 of every method
    (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it). The p-values are
    adjusted over the slices of a task, metric and convention.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    x, y, units, bases = numbers(joined, "x"), numbers(joined, "y"), *_clusters(joined)
    x_error, y_error = (_standard_error(joined, side) for side in ("x", "y"))
    unbiased = np.nan_to_num(numbers(joined, "unbiased"))
    generated = np.array([label == "True" for label in labels(joined, "generated")])
    found = []
    for names, rows in _slices(joined):
        statistics = coefficients(x[rows], y[rows])
        behind = evidence(
            x[rows],
            y[rows],
            units=units[rows],
            bases=bases[rows],
            errors=(x_error[rows], y_error[rows]),
            unbiased=float(unbiased[rows[0]]),
            seed=seed,
        )
        marks = Marks(len(set(units[rows])) < len(rows), bool(generated[rows].any()))
        found.append(Finding(names, _supported(statistics, behind), behind, marks=marks))
    families = _positions([tuple(each.names[name] for name in FAMILY) for each in found])
    return _with_reversals(
        [each for places in families.values() for each in _judged([found[i] for i in places])]
    )


def adjust(p: ArrayLike) -> tuple[Floats, Floats]:
    """Holm's and Benjamini and Hochberg's adjusted p-values over the family of all that are not
    NaN. Shapes: (m,) -> (m,) each.
    """
    from statsmodels.stats.multitest import multipletests  # loads for a second

    values = np.asarray(p, dtype=float)
    known: Truths = np.isfinite(values)
    holm, bh = np.full((2, len(values)), np.nan)
    if known.any():
        holm[known] = multipletests(values[known], method="holm")[1]
        bh[known] = multipletests(values[known], method="fdr_bh")[1]
    return holm, bh


def _slices(joined: pd.DataFrame) -> Iterator[tuple[dict[str, str], NDArray[np.intp]]]:
    """The names and the rows of every slice that has any."""
    columns = {name: np.array(texts(joined, name), dtype=object) for name in POOLED_OVER}
    for kind, rows in _positions(text_rows(joined, KINDS)).items():
        block = {name: columns[name][rows] for name in POOLED_OVER}
        values = [dict.fromkeys(block[name]) for name in POOLED_OVER]
        values[-1].pop(UNMODIFIED, None)
        for chosen in product(*([*each, ALL] for each in values)):
            kept = np.ones(len(rows), dtype=bool)
            for name, value in zip(POOLED_OVER, chosen, strict=True):
                same: Truths = block[name] == value
                if name == "method":
                    same |= block[name] == UNMODIFIED
                if value != ALL:
                    kept &= same
            if kept.any():
                names = dict(zip((*KINDS, *POOLED_OVER), (*kind, *chosen), strict=True))
                yield {name: names[name] for name in SLICE_COLUMNS}, rows[kept]


def _clusters(joined: pd.DataFrame) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """The unit and the base of each row; the point where a table does not tell."""
    unit, base = (
        np.array(labels(joined, name if name in joined else "point"), dtype=object)
        for name in ("unit", "base")
    )
    return unit, base


def _standard_error(joined: pd.DataFrame, side: str) -> Floats:
    """The standard error that a 95% interval stands for."""
    low, high = (numbers(joined, f"{side}_{bound}") for bound in ("low", "high"))
    return (high - low) / (2 * NORMAL_975)


def _supported(statistics: Coefficients, found: Evidence) -> Coefficients:
    """Rows of fewer than three units have no correlation, however many they are."""
    if found.n_units >= FEWEST_UNITS or statistics.reason:
        return statistics
    return Coefficients(statistics.n, statistics.n_missing, reason=found.caution)


def _with_repeats(found: Evidence, x: Floats, y: Floats) -> Evidence:
    known = both_finite(x, y)
    repeated = int(known.sum()) - len(set(zip(x[known].tolist(), y[known].tolist(), strict=True)))
    if not repeated:
        return found
    told = f"{repeated} rows repeat another one; if they are of one unit, name it with --cluster"
    return found._replace(caution="; ".join(filter(None, [found.caution, told])))


def _judged(found: Sequence[Finding]) -> list[Finding]:
    """The findings with p-values adjusted over all of them, and their verdicts."""
    holm_p, bh_p = adjust([each.evidence.r_p for each in found])
    return [
        each._replace(judgement=judged(each.statistics, each.evidence, float(holm), float(bh)))
        for each, holm, bh in zip(found, holm_p, bh_p, strict=True)
    ]


def _with_reversals(found: Sequence[Finding]) -> list[Finding]:
    """For every slice that pools queries, embeddings or methods, how the correlations of its parts
    stand to its own.
    """

    def around(each: Finding, over: str) -> tuple[str, ...]:
        return over, *(each.names[name] for name in SLICE_COLUMNS if name != over)

    parts: dict[tuple[str, ...], list[Estimate]] = {}
    for each, over in product(found, POOLED_OVER):
        if each.names[over] != ALL:
            parts.setdefault(around(each, over), []).append(_estimate(each))
    told = []
    for each in found:
        notes = [
            f"by {over}: {note}"
            for over in POOLED_OVER
            if each.names[over] == ALL
            and (note := reversal(_estimate(each), parts.get(around(each, over), [])))
        ]
        told.append(each._replace(marks=each.marks._replace(reversal="; ".join(notes))))
    return told


def _estimate(found: Finding) -> Estimate:
    return Estimate(found.statistics.pearson, found.evidence.r_low, found.evidence.r_high)


def _rows(table: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The labels of each row in the columns named, of which there may be none."""
    columns = [labels(table, name) for name in names]
    return [tuple(column[i] for column in columns) for i in range(len(table))]


def _positions(keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], NDArray[np.intp]]:
    """Where each key stands, in order of appearance."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return {key: np.array(places) for key, places in found.items()}


class CorrelateArguments(argparse.Namespace):
    """What the command line gives."""

    table: str
    x: str
    y: str
    by: list[str]
    cluster: list[str]
    unbiased: float
    out: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print, and with ``--out`` write, the correlations of a table or results folder."""
    args = _parser().parse_args(argv, CorrelateArguments())
    table = open_table(args.table)
    ours = set(JOINED_COLUMNS) <= set(table.columns)
    console = Console()
    if ours and not (args.x or args.y or args.by):
        columns: Sequence[str] = CORRELATION_COLUMNS
        found = correlate_slices(table)
        print_correlations(found, console)
    else:
        if not ours and not (args.x and args.y):
            raise InputError(
                f"name the two columns with --x and --y; {args.table} has"
                f" {', '.join(map(str, table.columns))}"
            )
        x, y = args.x or "x", args.y or "y"
        columns = [*args.by, *STATISTICS]
        found = correlate(table, x=x, y=y, by=args.by, cluster=args.cluster, unbiased=args.unbiased)
        print_slices(found, f"{y} against {x}, {len(table)} rows", console)
        print_evidence(found, console)
        console.print(RULES, soft_wrap=True, highlight=False)
    if args.out:
        with atomic_path(args.out) as path:
            correlation_table(found, columns).to_csv(path, index=False)
        console.print(args.out, soft_wrap=True, highlight=False, markup=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    def names(given: str) -> list[str]:
        return [name.strip() for name in given.split(",") if name.strip()]

    parser = argparse.ArgumentParser(
        prog="python -m analysis.correlate", description="Correlations of two columns, by slices."
    )
    parser.add_argument("table", help="a results folder, or a .csv, .tsv or .parquet file")
    parser.add_argument("--x", default="", help="column of the intrinsic metric")
    parser.add_argument("--y", default="", help="column of the gap")
    parser.add_argument(
        "--by", type=names, default=[], help="columns to slice by, separated by commas"
    )
    parser.add_argument(
        "--cluster",
        type=names,
        default=[],
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
    parser.add_argument("--out", default="", help="also write one row per slice to this CSV file")
    return parser


if __name__ == "__main__":
    run_cli(main)
