"""``python -m extrinsic``: performance gaps with intervals from anybody's predictions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.gap_table import gap_rows
from extrinsic.gaps import CRITERIA, EVERY_MEASURE, Gaps
from extrinsic.gaps import DEFAULT as DEFAULT_GAPS
from extrinsic.measured import larger_is_better
from extrinsic.multiclass import class_rows
from extrinsic.paired import classifier_rows
from extrinsic.predictions import binary, column_of, positive_of
from extrinsic.ranking import RANKINGS
from extrinsic.rows import Row, as_table
from files import InputError, atomic_path, run_cli
from files.options import Parser
from files.printable import printable
from files.tables import read_table, write_csv

if TYPE_CHECKING:
    from extrinsic.measures import Counts

EPILOG = f"""\
A gap is the privileged group's value minus the other group's, of the false positive and false
negative rate (fpr, fnr) the other way round: positive = worse for the other group. Intervals are
Wilson's score intervals at 95 %, of gaps Newcombe's, of the largest difference one that knows that
a maximum was taken. Gold and predicted labels must be 0 or 1 unless --positive or --multiclass is
given; an empty group counts in the rows "all" and in the rest.
Measures: {", ".join(EVERY_MEASURE)}."""

REMEDY = (
    "; name the label that counts as 1 with --positive LABEL (positive=LABEL in Python), or take"
    " each label against the rest with --multiclass (multiclass=True)"
)
SHOWN = 200  # rows of a kind: no more can be read in a terminal
KINDS = ("value", "gap", "largest", "ratio")
WORDS = ("classifier", "class", "measure", "group", "note")
COMPARISONS = ("pair", "each", "rest", "largest")


class Options(argparse.Namespace):
    """What the command line says."""

    predictions: Path
    gold: str
    pred: list[str]
    score: list[str] | None
    group: str
    privileged: str | None
    unprivileged: str | None
    groups: list[str]
    compare: list[str]
    measures: list[str]
    positive: list[str] | None
    multiclass: bool
    least_support: int
    csv: Path | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Read predictions, print the table of measures and gaps, and write it where ``--csv`` says."""
    options = _parser().parse_args(arguments, namespace=Options())
    check(options)
    table = read_table(options.predictions)
    scores = options.score or [""] * len(options.pred)
    asked = zip(options.pred, scores, strict=True)
    classifiers = {name: prepare(table, options, name, score) for name, score in asked}
    gaps = choose(options, {*next(iter(classifiers.values()))["group"].dropna()})
    rows = measure(classifiers, gaps, multiclass=options.multiclass)
    _print(rows, Console())
    if options.csv:
        with atomic_path(options.csv) as work:
            write_csv(as_table(rows).drop(columns="resampled"), work)


def prepare(table: pd.DataFrame, options: Options, pred: str, score: str) -> pd.DataFrame:
    """The columns by the names ``gap_table`` knows; an empty group becomes a missing one."""
    groups = column_of(table, options.group).astype("string")
    names = [options.gold, pred]
    labels: Sequence[Counts | pd.Series]
    if options.multiclass:
        labels = [column_of(table, name) for name in names]
    elif options.positive:
        labels = [*positive_of(table, names, options.positive).T]
    else:
        labels = [binary(table, name, REMEDY) for name in names]
    found = pd.DataFrame(dict(zip(("label", "prediction"), labels, strict=True)))
    if score:
        found["score"] = column_of(table, score)
    return found.assign(group=groups.mask(groups == ""))


def choose(options: Options, present: set[str]) -> Gaps:
    """What is compared: as told, else the privileged group with the one named, or with each other
    in turn, and every group with the rest where none is privileged; and the two furthest apart
    where there are more than two.
    """
    privileged, unprivileged = options.privileged, options.unprivileged
    if privileged and not present - {privileged}:
        only = f"every row with a group is of group {privileged!r}"
        raise InputError(f"{only}; a gap needs a second group")
    if len(present) < 2:
        raise InputError(f"groups present: {', '.join(present) or 'none'}; a gap needs two")
    default = ["pair" if unprivileged else "each" if privileged else "rest"]
    default += ["largest"] if len(present) > 2 and not unprivileged else []
    measures = DEFAULT_GAPS.measures + (tuple(RANKINGS) if options.score else ())
    first = privileged or min(present)
    return Gaps(
        first,
        unprivileged or min(present - {first}),
        options.least_support,
        measures=tuple(options.measures) or measures,
        compare=tuple(options.compare) or tuple(default),  # type: ignore[arg-type]
        groups=tuple(options.groups),
    )


def measure(classifiers: dict[str, pd.DataFrame], gaps: Gaps, *, multiclass: bool) -> list[Row]:
    """The rows of one classifier, or of several and each two of them."""
    if len(classifiers) > 1:
        return classifier_rows(classifiers, gaps)
    [predictions] = classifiers.values()
    return class_rows(predictions, gaps) if multiclass else gap_rows(predictions, gaps)


