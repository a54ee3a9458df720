"""The study of score properties as terminal tables and as figures."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from analysis.columns import numbers, texts, values_of
from analysis.look import PALETTE, chart
from analysis.show import short
from files.charts import Spec, save_charts
from studies.score_properties.table import embedding_rows, selections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
VERDICTS = ("comparable", "trustworthy", "fair")
COLOURS = {"yes": "#4477aa", "no": "#cc6677", "undefined": "#bbbbbb", "unbounded": "#ddaa33"}
READ = (
    "words: targets in all; comparable: the extremes are the same for every attribute set;"
    " trustworthy: the score is off its unbiased value (b0) wherever a word is biased; fair: it is"
    " at b0 wherever none is. No stands for a witness found, yes for none found"
    " (score_properties.csv); nearest b0: the score nearest b0 while a word is biased"
)


def print_scores(table: pd.DataFrame, console: Console) -> None:
    """Table 1, and why some scores are not in it."""
    console.print("Table 1: properties of scores, by search", style="bold", highlight=False)
    drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for name in ("score", "words", *VERDICTS, "nearest"):
        text = name in ("score", *VERDICTS)
        drawn.add_column(name, justify="left" if text else "right", no_wrap=True)
    for row in _records(table):
        if row["reason"]:
            continue
        verdicts = (str(row[name]) for name in VERDICTS)
        drawn.add_row(score_name(row), _whole(row["words"]), *verdicts, _short(row["nearest"]))
    console.print(drawn)
    console.print(READ, highlight=False)
    for reason in dict.fromkeys(each for each in texts(table, "reason") if each):
        console.print(f"not in the table: {reason}", highlight=False, markup=False)


def print_differences(table: pd.DataFrame, console: Console) -> None:
    """Table 2."""
    title = "Table 2: difference of the groups' mean attributes, the most that s(w, A, B) can be"
    console.print(title, style="bold", highlight=False)
    several = len(set(texts(table, "query"))) > 1
    drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for name in ("embedding", "n", "difference", "chance", "raw", "d", "p"):
        left = name == "embedding"
        drawn.add_column(
            name, justify="left" if left else "right", overflow="fold", no_wrap=not left
        )
    for row in _records(table):
        drawn.add_row(
            f"{row['embedding']}: {row['query']}" if several else str(row["embedding"]),
            _whole(row["n"]),
            f"{_short(row['difference'])} [{_short(row['low'])}, {_short(row['high'])}]",
            _short(row["chance"]),
            _short(row["raw"]),
            _short(row["effect_size"]),
            _p(row["p_value"]),
        )
    console.print(drawn)
    for reason in dict.fromkeys(each for each in texts(table, "reason") if each):
        console.print(f"no difference: {reason}", highlight=False, markup=False)


def score_name(row: Mapping[str, object]) -> str:
    """A score as the tables call it."""
    return " ".join(str(row[name]) for name in ("metric", "part") if row[name])


def _records(table: pd.DataFrame) -> list[dict[str, object]]:
    columns = [values_of(table, str(name)) for name in table]
    return [dict(zip(map(str, table), row, strict=True)) for row in zip(*columns, strict=True)]


def _whole(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, int | float) else str(value)


def _p(value: object) -> str:
    return "< .001" if isinstance(value, float) and value < 0.001 else _short(value, 3)


def _short(value: object, digits: int = 2) -> str:
    if not isinstance(value, float) or not isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else short(value, digits)


def draw(table: pd.DataFrame, points: pd.DataFrame, probes: pd.DataFrame, out: Path) -> list[Path]:
    """``table1``, ``figure1`` (figures 1 and 2 of the paper) for each query, and ``figure3`` for
    each embedding and query, in every format; the paths.
    """
    charts: dict[str, Spec] = {}
    if len(table) and "comparable" in table:
        charts["table1"] = verdict_chart(table)
    associations = embedding_rows(points, probes, "association")
    if len(associations):
        for query, part in associations.groupby("query", sort=False):
            charts[f"figure1_{query}"] = association_chart(part)
    correlations = embedding_rows(points, probes, "correlation")
    if len(correlations):
        for key, part in correlations.groupby(["embedding", "query"], sort=False):
            embedding, query = map(str, key)
            stem = re.sub(r"\W+", "_", f"figure3_{embedding}_{query}").strip("_")
            charts[stem] = correlation_chart(part, embedding)
    return [
        path for name, chart in charts.items() for path in save_charts(chart, out / name, FORMATS)
    ]


def verdict_chart(table: pd.DataFrame) -> Spec:
    """Table 1 in colours: a row a score, a column a property, a panel a number of target words."""
    rows = [
        {
            "score": score_name(row),
            "property": name,
            "items": f"{_whole(row['items'])} a role",
            "verdict": row[name],
        }
        for row in _records(table)
        if not row["reason"]
        for name in VERDICTS
    ]
    order = list(dict.fromkeys(str(row["score"]) for row in rows))
    scale = {"domain": list(COLOURS), "range": list(COLOURS.values())}
    x: Spec = {"field": "property", "type": "nominal", "sort": list(VERDICTS), "title": None}
    y: Spec = {"field": "score", "type": "nominal", "sort": order, "title": None}
    colour: Spec = {"field": "verdict", "type": "nominal", "scale": scale, "title": None}
    return chart(
        "Which scores are comparable, trustworthy and fair, by search",
        {
            "facet": {"field": "items", "type": "nominal", "title": None},
            "spec": {
                "width": 210,
                "height": {"step": 14},
                "mark": {"type": "rect", "stroke": "white"},
                "encoding": {
                    "x": x | {"axis": {"labelAngle": 0, "grid": False}},
                    "y": y | {"axis": {"grid": False}},
                    "color": colour,
                },
            },
        },
        rows,
    )


def association_chart(associations: pd.DataFrame) -> Spec:
    """A panel for each embedding and selection of targets: every word's association, X above Y."""
    rows: list[dict[str, object]] = []
    panels: list[str] = []
    for embedding, part in associations.groupby("embedding", sort=False):
        for each in selections(part):
            effect = f"d = {short(each.effect_size)}, told apart {short(each.auc)}, n = {each.n}"
            panels.append(f"{embedding}: {each.name}; " + effect.replace("-", "\u2212"))
            rows += [
                {"panel": panels[-1], "set": role, "word": word, "s": value}
                for role, word, value in zip(
                    *(texts(part, name) for name in ("panel", "first")),
                    numbers(part, "value").tolist(),
                    strict=True,
                )
                if word in each.words
            ]
    x: Spec = {
        "field": "s",
        "type": "quantitative",
        "title": "s(w, A, B)",
        "scale": {"zero": False},
    }
    y: Spec = {"field": "set", "type": "nominal", "title": None}
    colour: Spec = {"field": "set", "type": "nominal", "legend": None}
    colour |= {"scale": {"domain": ["X", "Y"], "range": list(PALETTE[:2])}}
    header = {"labelExpr": "split(datum.label, '; ')", "labelLimit": 420, "labelPadding": 4}
    facet = {"field": "panel", "type": "nominal", "title": None, "sort": panels, "header": header}
    tick = {"type": "tick", "thickness": 2, "size": 28, "opacity": 0.7}
    return chart(
        "Associations of single words, and the effect size of their sets",
        {
            "facet": facet,
            "columns": 2,
            "resolve": {"scale": {"x": "independent"}},
            "spec": {
                "width": 300,
                "height": 80,
                "mark": tick,
                "encoding": {"x": x, "y": y, "color": colour},
            },
        },
        rows,
    )


