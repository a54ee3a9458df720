"""The changes of the gap, and figures 3 to 6 of Goldfarb-Tarrant et al. (2021), from the joined
table of an experiment, each with its numbers beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.change_chart import change_picture
from biasbridge.analysis.charts import (
    BLACK,
    GREY,
    INK,
    PALETTE,
    SHAPES,
    Drawing,
    finish,
    palette_of,
    require_distinct,
)
from biasbridge.analysis.correlation import ONE_THREAD, correlation, residuals
from biasbridge.analysis.joined import bias_sign, is_joined, observations_of, resamples_warning
from biasbridge.analysis.naming import (
    ALL,
    CONFIRMATORY,
    CONTROL,
    FAMILY,
    GAP,
    ORIGINAL,
    REVERSED,
    SCORE,
    SLICE_COLUMNS,
    STAMP,
    describe_taggers,
    gap_axis,
    gap_titles,
    group_pairs,
    label_sentences,
    metric_title,
    present_confirmatory,
    query_titles,
    score_axis,
    score_titles,
    shown_values,
    with_count,
)
from biasbridge.analysis.observations import SlopeLine, both_finite
from biasbridge.analysis.result_folder import write_csv_tables
from biasbridge.analysis.slices import pearson
from biasbridge.analysis.tables import group_indices
from biasbridge.files import InputError
from biasbridge.files.charts import figure_style, make_spec, save_charts
from biasbridge.files.columns import as_float, as_labels, as_text, clean_models, text_rows
from biasbridge.files.tables import require_columns
from biasbridge.files.writers import print_lines
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.change_chart import ChangePicture
    from biasbridge.analysis.slices import SliceResult


_BARS = (
    "Above each panel: r_rm, within parents, with its 95% interval; Pearson's r over all points."
    " Line: the slope within parents. Bars: 95% intervals."
)
_POOLED_NOTE = (
    "All queries pooled: n counts every embedding once per query; in r it counts once, with the"
    " mean of its scores."
)
PanelLayout: TypeAlias = "tuple[pd.Series[str], pd.Series[str]]"  # row and column of each point
_MAX_COLUMNS = 6  # of panels that are legible on a page
_MAX_POINTS_DRAWN = 30_000
_HELD_OUT = "held_out"  # the subset of a task's own test items, beside a challenge set
_FIGURE_POINT_COLUMNS = (
    *("point", "task", "embedding", "method", "direction", "dose", "wordset", "seed"),
)
_VALUES = ("x", "x_low", "x_high", "y", "y_low", "y_high", "reason", "generated")
_FIGURE_COLUMNS = (*_FIGURE_POINT_COLUMNS, *SCORE, *GAP, *_VALUES)
# Width and height in pixels by the number of columns.
_PANEL_SIZES = {1: (460, 320), 2: (300, 200)}
_SMALL_PANEL = (210, 170)
_UNEQUAL = 4
_SPACING = alt.RowColnumber(row=18, column=30)  # keeps labels of neighbouring axes apart
_AXIS_SCALE: dict[str, Any] = {"zero": False, "nice": True, "padding": 6}
_PLACES = ("row", "column", "colour", "shape")
_INTERVALS = ("x_low", "x_high", "y_low", "y_high")
_Side = TypeVar("_Side", alt.Row, alt.Column)
_WITHIN_NOTE = (
    "Above each panel: r_rm of its points, within parents, each model once at its mean. Line: the"
    " slope within parents."
)
_MAX_PANELS = 60  # of a figure that is legible
_MIXED = f"r is of scores with their sign changed where {REVERSED}"


def draw_figures(
    joined: pd.DataFrame,
    out: Path,
    *,
    results: Sequence[SliceResult] = (),
    confirmatory: Sequence[str] = CONFIRMATORY,
    change: ChangePicture | None = None,
    suffixes: Sequence[str] | None = None,
    console: Console | None = None,
) -> list[Path]:
    """Draw the figures into ``out``, each with a CSV of its numbers; return the paths.

    * ``change``: the change of the gap in every declared test of the ``results``, and the models
      behind it, unless it is given; the others are of each task, metric and convention:
    * ``figure3``: rows: query; columns: embedding and gap of the ``confirmatory`` measures.
    * ``figure4``: rows: gap; columns: method, each with the unmodified embeddings.
    * ``figure5``: one panel per gap with every point of the task.
    * ``figure6``: rows: gap; columns: subset of the test items (WinoBias: type1, type2), where
      there are several.

    x is the intrinsic score and y the gap. The paper's figure 3 swaps them, and so does this one in
    the style ``axes=paper``. More than six columns go to the rows. A figure of over 30,000 points
    is not drawn, and the ``console`` reports it.
    """
    written, undrawn = [], []
    titled = _with_titles(joined)
    titled["method_title"] = joined["method"].replace(CONTROL, ORIGINAL)
    for _, part in titled.groupby(list(FAMILY), sort=False):
        family = [as_text(part, name)[0] for name in ("task", "metric", "shown_convention")]
        text = _text(part, *family)
        measures = present_confirmatory(as_text(part, "measure"), confirmatory)
        parts = {3: part[part["measure"].isin(measures)], 5: part}
        if len({*as_text(part, "method")} - {CONTROL}) > 1:  # else it equals figure 5
            parts[4] = part
        if len({*as_text(part, "subset")} - {"", _HELD_OUT}) > 1:
            parts[6] = part[~part["subset"].isin(["", _HELD_OUT])]
        for number, points in sorted(parts.items()):
            stem = re.sub(r"[^\w.-]+", "_", "_".join([f"figure{number}", *family])).strip("_")
            if len(points) > _MAX_POINTS_DRAWN:
                undrawn.append(f"{stem} ({len(points):,} points)")
                continue
            data, titles = _FIGURES[number](points, text)
            titles = titles._replace(swapped=number == 3 and figure_style().axes == "paper")
            written += _draw(data.reset_index(drop=True), titles, out / stem, suffixes, results)
    if change := change or change_picture(joined, results):
        written += save_charts(change.chart, out / "change", suffixes)
        written += write_csv_tables(out, {"change": change.data})
    if undrawn and console:
        line = f"not drawn: {', '.join(undrawn)}; give fewer points"
        print_lines([line], console)
    return written


def _with_titles(joined: pd.DataFrame) -> pd.DataFrame:
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
            _BARS,
            *label_sentences(part),
            *describe_taggers(as_text(part, "group_by")),
        ],
        black=ORIGINAL,
        reverse=reverse,
    )


def _figure3(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    query, gap, (measure, groups) = part["query_title"], part["gap_title"], _split_titles(part)
    if part.groupby("embedding")["model"].nunique().max() < 2:  # its panel would hold one point
        data = part.assign(
            row=query, column=gap, colour=part["method_title"], shape=part["embedding"]
        )
        named = _name_axes(part, text)
        title = f"{text.title}, by query and gap"
        return data, named._replace(title=title, colour="method", shape="embedding")
    query_embedding = query + ", " + part["embedding"]
    row, column = _narrow_layout(
        (query, part["embedding"] + ", " + gap),
        (query_embedding, gap),
        ((query_embedding + ", " + groups).str.removesuffix(", "), measure),
    )
    data = part.assign(row=row, column=column, colour=part["method_title"], shape="")
    title = f"{text.title}, by query, embedding and gap"
    return data, _name_axes(part, text)._replace(title=title, colour="method")


def _name_axes(part: pd.DataFrame, text: ChartText) -> ChartText:
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
    return _pooled(data.assign(row=data["gap_title"]), text, "by modification method")


def _figure5(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    measure, groups = _split_titles(part)
    row, column = _narrow_layout(
        (part["gap_title"].str.slice(0, 0), part["gap_title"]), (groups, measure)
    )
    return _pooled(part.assign(row=row, column=column), text, "all points")


def _figure6(part: pd.DataFrame, text: ChartText) -> tuple[pd.DataFrame, ChartText]:
    row = gap_titles(part.assign(subset=""))
    return _pooled(part.assign(row=row, column=part["subset"]), text, "by type of test item")


def _pooled(data: pd.DataFrame, text: ChartText, what: str) -> tuple[pd.DataFrame, ChartText]:
    """Mark methods and embeddings, and note where queries are pooled."""
    data = data.assign(colour=data["method_title"], shape=data["embedding"])
    notes = [*text.notes, *[_POOLED_NOTE] * (len(set(as_text(data, "query"))) > 1)]
    title = f"{text.title}, {what}"
    return data, text._replace(title=title, colour="method", shape="embedding", notes=notes)


_FIGURES = {3: _figure3, 4: _figure4, 5: _figure5, 6: _figure6}


def _split_titles(part: pd.DataFrame) -> tuple[pd.Series[str], pd.Series[str]]:
    halves = part["gap_title"].str.partition(", ")
    return halves[0], halves[2]


def _narrow_layout(*layouts: PanelLayout) -> PanelLayout:
    fitting = (layout for layout in layouts if layout[1].nunique() <= _MAX_COLUMNS)
    return next(fitting, layouts[-1])


def _draw(
    data: pd.DataFrame,
    text: ChartText,
    stem: Path,
    suffixes: Sequence[str] | None,
    results: Sequence[SliceResult],
) -> list[Path]:
    panels = _panel_statistics(data, results)
    data = data[data["status"] == "done"]  # failed points only complete the panels' embeddings
    paths: list[Path] = []
    if suffixes is None or suffixes:
        paths = save_charts(scatter_grid(data, text, zero=True, panels=panels), stem, suffixes)
    columns = [name for name in _FIGURE_COLUMNS if name in data]
    panel_columns = {"row": "panel_row", "column": "panel_column"}
    points = data[[*panel_columns, *columns]].rename(columns=panel_columns)
    statistics = pd.DataFrame(panels).add_prefix("panel_")
    numbers = points.merge(statistics, on=list(panel_columns.values()), how="left")
    return paths + write_csv_tables(stem.parent, {stem.name: numbers})


# A grid of scatter plots with the correlation above each panel.


class ChartText(NamedTuple):
    """The text around the panels; an empty colour or shape title leaves out that legend.
    ``reverse``: x falls from left to right, for reverse-scored scores.
    """

    title: str
    x: str
    y: str
    colour: str = ""
    shape: str = ""
    notes: Sequence[str] = ()
    black: str | None = None
    reverse: bool = False
    own_scales: bool = False  # of x in each panel, for scores of several metrics
    swapped: bool = False  # y on the horizontal axis


class Panel(NamedTuple):
    """The statistics above a panel: n pairs of so many models, averaged to so many observations, r
    and its 95% interval; its line, by the slope and the means that it goes through; Pearson's r.
    """

    row: str
    column: str
    models: int
    n: int
    r: float
    low: float
    high: float
    slope: float = nan
    x_mean: float = nan
    y_mean: float = nan
    r_pearson: float = nan
    averaged: int = 0


def scatter_grid(
    data: pd.DataFrame,
    text: ChartText,
    *,
    mark: str = "point",
    zero: bool = False,
    panels: Sequence[Panel] | None = None,
) -> Drawing:
    """Draw panels by ``row`` and ``column``: ``y`` against ``x``, n and, for points, r and its 95%
    interval above.

    ``data``: the columns x, y, and ``_PLACES`` (constant text where unused), where known
    ``_INTERVALS`` and the columns of ``observations_of``. ``panels``: their statistics, if already
    computed. ``mark="line"`` joins the mean y at each x and shades from minimum to maximum;
    ``zero`` draws a line at y = 0. Raises ``InputError`` where palette or shapes do not suffice.
    """
    order = {name: list(dict.fromkeys(as_text(data, name))) for name in _PLACES}
    width, height = _PANEL_SIZES.get(len(order["column"]), _SMALL_PANEL)
    panels = panels or _panel_statistics(data)
    notes = _notes(panels, order, mark)
    points = _drawable_points(data, text.black)
    rule = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(y=alt.datum(0))
    note = _where_valid("note").mark_text(align="left", baseline="bottom", fontSize=10, color=INK)
    note = note.encode(text="note:N", x=alt.value(0), y=alt.value(-4))
    line = _where_valid("fit_y").mark_line(color=INK, strokeWidth=1.5, clip=True)
    layers = [rule] if zero else []
    layers += [*(_lines if mark == "line" else _points)(order, text), note]
    layers += [] if mark == "line" else [line.encode(_x(text, "fit_x"), _y(text, "fit_y"))]
    grid = (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .facet(
            row=_facet(alt.Row, "row", order, labelAngle=-90, labelLimit=height),
            column=_facet(alt.Column, "column", order, labelAngle=0, labelLimit=width),
            data=pd.concat([points, notes, *_fit_lines(panels, points, mark)], ignore_index=True),
            spacing=_SPACING,
        )
        .resolve_scale(
            x="independent" if text.own_scales else "shared",
            y="independent" if _have_several_units(data) else "shared",
        )
    )
    drawing = finish(grid, text.title, text.notes)
    if not text.swapped:
        return drawing
    swapped: Drawing = alt.FacetChart.from_dict(_swap_axes(make_spec(drawing)), validate=False)
    return swapped


def _have_several_units(data: pd.DataFrame) -> bool:
    """Test whether the spreads of columns are so unequal that one scale would hide some: log odds
    beside shares.
    """
    y = data["y"].where(np.isfinite(as_float(data, "y")))
    spread = y.groupby(as_text(data, "column")).agg(lambda values: values.max() - values.min())
    spread = spread[spread > 0]
    return len(spread) > 1 and bool(spread.max() > _UNEQUAL * spread.min())


def _swap_axes(node: Any) -> Any:
    """Swap the axes of a chart; what stands at a fixed place of its panel stays."""
    if isinstance(node, list):
        return [_swap_axes(part) for part in node]
    if not isinstance(node, dict):
        return node
    names = {"x": "y", "y": "x", "x2": "y2", "y2": "x2"}
    swapped = {}
    for name, part in node.items():
        placed = [part[axis] for axis in ("x", "y") if axis in part] if name == "encoding" else []
        is_fixed = any("value" in channel for channel in placed)
        if name == "scale" or (placed and not is_fixed):  # of a resolution, or of marks
            swapped[name] = {names.get(axis, axis): channel for axis, channel in part.items()}
        else:
            swapped[name] = _swap_axes(part)
    return swapped


@ONE_THREAD
def _panel_statistics(data: pd.DataFrame, results: Sequence[SliceResult] = ()) -> list[Panel]:
    """Return the statistics of each panel, one for each row and column with data.

    r is r_rm as in ``biasbridge.analysis.correlate`` where ``data`` has a column ``model``
    (``joined.observations_of`` lists the others that count), else r over all pairs.
    ``results``: results of ``correlate_slices``, reused above the panels that show their slices.
    """
    all_rows = observations_of(data) if "model" in data else None
    within_by_slice = {
        tuple(result.names[name] for name in SLICE_COLUMNS): result.within for result in results
    }
    sides = as_float(data, "x"), as_float(data, "y")
    keys = zip(*(as_text(data, name) for name in ("row", "column")), strict=True)
    signs = bias_sign(data)
    panels = []
    for (row, column), indices in group_indices(keys).items():
        if all_rows is None:
            x, y = (side[indices] for side in sides)
            finite = both_finite(x, y)
            x, y = x[finite], y[finite]
            within = correlation(x, y)
            slope = residuals(x, y, np.zeros(len(x), dtype=int)).slope if len(x) > 1 else nan
            line = SlopeLine.through(x, y, slope)
            panels.append(Panel(row, column, len(x), len(x), *within.interval, *line))
            continue
        comparable = all_rows.select(indices).comparable()
        models = comparable.models()
        same_slice = (
            within_by_slice.get(_slice_of_panel(data.iloc[indices])) if within_by_slice else None
        )
        within = same_slice or models.average_over_clusters().within_models()
        line = models.line().of_sign(signs[indices])
        counts = len(models.x), len(comparable.x)
        r_pearson = pearson(comparable.x, comparable.y)
        panels.append(Panel(row, column, *counts, *within.interval, *line, r_pearson, within.n))
    return panels


def _slice_of_panel(data: pd.DataFrame) -> tuple[str, ...]:
    """Return the slice that a panel shows, as ``biasbridge.analysis.slices`` names it."""
    values = [dict.fromkeys(as_text(data, name)) for name in SLICE_COLUMNS]
    if len(values[-1]) > 1:
        values[-1].pop(CONTROL, None)
    return tuple(next(iter(column)) if len(column) == 1 else ALL for column in values)


def _panel_note(panel: Panel) -> str:
    """Return ``n = 26, r = .31 [-.09, .62]``; where pairs repeat models, ``n = 78 (26 models)``,
    and where r averages seeds of a corpus, ``n = 78 (26 models as 13)``. Where r is undefined, ``r
    undefined``; with ``r_pearson`` r is r_rm, and Pearson's r stands beside it.
    """
    models = with_count(panel.models, "model")
    is_averaged = 0 < panel.averaged < panel.models
    models += f" as {panel.averaged}" if is_averaged else ""
    count = f"n = {panel.n}" + (f" ({models})" if panel.models < panel.n or is_averaged else "")
    if not isfinite(panel.r):
        return f"{count}, r undefined"
    ends = [format_number(end) for end in (panel.low, panel.high)]
    bounds = f" [{', '.join(ends)}]" if isfinite(panel.low) else ""
    name, other = (
        ("r_rm", f", Pearson {format_number(panel.r_pearson)}")
        if isfinite(panel.r_pearson)
        else ("r", "")
    )
    return f"{count}, {name} = {format_number(panel.r)}{bounds}{other}".replace("-", "\u2212")


def _drawable_points(data: pd.DataFrame, black: str | None) -> pd.DataFrame:
    """Return the points with x and y, the few black ones last, on top."""
    is_finite = np.isfinite(as_float(data, "x")) & np.isfinite(as_float(data, "y"))
    names = [name for name in (*_PLACES, "x", "y", *_INTERVALS) if name in data]
    return data.loc[is_finite, names].sort_values(
        "colour", key=lambda colour: colour == black, kind="stable"
    )


def _notes(panels: Sequence[Panel], order: dict[str, list[str]], mark: str) -> pd.DataFrame:
    """Return one row per cell of the grid, also without data, so that each panel is drawn."""
    notes = {
        (panel.row, panel.column): f"n = {panel.n}" if mark == "line" else _panel_note(panel)
        for panel in panels
    }
    cells = [(r, c, notes.get((r, c), "no data")) for r in order["row"] for c in order["column"]]
    return pd.DataFrame(cells, columns=["row", "column", "note"])


def _fit_lines(panels: Sequence[Panel], points: pd.DataFrame, mark: str) -> list[pd.DataFrame]:
    """Return the ends of each panel's line, over the range of its points."""
    rows = []
    for panel in panels if mark == "point" else ():
        x = points.loc[(points["row"] == panel.row) & (points["column"] == panel.column), "x"]
        if isfinite(panel.slope) and x.min() < x.max():
            rows += [
                {"row": panel.row, "column": panel.column, "fit_x": end}
                | {"fit_y": panel.y_mean + panel.slope * (end - panel.x_mean)}
                for end in (float(x.min()), float(x.max()))
            ]
    return [pd.DataFrame(rows)] if rows else []


