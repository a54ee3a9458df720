"""The figures of a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from analysis.charts import Drawing, colour, finish, intervals, rule_at
from studies.conclusion import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

LINKED, UNRELATED = "words of the link", "unrelated words"


def charts(whole: pd.DataFrame, drawn: pd.DataFrame) -> dict[str, Drawing]:
    """``control_r`` and, of smaller studies, ``control_power``."""
    found = {"control_r": r_chart(whole)}
    return found | ({"control_power": power_chart(drawn)} if len(drawn) else {})


def r_chart(whole: pd.DataFrame) -> Drawing:
    """r and its interval by query, a panel for each way in which embeddings differ."""
    links = _links(whole)
    query = alt.Y("query:N", title=None, sort=None)
    base = alt.Chart().encode(query, **_by_link(links, "yOffset"))
    scale = alt.Scale(domain=[-1, 1])
    layers = [rule_at(0), *intervals(base, "r_rm", size=40, title="r_rm", scale=scale)]
    chart = (
        alt.layer(*layers)
        .properties(width=240, height=alt.Step(9))
        .facet(column=_varied(), data=whole.assign(link=links))
    )
    return finish(
        chart, "Score and gap where a link is planted, and where none is (synthetic data)"
    )


def power_chart(drawn: pd.DataFrame) -> Drawing:
    """How often studies find a link, by number of embeddings: words of the link above, unrelated
    ones below; a column for each way in which embeddings differ, a line for each query.
    """
    links = _links(drawn)
    x = alt.X("embeddings:O", title="embeddings").axis(labelAngle=0, grid=False)
    base = alt.Chart().encode(x, **_by_link(links, "xOffset"))

    def share(field: str) -> alt.Y:
        y = alt.Y(f"{field}:Q", title="positive", scale=alt.Scale(domain=[0, 1]))
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
    )
    return finish(chart, "How often a study says that the gap follows the score (synthetic data)")


def _varied() -> alt.Column:
    return alt.Column("varied:N", title=None, sort=None)


def _links(table: pd.DataFrame) -> list[str]:
    return [f"{row['transmission']:g}, {row['posts']}" for row in rows_of(table)]


def _by_link(links: Sequence[str], offset: str) -> dict[str, Any]:
    names = list(dict.fromkeys(links))
    place = {"xOffset": alt.XOffset, "yOffset": alt.YOffset}[offset]
    title = "transmission, posts"
    return {offset: place("link:N", sort=names), "color": colour("link", names, title=title)}
