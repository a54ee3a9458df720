"""What the charts of all studies share: their rows, colours and intervals, and the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.look import PALETTE
from files.charts import Spec, save_charts

if TYPE_CHECKING:
    import pandas as pd

FORMATS = (".svg", ".png", ".pdf")
Record = dict[str, object]


def draw(charts: Mapping[str, Spec], folder: Path) -> list[Path]:
    """Write each chart under its name in every format; the paths."""
    return [
        path
        for name, chart in charts.items()
        for path in save_charts(chart, folder / name, FORMATS)
    ]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column."""
    return [dict(zip(map(str, table), row, strict=True)) for row in table.itertuples(index=False)]


def records(table: pd.DataFrame) -> list[Record]:
    """The rows as JSON has them: None for a number that is not finite."""
    return [{name: _finite(value) for name, value in row.items()} for row in rows_of(table)]


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not isfinite(value) else value


def nominal(field: str, order: Sequence[str] | None = None) -> Spec:
    """A channel of names without a title, in the order given, or else in that of the rows."""
    return {"field": field, "type": "nominal", "title": None, "sort": order}


def colour(field: str, names: Sequence[str], **more: object) -> Spec:
    """A colour for each name, in their order."""
    scale = {"domain": list(names), "range": list(PALETTE)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, **more}


def facet(
    field: str,
    spec: Spec,
    columns: int,
    *,
    order: Sequence[str] | None = None,
    scales: Sequence[str] = (),
) -> Spec:
    """A panel for each value of a field; ``scales``: the axes that each panel has of its own."""
    own = {"resolve": {"scale": dict.fromkeys(scales, "independent")}} if scales else {}
    return {"facet": nominal(field, order), "columns": columns, "spec": spec, **own}


def intervals(
    axis: Spec,
    shared: Spec,
    value: str = "value",
    *,
    ends: tuple[str, str] = ("low", "high"),
    size: int = 36,
    rule: Spec | None = None,
) -> list[Spec]:
    """Layers of a point for each value and a line for its interval, along x."""
    low, high = ends
    line = {"type": "rule", "opacity": 0.5, **(rule or {})}
    point = {"type": "point", "filled": True, "size": size, "opacity": 1}
    across = {"x": axis | {"field": low}, "x2": {"field": high}}
    return [
        {"mark": line, "encoding": shared | across},
        {"mark": point, "encoding": shared | {"x": axis | {"field": value}}},
    ]


def rule_at(value: float, axis: Spec | None = None, **more: object) -> Spec:
    """A layer with a grey line at a value of x."""
    mark = {"type": "rule", "color": "#888888", **more}
    return {"mark": mark, "encoding": {"x": {"datum": value, **(axis or {})}}}
