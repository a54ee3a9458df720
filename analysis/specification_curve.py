"""The specification curves of a study as tables and a figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from biasbridge.analysis.charts import INK, PALETTE, STAMP, Drawing, finish
from biasbridge.analysis.naming import ALL
from biasbridge.analysis.results import write_csv_tables
from biasbridge.analysis.specifications import CHOICES, Curve, Level, Specification
from biasbridge.analysis.terminal import print_lines
from biasbridge.files.charts import save_charts

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 620
MAX_LEVELS = 40  # most levels drawn below the curve
TITLE = "r_rm, 95% interval"
LEVELS = alt.Axis(labelLimit=320)


def specification_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return one row per specification: its task, rank by r_rm, a level of every choice, r_rm with
    its interval, and the 95% range of the null curve at that rank.
    """
    rows = [
        {"task": curve.task, "rank": rank}
        | dict(zip(CHOICES, specification.levels, strict=True))
        | specification._asdict()
        for curve in curves
        for rank, specification in enumerate(curve.specifications, 1)
    ]
    return pd.DataFrame(rows, columns=["task", "rank", *CHOICES, *Specification._fields[1:]])


def level_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return one row per level of a choice; the first of each task, choice and level ``all``, is
    the whole curve, with the permutation ``p`` of its median.
    """
    rows = []
    for curve in curves:
        number = len(curve.specifications)
        above = sum(specification.r_rm > 0 for specification in curve.specifications) / number
        whole = Level(ALL, ALL, number, curve.median, above, float("nan"))
        rows.append({"task": curve.task, **whole._asdict(), "p": curve.p})
        rows += [{"task": curve.task, **specification._asdict()} for specification in curve.levels]
    return pd.DataFrame(rows, columns=["task", *Level._fields, "p"])


def write_curves(curves: Sequence[Curve], folder: Path, console: Console) -> list[Path]:
    """Print the sentences of the curves and write their tables and figures; return the paths."""
    if not curves:
        return []
    print_lines((curve.sentence() for curve in curves), console)
    tables = {
        "specifications": specification_table(curves),
        "specification_levels": level_table(curves),
    }
    return write_csv_tables(folder, tables) + draw_curves(curves, folder / "figures")


def draw_curves(
    curves: Sequence[Curve], out: Path, suffixes: Sequence[str] = (".svg", ".png", ".pdf")
) -> list[Path]:
    """Draw a figure per task into ``out``, in each format; return the paths."""
    written = []
    for curve in curves:
        stem = re.sub(r"[^\w.-]+", "_", f"specifications_{curve.task}").strip("_")
        written += save_charts(curve_chart(curve), out / stem, suffixes)
    return written


def curve_chart(curve: Curve) -> Drawing:
    """Draw the curve over its null band, with the levels of each specification below."""
    table = specification_table([curve])
    shown_levels = [level for level in curve.levels if level.choice != "classifier"][:MAX_LEVELS]
    marks = pd.DataFrame(
        [
            {"rank": rank, "level": f"{level.choice}: {level.title}"}
            for level in shown_levels
            for rank in table.loc[table[level.choice] == level.level, "rank"]
        ]
    )
    parts: list[Any] = [_upper(table), *([_lower(marks, len(table))] if len(marks) else [])]
    stamp = [STAMP] if curve.synthetic else []
    notes = [
        *stamp,
        *curve.sentence().split(". "),
        "Grey: 95% of curves if no gap followed a score.",
    ]
    above = f"{sum(table['r_rm'] > 0)} of {len(table)} ways to analyse it"
    title = f"{curve.task}: r_rm is above 0 in {above}"
    return finish(alt.vconcat(*parts, spacing=8), title, notes)


def _upper(table: pd.DataFrame) -> Any:
    signs = ["below 0", "above 0"]
    rows = table.assign(sign=[signs[r > 0] for r in table["r_rm"]])
    base = alt.Chart().encode(_rank(len(rows), axis=None))
    scale = alt.Scale(domain=signs, range=[PALETTE[1], PALETTE[0]])
    signed = base.encode(alt.Color("sign:N", legend=None, scale=scale))

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=TITLE, scale=alt.Scale(domain=[-1, 1]))

    layers = [
        base.mark_area(color="#999999", opacity=0.3).encode(y("null_low"), alt.Y2("null_high")),
        alt.Chart().mark_rule(color=INK).encode(y=alt.datum(0)),
        signed.mark_rule(opacity=0.25).encode(y("low"), alt.Y2("high")),
        signed.mark_point(filled=True, size=14, opacity=1).encode(y("r_rm")),
    ]
    return alt.layer(*layers, data=rows).properties(width=WIDTH, height=220)


def _lower(marks: pd.DataFrame, number: int) -> Any:
    title = "ways to analyse it, in order of r_rm; below: which choices each one makes"
    return (
        alt.Chart(marks)
        .mark_tick(thickness=1, color=INK, bandSize=9)
        .encode(_rank(number, title=title), alt.Y("level:N", sort=None, title=None, axis=LEVELS))
        .properties(width=WIDTH, height=alt.Step(12))
    )


def _rank(number: int, **options: Any) -> alt.X:
    return alt.X("rank:Q", scale=alt.Scale(domain=[0.5, number + 0.5], nice=False), **options)
