"""A control as terminal tables and as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, cast

from rich import box
from rich.table import Table

from analysis.look import PALETTE, chart
from analysis.show import short
from files.charts import Spec, save_charts

if TYPE_CHECKING:
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
Row = Mapping[str, object]
SHARED = ("varied", "transmission", "posts", "measure", "queries", "seeds", "embeddings")
LINKED, UNRELATED = "words of the link", "unrelated words"
VARIED = {"field": "varied", "type": "nominal", "title": None, "sort": None}
SHARES = ("positive", "negative", "negligible", "wrong")


def print_controls(whole: Sequence[Row], drawn: Sequence[Row], console: Console) -> None:
    """r and verdict of the whole study, then how often smaller ones reach a right or wrong one, on
    average over the queries of the link and over the controls; a block for each design.
    """
    console.print("Whole study: r_rm [95%], synthetic data", style="bold")
    _print(("query", "embeddings", "r_rm", "verdict"), whole, console)
    if drawn:
        title = "Smaller studies drawn from it: share with each verdict, mean over queries"
        console.print(title, style="bold", soft_wrap=True)
        _print(("queries", "seeds", "embeddings", *SHARES), _pooled(drawn), console)


def _pooled(drawn: Sequence[Row]) -> list[Row]:
    """One row a design, size and kind of query, with the mean shares over its queries."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in drawn:
        groups.setdefault(tuple(_told(row)[name] for name in SHARED), []).append(row)
    return [
        dict(zip(SHARED, key, strict=True))
        | {name: fmean(cast("float", row[name]) for row in rows) for name in SHARES}
        for key, rows in groups.items()
    ]


def _told(row: Row) -> Row:
    return {**row, "queries": "controls" if row["control"] else "of the link"}


def _print(names: Sequence[str], rows: Sequence[Row], console: Console) -> None:
    designs: dict[str, list[Row]] = {}
    for row in rows:
        told = f"{row['varied']}, transmission {row['transmission']}, {row['posts']} posts"
        designs.setdefault(f"{told}, {row['measure']} gap", []).append(row)
    for design, part in designs.items():
        console.print(design, soft_wrap=True, highlight=False)
        table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
        for name in names:
            is_text = name in ("query", "queries", "verdict")
            table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
        for row in part:
            table.add_row(*(_cell(row, name) for name in names))
        console.print(table)


def _cell(row: Row, name: str) -> str:
    value = row[name]
    low, high = (row.get(f"{name}_{end}" if name != "r_rm" else end) for end in ("low", "high"))
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return "-"
    bounds = [each for each in (low, high) if isinstance(each, float) and isfinite(each)]
    return short(value) + (f" [{', '.join(map(short, bounds))}]" if len(bounds) == 2 else "")


def draw_controls(whole: Sequence[Row], drawn: Sequence[Row], folder: Path) -> list[Path]:
    """``control_r`` and, of smaller studies, ``control_power`` in every format; the paths."""
    charts = {"control_r": r_chart(whole)}
    if drawn:
        charts["control_power"] = power_chart(drawn)
    return [
        path
        for name, chart in charts.items()
        for path in save_charts(chart, folder / name, FORMATS)
    ]


def r_chart(whole: Sequence[Row]) -> Spec:
    """r and its interval by query, a panel for each way in which embeddings differ."""
    x: Spec = {"type": "quantitative", "title": "r_rm", "scale": {"domain": [-1, 1]}}
    query = {"field": "query", "type": "nominal", "title": None, "sort": None}
    shared = {"y": query, "yOffset": _beside(whole), "color": _colour(whole)}
    across = shared | {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    layer = [
        {"mark": {"type": "rule", "color": "#888888"}, "encoding": {"x": {"datum": 0}}},
        {"mark": {"type": "rule", "opacity": 0.6}, "encoding": across},
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": shared | {"x": x | {"field": "r_rm"}},
        },
    ]
    return _chart(
        "Score and gap where a link is planted, and where none is (synthetic data)",
        whole,
        {"width": 240, "height": {"step": 9}, "layer": layer},
        {"column": VARIED},
    )


def power_chart(drawn: Sequence[Row]) -> Spec:
    """How often studies find a link, by number of embeddings: words of the link above, unrelated
    ones below; a column for each way in which embeddings differ, a line for each query.
    """
    x: Spec = {"field": "embeddings", "type": "ordinal", "title": "embeddings"}
    x |= {"axis": {"labelAngle": 0, "grid": False}}
    y: Spec = {"type": "quantitative", "title": "positive"}
    y |= {"axis": {"format": "%", "tickCount": 3}, "scale": {"domain": [0, 1]}}
    shared = {"x": x, "xOffset": _beside(drawn), "color": _colour(drawn)}
    across = shared | {"y": y | {"field": "positive_low"}, "y2": {"field": "positive_high"}}
    line = shared | {"y": y | {"field": "positive"}, "detail": {"field": "query"}}
    layer = [
        {"mark": {"type": "rule", "opacity": 0.25}, "encoding": across},
        {"mark": {"type": "line", "point": {"size": 25}, "strokeWidth": 1}, "encoding": line},
    ]
    words = {"field": "words", "type": "nominal", "title": None, "sort": [LINKED, UNRELATED]}
    return _chart(
        "How often a study says that the gap follows the score (synthetic data)",
        drawn,
        {"width": {"step": 34, "for": "position"}, "height": 120, "layer": layer},
        {"row": words, "column": VARIED},
    )


def _chart(title: str, rows: Sequence[Row], spec: Spec, facet: Spec) -> Spec:
    values = [
        {
            **{name: _json(value) for name, value in row.items()},
            "link": _link(row),
            "words": UNRELATED if row["control"] else LINKED,
        }
        for row in rows
    ]
    return chart(title, {"facet": facet, "spec": spec}, values)


def _beside(rows: Sequence[Row]) -> Spec:
    return {"field": "link", "sort": list(dict.fromkeys(map(_link, rows)))}


def _colour(rows: Sequence[Row]) -> Spec:
    links = list(dict.fromkeys(map(_link, rows)))
    scale = {"domain": links, "range": list(PALETTE)}
    return {"field": "link", "type": "nominal", "title": "transmission, posts", "scale": scale}


def _link(row: Row) -> str:
    return f"{row['transmission']:g}, {row['posts']}"


def _json(value: object) -> object:
    return None if isinstance(value, float) and not isfinite(value) else value
