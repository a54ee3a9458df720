"""A grid of scatter plots with the correlation above each panel, as an Altair chart, saved without
a network or a browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from analysis.evidence import unit_interval
from analysis.pairs import correlate_pair
from analysis.show import short
from files import InputError, atomic_path, nearest

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


@dataclass(frozen=True)
class Words:
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


def scatter_grid(
    data: pd.DataFrame, words: Words, *, mark: str = "point", zero: bool = False
) -> alt.FacetChart:
    """Panels by ``row`` and ``column``; in each, ``y`` against ``x`` with n and, for points,
    Pearson's r and its 95% interval above.

    ``data`` has the columns x, y, low, high (floats; a missing interval is NaN) and row, column,
    colour, shape (text; constant where unused), optionally unit (the embedding behind each pair)
    and x_low, x_high. The colour named ``words.black`` is drawn black. ``mark="line"`` joins the
    mean y at each x and shades from the least to the greatest. ``zero`` draws a line at y = 0.
    Raises ``InputError`` when the palette or the shapes do not suffice.
    """
    order = {name: list(dict.fromkeys(data[name])) for name in ("row", "column", "colour", "shape")}
    records = [*_point_records(data, words.black), *_note_records(data, order, mark)]
    base = alt.Chart(alt.InlineData(values=records))
    layers = [_rule_at_zero(base)] if zero else []
    layers += _marks(base, order, words, mark)
    layers.append(_note_layer(base))
    width, height = PANEL_SIZES.get(len(order["column"]), SMALL_PANEL)
    return (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .facet(
            row=alt.Row(
                "row:N", sort=order["row"], title=None, header=_header(order["row"], -90, height)
            ),
            column=alt.Column(
                "column:N",
                sort=order["column"],
                title=None,
                header=_header(order["column"], 0, width),
            ),
            spacing={"row": 18, "column": 18},
        )
        .properties(title=alt.TitleParams(words.title, subtitle=list(words.notes)))
        .configure(font="sans-serif", background="white")
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


def save_chart(chart: alt.FacetChart, path: str | Path) -> Path:
    """Write the chart as ``.svg``, ``.png`` (two pixels to the point), ``.pdf`` or self-contained
    ``.html``; the whole file or none.
    """
    path = Path(path)
    return save_charts(chart, path.with_suffix(""), [path.suffix], path)[0]


def save_charts(
    chart: alt.FacetChart, stem: Path, suffixes: Sequence[str], name: Path | None = None
) -> list[Path]:
    """Write the chart in several formats, drawn once: the others are made from the SVG."""
    for suffix in suffixes:
        if suffix not in FORMATS:
            raise InputError(
                f"cannot draw to {name or stem}: the name must end in"
                f" {', '.join(FORMATS)}{nearest(suffix, FORMATS)}"
            )
    svg = vl_convert.vegalite_to_svg(
        chart.to_dict(validate=False),
        vl_version=".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2]),
    )
    written = []
    for suffix in suffixes:
        written.append(stem.with_name(stem.name + suffix))
        with atomic_path(written[-1]) as work:
            if suffix == ".svg":
                work.write_text(svg, encoding="utf-8")
            elif suffix == ".html":
                # Without inline, the page would load Vega from a server
                chart.save(str(work), inline=True)
            else:
                work.write_bytes(
                    vl_convert.svg_to_png(svg, scale=2)
                    if suffix == ".png"
                    else vl_convert.svg_to_pdf(svg)
                )
    return written


def panel_statistics(data: pd.DataFrame) -> pd.DataFrame:
    """What stands above each panel: one row per row and column with n, the units behind the n
    pairs, Pearson's r and its 95% interval.

    The interval is that over units where ``data`` has a column ``unit``, by the studentised cluster
    bootstrap; else Fisher's.
    """
    rows = []
    for (row, column), part in data.groupby(["row", "column"], sort=False):
        found = correlate_pair(part["x"].to_numpy(), part["y"].to_numpy())
        drawn = part[_finite(part)]
        kept = {name: found[name] for name in ("n", "pearson", "pearson_low", "pearson_high")}
        units = len(drawn)
        if "unit" in part:
            units = drawn["unit"].nunique()
            low, high = unit_interval(part["x"], part["y"], part["unit"])
            kept |= {"pearson_low": low, "pearson_high": high}
        rows.append({"row": row, "column": column, "units": units} | kept)
    return pd.DataFrame(rows)


def panel_note(n: int, units: int, r: float, low: float, high: float) -> str:
    """``n = 26, r = .31 [-.09, .62]``; where pairs repeat units, ``n = 78 (26 units)``; where r is
    undefined, ``r undefined``.
    """
    count = f"n = {n}" + (f" ({units} units)" if units < n else "")
    if not isfinite(r):
        return f"{count}, r undefined"
    bounds = f" [{short(low)}, {short(high)}]" if isfinite(low) else ""
    return f"{count}, r = {short(r)}{bounds}".replace("-", "\u2212")


def _finite(data: pd.DataFrame) -> pd.Series:
    return data[["x", "y"]].map(isfinite).all(axis=1)


def _point_records(data: pd.DataFrame, black: str | None) -> list[dict[str, Any]]:
    names = [
        name
        for name in ("row", "column", "colour", "shape", "x", "y", "low", "high", "x_low", "x_high")
        if name in data
    ]
    # The black points are few and come last, on top of the others.
    plain = (
        data.loc[_finite(data), names]
        .sort_values("colour", key=lambda colour: colour == black, kind="stable")
        .astype(object)
    )
    return plain.where(plain.notna(), None).to_dict("records")


def _note_records(
    data: pd.DataFrame, order: dict[str, list[str]], mark: str
) -> list[dict[str, str]]:
    """One record per cell of the grid, those without data too, so that every panel is drawn; for
    curves n alone.
    """
    notes = {
        (s["row"], s["column"]): (
            f"n = {s['n']}"
            if mark == "line"
            else panel_note(s["n"], s["units"], s["pearson"], s["pearson_low"], s["pearson_high"])
        )
        for s in panel_statistics(data).to_dict("records")
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
    return base.mark_rule(color="#888888", strokeDash=[3, 3]).encode(y=alt.YDatum(0))


def _note_layer(base: alt.Chart) -> alt.Chart:
    text = base.transform_filter("isValid(datum.note)").mark_text(
        align="left", baseline="bottom", fontSize=10, color=INK
    )
    return text.encode(text="note:N", x=alt.value(0), y=alt.value(-4))


def _marks(
    base: alt.Chart, order: dict[str, list[str]], words: Words, mark: str
) -> list[alt.Chart]:
    drawn = base.transform_filter("isValid(datum.y)")
    x = alt.X("x:Q", title=words.x, scale=alt.Scale(zero=False, nice=True, padding=6))
    y = alt.Y("y:Q", title=words.y, scale=alt.Scale(zero=False, nice=True, padding=6))
    colour = _colours(order["colour"], words)
    if mark == "line":
        area = drawn.mark_area(opacity=0.15).encode(
            x=x, y=alt.Y("min(y):Q", title=words.y), y2="max(y):Q", color=colour
        )
        line = drawn.mark_line(point=True).encode(
            x=x, y=alt.Y("mean(y):Q", title=words.y, scale=alt.Scale(zero=False)), color=colour
        )
        return [area, line]
    bars = drawn.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        opacity=0.25
    )
    points = drawn.mark_point(size=48, filled=True, opacity=0.85, stroke="white", strokeWidth=0.5)
    shape = _shapes(order["shape"], words)
    bars = bars.encode(x=x, y=alt.Y("low:Q", title=words.y), y2="high:Q", color=colour)
    across = drawn.transform_filter("isValid(datum.x_low) && isValid(datum.x_high)").mark_rule(
        opacity=0.15
    )
    across = across.encode(y=y, x=alt.X("x_low:Q", title=words.x), x2="x_high:Q", color=colour)
    return [across, bars, points.encode(x=x, y=y, color=colour, shape=shape)]


def _colours(names: list[str], words: Words) -> alt.Color:
    coloured = [name for name in names if name != words.black]
    if len(coloured) > len(PALETTE):
        few = ", ".join(coloured[:3])
        raise InputError(
            f"{len(coloured)} colours ({few}, ...); at most {len(PALETTE)} can be told apart, group"
            " the values"
        )
    # Unmodified embeddings come first in the legend.
    domain = [name for name in names if name == words.black] + coloured
    blacks = [BLACK] * (len(domain) - len(coloured))
    scale = alt.Scale(domain=domain, range=blacks + list(PALETTE[: len(coloured)]))
    return alt.Color(
        "colour:N", scale=scale, title=words.colour, legend=alt.Legend() if words.colour else None
    )


def _shapes(names: list[str], words: Words) -> alt.Shape:
    if len(names) > len(SHAPES):
        raise InputError(
            f"{len(names)} shapes ({', '.join(names[:3])}, ...); at most {len(SHAPES)} can be told"
            " apart, group the values"
        )
    scale = alt.Scale(domain=names, range=list(SHAPES[: len(names)]))
    return alt.Shape(
        "shape:N", scale=scale, title=words.shape, legend=alt.Legend() if words.shape else None
    )
