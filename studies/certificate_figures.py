"""Figures of a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from biasbridge.analysis.charts import BLACK, GREY, STAMP, Drawing, colour, finish, shades
from biasbridge.studies import SYNTHETIC
from biasbridge.studies.certificate_verdicts import (
    CANNOT_TELL,
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    NOT_ESTIMATED,
    NOT_GRADED,
    SCORE_VERDICTS,
    short,
)
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from biasbridge.studies.certificate_tables import CertificateTables


_LABELS = {DETECTS_HALF: "half", DETECTS_PART: "strong only"}  # else: the verdict
_DETECTION = {DETECTS_HALF: 3, DETECTS_PART: 1, NOT_GRADED: 0}  # shades
_COLOURS = {DOES_NOT_DETECT: "#eeeeee", CANNOT_TELL: "#f8f8f8", NOT_ESTIMATED: "white"}
_FAULT = "#f2d7c9"


def certificate_charts(tables: CertificateTables, planted: str) -> dict[str, Drawing]:
    """Draw verdicts, curves and, if models were stopped early, the course of training."""
    certificate, curves, training = (
        with_material(table) for table in (tables.certificate, tables.curves, tables.training)
    )
    drawings = {
        "certificate": verdict_chart(certificate),
        "certificate_curves": _curve_chart(curves, planted.replace("_", " ")),
    }
    if len(progress := _training_progress(training)):
        drawings["certificate_training"] = _training_chart(progress)
    return drawings


def with_material(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with real material in the names of subjects, unless it is there."""
    if table.empty:
        return table
    names = zip(table["subject"], table["material"], strict=True)
    subjects = [
        name if made == SYNTHETIC or name.startswith(made) else f"{name}, {made}"
        for name, made in names
    ]
    return table.assign(subject=subjects)


def _stamps(subjects: Iterable[str]) -> list[str]:
    """Return the stamp of synthetic data, if any; with real material it says where it holds."""
    is_real = {", " in subject for subject in subjects}
    stamp = STAMP if len(is_real) == 1 else f"Where no text is named: s{STAMP[1:]}"
    return [stamp] if False in is_real else []


def verdict_chart(*tables: pd.DataFrame) -> Drawing:
    """Draw verdict (dark: detects bias) and r; rows: metric, convention; columns: subject.

    Tables stand below one another.
    """
    return finish(
        alt.vconcat(*map(_verdict_panel, tables)) if len(tables) > 1 else _verdict_panel(tables[0]),
        "Which scores follow the planted bias",
        [
            *_stamps(pd.concat([table["subject"] for table in tables])),
            "r: correlation of planted strength and score, over models.",
        ],
    )


def _verdict_panel(table: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    rows = [
        {
            "score": _score_label(row),
            "subject": row["subject"],
            "verdict": row["verdict"],
            "text": _LABELS.get(row["verdict"], row["verdict"]) + _r_text(row),
        }
        for row in row_dicts(table)
    ]
    detection = {verdict: shades(4)[shade] for verdict, shade in _DETECTION.items()}
    colours = {
        verdict: {**_COLOURS, **detection}.get(verdict, _FAULT) for verdict in SCORE_VERDICTS
    }
    axis = alt.Axis(
        labelAngle=0,
        labelOverlap=False,
        labelPadding=2 + 12 * any(", " in row["subject"] for row in rows),
        labelExpr="split(datum.label, ', ')",  # a line each for subject and material
        grid=False,
        orient="top",
    )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.X("subject:N", sort=None, title=None, axis=axis),
        alt.Y("score:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
    )
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    cells = base.mark_rect(stroke="white").encode(alt.Color("verdict:N", scale=scale, legend=None))
    ink = alt.condition(f"datum.verdict === '{DETECTS_HALF}'", alt.value("white"), alt.value(BLACK))
    chart = alt.layer(cells, base.mark_text(fontSize=10).encode(text="text:N", color=ink))
    return chart.properties(width=alt.Step(104), height=alt.Step(17))


def _curve_chart(curves: pd.DataFrame, planted: str) -> Drawing:
    """Draw mean score and interval by strength, a panel per metric (its first convention)."""
    first_convention = curves.groupby("metric", sort=False)["convention"].transform("first")
    rows = curves[curves["convention"] == first_convention].drop(columns="convention")
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
    figure = chart.resolve_scale(y="independent").resolve_axis(x="independent")
    title = "Scores by planted strength: mean and 95% interval over seeds"
    return finish(figure, title, _stamps(subjects))


def _training_chart(progress: pd.DataFrame) -> Drawing:
    """Draw the share of the final score by training steps, one panel per metric."""
    subjects = list(dict.fromkeys(progress["subject"]))
    share = alt.Scale(domain=[-0.5, 1.5], clamp=True)
    scale = alt.Scale(type="sqrt")
    ticks = alt.Axis(values=sorted(progress["steps"].unique().tolist()), format="d")
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
            data=progress[["metric", "convention", "subject", "steps", "gone"]],
            columns=3,
        )
    )
    title = "Training steps at which each score shows the bias"
    notes = [
        *_stamps(subjects),
        "0: random weights; 1: end of training. One line per convention; means over models.",
    ]
    return finish(chart, title, notes)


def _training_progress(training: pd.DataFrame) -> pd.DataFrame:
    """Add ``gone``, the share of the change; drop scores whose change is within their interval."""
    progress = []
    names = ["metric", "convention", "subject"]
    for _, rows in training.groupby(names, sort=False) if len(training) else ():
        first, last = rows.iloc[0], rows.iloc[-1]
        change = float(last["score"]) - float(first["score"])
        if abs(change) > float(last["score_high"]) - float(last["score_low"]):
            share = (rows["score"] - float(first["score"])) / change
            progress.append(rows.assign(gone=share)[rows["steps"].notna()])
    return pd.concat(progress) if progress else pd.DataFrame()


def _r_text(row: dict[str, object]) -> str:
    return "" if row["verdict"] == NOT_ESTIMATED else f", r {short(float(str(row['r'])))}"


def _score_label(row: dict[str, object]) -> str:
    """Return the metric, with the convention if it has a name: ``weat, wefe``."""
    metric, convention = str(row["metric"]), str(row["convention"])
    return metric if convention in ("default", "") else f"{metric}, {convention}"
