"""A control as terminal tables and as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from analysis.look import chart
from analysis.show import estimate, print_table, short
from studies.charts import colour, draw, intervals, nominal, records, rows_of, rule_at

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from files.charts import Spec

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
    charts = {"control_r": r_chart(pd.DataFrame(whole))}
    if drawn:
        charts["control_power"] = power_chart(pd.DataFrame(drawn))
    return draw(charts, folder)


def r_chart(whole: pd.DataFrame) -> Spec:
    """r and its interval by query, a panel for each way in which embeddings differ."""
    x: Spec = {"type": "quantitative", "title": "r_rm", "scale": {"domain": [-1, 1]}}
    links = _links(whole)
    layer = [
        rule_at(0),
        *intervals(x, {"y": nominal("query"), **_by_link(links, "yOffset")}, "r_rm", size=40),
    ]
    return chart(
        "Score and gap where a link is planted, and where none is (synthetic data)",
        {
            "facet": {"column": nominal("varied")},
            "spec": {"width": 240, "height": {"step": 9}, "layer": layer},
        },
        records(whole.assign(link=links)),
    )


def power_chart(drawn: pd.DataFrame) -> Spec:
    """How often studies find a link, by number of embeddings: words of the link above, unrelated
    ones below; a column for each way in which embeddings differ, a line for each query.
    """
    x: Spec = {"field": "embeddings", "type": "ordinal", "title": "embeddings"}
    x |= {"axis": {"labelAngle": 0, "grid": False}}
    y: Spec = {"type": "quantitative", "title": "positive"}
    y |= {"axis": {"format": "%", "tickCount": 3}, "scale": {"domain": [0, 1]}}
    links = _links(drawn)
    shared = {"x": x, **_by_link(links, "xOffset")}
    across = shared | {"y": y | {"field": "positive_low"}, "y2": {"field": "positive_high"}}
    line = shared | {"y": y | {"field": "positive"}, "detail": {"field": "query"}}
    layer = [
        {"mark": {"type": "rule", "opacity": 0.25}, "encoding": across},
        {"mark": {"type": "line", "point": {"size": 25}, "strokeWidth": 1}, "encoding": line},
    ]
    words = [UNRELATED if each else LINKED for each in drawn["control"]]
    return chart(
        "How often a study says that the gap follows the score (synthetic data)",
        {
            "facet": {"row": nominal("words", [LINKED, UNRELATED]), "column": nominal("varied")},
            "spec": {"width": {"step": 34, "for": "position"}, "height": 120, "layer": layer},
        },
        records(drawn.assign(link=links, words=words)),
    )


def _links(table: pd.DataFrame) -> list[str]:
    return [f"{row['transmission']:g}, {row['posts']}" for row in rows_of(table)]


def _by_link(links: Sequence[str], offset: str) -> Spec:
    names = list(dict.fromkeys(links))
    colours = colour("link", names, title="transmission, posts")
    return {offset: {"field": "link", "sort": names}, "color": colours}
