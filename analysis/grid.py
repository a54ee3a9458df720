"""A grid of scatter plots with the correlation above each panel."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import altair as alt
import numpy as np
import pandas as pd

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
from biasbridge.analysis.correlation import ONE_THREAD, correlation
from biasbridge.analysis.frame import as_float, as_labels, as_text, group_indices
from biasbridge.analysis.joined import bias_sign, rows_of
from biasbridge.analysis.measurement import pearson
from biasbridge.analysis.naming import ALL, CONTROL, SLICE_COLUMNS, with_count
from biasbridge.analysis.observations import Line, observations
from biasbridge.analysis.residuals import residuals
from biasbridge.analysis.rows import both_finite
from biasbridge.analysis.slice_results import FEW_PERMUTATIONS
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from biasbridge.analysis.slice_results import SliceResult

# Width and height in pixels by the number of columns.
PANEL_SIZES = {1: (460, 320), 2: (300, 200)}
SMALL_PANEL = (210, 170)
SPACING = alt.RowColnumber(row=18, column=30)  # keeps labels of neighbouring axes apart
SCALE: dict[str, Any] = {"zero": False, "nice": True, "padding": 6}
PLACES = ("row", "column", "colour", "shape")
INTERVALS = ("x_low", "x_high", "y_low", "y_high")

Side = TypeVar("Side", alt.Row, alt.Column)


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

    ``data``: the columns x, y, and ``PLACES`` (constant text where unused), where known
    ``INTERVALS`` and the columns of ``rows_of``. ``panels``: ``panel_statistics(data)`` if already
    computed. ``mark="line"`` joins the mean y at each x and shades from minimum to maximum;
    ``zero`` draws a line at y = 0. Raises ``InputError`` where palette or shapes do not suffice.
    """
    order = {name: list(dict.fromkeys(as_labels(data, name, empty=""))) for name in PLACES}
    width, height = PANEL_SIZES.get(len(order["column"]), SMALL_PANEL)
    panels = panels or panel_statistics(data)
    notes = _notes(panels, order, mark)
    points = _drawable_points(data, text.black)
    layers = [_rule_at_zero()] if zero else []
    layers += [*(_lines if mark == "line" else _points)(order, text), _note_layer()]
    layers += [] if mark == "line" else [_fit_layer(text)]
    grid = (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .facet(
            row=_facet(alt.Row, "row", order, labelAngle=-90, labelLimit=height),
            column=_facet(alt.Column, "column", order, labelAngle=0, labelLimit=width),
            data=pd.concat([points, notes, *_fit_lines(panels, points, mark)], ignore_index=True),
            spacing=SPACING,
        )
        .resolve_scale(x="independent" if text.own_scales else "shared")
    )
    return finish(grid, text.title, text.notes)


@ONE_THREAD
def panel_statistics(data: pd.DataFrame, results: Sequence[SliceResult] = ()) -> list[Panel]:
    """Return the statistics of each panel, one for each row and column with data.

    r is r_rm as in ``biasbridge.analysis.correlate`` where ``data`` has a column ``model``
    (``biasbridge.analysis.joined.rows_of`` lists the others that count), else r over all pairs.
    ``results``: results of ``correlate_slices``, reused above the panels that show their slices.
    """
    all_rows = rows_of(data) if "model" in data else None
    within_by_slice = {
        tuple(result.names[name] for name in SLICE_COLUMNS): result.within for result in results
    }
    sides = as_float(data, "x"), as_float(data, "y")
    keys = zip(*(as_labels(data, name, empty="") for name in ("row", "column")), strict=True)
    signs = bias_sign(data)
    panels = []
    for (row, column), indices in group_indices(keys).items():
        if all_rows is None:
            x, y = (side[indices] for side in sides)
            finite = both_finite(x, y)
            x, y = x[finite], y[finite]
            within = correlation(x, y, permutations=FEW_PERMUTATIONS)
            slope = residuals(x, y, np.zeros(len(x), dtype=int)).slope if len(x) > 1 else nan
            line = Line(slope, float(x.mean()), float(y.mean())) if isfinite(slope) else Line()
            panels.append(Panel(row, column, len(x), len(x), *within.interval, *line))
            continue
        comparable = all_rows.at(indices).comparable()
        models = observations(comparable)
        same_slice = (
            within_by_slice.get(slice_of_panel(data.iloc[indices])) if within_by_slice else None
        )
        within = same_slice or models.average_over_clusters().within_models(FEW_PERMUTATIONS)
        line = models.line().of_sign(signs[indices])
        counts = len(models.x), len(comparable.x)
        r_pearson = pearson(comparable.x, comparable.y)
        panels.append(Panel(row, column, *counts, *within.interval, *line, r_pearson, within.n))
    return panels


