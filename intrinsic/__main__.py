"""Audit word vectors: every bias metric, on built-in word sets or your own, in one table."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from files import InputError, atomic_path, run_cli
from files.options import Parser
from files.text import open_plain
from intrinsic.lookup import Case
from intrinsic.wordsets.parse import EXAMPLE

if TYPE_CHECKING:
    import pandas as pd

    from intrinsic.audit import Audited
    from intrinsic.metric import Metric
    from intrinsic.score import Score

FEWEST_FILES = 3  # that a rank correlation needs


class Arguments(argparse.Namespace):
    """What the command line holds."""

    vectors: list[Path]
    metric: list[str]
    query: list[str]
    similarity: list[str]
    words: str | None
    convention: str | None
    case: Case | None
    min_found: float | None
    language: str | None
    resamples: int
    seed: int
    each: bool
    csv: str | None
    json: str | None
    listing: bool
    trusted: bool


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = Parser(prog="python -m intrinsic", description=__doc__)
    add = options.add_argument
    files = "word2vec text or binary, GloVe, fastText, or a mapped folder; several are ranked"
    add("vectors", nargs="*", type=Path, help=files)
    similarity = "word similarity files: word, word, number on each line"
    add("--metric", nargs="+", default=[], metavar="NAME", help="these metrics only")
    add("--query", nargs="+", default=[], metavar="NAME", help="these queries only")
    add("--similarity", nargs="+", default=[], metavar="FILE", help=similarity)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    conventions = "caliskan, goldfarb_tarrant, wefe, bsa, ...; metrics without it are left out"
    add("--convention", metavar="NAME", help=conventions)
    lower = "lower: words not found as written are tried in lower case"
    add("--case", choices=get_args(Case), help=lower)
    found = "share of each word set that must be found (default 0.5)"
    add("--min-found", type=float, metavar="SHARE", help=found)
    language = "of the vectors; default: as the file name or their frequent words tell, else en"
    add("--language", metavar="CODE", help=language)
    resamples = "of the words, for the interval of each score (low and high)"
    add("--resamples", type=int, default=0, metavar="N", help=resamples)
    add("--seed", type=int, default=0, help="of what is drawn at random (default 0)")
    add("--each", action="store_true", help="print the score of every single word as well")
    rows = "the rows as {}; without OUT in place of the table"
    add("--csv", nargs="?", const="-", metavar="OUT", help=rows.format("CSV"))
    add("--json", nargs="?", const="-", metavar="OUT", help=rows.format("JSON"))
    trusted = "open gensim's own format, a pickle, which can run any code: only of files you made"
    add("--trusted", action="store_true", help=trusted)
    listed = "print what metrics, conventions and queries there are"
    add("--list", action="store_true", dest="listing", help=listed)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Open each file, measure, print or write."""
    given = parser().parse_args(arguments, Arguments())
    console = Console()
    if given.listing:
        from intrinsic.describe import print_metrics

        print_metrics(console)
        return 0
    if not given.vectors:
        raise InputError("give one or more files of word vectors, or --list")
    from intrinsic.audit import as_table

    asked = plan_files(given)
    audited, remarks = audit_files(given, asked)
    table = as_table(audited)
    if "-" not in (given.csv, given.json):
        print_scores(audited, console, each=given.each)
        for line in remarks:
            _print(console, line, "italic")
        if len(given.vectors) > 1:
            print_ranks(table, console)
    if given.csv:
        from files.tables import csv_text

        write(csv_text(table), given.csv)
    if given.json:
        write(as_json(audited), given.json)
    return 0


def plan_files(given: Arguments) -> str:
    """Check what is asked of every file before the first is opened; the language it is asked in."""
    from intrinsic.audit import language_asked, language_of

    for path in given.vectors:
        if not path.exists():
            open_plain(path)
    asked = language_asked(given.query, given.words)
    for path in given.vectors:
        _metrics(given, language_of(path, asked=asked).code)
    return asked


def _metrics(given: Arguments, language: str) -> list[Metric]:
    from intrinsic.audit import choose_metrics

    return choose_metrics(
        given.metric,
        queries=given.query,
        words=given.words,
        convention=given.convention,
        language=given.language or language,
        similarity=given.similarity,
        case=given.case,
        min_found=given.min_found,
        resamples=given.resamples,
    )


def audit_files(given: Arguments, asked: str) -> tuple[list[Audited], list[str]]:
    """The scores of every file, and what is said of them: the language seen, groups that a metric
    does not compare, queries that lack a role.
    """
    from files.vectors import read_vectors  # loads gensim: not before the arguments are right
    from intrinsic.audit import Audited, audit, language_of, not_asked
    from intrinsic.wordsets import read_wordsets

    own = list(read_wordsets(given.words).queries.values()) if given.words else []
    audited: list[Audited] = []
    remarks: list[str] = []
    for path, name in zip(given.vectors, _names(given.vectors), strict=True):
        vectors = read_vectors(path, trusted=given.trusted)
        language = language_of(path, vectors.index_to_key, asked)
        chosen = _metrics(given, language.code)
        audited += [Audited(name, *row) for row in audit(vectors, chosen, seed=given.seed)]
        remarks += [language.remark] if language.remark and not given.language else []
        remarks += [line for metric in chosen for line in metric.remarks()]
        remarks += not_asked(chosen, own)
    return audited, list(dict.fromkeys(remarks))


