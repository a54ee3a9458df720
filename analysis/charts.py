"""The look of all charts, and their shared parts: colours, shapes, intervals, lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any, TypeAlias

import altair as alt

from biasbridge.files import InputError

# Okabe & Ito (2008), distinct to every kind of colour vision, pale yellow last; then darker ones of
# Tol (2021), for more than seven. Black is reserved for unmodified embeddings.
BLACK = "#000000"
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442"),
    *("#882255", "#332288", "#117733", "#999933", "#AA4499", "#661100"),
)
_METHOD_COLOURS = {"balance": PALETTE[0], "attract_repel": PALETTE[1]}
SHAPES = (
    *("circle", "diamond", "triangle-up", "square", "cross"),
    *("triangle-down", "triangle-right", "triangle-left"),
)
INK = "#333333"
GREY = "#888888"
LIGHT, DARK = (158, 202, 225), (8, 48, 107)  # the ends of one hue, for ordered values
CONFIG: dict[str, Any] = {
    "font": "sans-serif",
    "background": "white",
    "view": {"stroke": "#cccccc"},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "subtitleFontSize": 11,
        "subtitleColor": INK,
        "subtitlePadding": 4,
        "offset": 14,
    },
    "axis": {
        "gridColor": "#eeeeee",
        "labelFontSize": 10,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "tickCount": 5,
        "grid": True,
    },
    "axisX": {"labelOverlap": "parity", "labelSeparation": 6},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": INK},
    "legend": {
        "labelFontSize": 11,
        "titleFontSize": 11,
        "symbolSize": 70,
        "symbolOpacity": 1,
        "labelLimit": 240,
    },
}
Drawing: TypeAlias = alt.TopLevelMixin


def finish(chart: Any, title: str, notes: Sequence[str] = ()) -> Drawing:
    """Return the chart with its title, lines of notes below it, and the shared look."""
    heading = alt.TitleParams(title, subtitle=list(notes)) if notes else title
    drawing: Drawing = chart.properties(title=heading).configure(**CONFIG)
    return drawing


def palette_of(names: Sequence[str]) -> list[str]:
    """Return a colour for each name; balancing and Attract-Repel keep theirs in every figure."""
    reserved = {_METHOD_COLOURS.get(name) for name in names}
    free = cycle([colour for colour in PALETTE if colour not in reserved])
    return [_METHOD_COLOURS.get(name) or next(free) for name in names]


def require_distinct(names: Sequence[str], available: Sequence[str], kind: str) -> None:
    """Raise ``InputError`` for more names than colours or shapes."""
    if len(names) > len(available):
        raise InputError(
            f"{len(names)} {kind} ({', '.join(names[:3])}, ...); at most {len(available)} can be"
            " distinguished, group the values or choose rows"
        )


def shades(number: int) -> list[str]:
    """Return colours of one hue from light to dark, for ordered values such as doses."""
    steps = [i / max(1, number - 1) for i in range(number)] if number > 1 else [1.0]
    return [
        "#" + "".join(f"{round(a + (b - a) * step):02x}" for a, b in zip(LIGHT, DARK, strict=True))
        for step in steps
    ]


def colour(field: str, names: Sequence[str], **options: Any) -> alt.Color:
    """Return a colour channel with a colour for each name, in order."""
    scale = alt.Scale(domain=list(names), range=list(PALETTE))
    return alt.Color(f"{field}:N", **{"title": None, "scale": scale, **options})


def intervals(
    base: alt.Chart,
    value: str = "value",
    *,
    ends: tuple[str, str] = ("low", "high"),
    size: int = 36,
    opacity: float = 0.5,
    width: float = 1,
    **axis: Any,
) -> list[alt.Chart]:
    """Return layers: a line for each interval, a point for its value, along x (``axis``)."""
    low, high = ends
    rule = base.mark_rule(strokeOpacity=opacity, strokeWidth=width)
    point = base.mark_point(filled=True, size=size, opacity=1)
    return [
        rule.encode(alt.X(f"{low}:Q", **axis), alt.X2(high)),
        point.encode(alt.X(f"{value}:Q", **axis)),
    ]


def rule_at(value: float, **options: Any) -> alt.Chart:
    """Return a layer with a grey line at a value of x; ``options``: of the line."""
    rule: alt.Chart = alt.Chart().mark_rule(color=GREY, **options).encode(x=alt.datum(value))
    return rule
