"""Figures 3, 4 and 5 of Goldfarb-Tarrant et al. (2021) from the tables of an experiment, each with
its numbers beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from analysis.correlate import UNMODIFIED
from analysis.grid import Words, panel_statistics, save_charts, scatter_grid
from analysis.join import join_points
from analysis.read import Tables, read_tables
from files import atomic_path

METRIC_TITLES = {"weat": "WEAT effect size (d)"}
MAIN_GAPS = ("precision_gap", "recall_gap")
ORIGINAL = "unmodified"
STAMP = (
    "Generated data: it shows how the metrics behave in a planted world and is no evidence about"
    " the real one."
)
POOLED = (
    "All queries pooled: n counts every embedding once per query; in the intervals it counts once."
)
MADE_FROM = ("point", "task", "embedding", "method", "direction", "dose", "wordset", "seed")
NUMBERS = (*MADE_FROM, "metric", "query", "gap", "x", "y", "low", "high", "reason", "generated")


def draw_figures(
    results: str | Path | Tables, out: Path, *, suffixes: Sequence[str] = (".svg", ".png", ".pdf")
) -> list[Path]:
    """Draw the three figures of every task and metric into ``out`` in each format, with a CSV of
    its numbers; the paths written.

    * ``figure3``: rows: query; columns: embedding and gap (precision, recall). One panel is one
      experiment of the paper.
    * ``figure4``: rows: gap; columns: modification method, each with the unmodified embeddings;
      colour: embedding. All queries pooled.
    * ``figure5``: one panel per gap with every point of the task; colour: method; shape: embedding.
      All queries pooled.

    x is the intrinsic score and y the gap (the paper's figure 3 has them the other way round); bars
    are the gap's interval and unmodified embeddings are black. ``results`` is a results folder or
    its three tables. Raises ``InputError`` as ``join_points``.
    """
    joined = join_points(*(results if isinstance(results, tuple) else read_tables(results)))
    written = []
    for (task, metric), part in joined.groupby(["task", "metric"], sort=False):
        words = _words(part, task, metric)
        for number, (data, figure_words) in {
            3: _figure3(part, words),
            4: _figure4(part, words),
            5: _figure5(part, words),
        }.items():
            stem = re.sub(r"[^\w.-]+", "_", f"figure{number}_{task}_{metric}").strip("_")
            written += _draw(data, figure_words, Path(out), stem, suffixes)
    return written


def gap_title(gap: str) -> str:
    """``recall_gap`` in words: ``recall gap``."""
    return gap.replace("_", " ").replace("f1", "F1")


def group_title(group: str) -> str:
    """``male-female`` as the difference it is: ``male - female``; names with hyphens of their own
    stay as they are.
    """
    return group.replace("-", " - ") if group.count("-") == 1 and " " not in group else group


def query_title(query: str) -> str:
    """``weat6b`` in words: ``WEAT 6b``; other names as they are."""
    return re.sub(r"^weat(\d)", r"WEAT \1", query)


def metric_title(metric: str) -> str:
    """The axis title of a metric, with the convention where one stands in brackets: ``WEAT effect
    size (d)``.
    """
    name, _, convention = metric.partition(" (")
    title = METRIC_TITLES.get(name, f"{name.upper()} score")
    return f"{title}, {convention.rstrip(')')}" if convention else title


def _words(part: pd.DataFrame, task: str, metric: str) -> Words:
    groups = [group for group in part["group"].unique() if group]
    y = f"performance gap ({group_title(groups[0])})" if len(groups) == 1 else "performance gap"
    notes = [
        "Above each panel: Pearson r, 95% interval over embeddings. Bars: 95% intervals. Above 0:"
        " worse for the unprivileged group."
    ]
    if part["generated"].any():
        notes.insert(0, STAMP)
    task = f"{task}, generated data" if part["generated"].any() else task
    return Words(
        title=f"{task}: {metric_title(metric)} and performance gaps",
        x=metric_title(metric),
        y=y,
        notes=notes,
        black=ORIGINAL,
    )


def _figure3(part: pd.DataFrame, words: Words) -> tuple[pd.DataFrame, Words]:
    shown = part[part["gap"].isin(MAIN_GAPS)] if part["gap"].isin(MAIN_GAPS).any() else part
    column = shown["embedding"] + ", " + shown["gap"].map(gap_title)
    data = _panels(
        shown, row=shown["query"].map(query_title), column=column, colour=_method_or_original(shown)
    )
    return data, replace(
        words, title=f"{words.title}, by query, embedding and gap", colour="method"
    )


def _figure4(part: pd.DataFrame, words: Words) -> tuple[pd.DataFrame, Words]:
    methods = [m for m in part["method"].unique() if m != UNMODIFIED] or [UNMODIFIED]
    pieces = [
        part[part["method"].isin([method, UNMODIFIED])].assign(panel=method) for method in methods
    ]
    data = pd.concat(pieces, ignore_index=True)
    colour = data["embedding"].where(data["method"] != UNMODIFIED, ORIGINAL)
    column = data["panel"].replace(UNMODIFIED, ORIGINAL)
    data = _panels(
        data, row=data["gap"].map(gap_title), column=column, colour=colour, shape=data["embedding"]
    )
    return data, replace(
        words,
        title=f"{words.title}, by modification method",
        colour="colour",
        shape="shape",
        notes=_pooled(part, words),
    )


def _figure5(part: pd.DataFrame, words: Words) -> tuple[pd.DataFrame, Words]:
    data = _panels(
        part,
        row="",
        column=part["gap"].map(gap_title),
        colour=_method_or_original(part),
        shape=part["embedding"],
    )
    return data, replace(
        words,
        title=f"{words.title}, all points",
        colour="method",
        shape="embedding",
        notes=_pooled(part, words),
    )


def _pooled(part: pd.DataFrame, words: Words) -> list[str]:
    return [*words.notes, POOLED] if len(part["query"].unique()) > 1 else list(words.notes)


def _method_or_original(part: pd.DataFrame) -> pd.Series:
    return part["method"].where(part["method"] != UNMODIFIED, ORIGINAL)


def _panels(
    part: pd.DataFrame, *, row: object, column: object, colour: object, shape: object = ""
) -> pd.DataFrame:
    return part.assign(row=row, column=column, colour=colour, shape=shape).reset_index(drop=True)


def _draw(
    data: pd.DataFrame, words: Words, out: Path, stem: str, suffixes: Sequence[str]
) -> list[Path]:
    chart = scatter_grid(data, words, zero=True)
    paths = save_charts(chart, out / stem, suffixes)
    table = out / f"{stem}.csv"
    with atomic_path(table) as path:
        _numbers(data).to_csv(path, index=False)
    return [*paths, table]


def _numbers(data: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: every point with its panel, and beside it the panel's n and r with its
    interval.
    """
    kept = [name for name in NUMBERS if name in data]
    points = data[["row", "column", *kept]].rename(
        columns={"row": "panel_row", "column": "panel_column"}
    )
    return points.merge(
        panel_statistics(data).add_prefix("panel_"), on=["panel_row", "panel_column"], how="left"
    )