def print_scores(audited: Sequence[Audited], console: Console, *, each: bool) -> None:
    """What each metric means, a line for each query and file, and, if asked, each single score."""
    from intrinsic.metrics.every import METRICS

    several = len({one.vectors for one in audited}) > 1
    bounds = any(math.isfinite(one.score.low) for one in audited)
    columns = ["query", *["vectors"] * several, "value", *["95% interval"] * bounds]
    columns += ["p", "found", "lost", "convention"]
    lines = [_lines(one, several=several, bounds=bounds, each=each) for one in audited]
    every = [columns, *(line for of_score in lines for line in of_score)]
    widths = [max(len(line[i]) for line in every) for i in range(len(columns))]
    for name in dict.fromkeys(one.score.metric for one in audited):
        about = METRICS[name].about
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        _print(console, f"{name}: {about.title}", "bold")
        _print(console, f"  {unbiased}{about.sign}", "dim")
        _print(console, "  " + _aligned(columns, widths, 1 + several), "dim")
        told: dict[tuple[str, str, str], str] = {}
        for one, of_score in zip(audited, lines, strict=True):
            if one.score.metric == name:
                for line in of_score:
                    _print(console, "  " + _aligned(line, widths, 1 + several))
                if reason := one.score.reason:
                    first = told.setdefault((one.score.query, one.score.part, reason), one.vectors)
                    same = first != one.vectors
                    _print(console, f"    {f'as {first}' if same else reason}", "italic")
        console.print()
    lost = {word for one in audited if one.score.n_lost for word in one.score.lost.split(",")}
    if lost:
        what = f"{len(lost)} different words, pairs or rows"
        _print(console, f"{what} were not found; --json and --csv name them")


def _lines(one: Audited, *, several: bool, bounds: bool, each: bool) -> list[list[str]]:
    """The cells of a score's line and of the lines of its single scores."""
    score = one.score
    query = f"{score.query} {score.part}".rstrip()
    value = "NaN" if math.isnan(score.value) else f"{score.value:.4f}"
    interval = f"{score.low:.4f}, {score.high:.4f}" if math.isfinite(score.low) else ""
    found = [str(score.n_found), str(score.n_lost), score.convention]
    head = [query, *[one.vectors] * several, value, *[interval] * bounds, spell_p(score), *found]
    single = one.each.items() if each else ()
    lines = ([f"  {word}", *[""] * several, f"{score:.4f}"] for word, score in single)
    return [head, *([*line, *[""] * (len(head) - len(line))] for line in lines)]


def _aligned(cells: Sequence[str], widths: Sequence[int], texts: int) -> str:
    """The cells in columns; all but the first ``texts`` and the last one to the right."""
    left = (*range(texts), len(cells) - 1)
    aligned = (f"{cell:{'<' if i in left else '>'}{widths[i]}}" for i, cell in enumerate(cells))
    return "  ".join(aligned).rstrip()


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
    values: list[list[float]] = ranked.to_numpy().tolist()
    names: list[tuple[str, str, str]] = ranked.index.tolist()
    for (metric, query, part), row in zip(names, values, strict=True):
        shown.add_row(metric, f"{query} {part}".rstrip(), *(f"{rank:g}" for rank in row))
    mean: list[float] = ranked.mean().tolist()
    shown.add_row("mean", f"{len(ranked)} rows", *(f"{rank:.2f}" for rank in mean))
    console.print(shown)
    if len(files) < FEWEST_FILES:
        console.print(f"(rank correlations between metrics need {FEWEST_FILES} files)")
        return
    correlations = rank_correlations(ranked)
    _print(console, f"Spearman's correlation between metrics over {len(files)} files", "bold")
    shown = Table("", box=box.SIMPLE, show_edge=False)
    metrics: list[str] = correlations.columns.tolist()
    values = correlations.to_numpy().tolist()
    for name in metrics:
        shown.add_column(name, justify="right")
    for name, row in zip(metrics, values, strict=True):
        shown.add_row(name, *("" if math.isnan(value) else f"{value:.2f}" for value in row))
    console.print(shown)


def write(text: str, out: str) -> None:
    """Write to a file, or to standard output (``-``)."""
    if out == "-":
        print(text, end="")
    else:
        with atomic_path(out) as work:
            work.write_text(text, encoding="utf-8", newline="\n")


def as_json(audited: Sequence[Audited]) -> str:
    """The rows as JSON, ``each`` with the single scores; NaN is null."""
    rows = [
        {"vectors": one.vectors, **one.score._asdict(), "each": dict(one.each)} for one in audited
    ]
    known = [
        {name: _finite(value) for name, value in row.items() if name != "resampled"} for row in rows
    ]
    return json.dumps(known, indent=1, ensure_ascii=False) + "\n"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spell_p(score: Score) -> str:
    """The p-value as short as it is known: its bounds where these differ in the digits shown."""
    if math.isnan(score.p_value):
        return ""
    low, high = f"{score.p_low:.2g}", f"{score.p_high:.2g}"
    return f"{score.p_value:.2g}" if low == high else f"{low}..{high}"


def _names(paths: Sequence[Path]) -> list[str]:
    """What the files are called in the tables: names, or paths where two have the same name."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


if __name__ == "__main__":
    run_cli(main)
