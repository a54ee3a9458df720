"""The figures of a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from analysis.charts import GREY, STAMP, Drawing, finish, intervals, rule_at, shades
from analysis.naming import query_title
from studies.conclusion import row_dicts
from studies.control.studies import find_sized

if TYPE_CHECKING:
    import pandas as pd

LINKED, UNRELATED = "words of the link", "unrelated words"


def charts(whole: pd.DataFrame, drawn: pd.DataFrame) -> dict[str, Drawing]:
    """``control_r`` and, of smaller studies, ``control_power``."""
    found = {"control_r": r_chart(whole)}
    return found | ({"control_power": power_chart(drawn)} if len(drawn) else {})


def r_chart(whole: pd.DataFrame) -> Drawing:
    """r and its interval by query, a panel for each way in which embeddings differ."""
    links, queries = _links(whole), list(map(query_title, whole["query"]))
    query = alt.Y("query:N", title=None, sort=None)
    base = alt.Chart().encode(query, **_by_link(whole, "yOffset"))
    scale = alt.Scale(domain=[-1, 1])
    layers = [
        rule_at(0),
        *intervals(base, "r_rm", size=40, title="r_rm, 95% interval", scale=scale),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=240, height=alt.Step(9))
        .facet(column=_varied(), data=whole.assign(link=links, query=queries))
    )
    return finish(chart, "r_rm rises with the planted link, and is near 0 without one", [STAMP])


def power_chart(drawn: pd.DataFrame) -> Drawing:
    """How often studies find a link, by number of embeddings: words of the link above, unrelated
    ones below; a column for each way in which embeddings differ, a line for each query.
    """
    links = _links(drawn)
    x = alt.X("embeddings:O", title="embeddings").axis(labelAngle=0, grid=False)
    base = alt.Chart().encode(x, **_by_link(drawn, "xOffset"))

    def share(field: str) -> alt.Y:
        y = alt.Y(f"{field}:Q", title="studies that find it", scale=alt.Scale(domain=[0, 1]))
        return y.axis(format="%", tickCount=3)

    layers = [
        base.mark_rule(opacity=0.25).encode(share("positive_low"), alt.Y2("positive_high")),
        base.mark_line(point={"size": 25}, strokeWidth=1).encode(
            share("positive"), alt.Detail("query:N")
        ),
    ]
    words = [UNRELATED if each else LINKED for each in drawn["control"]]
    chart = (
        alt.layer(*layers)
        .properties(width=alt.Step(34, **{"for": "position"}), height=120)
        .facet(
            row=alt.Row("words:N", title=None, sort=[LINKED, UNRELATED]),
            column=_varied(),
            data=drawn.assign(link=links, words=words),
        )
        .resolve_scale(x="independent", xOffset="independent")
    )
    title = "The more embeddings, and the stronger the link, the more studies find it"
    return finish(chart, title, [STAMP])


def _varied() -> alt.Column:
    return alt.Column("varied:N", title=None, sort=None)


def _links(table: pd.DataFrame) -> list[str]:
    """How strong the link is, ``0.25``; with the number of posts where that is not the usual."""
    sized = find_sized(table)
    usual = table[sized].max()
    return [
        f"{row['transmission']:g}" + (f" ({row[sized]} {sized})" if row[sized] < usual else "")
        for row in row_dicts(table)
    ]


def _by_link(table: pd.DataFrame, offset: str) -> dict[str, Any]:
    """Grey where there is no link, and darker the stronger it is."""
    names = list(dict.fromkeys(_links(table.sort_values(["transmission", find_sized(table)]))))
    linked = [name for name in names if name != "0"]
    looks = dict(zip(linked, shades(len(linked)), strict=True))
    scale = alt.Scale(domain=names, range=[looks.get(name, GREY) for name in names])
    place = {"xOffset": alt.XOffset, "yOffset": alt.YOffset}[offset]
    color = alt.Color("link:N", scale=scale, title="transmission", sort=names)
    return {offset: place("link:N", sort=names), "color": color}
