"""The figures of the page in Vega-Lite; their data come by name from the page, so that it holds
every number once.
"""

from __future__ import annotations

from typing import Any

from analysis.grid import BLACK, PALETTE, SHAPES
from analysis.report.data import UNMODIFIED

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
CONFIG = {
    "font": "system-ui, sans-serif",
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "grid": True,
        "gridColor": "#e4e4e4",
        "labelColor": "#333",
        "titleColor": "#333",
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "orient": "top"},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
    "view": {"stroke": "#bbb"},
}
ORIGINAL = "unmodified"
GAP = "gap (above 0: worse for the unprivileged group)"


def colours(methods: list[str]) -> dict[str, list[str]]:
    """A colour for each method, black for the unmodified embeddings; told apart by every kind of
    colour vision.
    """
    others = [method for method in methods if method != UNMODIFIED]
    return {
        "domain": [ORIGINAL, *others],
        "range": [BLACK, *(PALETTE[i % len(PALETTE)] for i in range(len(others)))],
    }


def shapes(embeddings: list[str]) -> dict[str, list[str]]:
    """A shape for each embedding."""
    return {
        "domain": embeddings,
        "range": [SHAPES[i % len(SHAPES)] for i in range(len(embeddings))],
    }


def tooltip() -> list[dict[str, str]]:
    """What a pointer over a point is told."""
    told = {
        "embedding": "embedding",
        "method_name": "method",
        "direction": "direction",
        "dose": "dose",
        "wordset": "words",
        "seed": "seed",
        "query": "query",
        "x": "score",
        "x_interval": "score, 95% interval",
        "n_found": "words found",
        "n_lost": "words lost",
        "gap": "gap",
        "group": "groups",
        "y": "gap",
        "y_interval": "gap, 95% interval",
        "by_group": "by group",
        "support": "items behind the gap",
    }
    return [
        {"field": field, "title": title, **({"format": ".3f"} if field in "xy" else {})}
        for field, title in told.items()
    ]


def _points(methods: list[str], embeddings: list[str], gap: str = GAP) -> dict[str, Any]:
    return {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": "score of the metric",
            "scale": {"zero": False, "nice": True},
        },
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": gap,
            "scale": {"zero": False, "nice": True},
        },
        "color": {
            "field": "method_name",
            "type": "nominal",
            "title": "method",
            "scale": colours(methods),
        },
        "shape": {
            "field": "embedding",
            "type": "nominal",
            "title": "embedding",
            "scale": shapes(embeddings),
        },
    }


def scatter(methods: list[str], embeddings: list[str]) -> dict[str, Any]:
    """Score against gap, with intervals on both sides and a brush; the page's menus choose the
    rows.
    """
    encoding = _points(methods, embeddings)
    bar = {"color": encoding["color"]}
    return {
        "$schema": SCHEMA,
        "data": {"name": "shown"},
        "width": "container",
        "height": 380,
        "config": CONFIG,
        "layer": [
            {
                "mark": {"type": "rule", "opacity": 0.25},
                "encoding": {
                    "x": encoding["x"],
                    "y": {"field": "low", "type": "quantitative"},
                    "y2": {"field": "high"},
                    **bar,
                },
            },
            {
                "mark": {"type": "rule", "opacity": 0.25},
                "encoding": {
                    "y": encoding["y"],
                    "x": {"field": "x_low", "type": "quantitative"},
                    "x2": {"field": "x_high"},
                    **bar,
                },
            },
            {
                "mark": {"type": "rule", "color": "#888", "strokeDash": [4, 3]},
                "encoding": {"y": {"datum": 0}},
            },
            {
                "params": [{"name": "brush", "select": "interval"}],
                "mark": {"type": "point", "filled": True, "size": 70, "tooltip": True},
                "encoding": {
                    **encoding,
                    "tooltip": tooltip(),
                    "opacity": {"condition": {"param": "brush", "value": 0.9}, "value": 0.15},
                },
            },
        ],
    }


def small_multiples(
    methods: list[str], embeddings: list[str], row: str, column: str
) -> dict[str, Any]:
    """Panels by two columns of the rows: the paper's figures."""
    return {
        "$schema": SCHEMA,
        "data": {"name": "rows"},
        "config": CONFIG,
        "facet": {
            "row": {"field": row, "type": "nominal", "title": None},
            "column": {"field": column, "type": "nominal", "title": None},
        },
        "spec": {
            "width": 170,
            "height": 120,
            "layer": [
                {
                    "mark": {"type": "rule", "color": "#888", "strokeDash": [4, 3]},
                    "encoding": {"y": {"datum": 0}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 35, "opacity": 0.8},
                    "encoding": {**_points(methods, embeddings, "gap"), "tooltip": tooltip()},
                },
            ],
        },
    }


def forest() -> dict[str, Any]:
    """The correlation of every slice with its interval, and the pooled one below."""
    y = {
        "field": "slice",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 320},
    }
    colour = {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ["slice", "pooled"], "range": [PALETTE[0], PALETTE[1]]},
    }
    r = {
        "field": "r",
        "type": "quantitative",
        "title": "Pearson's r over units, 95% interval",
        "scale": {"domain": [-1, 1]},
    }
    told = [
        {"field": "slice"},
        {"field": "r", "format": ".3f"},
        {"field": "low", "format": ".3f"},
        {"field": "high", "format": ".3f"},
        {"field": "n_units", "title": "units"},
    ]
    return {
        "$schema": SCHEMA,
        "data": {"name": "forest"},
        "config": CONFIG,
        "width": "container",
        "height": {"step": 20},
        "layer": [
            {"mark": {"type": "rule", "color": "#888"}, "encoding": {"x": {"datum": 0}}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": y,
                    "x": {**r, "field": "low"},
                    "x2": {"field": "high"},
                    "color": colour,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {
                    "y": y,
                    "x": r,
                    "color": colour,
                    "shape": {
                        **colour,
                        "scale": {"domain": ["slice", "pooled"], "range": ["circle", "diamond"]},
                    },
                    "tooltip": told,
                },
            },
        ],
    }


def curves() -> dict[str, Any]:
    """What the dose does to the score, the gap and the utility: the mean over embeddings and seeds,
    and the range.
    """
    x = {"field": "dose", "type": "quantitative", "title": "dose"}
    colour = {
        "field": "method",
        "type": "nominal",
        "title": "method",
        "scale": {"range": list(PALETTE)},
    }
    return {
        "$schema": SCHEMA,
        "data": {"name": "curves"},
        "config": CONFIG,
        "facet": {"field": "what", "type": "nominal", "title": None, "sort": None},
        "columns": 3,
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 200,
            "height": 130,
            "layer": [
                {
                    "mark": {"type": "area", "opacity": 0.18},
                    "encoding": {
                        "x": x,
                        "y": {
                            "aggregate": "min",
                            "field": "value",
                            "type": "quantitative",
                            "title": None,
                        },
                        "y2": {"aggregate": "max", "field": "value"},
                        "color": colour,
                    },
                },
                {
                    "mark": {"type": "line", "point": True},
                    "encoding": {
                        "x": x,
                        "y": {
                            "aggregate": "mean",
                            "field": "value",
                            "type": "quantitative",
                            "title": None,
                            "scale": {"zero": False},
                        },
                        "color": colour,
                    },
                },
            ],
        },
    }
