"""A calibration as a terminal table and as figures."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from analysis.columns import labels, numbers, texts, values_of
from analysis.look import PALETTE, chart
from analysis.show import short
from files.charts import Spec, save_charts
from studies.calibration.readings import SETTINGS
from studies.calibration.table import SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from rich.console import Console

FORMATS = (".svg", ".png", ".pdf")
TITLES = {
    "sentences": "sentences in the corpus",
    "dim": "vector length",
    "posts": "labelled posts",
    "stereotype": "planted stereotype",
    "label_bias": "planted label bias",
}
COLUMNS = ("detects", "in order", "at 0", "false: p", "interval", "trust")
CURVES = 5  # columns of panels


def print_ranking(ranked: pd.DataFrame, planted: str, console: Console) -> None:
    """One block a setting: its instruments from the most to the least trustworthy."""
    settings = [name for name in SETTINGS if name in ranked]
    for key, part in ranked.groupby(settings, sort=False):
        where = ", ".join(f"{name} {value}" for name, value in zip(settings, key, strict=True))
        seeds = max(numbers(part, "seeds"))
        title = f"{TITLES.get(planted, planted)}: {where}, {seeds:.0f} seeds, generated data"
        console.print(title, style="bold", soft_wrap=True, highlight=False)
        drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
        drawn.add_column("")
        drawn.add_column("instrument")
        for name in COLUMNS:
            drawn.add_column(name, justify="left" if name == "trust" else "right", no_wrap=True)
        for row in _rows(part):
            drawn.add_row(*row)
        console.print(drawn)
    console.print(
        "detects: smallest planted bias told from 0 in 80% of single readings [95% over seeds]; in"
        " order: share of steps in the right direction; at 0: mean reading minus the unbiased"
        " value, in standard deviations; false: readings at 0 with p < .05, and whose interval"
        " excludes the unbiased value",
        highlight=False,
    )


def _rows(part: pd.DataFrame) -> list[list[str]]:
    columns = {name: numbers(part, name).tolist() for name in _SHOWN}
    names = zip(labels(part, "rank"), texts(part, "instrument"), texts(part, "trust"), strict=True)
    return [
        [
            rank,
            name,
            _bounded(*(columns[f"detectable{end}"][i] for end in ("", "_low", "_high"))),
            _percent(columns["steps"][i]),
            "-" if columns["offset"][i] != columns["offset"][i] else f"{columns['offset'][i]:.1f}",
            _percent(columns["false_p"][i]),
            _percent(columns["false_interval"][i]),
            trust,
        ]
        for i, (rank, name, trust) in enumerate(names)
    ]


_SHOWN = (
    *("detectable", "detectable_low", "detectable_high"),
    *("steps", "offset", "false_p", "false_interval"),
)


def _bounded(value: float, low: float, high: float) -> str:
    if value != value:
        return "-"
    bounds = f" [{_level(low)}, {_level(high)}]" if low == low else ""
    return _level(value) + bounds


def _level(value: float) -> str:
    return short(value) if isfinite(value) else "none"


def _percent(value: float) -> str:
    return "-" if value != value else f"{value:.0%}"


def draw_calibration(found: Mapping[str, pd.DataFrame], planted: str, folder: Path) -> list[Path]:
    """``curves``, ``sensitivity`` and ``dependence`` in every format; the paths."""
    charts = {
        "calibration_curves": curve_chart(found["calibration_curves"], planted),
        "calibration_sensitivity": sensitivity_chart(found["calibration"], planted),
    }
    if len(found["calibration_dependence"]):
        charts["calibration_dependence"] = dependence_chart(found["calibration_dependence"])
    return [
        path
        for name, chart in charts.items()
        for path in save_charts(chart, folder / name, FORMATS)
    ]


def curve_chart(curves: pd.DataFrame, planted: str) -> Spec:
    """A panel an instrument: mean reading and its interval against what was planted, in standard
    deviations of the readings at 0; a line a setting.
    """
    rows = [
        {"instrument": name, "setting": setting, "planted": x, "mean": y, "low": low, "high": high}
        for name, setting, x, y, low, high in zip(
            texts(curves, "instrument"),
            _settings(curves),
            *(_finite(curves, each) for each in ("planted", "value_sd", "low_sd", "high_sd")),
            strict=True,
        )
    ]
    x: Spec = {"field": "planted", "type": "quantitative", "title": TITLES.get(planted, planted)}
    y: Spec = {"type": "quantitative", "title": "reading, in sd at 0"}
    colour = _colour(_in_order(curves))
    band = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": colour}
    line = {"x": x, "y": y | {"field": "mean"}, "color": colour}
    return chart(
        "What each instrument reads, mean and 95% interval over seeds (generated data)",
        {
            "facet": {"field": "instrument", "type": "nominal", "title": None, "sort": None},
            "columns": CURVES,
            "resolve": {"scale": {"y": "independent"}},
            "spec": {
                "width": 130,
                "height": 100,
                "layer": [
                    {"mark": {"type": "area", "opacity": 0.15}, "encoding": band},
                    {"mark": {"type": "line", "point": {"size": 18}}, "encoding": line},
                ],
            },
        },
        rows,
    )


def sensitivity_chart(ranked: pd.DataFrame, planted: str) -> Spec:
    """The smallest detectable bias of each instrument and its interval; a colour a setting. What
    detects no planted level stands at the right edge.
    """
    top = 1.0
    ranked = _by_sensitivity(ranked)
    columns = [
        np.minimum(numbers(ranked, name), top).tolist()
        for name in ("detectable", "detectable_low", "detectable_high")
    ]
    rows = [
        {"instrument": name, "setting": setting, "value": value, "low": low, "high": high}
        for name, setting, value, low, high in zip(
            texts(ranked, "instrument"), _settings(ranked), *columns, strict=True
        )
        if value == value
    ]
    title = f"smallest {TITLES.get(planted, planted)} found (1: none was)"
    x: Spec = {"type": "quantitative", "title": title, "scale": {"domain": [0, top]}}
    y: Spec = {"field": "instrument", "type": "nominal", "title": None, "sort": None}
    names = _in_order(ranked)
    shared = {"y": y, "yOffset": {"field": "setting", "sort": names}, "color": _colour(names)}
    across = shared | {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    return chart(
        "Told from no bias in 80% of single readings (generated data)",
        {
            "width": 420,
            "height": {"step": 7},
            "layer": [
                {"mark": {"type": "rule", "opacity": 0.5}, "encoding": across},
                {
                    "mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
                    "encoding": shared | {"x": x | {"field": "value"}},
                },
            ],
        },
        rows,
    )


def _by_sensitivity(ranked: pd.DataFrame) -> pd.DataFrame:
    """The rows with the most sensitive instrument, over all settings, first."""
    found = np.minimum(np.nan_to_num(numbers(ranked, "detectable"), nan=1.0), 1.0)
    mean = ranked.assign(_mean=found).groupby("instrument")["_mean"].transform("mean")
    return ranked.iloc[np.argsort(mean.to_numpy(), kind="stable")]


def dependence_chart(table: pd.DataFrame) -> Spec:
    """How far readings move with a size alone, as a share of the response to full bias."""
    pairs = zip(*(labels(table, name) for name in ("over", "small", "large")), strict=True)
    steps = [f"{TITLES[over]}, {large} to {small}" for over, small, large in pairs]
    rows = [
        {"instrument": name, "step": step, "what": what, "value": value, "low": low, "high": high}
        for what, stem in (("nothing planted", "at_zero"), ("full bias", "at_top"))
        for name, step, value, low, high in zip(
            texts(table, "instrument"),
            steps,
            *(_finite(table, stem + end) for end in ("", "_low", "_high")),
            strict=True,
        )
    ]
    x: Spec = {"type": "quantitative", "title": "shift, as a share of the response to full bias"}
    x |= {"scale": {"domain": [-1.5, 1.5], "clamp": True}}
    y: Spec = {"field": "instrument", "type": "nominal", "title": None, "sort": None}
    kinds = ["nothing planted", "full bias"]
    shared = {"y": y, "yOffset": {"field": "what", "sort": kinds}, "color": _colour(kinds, "what")}
    across = shared | {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    return chart(
        "What readings owe to the size of the corpus, the vectors or the posts (generated data)",
        {
            "facet": {"field": "step", "type": "nominal", "title": None, "sort": None},
            "columns": 2,
            "spec": {
                "width": 260,
                "height": {"step": 8},
                "layer": [
                    {"mark": {"type": "rule", "color": "#888888"}, "encoding": {"x": {"datum": 0}}},
                    {"mark": {"type": "rule", "opacity": 0.5}, "encoding": across},
                    {
                        "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
                        "encoding": shared | {"x": x | {"field": "value"}},
                    },
                ],
            },
        },
        rows,
    )


def _colour(names: list[str], field: str = "setting") -> Spec:
    scale = {"domain": names, "range": list(PALETTE)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _settings(table: pd.DataFrame) -> list[str]:
    """What distinguishes the setting of each row from those of others."""
    columns = {name: labels(table, name) for name in SETTINGS if name in table}
    varied = [name for name, values in columns.items() if len(set(values)) > 1]
    told = [
        values if name not in SIZES else [f"{value} {_unit(name)}" for value in values]
        for name, values in columns.items()
        if name in varied
    ]
    return [", ".join(each) for each in zip(*told, strict=True)] or ["all"] * len(table)


def _in_order(table: pd.DataFrame) -> list[str]:
    """Every setting once, in the same order for every figure."""
    columns = [name for name in SETTINGS if name in table]
    return list(dict.fromkeys(_settings(table.sort_values(columns, kind="stable"))))


def _unit(name: str) -> str:
    return {"dim": "dimensions"}.get(name, name)


def _finite(table: pd.DataFrame, column: str) -> list[float | None]:
    return [x if isinstance(x, float) and isfinite(x) else None for x in values_of(table, column)]
