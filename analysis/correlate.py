"""Correlations of two columns of any tidy table, by slices of its other columns.

python -m analysis.correlate results/hatespeech_en
python -m analysis.correlate my.csv --x WEAT --y "Performance Gap" --by Metric,Embedding \\
    --cluster Name --out slices.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from analysis.coefficients import Coefficients, coefficients
from analysis.columns import labels, numbers, positions, require_columns, text_rows, texts
from analysis.evidence import (
    FEWEST_UNITS,
    RESAMPLES,
    Described,
    Evidence,
    described,
    tested,
)
from analysis.findings import CORRELATION_COLUMNS, STATISTICS, Finding, Marks, correlation_table
from analysis.joined import (
    JOINED_COLUMNS,
    bias_sign,
    is_joined,
    open_table,
    rows_of,
    unbiased_of,
)
from analysis.judging import judge
from analysis.missing_rows import missing
from analysis.naming import (
    ALL,
    KINDS,
    POOLED_OVER,
    SLICE_COLUMNS,
    UNMODIFIED,
    Declared,
)
from analysis.permutation import ONE_THREAD
from analysis.pooling import Part, disagreement
from analysis.repeated_rows import repeats
from analysis.show import print_correlations, print_evidence, print_slices
from analysis.studies.correlation import Correlation
from analysis.units import Rows
from analysis.verdict import RULES, over_units
from files import InputError, atomic_path, run_cli
from files.options import Parser
from files.tables import write_csv

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Truths

DECLARED = Declared()  # where a study declares nothing else


@ONE_THREAD
def correlate(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    by: Sequence[str] = (),
    cluster: Sequence[str] = (),
    base: Sequence[str] = (),
    unbiased: float = 0.0,
) -> list[Finding]:
    """One finding per slice of the ``by`` columns, in order of appearance (one in all when ``by``
    is empty).

    Rows that agree in the columns ``cluster`` are one unit, without them each row is; units that
    agree in the columns ``base`` descend from one embedding, without them r is that over units, and
    is called so. A table that comes from ``join_points`` tells of units, bases, resamples and the
    ``unbiased`` value of ``x`` itself, where neither is named. All slices are one family of primary
    ones, but those of a score without an unbiased value. The ``by`` columns are read as text, and
    an empty cell is a slice of its own, ``(empty)``. Raises ``InputError`` for an unknown or
    non-numeric column and for a table without rows.
    """
    by = list(dict.fromkeys(by))
    require_columns(table, [x, y, *by, *cluster, *base], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    if taken := [name for name in by if name in STATISTICS]:
        raise InputError(f"column {taken[0]!r} has the name of a result column; rename it")
    ours = is_joined(table) and not (cluster or base)
    if ours:
        whole = rows_of(table, x, y)
    else:
        units, bases = (_joined(_rows(table, columns)) for columns in (cluster, base))
        units = units if cluster else [str(row) for row in range(len(table))]
        sign = bias_sign(table) if is_joined(table) and x == "x" else 1.0
        whole = Rows.of(sign * numbers(table, x), numbers(table, y), units, bases if base else [])
    scores = is_joined(table) and x == "x"
    zeros = unbiased_of(table) if scores else np.full(len(table), unbiased)
    turned = bias_sign(table) < 0 if scores else np.zeros(len(table), dtype=bool)
    resamples = _resamples(len(set(_rows(table, by))))
    found, behind, refused, parents = [], [], [], []
    for key, places in positions(_rows(table, by)).items():
        rows = whole.at(places).by_corpus()
        used = rows.comparable()
        zero = float(zeros[places[0]]) if len(set(zeros[places].tolist())) == 1 else nan
        behind.append(described(used, unbiased=zero))
        told = coefficients(used.x, used.y, names=(x, y))
        told = told._replace(n_missing=len(places) - len(used.x))
        marks = Marks(turned=bool(turned[places].any()), missing=missing(rows, used))
        names = dict(zip(by, key, strict=True))
        told = _supported(told, behind[-1].evidence)
        found.append(Finding(names, told, behind[-1].evidence, marks=marks))
        refused.append("" if cluster or ours else repeats(rows))
        parents.append(() if np.isfinite(zeros[places]).any() else None)
    found = judge(_with_p(found, behind, resamples), parents, refused=refused)
    return found if ours or base else [_over_units(each) for each in found]


def _over_units(found: Finding) -> Finding:
    """With a reason that speaks of units, where no bases are named."""
    return found._replace(judgement=found.judgement._replace(why=over_units(found.judgement.why)))


@ONE_THREAD
def correlate_slices(joined: pd.DataFrame, declared: Declared = DECLARED) -> list[Finding]:
    """Every slice that the paper breaks out: task, metric, convention, part, measure and groups,
    and in each embedding {each, all} x query {each, all} x method {each, all}.

    ``joined`` comes from ``join_points``. Metrics are on different scales and never pooled. The
    slice of a method holds the unmodified embeddings too: they are the dose 0 of every method
    (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it). Scores of which
    less is more biased are turned around (``turned``). ``declared``: the primary slices; those of a
    score without an unbiased value, a measure of utility, are never primary.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    whole, turned = rows_of(joined), bias_sign(joined) < 0
    unbiased = unbiased_of(joined)
    generated = np.array([label == "True" for label in labels(joined, "generated")])
    group_by: NDArray[np.str_] = np.array(texts(joined, "group_by"), dtype=str)
    found, every, zeros = [], [], []
    known: dict[bytes, tuple[Described, Coefficients, str]] = {}  # of the only method as of all
    for names, places in _slices(joined):
        rows, same = whole.at(places).by_corpus(), places.tobytes()
        if same not in known:
            used = rows.comparable()
            behind = described(used, unbiased=float(unbiased[places[0]]))
            told = coefficients(used.x, used.y)._replace(n_missing=len(places) - len(used.x))
            known[same] = behind, _supported(told, behind.evidence), missing(rows, used)
        zeros.append(float(unbiased[places[0]]))
        behind, told, lost = known[same]
        every.append(behind)
        repeated = len(set(rows.unit.tolist())) < len(places)
        by = "; ".join(filter(None, dict.fromkeys(group_by[places].tolist())))
        marks = Marks(
            repeated,
            bool(turned[places].any()),
            bool(generated[places].any()),
            group_by=by,
            missing=lost,
        )
        found.append(Finding(names, told, behind.evidence, marks=marks, shifts=behind.shifts))
    found = _with_p(found, every, _resamples(len(found)))
    present = list(dict.fromkeys(each.names["measure"] for each in found))
    parents = [
        declared.parent_of(each.names, present) if isfinite(zero) else None
        for each, zero in zip(found, zeros, strict=True)
    ]
    return _with_disagreements(judge(found, parents, smallest=declared.smallest))


