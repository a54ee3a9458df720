"""A control as terminal tables and as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from analysis.charts import Drawing, colour, finish, intervals, rule_at
from analysis.show import estimate, print_table, short
from studies.charts import draw, rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

Row = Mapping[str, object]
DESIGN = ["varied", "transmission", "posts", "measure"]
LINKED, UNRELATED = "words of the link", "unrelated words"
SHARES = ("positive", "negative", "negligible", "wrong")


def print_controls(whole: Sequence[Row], drawn: Sequence[Row], console: Console) -> None:
    """r and verdict of the whole study, then how often smaller ones reach a right or wrong one, on
    average over the queries of the link and over the controls; a block for each design.
    """
    console.print("Whole study: r_rm [95%], synthetic data", style="bold")
    table = pd.DataFrame(whole)
    r = [estimate(*row) for row in table[["r_rm", "low", "high"]].itertuples(index=False)]
    _print(table.assign(r_rm=r), ("query", "embeddings", "r_rm", "verdict"), console)
    if drawn:
        title = "Smaller studies drawn from it: share with each verdict, mean over queries"
        console.print(title, style="bold", soft_wrap=True)
        table = pd.DataFrame(drawn)
        table["queries"] = ["controls" if each else "of the link" for each in table["control"]]
        keys = [*DESIGN, "queries", "seeds", "embeddings"]
        mean = table.groupby(keys, sort=False)[list(SHARES)].mean().map(short).reset_index()
        _print(mean, ("queries", "seeds", "embeddings", *SHARES), console)


def _print(table: pd.DataFrame, names: Sequence[str], console: Console) -> None:
    for (varied, transmission, posts, measure), part in table.groupby(DESIGN, sort=False):
        rows = [{name: str(row[name]) for name in names} for row in rows_of(part)]
        title = f"{varied}, transmission {transmission}, {posts} posts, {measure} gap"
        print_table(title, rows, console, left=("query", "queries", "verdict"))


def draw_controls(whole: Sequence[Row], drawn: Sequence[Row], folder: Path) -> list[Path]:
    """``control_r`` and, of smaller studies, ``control_power`` in every format; the paths."""
    charts: dict[str, Drawing] = {"control_r": r_chart(pd.DataFrame(whole))}
    if drawn:
        charts["control_power"] = power_chart(pd.DataFrame(drawn))
    return draw(charts, folder)


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
