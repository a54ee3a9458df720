"""Audit word vectors: every bias metric, on built-in word sets or your own, in one table."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from files import InputError, atomic_path, run_cli

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
    options.add_argument(
        "--metric", nargs="+", default=[], metavar="NAME", help="these metrics only"
    )
    options.add_argument(
        "--query", nargs="+", default=[], metavar="NAME", help="these queries only"
    )
    options.add_argument(
        "--words",
        metavar="FILE",
        help=(
            'your own queries, JSON or YAML: {"mine": {"X": [...], "Y": [...], "A": [...], "B":'
            " [...]}}"
        ),
    )
    options.add_argument(
        "--similarity",
        nargs="+",
        default=[],
        metavar="FILE",
        help="word similarity files: word, word, number on each line",
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
    options.add_argument(
        "--csv",
        nargs="?",
        const="-",
        metavar="OUT",
        help="the rows as CSV; without OUT in place of the table",
    )
    options.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="OUT",
        help="the rows as JSON; without OUT in place of the table",
    )
    options.add_argument(
        "--list", action="store_true", help="print what metrics, conventions and queries there are"
    )
    options.add_argument(
        "--markdown",
        action="store_true",
        help="with --list: all that is known of them, as docs/metrics.md has it",
    )
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Open each file, measure, print or write."""
    given = parser().parse_args(arguments)
    console = Console()
    if given.list:
        from intrinsic.describe import markdown, print_metrics

        if given.markdown:
            print(markdown(), end="")
        else:
            print_metrics(console)
        return 0
    if not given.vectors:
        raise InputError("give one or more files of word vectors, or --list")
    from files.vectors import read_vectors  # loads gensim: not before the arguments are right
    from intrinsic.audit import audit, choose_metrics, language_of

    settings = {"case": given.case, "min_found": given.min_found, "resamples": given.resamples}
    plans = []
    for path in given.vectors:
        language = given.language or language_of(path)
        chosen = choose_metrics(
            given.metric,
            queries=given.query,
            words=given.words,
            convention=given.convention,
            language=language,
            similarity=given.similarity,
            **settings,
        )
        plans.append((path, chosen))
    rows, each = [], []
    for (path, chosen), name in zip(plans, _names(given.vectors), strict=True):
        vectors = read_vectors(path)
        for row, single in audit(vectors, chosen, seed=given.seed):
            rows.append({"vectors": name, **row})
            each.append(single)
        del vectors
    table = pd.DataFrame(rows)
    shown = "-" not in (given.csv, given.json)
    if shown:
        print_rows(table, each if given.each else [], console)
        if len(given.vectors) > 1:
            print_ranks(table, console)
    write(table, each, given.csv, given.json)
    return 0


def print_rows(table: pd.DataFrame, each: Sequence[Mapping[str, float]], console: Console) -> None:
    """What each metric means, and under it one line for each query and file: value, p, words found
    and lost, convention.
    """
    from intrinsic.metrics import METRICS

    several = len(table["vectors"].unique()) > 1
    columns = [
        "query",
        *(["vectors"] if several else []),
        "value",
        "p",
        "found",
        "lost",
        "convention",
    ]
    lines = [
        (row["metric"], *_lines(row, several, each[place] if each else {}))
        for place, row in enumerate(table.to_dict("records"))
    ]
    widths = [
        max(len(name), *(len(line[i]) for _, head, rest, _ in lines for line in (head, *rest)))
        for i, name in enumerate(columns)
    ]
    for name in dict.fromkeys(table["metric"]):
        about = METRICS[name].about
        console.print(Text(f"{name}: {about.title}", style="bold"), soft_wrap=True)
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        console.print(Text(f"  {unbiased}{about.sign}", style="dim"), soft_wrap=True)
        console.print(Text("  " + _aligned(columns, widths), style="dim"), soft_wrap=True)
        for metric, head, rest, reason in lines:
            if metric == name:
                console.print(Text("  " + _aligned(head, widths)), soft_wrap=True)
                for line in rest:
                    console.print(Text("  " + _aligned(line, widths)), soft_wrap=True)
                if reason:
                    console.print(Text(f"    {reason}", style="italic"), soft_wrap=True)
        console.print()
    lost = table.loc[table["n_lost"] > 0, "lost"].str.split(",").explode()
    if len(lost):
        console.print(
            f"{len(lost.unique())} different words, pairs or rows were not found; --json and --csv"
            " name them",
            soft_wrap=True,
        )


