"""Changes of the gap over all recorded runs, as tables and as a figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd
from recorded_runs import HERE, declared, markdown, recorded_slices

from biasbridge.analysis.answer import (
    CHANGE_HEADING,
    SCORE_RANGE,
    VERDICT_HEADING,
    change_rows,
    format_change,
    name_verdict,
)
from biasbridge.analysis.charts import finish, intervals, rule_at
from biasbridge.analysis.verdict import YES
from biasbridge.files.charts import save_charts
from biasbridge.stats.formatting import format_estimate

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

CHANGES = "transfer_changes"  # figure of docs/runs/transfer.md
REAL = {  # the runs of docs/runs/transfer.md
    "transfer_grep_bias_ir": "Retrieval, sentence encoder",
    "transfer_grep_bias_ir_words": "Retrieval, word vectors",
    "answer_en": "Hate speech, English, women",
    "hatespeech_es_gender": "Hate speech, Spanish, women",
    "hatespeech_es_migrants": "Hate speech, Spanish, migrants",
}
PLANTED = {
    "transfer_hatespeech": "Hate speech, a planted link",
    "transfer_coreference": "Coreference, a planted link",
    "transfer_retrieval": "Retrieval, a planted stereotype",
}
COUNTS = "models, parents, conditions"


def _results(runs: dict[str, str]) -> Iterator[tuple[dict[str, str], SliceResult, float]]:
    """Yield each declared test of some runs: its names, result and smallest change of interest."""
    for run, title in runs.items():
        x = declared(run).smallest_change
        for result, titles in recorded_slices(run):
            counts = f"{result.n}, {result.n_parents}, {result.n_conditions}"
            yield {"run": title, **titles, COUNTS: counts}, result, x


def transfer(_: str) -> str:
    """Tabulate the change of the gap in real data, what it holds for, and r_rm."""
    rows = []
    for names, result, x in _results(REAL):
        [[cells]] = change_rows([result], x).values()
        rows.append(
            {
                **names,
                SCORE_RANGE: cells[SCORE_RANGE],
                CHANGE_HEADING: format_estimate(*result.change, digits=4, sign="+"),
                VERDICT_HEADING: cells[VERDICT_HEADING],
                "r_rm": format_estimate(*result.within.interval),
                "holds for": ", ".join(s for s, word in result.holds.items() if word == YES),
            }
        )
    return markdown(rows, merged=("run", COUNTS))


def planted(_: str) -> str:
    """Tabulate the changes with a planted bias, one row per score, the strengths side by side."""
    table: dict[tuple[str, str], dict[str, str]] = {}
    for names, result, x in _results(PLANTED):
        row = table.setdefault((names["run"], names["score"]), dict(names))
        strength = float(result.names["task"].rpartition("_")[2])
        row[f"change at {strength:g}"] = format_change(result)
        if strength == 1:
            row["r_rm at 1"] = format_estimate(*result.within.interval)
            row["verdict at 1"] = name_verdict(result, x)
    return markdown(list(table.values()), merged=("run", "gap", COUNTS))


def draw_changes() -> None:
    """Draw ``transfer_changes.svg`` of real data."""
    rows = pd.DataFrame(
        [
            {"run": names["run"], "slice": f"{names['score']}, {names['gap']}"}
            | dict(zip(("value", "low", "high"), result.change, strict=True))
            for names, result, _ in _results(REAL)
        ]
    )
    base = alt.Chart().encode(alt.Y("slice:N", sort=[*rows["slice"]], title=None))
    panel = alt.layer(rule_at(0), *intervals(base, size=30, title="change of the gap"))
    names = list(dict.fromkeys(rows["run"]))
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start")
    row = alt.Row("run:N", sort=names, title=None, header=header)
    chart = panel.properties(width=360, height=alt.Step(16)).facet(row=row, data=rows, spacing=8)
    notes = [
        "Change over the range of the score, with its 95% interval.",
        "Each panel has its own scale: cosines in retrieval, shares of posts in hate speech.",
    ]
    chart = chart.resolve_scale(x="independent", y="independent")
    figure = finish(chart, "How far a gap moves with a score", notes)
    save_charts(figure, HERE / CHANGES, (".svg",))
