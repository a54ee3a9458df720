"""Figures of the study of planted links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from biasbridge.analysis.charts import GREY, STAMP, Drawing, finish, intervals, rule_at, shades
from biasbridge.analysis.naming import query_title
from biasbridge.analysis.verdict import RISES
from biasbridge.studies.conclusion import row_dicts
from biasbridge.studies.control.studies import find_size_column

if TYPE_CHECKING:
    import pandas as pd

LINKED, UNRELATED = "words of the link", "unrelated words"


def charts(whole: pd.DataFrame, smaller: pd.DataFrame) -> dict[str, Drawing]:
    """Draw ``control_r`` of the whole study and ``control_power`` of smaller studies, if any."""
    drawings = {"control_r": r_chart(whole)}
    return drawings | ({"control_power": power_chart(smaller)} if len(smaller) else {})


def r_chart(whole: pd.DataFrame) -> Drawing:
    """Draw r and its interval by query, one panel for each way in which embeddings differ."""
    links, queries = _link_labels(whole), list(map(query_title, whole["query"]))
    query = alt.Y("query:N", title=None, sort=None)
    base = alt.Chart().encode(query, **_link_encoding(whole, "yOffset"))
    scale = alt.Scale(domain=[-1, 1])
    layers = [
        rule_at(0),
        *intervals(base, "r_rm", size=40, title="r_rm, 95% interval", scale=scale),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=240, height=alt.Step(9))
        .facet(column=_difference_columns(), data=whole.assign(link=links, query=queries))
    )
    return finish(chart, "r_rm with words of the planted link and with unrelated ones", [STAMP])


def power_chart(smaller: pd.DataFrame) -> Drawing:
    """Draw how often studies find a link, by number of embeddings, one line per query.

    Rows: words of the link, unrelated words. Columns: ways in which embeddings differ.
    """
    links = _link_labels(smaller)
    x = alt.X("embeddings:O", title="embeddings").axis(labelAngle=0, grid=False)
    base = alt.Chart().encode(x, **_link_encoding(smaller, "xOffset"))

    def share(field: str) -> alt.Y:
        y = alt.Y(f"{field}:Q", title="studies that find the link", scale=alt.Scale(domain=[0, 1]))
        return y.axis(format="%", tickCount=3)

    layers = [
        base.mark_rule(opacity=0.25).encode(share(f"{RISES}_low"), alt.Y2(f"{RISES}_high")),
        base.mark_line(point={"size": 25}, strokeWidth=1).encode(
            share(RISES), alt.Detail("query:N")
        ),
    ]
    words = [UNRELATED if is_control else LINKED for is_control in smaller["control"]]
    chart = (
        alt.layer(*layers)
        .properties(width=alt.Step(34, **{"for": "position"}), height=120)
        .facet(
            row=alt.Row("words:N", title=None, sort=[LINKED, UNRELATED]),
            column=_difference_columns(),
            data=smaller.assign(link=links, words=words),
        )
        .resolve_scale(x="independent", xOffset="independent")
    )
    title = "Share of studies that find the link, by embeddings and strength"
    return finish(chart, title, [STAMP])


def _difference_columns() -> alt.Column:
    return alt.Column("difference:N", title=None, sort=None)


def _link_labels(table: pd.DataFrame) -> list[str]:
    """Label each row by transmission, ``0.25``, and the number of texts if below the maximum."""
    unit = find_size_column(table)
    maximum = table[unit].max()
    return [
        f"{row['transmission']:g}" + (f" ({row[unit]} {unit})" if row[unit] < maximum else "")
        for row in row_dicts(table)
    ]


def _link_encoding(table: pd.DataFrame, offset: str) -> dict[str, Any]:
    """Encode the link by position and colour: grey for none, darker the stronger it is."""
    by_strength = table.sort_values(["transmission", find_size_column(table)])
    names = list(dict.fromkeys(_link_labels(by_strength)))
    linked = [name for name in names if name != "0"]
    colours = dict(zip(linked, shades(len(linked)), strict=True))
    scale = alt.Scale(domain=names, range=[colours.get(name, GREY) for name in names])
    channel = {"xOffset": alt.XOffset, "yOffset": alt.YOffset}[offset]
    color = alt.Color("link:N", scale=scale, title="transmission", sort=names)
    return {offset: channel("link:N", sort=names), "color": color}
