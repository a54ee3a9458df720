"""Scores of an audit as lines for a terminal and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.files.writers import Document, TextTable, print_lines, print_text_table
from biasbridge.intrinsic.audit import rank_correlations, rank_files
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.score import Score

_MIN_FILES = 3  # for a rank correlation
_NUMBER_COLUMNS = ("value", "95% interval", "no bias", "p", "n_found", "n_oov")
_NAME_COLUMNS = ("metric", "query", "vectors", "convention")
_SUMMARY_COLUMNS = (*_NAME_COLUMNS, *_NUMBER_COLUMNS, "certificate")


def summary_table(audited: Sequence[AuditedScore]) -> TextTable:
    """Return a line for every score that has a value, without the columns that say nothing."""
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
    return _as_table(names, rows)


def print_scores(audited: Sequence[AuditedScore], console: Console, *, singles: bool) -> None:
    """Print each metric's meaning, and a line per query and file, or single score."""
    has_files = len({row.vectors for row in audited}) > 1
    for metric in dict.fromkeys(row.score.metric for row in audited):
        about = {**METRICS, **MODEL_METRICS}[metric].about
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        print_lines([f"{metric}: {about.title}"], console, "bold")
        print_lines([f"  {unbiased}{about.sign}"], console, "dim")
        rows = [row for row in audited if row.score.metric == metric]
        cells = [line for row in rows for line in _table_rows(row, singles=singles)]
        names = [name for name in cells[0] if any(line[name] for line in cells)]
        names = [name for name in names if has_files or name != "vectors"]
        print_text_table(_as_table(names, cells), console)
        console.print()
    missing = {word for row in audited if row.score.n_oov for word in row.score.oov.split(",")}
    if missing:
        count = f"{len(missing)} different words, pairs or rows"
        print_lines([f"{count} are out of vocabulary; --json and --csv list them"], console)


def rank_document(table: pd.DataFrame) -> Document:
    """Return the ranks of files by metric and query, and correlations between metrics."""
    ranked = rank_files(table)
    if ranked.empty:
        return Document((), notes=["files not ranked: no metric has a value for every file"])
    mean = ranked.mean().rename(("mean", f"{len(ranked)} rows", "")).to_frame().T
    heading = "Rank of the files, 1: nearest to unbiased"
    ranks = _number_table(heading, pd.concat([ranked, mean]), "{:.3g}")
    if ranked.shape[1] < _MIN_FILES:
        few = f"(rank correlations between metrics need {_MIN_FILES} files)"
        return Document((), (), [ranks], [few])
    heading = f"Spearman's correlation between metrics over {ranked.shape[1]} files"
    return Document((), (), [ranks, _number_table(heading, rank_correlations(ranked), "{:.2f}")])


def _format_p(score: Score) -> str:
    """Return the p-value with two digits; its bounds if these differ in the digits shown."""
    if math.isnan(score.p_value):
        return ""
    if score.p_of_side == score.p_two_sided:
        return f"two-sided {score.p_two_sided:.2g}"
    low, high = f"{score.p_low:.2g}", f"{score.p_high:.2g}"
    return f"{score.p_value:.2g}" if low == high else f"{low}..{high}"


def _as_table(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> TextTable:
    cells = [[row[name] for name in names] for row in rows]
    return TextTable("", names, cells, {*names} - {*_NUMBER_COLUMNS})


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


def _number_table(heading: str, table: pd.DataFrame, number_format: str) -> TextTable:
    rows = []
    for name, row in zip(table.index, table.to_numpy().tolist(), strict=True):
        label = " ".join(filter(None, name)) if isinstance(name, tuple) else str(name)
        cells = ("" if math.isnan(value) else number_format.format(value) for value in row)
        rows.append([label, *cells])
    return TextTable(heading, ["", *map(str, table.columns)], rows)
