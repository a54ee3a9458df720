"""A grid of scatter plots with the correlation above each panel, as a Vega-Lite specification,
saved without a network or a browser.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import numpy as np
import vl_convert

from analysis.coefficients import coefficients
from analysis.columns import labels, numbers
from analysis.evidence import within_interval
from analysis.joined import rows_of
from analysis.show import short
from analysis.within import Estimate
from files import InputError, atomic_path, nearest

if TYPE_CHECKING:
    import pandas as pd

# Okabe & Ito (2008), told apart by every kind of colour vision; black is kept for unmodified
# embeddings, pale yellow comes last.
BLACK = "#000000"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
SHAPES = (
    "circle",
    "diamond",
    "triangle-up",
    "square",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
FORMATS = (".svg", ".png", ".pdf", ".html")
INK = "#333333"
# Width and height in pixels by the number of columns.
PANEL_SIZES = {1: (460, 320), 2: (300, 200)}
SMALL_PANEL = (210, 170)
PLACES = ("row", "column", "colour", "shape")
INTERVALS = ("x_low", "x_high", "y_low", "y_high")
ROWS = "rows"


class ChartText(NamedTuple):
    """What the reader reads around the panels; an empty colour or shape title leaves out that
    legend.
    """

    title: str
    x: str
    y: str
    colour: str = ""
    shape: str = ""
    notes: Sequence[str] = ()
    black: str | None = None


class Panel(NamedTuple):
    """What stands above a panel: n pairs of so many units, r and its 95% interval."""

    row: str
    column: str
    units: int
    n: int
    r: float
    r_low: float
    r_high: float


def scatter_grid(
    data: pd.DataFrame,
    text: ChartText,
    *,
    mark: str = "point",
    zero: bool = False,
    panels: Sequence[Panel] | None = None,
) -> dict[str, Any]:
    """Panels by ``row`` and ``column``; in each, ``y`` against ``x`` with n and, for points,
    Pearson's r and its 95% interval above.

    ``data`` has the columns x, y (floats) and row, column, colour, shape (text; constant where
    unused), optionally x_low, x_high, y_low, y_high and unit (the embedding behind each pair);
    ``panels`` is ``panel_statistics(data)`` where it is at hand. The colour named ``text.black`` is
    drawn black. ``mark="line"`` joins the mean y at each x and shades from the least to the
    greatest. ``zero`` draws a line at y = 0. Raises ``InputError`` when the palette or the shapes
    do not suffice.
    """
    order = {name: list(dict.fromkeys(labels(data, name, empty=""))) for name in PLACES}
    base = alt.Chart(alt.NamedData(ROWS))
    layers = [_rule_at_zero(base)] if zero else []
    layers += _marks(base, order, text, mark)
    layers.append(_note_layer(base))
    width, height = PANEL_SIZES.get(len(order["column"]), SMALL_PANEL)
    panel = alt.layer(*layers).properties(width=width, height=height)
    rows, columns = order["row"], order["column"]
    grid = panel.facet(
        row=alt.Row("row:N", sort=rows, title=None, header=_header(rows, -90, height)),
        column=alt.Column("column:N", sort=columns, title=None, header=_header(columns, 0, width)),
        spacing={"row": 18, "column": 18},
    ).properties(title=alt.TitleParams(text.title, subtitle=list(text.notes)))
    # Altair would copy and check the rows many times over
    notes = _note_records(panels or panel_statistics(data), order, mark)
    records = [*_point_records(data, text.black), *notes]
    return _styled(grid).to_dict(validate=False) | {"datasets": {ROWS: records}}


def _styled(grid: alt.FacetChart) -> alt.FacetChart:
    styled: alt.FacetChart = (
        grid.configure(font="sans-serif", background="white")
        .configure_view(stroke="#cccccc")
        .configure_title(
            anchor="start",
            fontSize=14,
            subtitleFontSize=11,
            subtitleColor=INK,
            subtitlePadding=4,
            offset=14,
        )
        .configure_axis(
            grid=True,
            gridColor="#eeeeee",
            labelFontSize=10,
            titleFontSize=11,
            titleFontWeight="normal",
            tickCount=5,
        )
        .configure_axisX(labelOverlap="parity", labelSeparation=6)
        .configure_header(labelFontSize=12, labelFontWeight="bold", labelColor=INK)
        .configure_legend(
            labelFontSize=11, titleFontSize=11, symbolSize=70, symbolOpacity=1, labelLimit=240
        )
    )
    return styled


def save_chart(chart: dict[str, Any], path: str | Path) -> Path:
    """Write the chart as ``.svg``, ``.png`` (two pixels to the point), ``.pdf`` or self-contained
    ``.html``; the whole file or none.
    """
    path = Path(path)
    return save_charts(chart, path.with_suffix(""), [path.suffix], path)[0]


def save_charts(
    chart: dict[str, Any], stem: Path, suffixes: Sequence[str], name: Path | None = None
) -> list[Path]:
    """Write the chart in several formats, drawn once: the others are made from the SVG."""
    for suffix in suffixes:
        if suffix not in FORMATS:
            raise InputError(
                f"cannot draw to {name or stem}: the name must end in"
                f" {', '.join(FORMATS)}{nearest(suffix, FORMATS)}"
            )
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    svg = vl_convert.vegalite_to_svg(chart, vl_version=version)
    written = []
    for suffix in suffixes:
        written.append(stem.with_name(stem.name + suffix))
        with atomic_path(written[-1]) as work:
            if suffix == ".svg":
                work.write_text(svg, encoding="utf-8")
            elif suffix == ".html":
                # Not bundled, the page would load Vega from a server
                page = vl_convert.vegalite_to_html(chart, vl_version=version, bundle=True)
                work.write_text(page, encoding="utf-8")
            elif suffix == ".png":
                work.write_bytes(vl_convert.svg_to_png(svg, scale=2))
            else:
                work.write_bytes(vl_convert.svg_to_pdf(svg))
    return written


def panel_statistics(data: pd.DataFrame) -> list[Panel]:
    """What stands above each panel, one for each row and column that has data.

    r is that within bases, with its interval, where ``data`` has a column ``unit``; else over all
    pairs, with Fisher's.
    """
    panels = []
    for _, part in data.groupby(["row", "column"], sort=False):
        row, column = (labels(part, name, empty="")[0] for name in ("row", "column"))
        x, y = numbers(part, "x"), numbers(part, "y")
        found = coefficients(x, y)
        units, r = found.n, Estimate(found.pearson, found.pearson_low, found.pearson_high)
        if "unit" in part:
            units = part.loc[np.isfinite(x) & np.isfinite(y), "unit"].nunique()
            r = within_interval(rows_of(part))
        panels.append(Panel(row, column, units, found.n, *r))
    return panels


def panel_note(units: int, n: int, r: float, low: float, high: float) -> str:
    """``n = 26, r = .31 [-.09, .62]``; where pairs repeat units, ``n = 78 (26 units)``; where r is
    undefined, ``r undefined``.
    """
    count = f"n = {n}" + (f" ({units} units)" if units < n else "")
    if not isfinite(r):
        return f"{count}, r undefined"
    bounds = f" [{short(low)}, {short(high)}]" if isfinite(low) else ""
    return f"{count}, r = {short(r)}{bounds}".replace("-", "\u2212")


def _point_records(data: pd.DataFrame, black: str | None) -> list[dict[Hashable, Any]]:
    known = np.isfinite(numbers(data, "x")) & np.isfinite(numbers(data, "y"))
    names = [name for name in (*PLACES, "x", "y", *INTERVALS) if name in data]
    # The black points are few and come last, on top of the others.
    drawn = data.loc[known, names].sort_values(
        "colour", key=lambda colour: colour == black, kind="stable"
    )
    drawn = drawn.astype(object)
    return drawn.where(drawn.notna(), None).to_dict("records")


def _note_records(
    panels: Sequence[Panel], order: dict[str, list[str]], mark: str
) -> list[dict[str, str]]:
    """One record per cell of the grid, those without data too, so that every panel is drawn; for
    curves n alone.
    """
    notes = {
        (panel.row, panel.column): f"n = {panel.n}" if mark == "line" else panel_note(*panel[2:])
        for panel in panels
    }
    return [
        {"row": r, "column": c, "note": notes.get((r, c), "no data")}
        for r in order["row"]
        for c in order["column"]
    ]


def _header(names: list[str], angle: int, limit: int) -> alt.Header | None:
    """Labels broken at commas, so that two long ones do not come to look alike when they are cut at
    the panel's edge.
    """
    if names == [""]:
        return None
    return alt.Header(
        labelExpr="split(datum.label, ', ')", labelAngle=angle, labelPadding=6, labelLimit=limit
    )


def _rule_at_zero(base: alt.Chart) -> alt.Chart:
    rule: alt.Chart = base.mark_rule(color="#888888", strokeDash=[3, 3]).encode(y=alt.YDatum(0))
    return rule


def _note_layer(base: alt.Chart) -> alt.Chart:
    drawn = base.transform_filter("isValid(datum.note)")
    style = drawn.mark_text(align="left", baseline="bottom", fontSize=10, color=INK)
    notes: alt.Chart = style.encode(text="note:N", x=alt.value(0), y=alt.value(-4))
    return notes


def _marks(
    base: alt.Chart, order: dict[str, list[str]], text: ChartText, mark: str
) -> list[alt.Chart]:
    drawn = base.transform_filter("isValid(datum.y)")
    x = alt.X("x:Q", title=text.x, scale=alt.Scale(zero=False, nice=True, padding=6))
    y = alt.Y("y:Q", title=text.y, scale=alt.Scale(zero=False, nice=True, padding=6))
    colour = _colours(order["colour"], text)
    if mark == "line":
        area = drawn.mark_area(opacity=0.15).encode(
            x=x, y=alt.Y("min(y):Q", title=text.y), y2="max(y):Q", color=colour
        )
        line = drawn.mark_line(point=True).encode(
            x=x, y=alt.Y("mean(y):Q", title=text.y, scale=alt.Scale(zero=False)), color=colour
        )
        return [area, line]
    bars = drawn.transform_filter("isValid(datum.y_low) && isValid(datum.y_high)").mark_rule(
        opacity=0.25
    )
    points = drawn.mark_point(size=48, filled=True, opacity=0.85, stroke="white", strokeWidth=0.5)
    shape = _shapes(order["shape"], text)
    bars = bars.encode(x=x, y=alt.Y("y_low:Q", title=text.y), y2="y_high:Q", color=colour)
    across = drawn.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").mark_rule(
        opacity=0.15
    )
    across = across.encode(y=y, x=alt.X("x_low:Q", title=text.x), x2="x_high:Q", color=colour)
    return [across, bars, points.encode(x=x, y=y, color=colour, shape=shape)]


def _colours(names: list[str], text: ChartText) -> alt.Color:
    coloured = [name for name in names if name != text.black]
    if len(coloured) > len(PALETTE):
        few = ", ".join(coloured[:3])
        raise InputError(
            f"{len(coloured)} colours ({few}, ...); at most {len(PALETTE)} can be told apart, group"
            " the values"
        )
    # Unmodified embeddings come first in the legend.
    domain = [name for name in names if name == text.black] + coloured
    blacks = [BLACK] * (len(domain) - len(coloured))
    scale = alt.Scale(domain=domain, range=blacks + list(PALETTE[: len(coloured)]))
    return alt.Color(
        "colour:N", scale=scale, title=text.colour, legend=alt.Legend() if text.colour else None
    )


def _shapes(names: list[str], text: ChartText) -> alt.Shape:
    if len(names) > len(SHAPES):
        raise InputError(
            f"{len(names)} shapes ({', '.join(names[:3])}, ...); at most {len(SHAPES)} can be told"
            " apart, group the values"
        )
    scale = alt.Scale(domain=names, range=list(SHAPES[: len(names)]))
    return alt.Shape(
        "shape:N", scale=scale, title=text.shape, legend=alt.Legend() if text.shape else None
    )
