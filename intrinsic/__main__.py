"""Audit word vectors: every bias metric, on built-in word sets or your own, in one table."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from files import InputError, atomic_path, run_cli

if TYPE_CHECKING:
    import pandas as pd

    from intrinsic.audit import Audited
    from intrinsic.score import Score

FEWEST_FILES = 3  # that a rank correlation needs


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(prog="python -m intrinsic", description=__doc__)
    options.add_argument(
        "vectors",
        nargs="*",
        type=Path,
        help="word2vec text or binary, GloVe, fastText, or a mapped folder; several are ranked",
    )
    for name, metavar, what in (
        ("metric", "NAME", "these metrics only"),
        ("query", "NAME", "these queries only"),
        ("similarity", "FILE", "word similarity files: word, word, number on each line"),
    ):
        options.add_argument(f"--{name}", nargs="+", default=[], metavar=metavar, help=what)
    options.add_argument(
        "--words",
        metavar="FILE",
        help=(
            'your own queries, JSON or YAML: {"mine": {"X": [...], "Y": [...], "A": [...], "B":'
            " [...]}}"
        ),
    )
    options.add_argument(
        "--convention",
        metavar="NAME",
        help="caliskan, goldfarb_tarrant, wefe, bsa, ...; metrics without it are left out",
    )
    options.add_argument(
        "--case",
        choices=["exact", "lower"],
        help="lower: words not found as written are tried in lower case",
    )
    options.add_argument(
        "--min-found",
        type=float,
        metavar="SHARE",
        help="share of each word set that must be found (default 0.5)",
    )
    options.add_argument(
        "--language",
        metavar="CODE",
        help="of the vectors; default: what the file name states, else en",
    )
    options.add_argument(
        "--resamples",
        type=int,
        default=0,
        metavar="N",
        help="of the words, for the interval of each score (low and high)",
    )
    options.add_argument(
        "--seed", type=int, default=0, help="of what is drawn at random (default 0)"
    )
    options.add_argument(
        "--each", action="store_true", help="print the score of every single word as well"
    )
    for name in ("csv", "json"):
        options.add_argument(
            f"--{name}",
            nargs="?",
            const="-",
            metavar="OUT",
            help=f"the rows as {name.upper()}; without OUT in place of the table",
        )
    options.add_argument(
        "--list", action="store_true", help="print what metrics, conventions and queries there are"
    )
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Open each file, measure, print or write."""
    given = parser().parse_args(arguments)
    console = Console()
    if given.list:
        from intrinsic.describe import print_metrics

        print_metrics(console)
        return 0
    if not given.vectors:
        raise InputError("give one or more files of word vectors, or --list")
    from intrinsic.audit import as_table

    audited = audit_files(given)
    table = as_table(audited)
    if "-" not in (given.csv, given.json):
        print_scores(audited, console, each=given.each)
        if len(given.vectors) > 1:
            print_ranks(table, console)
    write(table, audited, given.csv, given.json)
    return 0


def audit_files(given: argparse.Namespace) -> list[Audited]:
    """The scores of every file; what is asked of all is checked before the first is opened."""
    from files.vectors import read_vectors  # loads gensim: not before the arguments are right
    from intrinsic.audit import Audited, audit, choose_metrics, language_of

    plans = [
        choose_metrics(
            given.metric,
            queries=given.query,
            words=given.words,
            convention=given.convention,
            language=given.language or language_of(path),
            similarity=given.similarity,
            case=given.case,
            min_found=given.min_found,
            resamples=given.resamples,
        )
        for path in given.vectors
    ]
    audited: list[Audited] = []
    for path, name, chosen in zip(given.vectors, _names(given.vectors), plans, strict=True):
        rows = audit(read_vectors(path), chosen, seed=given.seed)
        audited += [Audited(name, row, each) for row, each in rows]
    return audited


def print_scores(audited: Sequence[Audited], console: Console, *, each: bool) -> None:
    """What each metric means, and under it one line for each query and file: value, p, words found
    and lost, convention; and of each single score, if asked.
    """
    from intrinsic.metrics import METRICS

    several = len({one.vectors for one in audited}) > 1
    columns = ["query", *["vectors"] * several, "value", "p", "found", "lost", "convention"]
    lines = [_lines(one, several=several, each=each) for one in audited]
    every = [columns, *(line for of_score in lines for line in of_score)]
    widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
    for name in dict.fromkeys(one.score.metric for one in audited):
        about = METRICS[name].about
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        _print(console, f"{name}: {about.title}", "bold")
        _print(console, f"  {unbiased}{about.sign}", "dim")
        _print(console, "  " + _aligned(columns, widths), "dim")
        for one, of_score in zip(audited, lines, strict=True):
            if one.score.metric == name:
                for line in of_score:
                    _print(console, "  " + _aligned(line, widths))
                if one.score.reason:
                    _print(console, f"    {one.score.reason}", "italic")
        console.print()
    lost = {word for one in audited if one.score.n_lost for word in one.score.lost.split(",")}
    if lost:
        _print(
            console,
            f"{len(lost)} different words, pairs or rows were not found; --json and --csv name"
            " them",
        )


