"""The specification curves of a study as tables and a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.look import INK, PALETTE, chart
from analysis.naming import ALL
from analysis.results import write_conclusions
from analysis.specifications import CHOICES, Curve, Level, Specification
from files.charts import Spec, save_charts

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 620
MOST_LEVELS = 40  # drawn below the curve
TITLE = "r_rm, 95% interval"


def specification_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """One row a specification: its task, its rank by r_rm, a level of every choice, r_rm with its
    interval, and where the curve under no association lies at that rank (95%).
    """
    rows = [
        {"task": curve.task, "rank": rank}
        | dict(zip(CHOICES, each.levels, strict=True))
        | each._asdict()
        for curve in curves
        for rank, each in enumerate(curve.specifications, 1)
    ]
    return pd.DataFrame(rows, columns=["task", "rank", *CHOICES, *Specification._fields[1:]])


def level_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """One row a level of a choice; the first of each task, choice and level ``all``, is the whole
    curve, with the permutation ``p`` of its median.
    """
    rows = []
    for curve in curves:
        number = len(curve.specifications)
        above = sum(each.r_rm > 0 for each in curve.specifications) / number
        whole = Level(ALL, ALL, number, curve.median, above, float("nan"))
        rows.append({"task": curve.task, **whole._asdict(), "p": curve.p})
        rows += [{"task": curve.task, **each._asdict()} for each in curve.levels]
    return pd.DataFrame(rows, columns=["task", *Level._fields, "p"])


def write_curves(curves: Sequence[Curve], folder: Path, console: Console) -> list[Path]:
    """Print what the curves say and write their tables and figures; the paths written, of no curve
    none.
    """
    if not curves:
        return []
    for curve in curves:
        console.print(curve.sentence(), soft_wrap=True, highlight=False, markup=False)
    tables = {
        "specifications": specification_table(curves),
        "specification_levels": level_table(curves),
    }
    return write_conclusions(folder, tables) + draw_curves(curves, folder / "figures")


def draw_curves(
    curves: Sequence[Curve], out: Path, suffixes: Sequence[str] = (".svg", ".png", ".pdf")
) -> list[Path]:
    """Draw a figure a task into ``out``, in each format; the paths written."""
    written = []
    for curve in curves:
        stem = re.sub(r"[^\w.-]+", "_", f"specifications_{curve.task}").strip("_")
        written += save_charts(curve_chart(curve), out / stem, suffixes)
    return written


def curve_chart(curve: Curve) -> Spec:
    """The curve in order of r over the band that it would lie in if no gap followed any score, and
    below it which levels each specification has, as a Vega-Lite specification.
    """
    rows = [
        {
            "rank": rank,
            "r": each.r_rm,
            "low": each.low if isfinite(each.low) else None,
            "high": each.high if isfinite(each.high) else None,
            "null_low": each.null_low,
            "null_high": each.null_high,
            "sign": "above 0" if each.r_rm > 0 else "below 0",
        }
        for rank, each in enumerate(curve.specifications, 1)
    ]
    drawn = [each for each in curve.levels if each.choice != "classifier"][:MOST_LEVELS]
    marks = [
        {"rank": rank, "choice": each.choice, "level": f"{each.choice}: {each.level}"}
        for each in drawn
        for rank, one in enumerate(curve.specifications, 1)
        if one.levels[CHOICES.index(each.choice)] == each.level
    ]
    title = {"text": f"{curve.task}: specification curve", "subtitle": _broken(curve)}
    parts = [_upper(rows), *([_lower(marks)] if marks else [])]
    return chart(title, {"vconcat": parts, "spacing": 8})


def _upper(rows: Sequence[Mapping[str, object]]) -> Spec:
    rank = {"field": "rank", "type": "quantitative", "title": None, "axis": None}
    y = {"type": "quantitative", "title": TITLE, "scale": {"domain": [-1, 1]}}
    sign = {"domain": ["below 0", "above 0"], "range": [PALETTE[1], PALETTE[0]]}
    colour = {"field": "sign", "type": "nominal", "title": None, "scale": sign}
    band = {"y": {"field": "null_low", **y}, "y2": {"field": "null_high"}, "x": rank}
    bars = {"y": {"field": "low", **y}, "y2": {"field": "high"}, "x": rank, "color": colour}
    return {
        "width": WIDTH,
        "height": 220,
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "area", "color": "#999999", "opacity": 0.3}, "encoding": band},
            {"mark": {"type": "rule", "color": INK}, "encoding": {"y": {"datum": 0, **y}}},
            {"mark": {"type": "rule", "opacity": 0.25}, "encoding": bars},
            {
                "mark": {"type": "point", "filled": True, "size": 14, "opacity": 1},
                "encoding": {"y": {"field": "r", **y}, "x": rank, "color": colour},
            },
        ],
    }


def _lower(marks: Sequence[Mapping[str, object]]) -> Spec:
    title = "specifications in order of r; grey: 95% of curves if no gap followed any score"
    levels = list(dict.fromkeys(str(each["level"]) for each in marks))
    encoding = {
        "x": {"field": "rank", "type": "quantitative", "title": title},
        "y": {"field": "level", "type": "nominal", "sort": levels, "title": None},
    }
    return {
        "width": WIDTH,
        "height": {"step": 12},
        "data": {"values": marks},
        "mark": {"type": "tick", "thickness": 1, "color": INK, "bandSize": 9},
        "encoding": encoding,
    }


def _broken(curve: Curve) -> list[str]:
    """What the curve says, a sentence a line."""
    return curve.sentence().split(". ")
