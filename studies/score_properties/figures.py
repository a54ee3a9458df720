"""Figures of the study of score properties."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from biasbridge.analysis.charts import Drawing, colour, finish
from biasbridge.stats.formatting import format_number
from biasbridge.studies.conclusion import row_dicts
from biasbridge.studies.score_properties.table import embedding_rows, selections

if TYPE_CHECKING:
    from collections.abc import Mapping

VERDICTS = ("comparable", "trustworthy", "fair")
COLOURS = {"yes": "#4477aa", "no": "#cc6677", "undefined": "#bbbbbb", "unbounded": "#ddaa33"}


def score_name(row: Mapping[str, str]) -> str:
    """Return the name of a score in the tables."""
    return f"{row['metric']} {row['part']}".strip()


def charts(table: pd.DataFrame, points: pd.DataFrame, probes: pd.DataFrame) -> dict[str, Drawing]:
    """Draw ``table1``, ``figure1`` (and 2) by query, and ``figure3`` by embedding and query."""
    drawings: dict[str, Drawing] = {}
    if len(table) and "comparable" in table:
        drawings["table1"] = verdict_chart(table)
    associations = embedding_rows(points, probes, "association")
    if len(associations):
        for query, rows in associations.groupby("query", sort=False):
            drawings[f"figure1_{query}"] = association_chart(rows)
    correlations = embedding_rows(points, probes, "correlation")
    if len(correlations):
        for key, rows in correlations.groupby(["embedding", "query"], sort=False):
            embedding, query_name = map(str, key)
            stem = re.sub(r"\W+", "_", f"figure3_{embedding}_{query_name}").strip("_")
            drawings[stem] = correlation_chart(rows, embedding)
    return drawings


def verdict_chart(table: pd.DataFrame) -> Drawing:
    """Draw table 1: rows are scores, columns properties, panels numbers of target words."""
    rows = [
        {"score": score_name(row), "property": name, "items": f"{row['items']} a role"}
        | {"verdict": row[name]}
        for row in row_dicts(table[table["reason"].eq("")])
        for name in VERDICTS
    ]
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    panel = alt.Chart().mark_rect(stroke="white").properties(width=210, height=alt.Step(14))
    x = alt.X("property:N", title=None, sort=list(VERDICTS)).axis(labelAngle=0, grid=False)
    chart = panel.encode(
        x,
        alt.Y("score:N", title=None, sort=None).axis(grid=False),
        alt.Color("verdict:N", title=None, scale=scale),
    ).facet(alt.Facet("items:N", title=None, sort=None), data=pd.DataFrame(rows), columns=2)
    return finish(chart, "Which scores are comparable, trustworthy and fair, by search")


def association_chart(associations: pd.DataFrame) -> Drawing:
    """Draw every word's association, X above Y, one panel per embedding and target selection."""
    rows: list[pd.DataFrame] = []
    panels: list[str] = []
    for embedding, part in associations.groupby("embedding", sort=False):
        words = part[["panel", "first", "value"]].set_axis(["set", "word", "s"], axis=1)
        for selection in selections(part):
            effect, auc = format_number(selection.effect_size), format_number(selection.auc)
            effect = f"d = {effect}, AUC {auc}, n = {selection.n}"
            panels.append(f"{embedding}: {selection.name}; " + effect.replace("-", "\u2212"))
            rows.append(words[words["word"].isin(selection.words)].assign(panel=panels[-1]))
    ticks = alt.Chart().mark_tick(thickness=2, size=28, opacity=0.7)
    panel = ticks.properties(width=300, height=80).encode(
        alt.X("s:Q", title="s(w, A, B)", scale=alt.Scale(zero=False)),
        alt.Y("set:N", title=None, sort=None),
        colour("set", ["X", "Y"], legend=None),
    )
    header = alt.Header(labelExpr="split(datum.label, '; ')", labelLimit=420, labelPadding=4)
    facet = alt.Facet("panel:N", title=None, sort=panels, header=header)
    chart = panel.facet(facet, data=pd.concat(rows, ignore_index=True), columns=2)
    title = "Associations of single words, and the effect size of their sets"
    return finish(chart.resolve_scale(x="independent"), title)


def correlation_chart(correlations: pd.DataFrame, embedding: str) -> Drawing:
    """Draw cosines of pairs' differences and component, of all pairs and less the two nearest."""
    size = 15 if correlations["first"].nunique() > 12 else 22
    panels = [
        _heat_map(part, str(panel), size)
        for panel, part in correlations.groupby("panel", sort=False)
    ]
    return finish(alt.hconcat(*panels), f"Cosines of bias directions, {embedding}")


def _heat_map(rows: pd.DataFrame, panel: str, size: int) -> Any:
    order = list(dict.fromkeys(rows["first"]))
    axis = alt.Axis(labelLimit=200, labelOverlap=False, grid=False)
    scale = alt.Scale(domain=[-1, 1], scheme="blueorange")
    pairs = f"{len(order) - 1} pairs ({panel})"
    cosines = rows[["first", "second", "value"]].rename(columns={"value": "cosine"})
    title = alt.TitleParams(pairs, fontSize=12, anchor="start")
    cells = alt.Chart(cosines, title=title, width=alt.Step(size), height=alt.Step(size))
    return cells.mark_rect().encode(
        alt.X("second:N", title=None, sort=order, axis=axis),
        alt.Y("first:N", title=None, sort=order, axis=axis),
        alt.Color("cosine:Q", scale=scale),
    )
