"""The changes of the gap, and figures 3 to 6 of Goldfarb-Tarrant et al. (2021), from the joined
table of an experiment, each with its numbers beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from biasbridge.analysis.answer import declared
from biasbridge.analysis.change_chart import change_chart, change_data
from biasbridge.analysis.charts import STAMP
from biasbridge.analysis.frame import as_labels, as_text
from biasbridge.analysis.grid import ChartText, Panel, panel_statistics, scatter_grid
from biasbridge.analysis.naming import (
    CONFIRMATORY,
    CONTROL,
    FAMILY,
    GAP,
    ORIGINAL,
    REVERSED,
    SCORE,
    SMALLEST_CHANGE,
    describe_taggers,
    gap_axis,
    gap_titles,
    group_pairs,
    label_sentences,
    metric_title,
    present_confirmatory,
    query_titles,
    score_axis,
    shown_values,
)
from biasbridge.analysis.results import write_csv_tables
from biasbridge.analysis.terminal import print_lines
from biasbridge.files.charts import save_charts

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.slice_results import SliceResult

BARS = (
    "Above each panel: r_rm, within parents, with its 95% interval; Pearson's r over all points."
    " Line: the slope within parents. Bars: 95% intervals."
)
POOLED = (
    "All queries pooled: n counts every embedding once per query; in r it counts once, with the"
    " mean of its scores."
)
Layout: TypeAlias = "tuple[pd.Series[str], pd.Series[str]]"  # row and column of each point
MAX_COLUMNS = 6  # of panels that are legible on a page
MAX_POINTS_DRAWN = 30_000
HELD_OUT = "held_out"  # the subset of a task's own test items, beside a challenge set
POINT_COLUMNS = ("point", "task", "embedding", "method", "direction", "dose", "wordset", "seed")
VALUES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "reason", "generated")
NUMBERS = (*POINT_COLUMNS, *SCORE, *GAP, *VALUES)


def draw_figures(
    joined: pd.DataFrame,
    out: Path,
    *,
    results: Sequence[SliceResult] = (),
    confirmatory: Sequence[str] = CONFIRMATORY,
    smallest_change: float = SMALLEST_CHANGE,
    suffixes: Sequence[str] = (".svg", ".png", ".pdf"),
    console: Console | None = None,
) -> list[Path]:
    """Draw the figures into ``out`` in each format, with a CSV of their numbers; return the paths.

    * ``change``: the change of the gap in every declared test of the ``results``, and the models
      behind it; the others are of each task, metric and convention:
    * ``figure3``: rows: query; columns: embedding and gap of the ``confirmatory`` measures.
    * ``figure4``: rows: gap; columns: method, each with the unmodified embeddings.
    * ``figure5``: one panel per gap with every point of the task.
    * ``figure6``: rows: gap; columns: subset of the test items (WinoBias: type1, type2), where
      there are several.

    x is the intrinsic score and y the gap (the paper's figure 3 swaps them). More than six columns
    go to the rows. Above 30,000 points only the numbers are written, and the ``console`` reports
    it.
    """
    written, undrawn = [], []
    titled = with_titles(joined)
    titled["method_title"] = joined["method"].replace(CONTROL, ORIGINAL)
    for _, part in titled.groupby(list(FAMILY), sort=False):
        family = [as_text(part, name)[0] for name in ("task", "metric", "shown_convention")]
        text = _text(part, *family)
        figures = {3: _figure3(part, text, confirmatory), 5: _figure5(part, text)}
        if len({*as_text(part, "method")} - {CONTROL}) > 1:  # else it equals figure 5
            figures[4] = _figure4(part, text)
        if len({*as_text(part, "subset")} - {"", HELD_OUT}) > 1:
            figures[6] = _figure6(part[~part["subset"].isin(["", HELD_OUT])], text)
        for number, (data, text) in sorted(figures.items()):
            stem = re.sub(r"[^\w.-]+", "_", "_".join([f"figure{number}", *family])).strip("_")
            if len(data) > MAX_POINTS_DRAWN:
                undrawn.append(f"{stem} ({len(data):,} points)")
            formats = suffixes if len(data) <= MAX_POINTS_DRAWN else ()
            written += _draw(data.reset_index(drop=True), text, out / stem, formats, results)
    if tests := declared(results):
        data = change_data(joined, tests, smallest_change)
        chart = change_chart(data, tests, smallest_change)
        written += save_charts(chart, out / "change", suffixes)
        written += write_csv_tables(out, {"change": data})
    if undrawn and console:
        line = f"not drawn, but in files of numbers: {', '.join(undrawn)}; give fewer points"
        print_lines([line], console)
    return written


def with_titles(joined: pd.DataFrame) -> pd.DataFrame:
    """Add the titles of queries and gaps, and the conventions where a metric has several."""
    return joined.assign(
        shown_convention=shown_values(joined, "convention"),
        query_title=query_titles(joined),
        gap_title=gap_titles(joined),
    )


def _text(part: pd.DataFrame, task: str, metric: str, convention: str) -> ChartText:
    generated = "True" in as_labels(part, "generated")
    title = metric_title(metric, convention)
    reverse = set(as_text(part, "reverse_scored")) == {"True"}
    task = f"{task}, synthetic data" if generated else task
    return ChartText(
        title=f"{task}: {title} and performance gaps",
        x=f"{title}, {REVERSED}" if reverse else title,
        y=gap_axis("gap", group_pairs(part)),
        notes=[
            *([STAMP] if generated else []),
            BARS,
            *label_sentences(part),
            *describe_taggers(as_text(part, "group_by")),
        ],
        black=ORIGINAL,
        reverse=reverse,
    )


def _figure3(
    part: pd.DataFrame, text: ChartText, confirmatory: Sequence[str]
) -> tuple[pd.DataFrame, ChartText]:
    part = part[part["measure"].isin(present_confirmatory(as_text(part, "measure"), confirmatory))]
    if _has_single_models(part):
        return _by_query(part, text)
    query, gap, (measure, groups) = part["query_title"], part["gap_title"], _split_titles(part)
    query_embedding = query + ", " + part["embedding"]
    row, column = _narrow_layout(
        (query, part["embedding"] + ", " + gap),
        (query_embedding, gap),
        ((query_embedding + ", " + groups).str.removesuffix(", "), measure),
    )
    data = part.assign(row=row, column=column, colour=part["method_title"], shape="")
    title = f"{text.title}, by query, embedding and gap"
    return data, name_axes(part, text)._replace(title=title, colour="method")


def _has_single_models(part: pd.DataFrame) -> bool:
    """Test whether each embedding is a single model: its panel would hold one point."""
    return part.groupby("embedding")["model"].nunique().max() < 2


def _by_query(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    row, column, shape = part["query_title"], part["gap_title"], part["embedding"]
    data = part.assign(row=row, column=column, colour=part["method_title"], shape=shape)
    title = f"{text.title}, by query and gap"
    return data, name_axes(part, text)._replace(title=title, colour="method", shape="embedding")


def name_axes(part: pd.DataFrame, text: ChartText) -> ChartText:
    """Name the score and the gap on the axes, the query and the measure where there is only one."""
    queries, gaps = dict.fromkeys(part["query_title"]), dict.fromkeys(part["gap_title"])
    metric, convention = (as_text(part, name)[0] for name in ("metric", "shown_convention"))
    x = score_axis(metric, convention, next(iter(queries)) if len(queries) == 1 else "")
    y = gap_axis(next(iter(gaps)) if len(gaps) == 1 else "gap", group_pairs(part))
    return text._replace(x=f"{x}, {REVERSED}" if text.reverse else x, y=y)


def _figure4(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    methods = [m for m in dict.fromkeys(as_text(part, "method")) if m != CONTROL] or [CONTROL]
    pieces = [
        part[part["method"].isin([method, CONTROL])].assign(
            column=ORIGINAL if method == CONTROL else method
        )
        for method in methods
    ]
    data = pd.concat(pieces)
    data = data.assign(row=data["gap_title"], colour=data["method_title"], shape=data["embedding"])
    title, notes = f"{text.title}, by modification method", _notes_on_pooling(part, text)
    return data, text._replace(title=title, colour="method", shape="embedding", notes=notes)


def _figure5(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    measure, groups = _split_titles(part)
    row, column = _narrow_layout(
        (part["gap_title"].str.slice(0, 0), part["gap_title"]), (groups, measure)
    )
    data = part.assign(row=row, column=column, colour=part["method_title"], shape=part["embedding"])
    title, notes = f"{text.title}, all points", _notes_on_pooling(part, text)
    return data, text._replace(title=title, colour="method", shape="embedding", notes=notes)


def _figure6(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    row = gap_titles(part.assign(subset=""))
    data = part.assign(row=row, column=part["subset"], colour=part["method_title"])
    data = data.assign(shape=part["embedding"])
    title, notes = f"{text.title}, by type of test item", _notes_on_pooling(part, text)
    return data, text._replace(title=title, colour="method", shape="embedding", notes=notes)


def _split_titles(part: pd.DataFrame) -> tuple[pd.Series[str], pd.Series[str]]:
    halves = part["gap_title"].str.partition(", ")
    return halves[0], halves[2]


def _narrow_layout(*layouts: Layout) -> Layout:
    fitting = (layout for layout in layouts if layout[1].nunique() <= MAX_COLUMNS)
    return next(fitting, layouts[-1])


def _notes_on_pooling(part: pd.DataFrame, text: ChartText) -> list[str]:
    return [*text.notes, POOLED] if len(set(as_text(part, "query"))) > 1 else list(text.notes)


def _draw(
    data: pd.DataFrame,
    text: ChartText,
    stem: Path,
    suffixes: Sequence[str],
    results: Sequence[SliceResult],
) -> list[Path]:
    panels = panel_statistics(data, results)
    data = data[data["status"] == "done"]  # failed points only complete the panels' embeddings
    paths: list[Path] = []
    if suffixes:
        paths = save_charts(scatter_grid(data, text, zero=True, panels=panels), stem, suffixes)
    return paths + write_csv_tables(stem.parent, {stem.name: _numbers(data, panels)})


def _numbers(data: pd.DataFrame, panels: Sequence[Panel]) -> pd.DataFrame:
    """Return every point with its panel, and the panel's statistics."""
    columns = [name for name in NUMBERS if name in data]
    panel_columns = {"row": "panel_row", "column": "panel_column"}
    points = data[[*panel_columns, *columns]].rename(columns=panel_columns)
    return points.merge(
        pd.DataFrame(panels).add_prefix("panel_"), on=list(panel_columns.values()), how="left"
    )
