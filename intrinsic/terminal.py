"""Scores of an audit as lines for a terminal and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from biasbridge.files.terminal import print_columns
from biasbridge.intrinsic.audit import rank_correlations, rank_files
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.score import Score

_MIN_FILES = 3  # for a rank correlation
_NUMBER_COLUMNS = ("value", "95% interval", "no bias", "p", "n_found", "n_oov")
_NAME_COLUMNS = ("metric", "query", "vectors", "convention")
_SUMMARY_COLUMNS = (*_NAME_COLUMNS, *_NUMBER_COLUMNS, "certificate")


def print_summary(audited: Sequence[AuditedScore], console: Console) -> None:
    """Print a line for every score that has a value, without the columns that say nothing."""
    rows = [_summary_cells(row) for row in audited if not math.isnan(row.score.value)]
    is_shown = {
        "vectors": len({row.vectors for row in audited}) > 1,
        "95% interval": any(cells["95% interval"] for cells in rows),
        "convention": any(cells["convention"] != "default" for cells in rows),
        "certificate": any(cells["certificate"] for cells in rows),
    }
    names = [name for name in _SUMMARY_COLUMNS if is_shown.get(name, True)]
    metrics = ["", *(cells["metric"] for cells in rows)]
    for cells, previous in zip(rows, metrics, strict=False):
        cells["metric"] = cells["metric"] if cells["metric"] != previous else ""
    _print_cells(names, rows, console)


def print_scores(audited: Sequence[AuditedScore], console: Console, *, singles: bool) -> None:
    """Print each metric's meaning, and a line per query and file.

    ``singles``: also a line per single score.
    """
    has_files = len({row.vectors for row in audited}) > 1
    for metric in dict.fromkeys(row.score.metric for row in audited):
        about = {**METRICS, **MODEL_METRICS}[metric].about
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        print_line(console, f"{metric}: {about.title}", "bold")
        print_line(console, f"  {unbiased}{about.sign}", "dim")
        rows = [row for row in audited if row.score.metric == metric]
        cells = [line for row in rows for line in _table_rows(row, singles=singles)]
        names = [name for name in cells[0] if any(line[name] for line in cells)]
        _print_cells([name for name in names if has_files or name != "vectors"], cells, console)
        console.print()
    missing = {word for row in audited if row.score.n_oov for word in row.score.oov.split(",")}
    if missing:
        count = f"{len(missing)} different words, pairs or rows"
        print_line(console, f"{count} are out of vocabulary; --json and --csv list them")


def print_ranks(table: pd.DataFrame, console: Console) -> None:
    """Print the ranks of files by metric and query, and correlations between metrics."""
    ranked = rank_files(table)
    if ranked.empty:
        console.print("files not ranked: no metric has a value for every file")
        return
    mean = ranked.mean().rename(("mean", f"{len(ranked)} rows", "")).to_frame().T
    print_line(console, "Rank of the files, 1: nearest to unbiased", "bold")
    _print_numbers(pd.concat([ranked, mean]), console, "{:.3g}")
    if ranked.shape[1] < _MIN_FILES:
        console.print(f"(rank correlations between metrics need {_MIN_FILES} files)")
        return
    files = f"{ranked.shape[1]} files"
    print_line(console, f"Spearman's correlation between metrics over {files}", "bold")
    _print_numbers(rank_correlations(ranked), console, "{:.2f}")


def print_line(console: Console, line: str, style: str = "") -> None:
    """Print a line without wrapping or markup."""
    console.print(Text(line, style=style), soft_wrap=True)


def _format_p(score: Score) -> str:
    """Return the p-value with two digits; its bounds if these differ in the digits shown."""
    if math.isnan(score.p_value):
        return ""
    if score.p_of_side == score.p_two_sided:
        return f"two-sided {score.p_two_sided:.2g}"
    low, high = f"{score.p_low:.2g}", f"{score.p_high:.2g}"
    return f"{score.p_value:.2g}" if low == high else f"{low}..{high}"


def _print_cells(names: Sequence[str], rows: Iterable[Mapping[str, str]], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in names:
        justify: JustifyMethod = "right" if name in _NUMBER_COLUMNS else "left"
        table.add_column(name, justify=justify)
    for cells in rows:
        table.add_row(*(Text(cells[name]) for name in names))
    print_columns(table, console, names=sum(name in _NAME_COLUMNS for name in names))


def _summary_cells(audited: AuditedScore) -> dict[str, str]:
    unbiased = audited.score.unbiased
    return _cells(audited, digits=3) | {
        "metric": audited.score.metric,
        "no bias": "" if unbiased is None or math.isnan(unbiased) else f"{unbiased:g}",
        "certificate": audited.certificate.partition(":")[0],
    }


def _cells(audited: AuditedScore, *, digits: int) -> dict[str, str]:
    score = audited.score
    low, high = f"{score.low:.{digits}f}", f"{score.high:.{digits}f}"
    return {
        "query": f"{score.query} {score.part}".rstrip(),
        "vectors": audited.vectors,
        "convention": score.convention,
        "value": f"{score.value:.{digits}f}".replace("nan", "NaN"),
        "95% interval": f"{low}, {high}" if math.isfinite(score.low) else "",
        "p": _format_p(score),
        "n_found": str(score.n_found),
        "n_oov": str(score.n_oov),
        "certificate": audited.certificate,
    }


def _table_rows(audited: AuditedScore, *, singles: bool) -> Iterator[dict[str, str]]:
    """Yield the cells of a score's line and, with ``singles``, of its single scores."""
    summary = _cells(audited, digits=4)
    yield summary
    for word, value in audited.single_scores.items() if singles else ():
        single = {"query": f"  {word}", "vectors": audited.vectors, "value": f"{value:.4f}"}
        yield {**dict.fromkeys(summary, ""), **single}


def _print_numbers(table: pd.DataFrame, console: Console, number_format: str) -> None:
    lines = Table("", box=box.SIMPLE, show_edge=False)
    for name in table.columns:
        lines.add_column(str(name), justify="right")
    for name, row in zip(table.index, table.to_numpy().tolist(), strict=True):
        label = " ".join(filter(None, name)) if isinstance(name, tuple) else str(name)
        cells = ("" if math.isnan(value) else number_format.format(value) for value in row)
        lines.add_row(label, *cells)
    print_columns(lines, console)