def correlation_chart(correlations: pd.DataFrame, embedding: str) -> Spec:
    """Cosines between the differences of base pairs and their first principal component, with all
    pairs and without the two nearest the component.
    """
    panels: dict[str, list[str]] = {}
    for panel, first in zip(
        texts(correlations, "panel"), texts(correlations, "first"), strict=True
    ):
        panels.setdefault(panel, []).append(first)
    size = 15 if len(dict.fromkeys(panels.get("all", ()))) > 12 else 22
    cells = [
        _heat(correlations[correlations["panel"] == panel], panel, list(dict.fromkeys(names)), size)
        for panel, names in panels.items()
    ]
    title = f"Cosines of bias directions, {embedding}"
    return chart(title, {"hconcat": cells})


def _heat(rows: pd.DataFrame, panel: str, order: Sequence[str], size: int) -> Spec:
    values = [
        {"first": one, "second": other, "cosine": value}
        for one, other, value in zip(
            texts(rows, "first"),
            texts(rows, "second"),
            numbers(rows, "value").tolist(),
            strict=True,
        )
    ]
    scale = {"domain": [-1, 1], "scheme": "blueorange", "reverse": False}
    axis = {"labelLimit": 200, "labelOverlap": False, "grid": False}
    place: Iterable[tuple[str, str]] = (("x", "second"), ("y", "first"))
    encoding: Spec = {
        channel: {
            "field": name,
            "type": "nominal",
            "sort": list(order),
            "title": None,
            "axis": axis,
        }
        for channel, name in place
    }
    encoding["color"] = {"field": "cosine", "type": "quantitative", "scale": scale}
    step = {"step": size}
    title = {"text": f"{len(order) - 1} pairs ({panel})", "fontSize": 12, "anchor": "start"}
    body = {"title": title, "data": {"values": values}, "width": step, "height": step}
    return body | {"mark": "rect", "encoding": encoding}