def check(options: Options) -> None:
    """Raise ``InputError`` for options that do not go together."""
    if twice := {name for name in options.pred if options.pred.count(name) > 1}:
        raise InputError(f"--pred {twice.pop()} is given twice; name each classifier once")
    if options.score and len(options.score) != len(options.pred):
        given = f"{len(options.score)} --score and {len(options.pred)} --pred"
        raise InputError(f"{given}; give a column of scores for each of the predictions")
    if options.multiclass and options.positive:
        raise InputError("--multiclass is of every label, --positive of one; give one of the two")
    if options.multiclass and len(options.pred) > 1:
        raise InputError("--multiclass measures one classifier; give one --pred")
    if options.unprivileged and not options.privileged:
        raise InputError("--unprivileged is compared with --privileged; give both")
    if options.multiclass and options.score:
        raise InputError("--score is of labels 0 and 1; leave it out, or --multiclass")
    ranked = [name for name in options.measures if name in RANKINGS]
    if ranked and not options.score and not options.multiclass:
        raise InputError(f"--measures {ranked[0]} needs scores; give their column by --score")
    for name in options.compare:
        if name not in COMPARISONS:
            raise InputError(f"--compare {name}: give one or more of {','.join(COMPARISONS)}")
    if "pair" in options.compare and not options.unprivileged:
        raise InputError("--compare pair compares --privileged with --unprivileged; give both")
    if "each" in options.compare and not options.privileged:
        raise InputError("--compare each compares with --privileged; give it")


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m extrinsic", description="Performance gaps between groups.", epilog=EPILOG
    )
    add = parser.add_argument
    predictions = "a .csv, .tsv (also .gz, .bz2, .xz) or .parquet file, one row an item"
    add("predictions", type=Path, help=predictions)
    add("--gold", required=True, metavar="COL", help="column of the true labels, 0 or 1")
    predicted = "column of the predicted labels, 0 or 1; once more for each further classifier of"
    predicted += " the same items: each two are then compared item by item"
    add("--pred", required=True, action="append", metavar="COL", help=predicted)
    scores = "column of scores, larger = label 1, for each --pred: adds the areas under the ROC"
    add("--score", action="append", metavar="COL", help=scores + " curve")
    add("--group", required=True, metavar="COL", help="column of the groups")
    privileged = "the privileged group; without it every group is compared with all other items"
    add("--privileged", metavar="VALUE", help=privileged)
    unprivileged = "the other group; without it every other group in turn"
    add("--unprivileged", metavar="VALUE", help=unprivileged)
    listed = partial(add, type=_listed, default=[])
    groups = "the groups that are compared (default: all)"
    listed("--groups", metavar="A,B,...", help=groups)
    compare = "pair (privileged and unprivileged), each (privileged and each other), rest (all"
    compare += " others and each), largest (the two furthest apart)"
    listed("--compare", metavar="LIST", help=compare)
    listed("--measures", metavar="LIST", help="those below (default precision,recall,f1,fpr)")
    positive = "a label that counts as 1, all others as 0; once more for each further one"
    add("--positive", action="append", metavar="LABEL", help=positive)
    add("--multiclass", action="store_true", help="labels of any names, each against the rest")
    fewest = "fewest items that give a group a value (default 10; 0: any)"
    add("--least-support", type=int, default=10, metavar="N", help=fewest)
    add("--csv", type=Path, metavar="OUT", help="write the table here as well")
    return parser


def _print(rows: Sequence[Row], console: Console) -> None:
    """The table, wider than the terminal rather than with numbers cut."""
    shown = [row for kind in KINDS for row in [r for r in rows if r.kind == kind][:SHOWN]]
    table, least = _render(shown)
    (console if console.width >= least else Console(width=least)).print(table)
    if more := len(rows) - len(shown):
        console.print(f"and {more:,} more rows; --csv OUT writes all", highlight=False)


def _render(rows: Sequence[Row]) -> tuple[Table, int]:
    """The table for a terminal, and its least width: words wrap, numbers do not."""
    cells = [{name: printable(text) for name, text in _cells(row).items()} for row in rows]
    kept = [name for name in cells[0] if name in WORDS[2:] or any(each[name] for each in cells)]
    out = Table()
    least = 1
    for name in kept:
        widest = max(cell_len(text) for text in (name, *(each[name] for each in cells)))
        words = name in WORDS
        floor = min(widest, 8) if words else widest
        least += floor + 3
        out.add_column(
            name,
            justify="left" if words else "right",
            overflow="fold",
            no_wrap=not words,
            min_width=floor,
        )
    for each in cells:
        out.add_row(*(Text(each[name]) for name in kept))
    return out, least


def _cells(row: Row) -> dict[str, str]:
    """What is printed of a row: a gap as the difference it is, with both supports."""
    measure, group, sign, support = row.measure, row.group, "", str(row.support)
    if row.kind != "value":
        sides = [
            (row.privileged, row.support_privileged),
            (row.unprivileged, row.support_unprivileged),
        ]
        [*first] = CRITERIA.get(measure, (measure,))
        (a, n), (b, m) = sides if larger_is_better(first[0]) else sides[::-1]
        between = {"gap": "-", "largest": "-", "ratio": "/"}[row.kind]
        if row.kind == "ratio":
            (a, n), (b, m) = (b, m), (a, n)
        title = {"gap": "gap", "largest": "largest gap", "ratio": "ratio"}[row.kind]
        measure, group = f"{measure} {title}", f"{a} {between} {b}" if a else ""
        sign = "+" if row.kind == "gap" else ""
        support = f"{n} / {m}" if n is not None else ""
    if " - " in row.classifier:
        sign = "+"
    return {
        "classifier": row.classifier,
        "class": row.subset,
        "measure": measure,
        "group": group,
        "value": "undefined" if isnan(row.value) else f"{row.value:{sign}.3f}",
        "95 % interval": "" if isnan(row.low) else f"{row.low:{sign}.3f}, {row.high:{sign}.3f}",
        "support": support,
        "note": row.reason,
    }


if __name__ == "__main__":
    run_cli(lambda: main())