def _facet(channel: type[_Side], name: str, order: dict[str, list[str]], **header: Any) -> _Side:
    """Return a facet with labels broken at commas, so that they are not cut."""
    values = order[name]
    visible = alt.Header(labelExpr="split(datum.label, ', ')", labelPadding=6, **header)
    return channel(f"{name}:N", sort=values, title=None, header=None if values == [""] else visible)


def _where_valid(*names: str) -> alt.Chart:
    layer = alt.Chart()
    for name in names:
        layer = layer.transform_filter(f"isValid(datum.{name})")
    return layer


def _lines(order: dict[str, list[str]], text: ChartText) -> list[alt.Chart]:
    base = _where_valid("y").encode(_x(text), _colours(order["colour"], text))
    mean = alt.Y("mean(y):Q", title=text.y, scale=alt.Scale(zero=False))
    return [
        base.mark_area(opacity=0.15).encode(alt.Y("min(y):Q", title=text.y), alt.Y2("max(y)")),
        base.mark_line(point=True).encode(mean),
    ]


def _points(order: dict[str, list[str]], text: ChartText) -> list[alt.Chart]:
    colour, x, y = _colours(order["colour"], text), _x(text), _y(text)
    require_distinct(order["shape"], SHAPES, "shapes")
    scale = alt.Scale(domain=order["shape"], range=list(SHAPES[: len(order["shape"])]))
    shape = alt.Shape("shape:N", scale=scale, **_legend(text.shape))
    across = _where_valid("y", "x_low", "x_high").mark_rule(strokeOpacity=0.15)
    bar = _where_valid("y", "y_low", "y_high").mark_rule(strokeOpacity=0.25)
    point = _where_valid("y").mark_point(
        size=48, filled=True, fillOpacity=0.85, stroke="white", strokeWidth=0.5
    )
    return [
        across.encode(_x(text, "x_low"), alt.X2("x_high"), y, colour),
        bar.encode(x, _y(text, "y_low"), alt.Y2("y_high"), colour),
        point.encode(x, y, colour, shape),
    ]


