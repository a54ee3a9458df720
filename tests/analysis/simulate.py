"""The simulations that docs/inference.md shows, as CSV and SVG: python -m tests.analysis.simulate
docs/figures
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import pandas as pd

from analysis.look import CONFIG, PALETTE
from analysis.within import FEWEST_FREE, detectable
from files import atomic_path
from files.charts import SCHEMA, Spec, save_chart
from tests.analysis.designs import (
    FAMILY,
    KINDS,
    ON_ITEMS,
    PARTS,
    SIZES,
    corrections,
    disagreements,
    of_parts,
    on_shared_items,
    own_effects,
    own_slopes,
    power,
    rates,
    total_coverage,
    truth,
)

SHOWN = {
    "ignored": "p, bases ignored",
    "p": "p within bases",
    "sign": "supports or contradicts, one slice",
    "family": "any claim in a family of 6",
}
WIDTH, HEIGHT = 150, 130


def errors(count: int) -> pd.DataFrame:
    """Every design at r of 0, .5 and .8: claims, and whether the interval holds r."""
    rows = []
    for bases, units in SIZES:
        free = bases * units - bases - 1
        for kind in KINDS:
            for r in (0, 0.5, 0.8):
                found = rates(kind, bases, units, r, count)
                design = {"design": kind, "bases": bases, "units": bases * units, "free": free}
                true = {"r": r, "true_r": truth(kind, bases, units, r)}
                sign = {"sign": found.supported + found.contradicted}
                rows.append({**design, **true, **found._asdict(), **sign, "studies": count})
    return pd.DataFrame(rows)


def powers(count: int) -> pd.DataFrame:
    """How often one association among six slices is supported."""
    rows = []
    for bases, units in ((2, 6), (2, 9), (2, 11), (4, 9), (5, 15), (10, 15)):
        free = bases * units - bases - 1
        least = detectable(free, FAMILY)
        for r in (0.3, 0.5, 0.8, least):
            told = {"bases": bases, "units": bases * units, "free": free, "r": r}
            told |= {"detectable": least, "is_detectable": r == least}
            alone, all_six = (power(bases, units, r, count, alone) for alone in (True, False))
            rows.append({**told, "alone": alone, "all_six": all_six, "studies": count})
    return pd.DataFrame(rows)


def totals(count: int) -> pd.DataFrame:
    """How often the interval of r over all rows holds it."""
    rows = []
    for seeds in (5, 6, 8, 10, 15):
        for within, between in ((0.0, 0.0), (0.8, 0.0), (0.5, 0.5), (0.0, 0.8)):
            held = total_coverage(seeds, 9, within, between, count)
            told = {"clusters": seeds, "within": within, "between": between}
            rows.append({**told, "coverage": held, "studies": count})
    return pd.DataFrame(rows)


def noises(count: int) -> pd.DataFrame:
    """r corrected for noise of words and posts, and negligible."""
    rows = []
    for bases, units in ((4, 9), (10, 9), (10, 20), (10, 40)):
        for r in (0.0, 0.3, 0.57):
            for noise in ((0.0, 0.0), (0.5, 0.5), (0.2, 0.9)):
                found = corrections(bases, units, r, noise, count)
                told = {"bases": bases, "units": bases * units, "r": r}
                told |= {"noise_x": noise[0], "noise_y": noise[1]}
                rows.append({**told, **found._asdict(), "studies": count})
    return pd.DataFrame(rows)


def limits(count: int) -> pd.DataFrame:
    """Studies without association that no rule here sees through, and parts said to disagree."""
    rows: list[dict[str, str | float]] = []
    for bases in (2, 4, 10):
        for spread, saturates in product((0.0, 0.5, 1.0), (False, True)):
            effects = own_effects(bases, spread, count, saturates)
            what = "arms have effects of their own" + ", scores saturate" * saturates
            told = {"what": what, "bases": bases, "spread": spread}
            rows.append({**told, **effects._asdict(), "studies": count})
    for bases in (2, 4, 5, 10, 20):
        for spread in (0.0, 0.5, 1.0, 2.0):
            slopes = own_slopes(bases, 9, spread, count)
            told = {"what": "bases have slopes of their own", "bases": bases, "spread": spread}
            rows.append({**told, **slopes._asdict(), "studies": count})
    for parts in (2, 3, 5):
        for kind in KINDS:
            said = disagreements(parts, 2, 9, kind, 0.0, count)
            told = {"what": f"{parts} alike parts said to disagree, {kind}", "bases": 2}
            rows.append({**told, "said": said, "studies": count})
    return pd.DataFrame(rows)


def shared_items(count: int) -> pd.DataFrame:
    """Studies on items that all embeddings share, and the same taken for all items there are."""
    rows = []
    for bases, units, r, spread in ON_ITEMS:
        found = on_shared_items(bases, units, 200, r, spread, count)
        told = {"bases": bases, "units": bases * units, "r": r, "spread": spread}
        rows.append({**told, **found._asdict(), "studies": count})
    return pd.DataFrame(rows)


def parts(count: int) -> pd.DataFrame:
    """Parts of studies on shared items: how often they are said to disagree without an association,
    and whether the interval of their random-effects mean holds r.
    """
    rows = []
    disagreeing = product(PARTS, (2, 3, 5), ((6, 9), (10, 20)), (0.1, 0.2, 0.3), (0.0,))
    averaged = product(PARTS[1:], (4, 8), ((3, 9), (6, 20)), (0.0, 0.1, 0.3), (0.0, 0.5))
    for of, number, (bases, units), spread, r in (*disagreeing, *averaged):
        found = of_parts(of, number, bases, units, r, spread, count)
        told = {"parts": of, "number": number, "bases": bases, "units": bases * units, "r": r}
        rows.append({**told, "spread": spread, **found._asdict(), "studies": count})
    return pd.DataFrame(rows)


def draw_errors(table: pd.DataFrame) -> Spec:
    """Claims where there is nothing, by design and number of units."""
    null = table[table["r"] == 0].melt(
        id_vars=["design", "bases", "units"], value_vars=list(SHOWN), value_name="share"
    )
    null = null.assign(what=null["variable"].map(SHOWN))
    scale = {"domain": list(SHOWN.values()), "range": ["#999999", *PALETTE[:3]]}
    colour = _nominal("what", None) | {"scale": scale, "legend": {"orient": "top"}}
    share = _share("share", "share of studies (root scale)") | {
        "scale": {"type": "sqrt"},  # what matters is small
        "axis": {"format": "%", "values": [0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6]},
    }
    return _facets(null, share, colour, 0.05, "Claims where nothing is: 5% is what may be")


def draw_coverage(table: pd.DataFrame) -> Spec:
    """How often the interval within bases holds the truth, where a verdict is given."""
    told = table[table["free"] >= FEWEST_FREE]
    scale = {"range": list(PALETTE[:3])}
    colour = _nominal("r", "r within bases") | {"scale": scale, "legend": {"orient": "top"}}
    share = _share("coverage", "hold r") | {"scale": {"zero": False, "padding": 4}}
    return _facets(told, share, colour, 0.95, "95% intervals of r within bases")


def draw_power(table: pd.DataFrame) -> Spec:
    """Power against r, and what is called detectable."""
    encoding: Spec = {
        "x": _number("r", "r within bases") | {"scale": {"domain": [0.2, 1]}},
        "y": _share("alone", "supported, in a family of 6"),
        "color": _nominal("units", "embeddings") | {"scale": {"range": list(PALETTE)}},
    }
    scale = {"domain": [False, True], "range": ["circle", "diamond"]}
    shape = _nominal("is_detectable", "called detectable") | {"scale": scale}
    points = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": encoding | {"shape": shape},
    }
    line = {"mark": {"type": "line", "opacity": 0.6}, "encoding": encoding}
    return {
        **_chart(table, "How often an association is supported"),
        "width": 360,
        "height": 240,
        "layer": [_rule(0.8), line, points],
    }


def _facets(table: pd.DataFrame, share: Spec, colour: Spec, level: float, title: str) -> Spec:
    """A panel for each design, the share against the number of embeddings."""
    encoding = {
        "x": _number("units", "embeddings") | {"scale": {"zero": False, "padding": 8}},
        "y": share,
        "color": colour,
        "shape": _nominal("bases", "bases"),
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.8},
        "encoding": encoding,
    }
    return {
        **_chart(table, title),
        "facet": _nominal("design", None) | {"sort": list(KINDS)},
        "columns": 4,
        "spec": {"width": WIDTH, "height": HEIGHT, "layer": [_rule(level), points]},
    }


def _chart(table: pd.DataFrame, title: str) -> Spec:
    legend = {"symbolOpacity": 1, "labelLimit": 260}
    values = table.to_dict("records")
    return {
        "$schema": SCHEMA,
        "config": CONFIG | {"legend": legend},
        "title": {"text": title},
        "data": {"values": values},
    }


def _rule(level: float) -> Spec:
    mark = {"type": "rule", "color": "#888888", "strokeDash": [3, 3]}
    return {"mark": mark, "encoding": {"y": {"datum": level}}}


def _nominal(field: str, title: str | None) -> Spec:
    return {"field": field, "type": "nominal", "title": title}


def _number(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title}


def _share(field: str, title: str) -> Spec:
    return _number(field, title) | {"axis": {"format": "%"}}


def main() -> None:
    """Simulate, write and draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.simulate", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=1_000, help="of each design")
    given = parser.parse_args()
    out: Path = given.out
    count: int = given.studies
    tables = {}
    for name, (simulate, studies) in {
        "noise": (noises, count // 4),
        "limits": (limits, count // 2),
        "items": (shared_items, count // 2),
        "parts": (parts, count // 5),
        "total": (totals, count // 2),
        "power": (powers, count),
        "errors": (errors, count),
    }.items():
        tables[name] = simulate(studies)
        with atomic_path(out / f"inference_{name}.csv") as path:
            tables[name].round(4).to_csv(path, index=False)
    for name, chart in {
        "errors": draw_errors(tables["errors"]),
        "coverage": draw_coverage(tables["errors"]),
        "power": draw_power(tables["power"]),
    }.items():
        print(save_chart(chart, out / f"inference_{name}.svg"))


if __name__ == "__main__":
    main()
