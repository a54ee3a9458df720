"""What all figures look like: colours and shapes, sizes of letters, and the frame of a Vega-Lite
specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from files.charts import SCHEMA, Spec

# Okabe & Ito (2008), distinct to every kind of colour vision; black is kept for unmodified
# embeddings, pale yellow comes last.
BLACK = "#000000"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
METHODS = {"balance": PALETTE[0], "attract_repel": PALETTE[1]}
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
INK = "#333333"
CONFIG = {
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
        "grid": True,
        "gridColor": "#eeeeee",
        "labelFontSize": 10,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "tickCount": 5,
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


def chart(
    title: str | Spec, body: Spec, rows: Sequence[Mapping[str, object]] | None = None
) -> Spec:
    """A whole specification: ``body`` with its title, drawn from ``rows`` where they are given."""
    heading = {"text": title} if isinstance(title, str) else title
    data = {} if rows is None else {"data": {"values": [dict(row) for row in rows]}}
    return {"$schema": SCHEMA, "config": CONFIG, "title": heading, **data, **body}


def palette_of(names: Sequence[str]) -> list[str]:
    """A colour for each name, in their order; the same for a method in every figure, whatever other
    methods there are.
    """
    taken = {METHODS.get(name) for name in names}
    free = cycle([colour for colour in PALETTE if colour not in taken])
    return [METHODS.get(name) or next(free) for name in names]