def _with_p(found: Sequence[Finding], every: Sequence[Described], resamples: int) -> list[Finding]:
    behind = tested(every, resamples)
    return [each._replace(evidence=own) for each, own in zip(found, behind, strict=True)]


def _resamples(slices: int) -> int:
    """So many that the least p, 1 / (1 + resamples), is far below what the largest family asks."""
    return max(RESAMPLES, 100 * slices - 1)


def _slices(joined: pd.DataFrame) -> Iterator[tuple[dict[str, str], NDArray[np.intp]]]:
    """The names and the rows of every slice that has any."""
    columns = {name: np.array(texts(joined, name), dtype=object) for name in POOLED_OVER}
    for kind, rows in positions(text_rows(joined, KINDS)).items():
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


def _supported(statistics: Coefficients, found: Evidence) -> Coefficients:
    """Rows of fewer than three units have no correlation, however many they are."""
    if found.n_units >= FEWEST_UNITS or statistics.reason:
        return statistics
    return Coefficients(statistics.n, statistics.n_missing, reason=found.caution)


def _with_disagreements(found: Sequence[Finding]) -> list[Finding]:
    """For every slice that pools queries, embeddings or methods, whether its parts disagree."""

    def around(each: Finding, over: str) -> tuple[str, ...]:
        return over, *(each.names[name] for name in SLICE_COLUMNS if name != over)

    parts: dict[tuple[str, ...], list[Part]] = {}
    for each, over in product(found, POOLED_OVER):
        if each.names[over] != ALL:
            parts.setdefault(around(each, over), []).append(Part(each.evidence, each.shifts))
    told = []
    for each in found:
        notes = [
            f"by {over}: {note}"
            for over in POOLED_OVER
            if each.names[over] == ALL and (note := disagreement(parts.get(around(each, over), [])))
        ]
        told.append(each._replace(marks=each.marks._replace(reversal="; ".join(notes))))
    return told


def _rows(table: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The labels of each row in the columns named, of which there may be none."""
    columns = [labels(table, name) for name in names]
    return [tuple(column[i] for column in columns) for i in range(len(table))]


def _joined(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A name for each row, the same where all its labels are: ``a b`` and ``c`` are not ``a`` and
    ``b c``.
    """
    names = [" ".join(row) for row in rows]
    if len(set(names)) < len(set(rows)):
        names = [", ".join(map(repr, row)) for row in rows]
    return names


class CorrelateArguments(argparse.Namespace):
    """What the command line gives."""

    table: str
    x: str
    y: str
    by: list[str]
    cluster: list[str]
    base: list[str]
    unbiased: float
    out: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print, and with ``--out`` write, the correlations of a table or results folder."""
    args = _parser().parse_args(argv, CorrelateArguments())
    table = open_table(args.table)
    ours = is_joined(table)
    console = Console()
    if ours and not (args.x or args.y or args.by):
        columns: Sequence[str] = CORRELATION_COLUMNS
        found = correlate_slices(table, Correlation.of(Path(args.table)).declared)
        print_correlations(found, console)
    else:
        if not ours and not (args.x and args.y):
            raise InputError(
                f"name the two columns with --x and --y; {args.table} has"
                f" {', '.join(map(str, table.columns))}"
            )
        x, y = args.x or "x", args.y or "y"
        columns = [*args.by, *STATISTICS]
        found = correlate(
            table,
            x=x,
            y=y,
            by=args.by,
            cluster=args.cluster,
            base=args.base,
            unbiased=args.unbiased,
        )
        based = bool(args.base) or (ours and not args.cluster)
        print_slices(found, f"{y} against {x}, {len(table)} rows", console)
        print_evidence(found, console, based=based)
        rules = RULES if based else over_units(RULES)
        console.print(rules, soft_wrap=True, highlight=False)
    if args.out:
        with atomic_path(args.out) as path:
            write_csv(correlation_table(found, columns), path)
        console.print(args.out, soft_wrap=True, highlight=False, markup=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    def names(given: str) -> list[str]:
        return [name.strip() for name in given.split(",") if name.strip()]

    parser = Parser(
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
        "--base",
        type=names,
        default=[],
        help=(
            "columns that together name what units descend from: one unmodified embedding; default:"
            " no units share one. A results folder tells of units and bases itself"
        ),
    )
    parser.add_argument(
        "--unbiased",
        type=float,
        default=0.0,
        help=(
            "the value of --x without bias, for the ranking (default 0; of scores in a results"
            " folder, what their metric says)"
        ),
    )
    parser.add_argument("--out", default="", help="also write one row per slice to this CSV file")
    return parser


if __name__ == "__main__":
    run_cli(main)