def _lines(
    row: Mapping[str, Any], several: bool, each: Mapping[str, float]
) -> tuple[list[str], list[list[str]], str]:
    """The cells of a score's line, of the lines of its single scores, and what is to be said about
    it.
    """
    value = "NaN" if math.isnan(row["value"]) else f"{row['value']:.4f}"
    name = [row["query"], *([row["vectors"]] if several else [])]
    head = [*name, value, spell_p(row), str(row["n_found"]), str(row["n_lost"]), row["convention"]]
    rest = [
        [f"  {word}", *([""] if several else []), f"{score:.4f}", "", "", "", ""]
        for word, score in each.items()
    ]
    return head, rest, row["reason"]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells in columns; the numbers, the last four columns but one, to the right."""
    numbers = range(len(cells) - 5, len(cells) - 1)
    return "  ".join(
        cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i])
        for i, cell in enumerate(cells)
    ).rstrip()


def print_ranks(table: pd.DataFrame, console: Console) -> None:
    """The files ranked for each metric and query, and how the metrics agree."""
    from intrinsic.audit import rank_correlations, ranks

    ranked = ranks(table)
    if ranked.empty:
        console.print("no metric has a value for every file, so there is nothing to rank")
        return
    console.print("Rank of the files, 1: nearest to unbiased", style="bold")
    shown = Table(box=box.SIMPLE, show_edge=False)
    for column in ("metric", "query", *ranked.columns):
        shown.add_column(
            str(column),
            justify="left" if column in ("metric", "query") else "right",
            overflow="fold",
        )
    for (metric, query), row in ranked.iterrows():
        shown.add_row(str(metric), str(query), *(f"{rank:g}" for rank in row))
    shown.add_row("mean", f"{len(ranked)} rows", *(f"{rank:.2f}" for rank in ranked.mean()))
    console.print(shown)
    if len(ranked.columns) < FEWEST_FILES:
        console.print(f"(rank correlations between metrics need {FEWEST_FILES} files)")
        return
    correlations = rank_correlations(ranked)
    console.print(
        f"Spearman's correlation between metrics over {len(ranked.columns)} files",
        style="bold",
        soft_wrap=True,
    )
    shown = Table(box=box.SIMPLE, show_edge=False)
    for column in ("", *correlations.columns):
        shown.add_column(str(column), justify="left" if not column else "right")
    for name, row in correlations.iterrows():
        shown.add_row(str(name), *("" if math.isnan(value) else f"{value:.2f}" for value in row))
    console.print(shown)


def write(
    table: pd.DataFrame, each: Sequence[Mapping[str, float]], csv: str | None, as_json: str | None
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
            for key, value in row.items()
        }
        | {"each": dict(single)}
        for row, single in zip(table.to_dict("records"), each, strict=True)
    ]
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    if as_json == "-":
        print(text)
    else:
        with atomic_path(Path(as_json)) as work:
            work.write_text(text + "\n", encoding="utf-8")


def spell_p(row: Mapping[str, Any]) -> str:
    """The p-value as short as it is known: its bounds where these differ in the digits shown."""
    if math.isnan(row["p_value"]):
        return ""
    low, high = (f"{row[side]:.2g}" for side in ("p_low", "p_high"))
    return f"{row['p_value']:.2g}" if low == high else f"{low}..{high}"


def _names(paths: Sequence[Path]) -> list[str]:
    """What the files are called in the tables: their names, or their paths where two have the same
    name.
    """
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


if __name__ == "__main__":
    run_cli(main)