def _x(text: ChartText, field: str = "x") -> alt.X:
    scale = alt.Scale(**(_AXIS_SCALE | {"reverse": True} if text.reverse else _AXIS_SCALE))
    return alt.X(f"{field}:Q", title=text.x, scale=scale)


def _y(text: ChartText, field: str = "y") -> alt.Y:
    # Over two lines: a panel is lower than a title is long.
    title = text.y.replace(" (", "\n(", 1).split("\n")
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(**_AXIS_SCALE))


def _colours(names: list[str], text: ChartText) -> alt.Color:
    coloured = [name for name in names if name != text.black]
    require_distinct(coloured, PALETTE, "colours")
    # Unmodified embeddings come first in the legend.
    black = [name for name in names if name == text.black]
    colours = [*(BLACK for _ in black), *palette_of(coloured)]
    scale = alt.Scale(domain=[*black, *coloured], range=colours)
    return alt.Color("colour:N", scale=scale, **_legend(text.colour))


def _legend(title: str) -> dict[str, Any]:
    return {"title": title} if title else {"title": title, "legend": None}


def _grid_data(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
) -> pd.DataFrame:
    """Return the named columns under the names that ``scatter_grid`` draws; columns without a name
    are blank. A table of ``join_points`` keeps its models and parents, so that r is taken within
    them. Raise ``InputError`` for an unknown column.
    """
    sources = dict(zip(_PLACES, (row, column, colour, shape), strict=True))
    require_columns(table, [x, y, *filter(None, sources.values())], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least one")
    blank = [""] * len(table)
    places = {
        name: as_labels(table, source) if source else blank for name, source in sources.items()
    }
    sides = {"x": as_float(table, x), "y": as_float(table, y)}
    if not is_joined(table):
        return pd.DataFrame(sides | places)
    other_resamples = [
        f"{name}_resampled" for name, source in (("x", x), ("y", y)) if source != name
    ]
    dropped = [*_INTERVALS, *other_resamples, *([] if x == "x" else ["reverse_scored"])]
    return table.drop(columns=dropped, errors="ignore").assign(**sides, **places)


def scatter_chart(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
    title: str = "",
    mark: str = "point",
) -> alt.TopLevelMixin:
    """Draw ``y`` against ``x``, with r above each panel. Different scores or gaps of results are
    not pooled: each has its panels.

    ``row``, ``column``: columns whose values make panels; ``colour``, ``shape``: columns shown by
    the points; ``mark``: ``point``, or ``line`` for the mean of y at each x, shaded from minimum to
    maximum.
    """
    notes = table.attrs.get("notes", [])
    if not is_joined(table):
        table, cleaned = clean_models(table, x, y, (row, column, colour, shape))
        notes = [*notes, *cleaned]
    is_result = is_joined(table) or ((x, y) == ("x", "y") and {"metric", "measure"} <= {*table})
    if is_result:
        table, row, column = _keep_apart(table, row, column)
    data = _grid_data(table, x=x, y=y, row=row, column=column, colour=colour, shape=shape)
    signs = set(as_text(data, "reverse_scored"))
    reverse = signs == {"True"}
    notes = [*[STAMP] * ("True" in as_text(table, "generated")), *notes]
    if is_joined(table) and mark == "point":
        notes += [_WITHIN_NOTE, *filter(None, [resamples_warning(table)])]
    text = ChartText(
        title=title or f"{y} against {x}",
        x=f"{x}, {REVERSED}" if reverse else x,
        y=y,
        colour=colour,
        shape=shape,
        black=CONTROL if colour == "method" else None,
        notes=[*notes, _MIXED] if "True" in signs and not reverse else notes,
        reverse=reverse,
    )
    has_one_scale = is_result and len({*text_rows(table, ("metric", "convention"))}) == 1
    if is_result:
        named = _name_axes(_with_titles(table), text)
        x_title = named.x if has_one_scale else "score"
        text = text._replace(x=x_title if x == "x" else text.x, y=named.y if y == "y" else text.y)
        text = text._replace(title=title or f"{text.y} against {text.x}")
    values = as_float(data, "y")
    # Equal values need a second one for the axis to have a scale
    with_zero = bool((values < 0).any() and (values > 0).any()) or len({*values}) == 1
    text = text._replace(own_scales=is_result and not has_one_scale)
    return scatter_grid(data, text, mark=mark, zero=with_zero)


def _keep_apart(table: pd.DataFrame, row: str, column: str) -> tuple[pd.DataFrame, str, str]:
    """Return columns of panels that hold one score and one gap each, with the table that has them.

    Raise ``InputError`` for more than ``_MAX_PANELS``.
    """
    tasks = as_text(table, "task")
    gaps = zip(tasks if len({*tasks}) > 1 else [""] * len(table), gap_titles(table), strict=True)
    titles = (score_titles(table), [", ".join(filter(None, gap)) for gap in gaps])
    sides, panels = [row, column], [name for name in (row, column) if name]
    for place, names in enumerate((SCORE, ("task", *GAP))):
        keys = pd.Series(text_rows(table, names), index=table.index)
        by_panel = keys.groupby([table[name] for name in panels]) if panels else keys
        if np.max(by_panel.nunique()) > 1:
            labels = zip(as_text(table, sides[place]), titles[place], strict=True)
            sides[place] = f"panel_{_PLACES[place]}"
            table = table.assign(
                **{sides[place]: [", ".join(filter(None, pair)) for pair in labels]}
            )
    n_rows, n_columns = (table[name].nunique() if name else 1 for name in sides)
    if n_rows * n_columns > _MAX_PANELS:
        raise InputError(
            f"{n_rows} scores and {n_columns} gaps make more than {_MAX_PANELS} panels; choose rows"
            " first, as in rows[rows['metric'] == 'weat'], or run biasbridge scatter FOLDER"
        )
    row, column = sides[::-1] if n_rows < n_columns > _MAX_COLUMNS else sides
    return table, row, column