def _lines(one: Audited, *, several: bool, each: bool) -> list[list[str]]:
    """The cells of a score's line and of the lines of its single scores."""
    score = one.score
    query = f"{score.query} {score.part}".rstrip()
    value = "NaN" if math.isnan(score.value) else f"{score.value:.4f}"
    found = [str(score.n_found), str(score.n_lost), score.convention]
    head = [query, *[one.vectors] * several, value, spell_p(score), *found]
    single = one.each if each else {}
    return [
        head,
        *(
            [f"  {word}", *[""] * several, f"{number:.4f}", "", "", "", ""]
            for word, number in single.items()
        ),
    ]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells in columns; the numbers, the last four columns but one, to the right."""
    numbers = range(len(cells) - 5, len(cells) - 1)
    return "  ".join(
        cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i])
        for i, cell in enumerate(cells)
    ).rstrip()


def _print(console: Console, line: str, style: str = "") -> None:
    """A line as it is: not wrapped, no markup."""
    console.print(Text(line, style=style), soft_wrap=True)


def print_ranks(table: pd.DataFrame, console: Console) -> None:
    """The files ranked for each metric and query, and how the metrics agree."""
    from intrinsic.audit import rank_correlations, ranks

    ranked = ranks(table)
    files = [str(name) for name in ranked.columns]
    if ranked.empty:
        console.print("no metric has a value for every file, so there is nothing to rank")
        return
    console.print("Rank of the files, 1: nearest to unbiased", style="bold")
    shown = Table("metric", "query", box=box.SIMPLE, show_edge=False)
    for name in files:
        shown.add_column(name, justify="right", overflow="fold")
    for (metric, query, part), row in zip(ranked.index, ranked.to_numpy(), strict=True):
        shown.add_row(metric, f"{query} {part}".rstrip(), *(f"{rank:g}" for rank in row))
    shown.add_row("mean", f"{len(ranked)} rows", *(f"{rank:.2f}" for rank in ranked.mean()))
    console.print(shown)
    if len(files) < FEWEST_FILES:
        console.print(f"(rank correlations between metrics need {FEWEST_FILES} files)")
        return
    correlations = rank_correlations(ranked)
    _print(console, f"Spearman's correlation between metrics over {len(files)} files", "bold")
    shown = Table("", box=box.SIMPLE, show_edge=False)
    for name in correlations.columns:
        shown.add_column(str(name), justify="right")
    for name, row in zip(correlations.index, correlations.to_numpy(), strict=True):
        shown.add_row(str(name), *("" if math.isnan(value) else f"{value:.2f}" for value in row))
    console.print(shown)


def write(
    table: pd.DataFrame, audited: Sequence[Audited], csv: str | None, as_json: str | None
) -> None:
    """The rows as CSV and as JSON, to files or to standard output; in JSON NaN is null and ``each``
    holds the single scores.
    """
    if csv == "-":
        table.to_csv(sys.stdout, index=False)
    elif csv:
        with atomic_path(Path(csv)) as work:
            table.to_csv(work, index=False)
    if not as_json:
        return
    rows = [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in ({"vectors": one.vectors} | one.score._asdict()).items()
        }
        | {"each": dict(one.each)}
        for one in audited
    ]
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    if as_json == "-":
        print(text)
    else:
        with atomic_path(Path(as_json)) as work:
            work.write_text(text + "\n", encoding="utf-8")


def spell_p(score: Score) -> str:
    """The p-value as short as it is known: its bounds where these differ in the digits shown."""
    if math.isnan(score.p_value):
        return ""
    low, high = f"{score.p_low:.2g}", f"{score.p_high:.2g}"
    return f"{score.p_value:.2g}" if low == high else f"{low}..{high}"


def _names(paths: Sequence[Path]) -> list[str]:
    """What the files are called in the tables: their names, or their paths where two have the same
    name.
    """
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


if __name__ == "__main__":
    run_cli(main)
