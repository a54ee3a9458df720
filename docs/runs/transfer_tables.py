"""Slopes of the gap on the score over all recorded runs, as tables and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import altair as alt
import numpy as np
import pandas as pd
from recorded_runs import (
    ENDS,
    HERE,
    STUDIES,
    joined,
    markdown,
    recorded_slices,
    row_estimate,
)

from analysis.charts import finish, intervals, rule_at
from files.charts import save_charts
from stats.formatting import format_number

TRANSFER = STUDIES / "certificate_transfer.csv"
SLOPES = "transfer_slopes"  # figure of docs/runs/transfer.md
PLANTED_RUNS = ("transfer_hatespeech", "transfer_coreference", "transfer_retrieval")
TITLES = {  # the runs of docs/runs/transfer.md
    "transfer_grep_bias_ir": "Retrieval, sentence encoder",
    "transfer_grep_bias_ir_words": "Retrieval, word vectors",
    "answer_en": "Hate speech, English, women",
    "hatespeech_es_gender": "Hate speech, Spanish, women",
    "hatespeech_es_migrants": "Hate speech, Spanish, migrants",
    "transfer_hatespeech": "Hate speech, a planted link",
    "transfer_coreference": "Coreference, a planted link",
    "transfer_retrieval": "Retrieval, a planted stereotype",
}
SLICE_KEYS = ("task", "metric", "convention", "query", "part", "measure")


def all_slopes() -> pd.DataFrame:
    """Return the slopes of all recorded runs, in the order of ``TITLES``."""
    runs = [slopes(run) for run in TITLES if (HERE / run).is_dir()]
    return pd.concat(runs, ignore_index=True)


@cache
def slopes(run: str) -> pd.DataFrame:
    """Return the slope b of the gap on the score for each confirmatory slice, one row each.

    ``score_range``: range of the score within a parent. ``slope_without_min`` and ``..._max``:
    smallest and largest b without the models of one method. ``planted``: strength of the planted
    bias, NaN in real data.
    """
    table = joined(run)
    rows = []
    for result, titles in recorded_slices(run):
        key = [result.names[name] for name in SLICE_KEYS]
        part = table[table[[*SLICE_KEYS]].astype(str).eq(key).all(axis=1)]
        methods = set(part["method"]) - {"none"}
        without = [_slope(part[part["method"] != method]) for method in sorted(methods)]
        is_planted = run in PLANTED_RUNS
        rows.append(
            {
                **{name: result.names[name] for name in ("metric", "query")},
                "run": TITLES[run],
                "planted": float(result.names["task"].rpartition("_")[2]) if is_planted else np.nan,
                **titles,
                "models": result.n,
                "parents": result.n_parents,
                "conditions": result.n_conditions,
                "score_range": float(part.groupby("parent")["x"].agg(np.ptp).max()),
                **_ends("slope", result.models.slope.times(result.sign)),
                "slope_without_min": min(without),
                "slope_without_max": max(without),
                **_ends("slope_conditions", result.conditions.slope.times(result.sign)),
                **_ends("r_rm", result.within.interval),
            }
        )
    return pd.DataFrame(rows)


def _slope(rows: pd.DataFrame) -> float:
    """Compute b over these models, within parents."""
    u, v = (rows[side] - rows.groupby("parent")[side].transform("mean") for side in "xy")
    return float((u @ v) / (u @ u))


def _ends(name: str, interval: Sequence[float]) -> dict[str, float]:
    return {f"{name}{end}": value for end, value in zip(ENDS, interval, strict=True)}


def _counts(row: pd.Series) -> str:
    return "{models}, {parents}, {conditions}".format(**row)


def transfer(_: str) -> str:
    """Tabulate the slopes b in real data, and the largest change of the gap they allow.

    That is the farthest end of their intervals times the range of the score. With one parent,
    models are conditions.
    """
    table = all_slopes()
    ends = [f"{scope}{end}" for scope in ("slope", "slope_conditions") for end in ENDS[1:]]
    rows = [
        {
            "run": row["run"],
            "score": row["score"],
            "gap": row["gap"],
            "models, parents, conditions": _counts(row),
            "b": row_estimate(row, "slope", 4),
            "b, other conditions": row_estimate(row, "slope_conditions", 4)
            if row["parents"] > 1
            else "",
            "score moved by": format_number(row["score_range"]),
            "so gap at most": format_number(
                row["score_range"] * max(abs(row[end]) for end in ends), 3
            ),
            "r_rm": row_estimate(row, "r_rm"),
        }
        for _, row in table[table["planted"].isna()].iterrows()
    ]
    return markdown(rows, merged=("run", "models, parents, conditions"))


def planted(_: str) -> str:
    """Tabulate the slopes with a planted bias, one row per score, the strengths side by side."""
    table = all_slopes()
    rows = []
    for (run, score), part in table.dropna(subset="planted").groupby(["run", "score"], sort=False):
        last = part.iloc[-1]
        rows.append(
            {
                "run": str(run),
                "score": str(score),
                "gap": str(last["gap"]),
                "models, parents, conditions": _counts(last),
                **{
                    f"b at {row['planted']:g}": row_estimate(row, "slope", 3)
                    for _, row in part.iterrows()
                },
                "r_rm at 1": row_estimate(last, "r_rm"),
            }
        )
    return markdown(rows, merged=("run", "gap", "models, parents, conditions"))


def draw_slopes() -> None:
    """Draw ``transfer_slopes.svg`` of real data: b times the range of the score within a parent."""
    table = all_slopes()
    table = table[table["planted"].isna()]
    rows = pd.DataFrame({"run": table["run"], "slice": table["score"] + ", " + table["gap"]})
    for name, end in zip(("value", "low", "high"), ENDS, strict=True):
        rows[name] = table["score_range"] * table[f"slope{end}"]
    base = alt.Chart().encode(alt.Y("slice:N", sort=[*rows["slice"]], title=None))
    panel = alt.layer(rule_at(0), *intervals(base, size=30, title="change of the gap"))
    names = list(dict.fromkeys(rows["run"]))
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start")
    row = alt.Row("run:N", sort=names, title=None, header=header)
    chart = panel.properties(width=360, height=alt.Step(16)).facet(row=row, data=rows, spacing=8)
    notes = [
        "b times the distance that the score was moved within a parent, with its 95% interval.",
        "Each panel has its own scale: cosines in retrieval, shares of posts in hate speech.",
    ]
    chart = chart.resolve_scale(x="independent", y="independent")
    figure = finish(chart, "How far a gap moves with a score", notes)
    save_charts(figure, HERE / SLOPES, (".svg",))
