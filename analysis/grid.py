"""A grid of scatter plots with the correlation above each panel, as a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.correlation import ONE_THREAD, correlation
from analysis.findings import EXPLORED
from analysis.frame import labels, numbers, positions, texts
from analysis.joined import rows_of
from analysis.look import BLACK, INK, PALETTE, SHAPES, chart, palette_of
from analysis.naming import ALL, CONTROL, SLICE_COLUMNS, counted
from analysis.observations import observations
from analysis.rows import both_finite
from analysis.show import short
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings import Finding
    from files.charts import Spec

# Width and height in pixels by the number of columns.
PANEL_SIZES = {1: (460, 320), 2: (300, 200)}
SMALL_PANEL = (210, 170)
SPACING = {"row": 18, "column": 30}  # a label at the end of one axis, and the next one's first
PLACES = ("row", "column", "colour", "shape")
INTERVALS = ("x_low", "x_high", "y_low", "y_high")
ROWS = "rows"


class ChartText(NamedTuple):
    """What the reader reads around the panels; an empty colour or shape title leaves out that
    legend. ``reverse``: x falls from left to right, as scores do of which less is more biased.
    """

    title: str
    x: str
    y: str
    colour: str = ""
    shape: str = ""
    notes: Sequence[str] = ()
    black: str | None = None
    reverse: bool = False


class Panel(NamedTuple):
    """What stands above a panel: n pairs of so many models, r and its 95% interval."""

    row: str
    column: str
    models: int
    n: int
    r: float
    low: float
    high: float


def scatter_grid(
    data: pd.DataFrame,
    text: ChartText,
    *,
    mark: str = "point",
    zero: bool = False,
    panels: Sequence[Panel] | None = None,
) -> Spec:
    """Panels by ``row`` and ``column``; in each, ``y`` against ``x`` with n and, for points, r and
    its 95% interval above.

    ``data`` has the columns x, y (floats) and row, column, colour, shape (text; constant where
    unused), optionally x_low, x_high, y_low, y_high, model (the embedding behind each pair), parent
    (what r is taken within) and cluster;
    ``panels`` is ``panel_statistics(data)`` where it is at hand. The colour named ``text.black`` is
    drawn black. ``mark="line"`` joins the mean y at each x and shades from the least to the
    greatest. ``zero`` draws a line at y = 0. Raises ``InputError`` when the palette or the shapes
    do not suffice.
    """
    order = {name: list(dict.fromkeys(labels(data, name, empty=""))) for name in PLACES}
    width, height = PANEL_SIZES.get(len(order["column"]), SMALL_PANEL)
    notes = _note_records(panels or panel_statistics(data), order, mark)
    layers = [*_marks(order, text, mark), _notes()]
    title = {"text": text.title, "subtitle": list(text.notes)}
    body = {
        "datasets": {ROWS: [*_point_records(data, text.black), *notes]},
        "data": {"name": ROWS},
        "facet": {
            "row": _facet("row", order["row"], -90, height),
            "column": _facet("column", order["column"], 0, width),
        },
        "spacing": SPACING,
        "spec": {
            "width": width,
            "height": height,
            "layer": [_rule_at_zero(), *layers] if zero else layers,
        },
    }
    return chart(title, body)


@ONE_THREAD
def panel_statistics(data: pd.DataFrame, found: Sequence[Finding] = ()) -> list[Panel]:
    """What stands above each panel, one for each row and column that has data: r_rm as
    ``analysis.correlate`` has it where ``data`` has a column ``model`` (``analysis.joined.rows_of``
    has the others that count), else r over all pairs. ``found``: of ``correlate_slices``, whose
    numbers are shown above the panels that show its slices.
    """
    whole = rows_of(data) if "model" in data else None
    known = {tuple(each.names[name] for name in SLICE_COLUMNS): each.within for each in found}
    sides = numbers(data, "x"), numbers(data, "y")
    keys = zip(*(labels(data, name, empty="") for name in ("row", "column")), strict=True)
    panels = []
    for (row, column), places in positions(keys).items():
        if whole is None:
            x, y = (side[places] for side in sides)
            both = both_finite(x, y)
            within = correlation(x[both], y[both], permutations=EXPLORED)
            panels.append(Panel(row, column, int(both.sum()), int(both.sum()), *within.interval))
            continue
        used = whole.at(places).comparable()
        of = observations(used)
        shown = known.get(_slice(data.iloc[places])) if known else None
        within = shown or of.independent().within(EXPLORED)
        panels.append(Panel(row, column, len(of.x), len(used.x), *within.interval))
    return panels


def _slice(data: pd.DataFrame) -> tuple[str, ...]:
    """The slice that a panel shows, as ``analysis.slices`` names it."""
    values = [dict.fromkeys(texts(data, name)) for name in SLICE_COLUMNS]
    if len(values[-1]) > 1:
        values[-1].pop(CONTROL, None)
    return tuple(next(iter(each)) if len(each) == 1 else ALL for each in values)


def panel_note(models: int, n: int, r: float, low: float, high: float) -> str:
    """``n = 26, r = .31 [-.09, .62]``; where pairs repeat models, ``n = 78 (26 models)``; where r
    is undefined, ``r undefined``.
    """
    count = f"n = {n}" + (f" ({counted(models, 'model')})" if models < n else "")
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


def _facet(name: str, values: list[str], angle: int, limit: int) -> Spec:
    """Labels broken at commas, so that two long ones do not come to look alike when they are cut at
    the panel's edge.
    """
    header = {
        "labelExpr": "split(datum.label, ', ')",
        "labelAngle": angle,
        "labelPadding": 6,
        "labelLimit": limit,
    }
    shown = None if values == [""] else header
    return {"field": name, "type": "nominal", "sort": values, "title": None, "header": shown}


def _layer(mark: Spec, encoding: Spec, *, where: Sequence[str]) -> Spec:
    """Marks for the rows in which some fields are not empty."""
    filters = [{"filter": f"isValid(datum.{name})"} for name in where]
    return {"transform": filters, "mark": mark, "encoding": encoding}


def _rule_at_zero() -> Spec:
    mark = {"type": "rule", "color": "#888888", "strokeDash": [3, 3]}
    return _layer(mark, {"y": {"datum": 0}}, where=[])


def _notes() -> Spec:
    mark = {"type": "text", "align": "left", "baseline": "bottom", "fontSize": 10, "color": INK}
    note = {"field": "note", "type": "nominal"}
    return _layer(mark, {"text": note, "x": {"value": 0}, "y": {"value": -4}}, where=["note"])


def _marks(order: dict[str, list[str]], text: ChartText, mark: str) -> list[Spec]:
    scale = {"zero": False, "nice": True, "padding": 6}
    x: Spec = {"field": "x", "type": "quantitative", "title": text.x, "scale": scale}
    if text.reverse:
        x["scale"] = scale | {"reverse": True}
    y: Spec = {"field": "y", "type": "quantitative", "title": text.y, "scale": scale}
    colour = _colours(order["colour"], text)
    if mark == "line":
        mean = y | {"aggregate": "mean", "scale": {"zero": False}}
        least = {"field": "y", "type": "quantitative", "title": text.y, "aggregate": "min"}
        most = {"field": "y", "aggregate": "max"}
        area = {"x": x, "y": least, "y2": most, "color": colour}
        return [
            _layer({"type": "area", "opacity": 0.15}, area, where=["y"]),
            _layer(
                {"type": "line", "point": True}, {"x": x, "y": mean, "color": colour}, where=["y"]
            ),
        ]
    across = {"y": y, "x": x | {"field": "x_low"}, "x2": {"field": "x_high"}, "color": colour}
    bar = {"x": x, "y": y | {"field": "y_low"}, "y2": {"field": "y_high"}, "color": colour}
    point = {
        "type": "point",
        "size": 48,
        "filled": True,
        "opacity": 0.85,
        "stroke": "white",
        "strokeWidth": 0.5,
    }
    shape = _shapes(order["shape"], text)
    return [
        _layer({"type": "rule", "opacity": 0.15}, across, where=["y", "x_low", "x_high"]),
        _layer({"type": "rule", "opacity": 0.25}, bar, where=["y", "y_low", "y_high"]),
        _layer(point, {"x": x, "y": y, "color": colour, "shape": shape}, where=["y"]),
    ]


def _colours(names: list[str], text: ChartText) -> Spec:
    coloured = [name for name in names if name != text.black]
    _distinct(coloured, PALETTE, "colours")
    # Unmodified embeddings come first in the legend.
    black = [name for name in names if name == text.black]
    colours = [*(BLACK for _ in black), *palette_of(coloured)]
    return _scale("colour", [*black, *coloured], colours, text.colour)


def _shapes(names: list[str], text: ChartText) -> Spec:
    return _scale("shape", names, _distinct(names, SHAPES, "shapes"), text.shape)


def _scale(field: str, names: list[str], looks: Sequence[str], title: str) -> Spec:
    scale = {"domain": names, "range": list(looks)}
    legend: Spec | None = {} if title else None
    return {"field": field, "type": "nominal", "scale": scale, "title": title, "legend": legend}


def _distinct(names: list[str], looks: Sequence[str], what: str) -> Sequence[str]:
    if len(names) > len(looks):
        raise InputError(
            f"{len(names)} {what} ({', '.join(names[:3])}, ...); at most {len(looks)} can be"
            " distinguished, group the values"
        )
    return looks[: len(names)]
