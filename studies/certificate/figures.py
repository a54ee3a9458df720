"""The figures of a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from analysis.charts import (
    BLACK,
    GREY,
    STAMP,
    Drawing,
    colour,
    finish,
    intervals,
    rule_at,
    shades,
)
from studies.certificate.verdict import ALARMS, NOT, PART, READS, UNKNOWN, short
from studies.conclusion import row_dicts

if TYPE_CHECKING:
    from studies.certificate.table import Certified

LABELS = {READS: "reads it", PART: "part of it", NOT: NOT, ALARMS: ALARMS, UNKNOWN: UNKNOWN}
MOST_SHOWN = 10.0  # of a slope; larger ones stand at the edge


def charts(found: Certified, planted: str) -> dict[str, Drawing]:
    """``certificate``: metrics by subjects; ``certificate_slopes``; ``certificate_curves``; and of
    models stopped in training ``certificate_training``.
    """
    drawn = {
        "certificate": verdict_chart(found.certificate),
        "certificate_slopes": slope_chart(found.certificate),
        "certificate_curves": curve_chart(found.curves, planted.replace("_", " ")),
    }
    if len(gone := _gone(found.training)):
        drawn["certificate_training"] = training_chart(gone)
    return drawn


def verdict_chart(table: pd.DataFrame) -> Drawing:
    """A row a metric and convention, a column a subject; darker: the better it reads the truth; in
    each cell the verdict and r.
    """
    rows = [
        {
            "score": _score(row),
            "subject": row["subject"],
            "verdict": row["verdict"],
            "text": LABELS[row["verdict"]] + _with_r(row),
        }
        for row in row_dicts(table)
    ]
    looks = dict(zip((READS, PART), (shades(4)[3], shades(4)[1]), strict=True)) | {
        NOT: "#eeeeee",
        ALARMS: "#f2d7c9",
        UNKNOWN: "white",
    }
    axis = alt.Axis(labelAngle=0, grid=False, orient="top")
    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.X("subject:N", sort=None, title=None, axis=axis),
        alt.Y("score:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
    )
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    cells = base.mark_rect(stroke="white").encode(alt.Color("verdict:N", scale=scale, legend=None))
    ink = alt.condition(f"datum.verdict === '{READS}'", alt.value("white"), alt.value(BLACK))
    chart = alt.layer(cells, base.mark_text(fontSize=10).encode(text="text:N", color=ink))
    return finish(
        chart.properties(width=alt.Step(104), height=alt.Step(17)),
        "Which scores follow the bias that was planted",
        [STAMP, "r: of planted strength and score, over models."],
    )


def slope_chart(table: pd.DataFrame) -> Drawing:
    """The slope of each score with its interval, a panel a subject."""
    columns = ["slope", "slope_low", "slope_high"]
    known = table[table["slope"].notna()]
    rows = known.assign(score=[_score(row) for row in row_dicts(known)])
    rows = rows.rename(columns=dict(zip(columns, ("value", "low", "high"), strict=True)))
    base = alt.Chart().encode(alt.Y("score:N", sort=None, title=None))
    scale = alt.Scale(domain=[-2, MOST_SHOWN], clamp=True)
    layers = [rule_at(0), *intervals(base, size=25, title="slope (sd)", scale=scale)]
    panel = alt.layer(*layers).properties(width=150, height=alt.Step(12))
    chart = panel.facet(
        alt.Facet("subject:N", title=None, sort=None),
        data=rows[["score", "subject", "value", "low", "high"]],
        columns=3,
    ).resolve_scale(y="independent")
    return finish(
        chart,
        "How far each score moves from no bias to the full one",
        [STAMP, "In standard deviations of models of one strength; larger slopes at the edge."],
    )


def curve_chart(curves: pd.DataFrame, planted: str) -> Drawing:
    """A panel a metric: the mean score and its interval by strength, a line a convention and
    subject, of subjects in one language with the first convention alone.
    """
    first = curves.groupby("metric", sort=False)["convention"].transform("first")
    rows = curves[curves["convention"] == first].drop(columns="convention")
    subjects = list(dict.fromkeys(rows["subject"]))
    base = alt.Chart().encode(
        alt.X("strength:Q", title=f"planted {planted}"),
        colour("subject", subjects),
    )
    y = alt.Y("score:Q", title="score", scale=alt.Scale(zero=False))
    layers = [
        base.mark_area(opacity=0.15).encode(
            alt.Y("score_low:Q", title="score"), alt.Y2("score_high")
        ),
        base.mark_line(point={"size": 18, "opacity": 1}).encode(y),
    ]
    panel = alt.layer(*layers).properties(width=140, height=100)
    columns = ["metric", "subject", "strength", "score", "score_low", "score_high"]
    chart = panel.facet(alt.Facet("metric:N", title=None, sort=None), data=rows[columns], columns=5)
    drawn = chart.resolve_scale(y="independent").resolve_axis(x="independent")
    return finish(drawn, "What each metric reads: mean and 95% interval over seeds", [STAMP])


def training_chart(gone: pd.DataFrame) -> Drawing:
    """How far the score has gone, from random weights to the end of training, by training steps: a
    panel a metric, a line a convention and subject.
    """
    subjects = list(dict.fromkeys(gone["subject"]))
    share = alt.Scale(domain=[-0.5, 1.5], clamp=True)
    scale = alt.Scale(type="sqrt")
    ticks = alt.Axis(values=sorted(gone["steps"].unique().tolist()), format="d")
    base = alt.Chart().encode(
        alt.X("steps:Q", title="training steps", scale=scale, axis=ticks),
        alt.Y("gone:Q", title="share of the final score", scale=share),
        alt.Detail("convention:N"),
        colour("subject", subjects),
    )
    shape = alt.Shape("subject:N", sort=subjects, legend=None)
    points = base.mark_point(size=25, filled=True, opacity=1).encode(shape)
    final = alt.Chart().mark_rule(color=GREY).encode(y=alt.datum(1))
    chart = (
        alt.layer(final, base.mark_line(strokeWidth=1), points)
        .properties(width=190, height=130)
        .facet(
            alt.Facet("metric:N", title=None, sort=None),
            data=gone[["metric", "convention", "subject", "steps", "gone"]],
            columns=3,
        )
    )
    title = "When in training each score sees the bias"
    notes = [
        STAMP,
        "0: random weights; 1: the end of training. A line a convention; means of the models.",
    ]
    return finish(chart, title, notes)


def _gone(training: pd.DataFrame) -> pd.DataFrame:
    """With the share of the way from the first to the last score, of scores that moved by more than
    their interval is wide.
    """
    parts = []
    names = ["metric", "convention", "subject"]
    for _, part in training.groupby(names, sort=False) if len(training) else ():
        first, last = part.iloc[0], part.iloc[-1]
        moved = float(last["score"]) - float(first["score"])
        if abs(moved) > float(last["score_high"]) - float(last["score_low"]):
            gone = (part["score"] - float(first["score"])) / moved
            parts.append(part.assign(gone=gone)[part["steps"].notna()])
    return pd.concat(parts) if parts else pd.DataFrame()


def _with_r(row: dict[str, object]) -> str:
    return "" if row["verdict"] == UNKNOWN else f", r {short(float(str(row['r'])))}"


def _score(row: dict[str, object]) -> str:
    """``weat`` or, of a convention with a name, ``weat, wefe``."""
    metric, convention = str(row["metric"]), str(row["convention"])
    return metric if convention in ("default", "") else f"{metric}, {convention}"