def slice_of_panel(data: pd.DataFrame) -> tuple[str, ...]:
    """Return the slice that a panel shows, as ``biasbridge.analysis.slices`` names it."""
    values = [dict.fromkeys(as_text(data, name)) for name in SLICE_COLUMNS]
    if len(values[-1]) > 1:
        values[-1].pop(CONTROL, None)
    return tuple(next(iter(column)) if len(column) == 1 else ALL for column in values)


def panel_note(panel: Panel) -> str:
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
    names = [name for name in (*PLACES, "x", "y", *INTERVALS) if name in data]
    return data.loc[is_finite, names].sort_values(
        "colour", key=lambda colour: colour == black, kind="stable"
    )


def _notes(panels: Sequence[Panel], order: dict[str, list[str]], mark: str) -> pd.DataFrame:
    """Return one row per cell of the grid, also without data, so that each panel is drawn."""
    notes = {
        (panel.row, panel.column): f"n = {panel.n}" if mark == "line" else panel_note(panel)
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


def _fit_layer(text: ChartText) -> Any:
    mark = _where_valid("fit_y").mark_line(color=INK, strokeWidth=1.5, clip=True)
    return mark.encode(_x(text, "fit_x"), _y(text, "fit_y"))


def _facet(channel: type[Side], name: str, order: dict[str, list[str]], **header: Any) -> Side:
    """Return a facet with labels broken at commas, so that they are not cut."""
    values = order[name]
    visible = alt.Header(labelExpr="split(datum.label, ', ')", labelPadding=6, **header)
    return channel(f"{name}:N", sort=values, title=None, header=None if values == [""] else visible)


def _where_valid(*names: str) -> alt.Chart:
    layer = alt.Chart()
    for name in names:
        layer = layer.transform_filter(f"isValid(datum.{name})")
    return layer


def _rule_at_zero() -> Any:
    return alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(y=alt.datum(0))


def _note_layer() -> Any:
    mark = _where_valid("note").mark_text(align="left", baseline="bottom", fontSize=10, color=INK)
    return mark.encode(text="note:N", x=alt.value(0), y=alt.value(-4))


def _lines(order: dict[str, list[str]], text: ChartText) -> list[alt.Chart]:
    base = _where_valid("y").encode(_x(text), _colours(order["colour"], text))
    mean = alt.Y("mean(y):Q", title=text.y, scale=alt.Scale(zero=False))
    return [
        base.mark_area(opacity=0.15).encode(alt.Y("min(y):Q", title=text.y), alt.Y2("max(y)")),
        base.mark_line(point=True).encode(mean),
    ]


def _points(order: dict[str, list[str]], text: ChartText) -> list[alt.Chart]:
    colour, x, y = _colours(order["colour"], text), _x(text), _y(text)
    across = _where_valid("y", "x_low", "x_high").mark_rule(opacity=0.15)
    bar = _where_valid("y", "y_low", "y_high").mark_rule(opacity=0.25)
    point = _where_valid("y").mark_point(
        size=48, filled=True, opacity=0.85, stroke="white", strokeWidth=0.5
    )
    return [
        across.encode(_x(text, "x_low"), alt.X2("x_high"), y, colour),
        bar.encode(x, _y(text, "y_low"), alt.Y2("y_high"), colour),
        point.encode(x, y, colour, _shapes(order["shape"], text)),
    ]


def _x(text: ChartText, field: str = "x") -> alt.X:
    scale = alt.Scale(**(SCALE | {"reverse": True} if text.reverse else SCALE))
    return alt.X(f"{field}:Q", title=text.x, scale=scale)


def _y(text: ChartText, field: str = "y") -> alt.Y:
    # Over two lines: a panel is lower than a title is long.
    title = text.y.replace(" (", "\n(", 1).split("\n")
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(**SCALE))


def _colours(names: list[str], text: ChartText) -> alt.Color:
    coloured = [name for name in names if name != text.black]
    require_distinct(coloured, PALETTE, "colours")
    # Unmodified embeddings come first in the legend.
    black = [name for name in names if name == text.black]
    colours = [*(BLACK for _ in black), *palette_of(coloured)]
    scale = alt.Scale(domain=[*black, *coloured], range=colours)
    return alt.Color("colour:N", scale=scale, **_legend(text.colour))


def _shapes(names: list[str], text: ChartText) -> alt.Shape:
    require_distinct(names, SHAPES, "shapes")
    scale = alt.Scale(domain=names, range=list(SHAPES[: len(names)]))
    return alt.Shape("shape:N", scale=scale, **_legend(text.shape))


def _legend(title: str) -> dict[str, Any]:
    return {"title": title} if title else {"title": title, "legend": None}
