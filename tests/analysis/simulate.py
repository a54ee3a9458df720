"""The simulations that docs/inference.md shows, as CSV and SVG: python -m tests.analysis.simulate
docs/figures
"""

from __future__ import annotations

import argparse
from pathlib import Path

import altair as alt
import pandas as pd

from analysis.grid import PALETTE, save_chart
from analysis.within import FEWEST_FREE, detectable
from files import atomic_path
from tests.analysis.designs import (
    FAMILY,
    KINDS,
    SIZES,
    corrections,
    disagreements,
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
        for spread in (0.0, 0.5, 1.0):
            found = own_effects(bases, spread, count)
            told = {"what": "arms have effects of their own", "bases": bases, "spread": spread}
            rows.append({**told, **found._asdict(), "studies": count})
            found = own_slopes(bases, 9, spread, count)
            told = {"what": "bases have slopes of their own", "bases": bases, "spread": spread}
            rows.append({**told, **found._asdict(), "studies": count})
    for parts in (2, 3, 5):
        for kind in KINDS:
            said = disagreements(parts, 2, 9, kind, 0.0, count)
            told = {"what": f"{parts} alike parts said to disagree, {kind}", "bases": 2}
            rows.append({**told, "said": said, "studies": count})
    return pd.DataFrame(rows)


def draw_errors(table: pd.DataFrame) -> alt.FacetChart:
    """Claims where there is nothing, by design and number of units."""
    null = table[table["r"] == 0].melt(
        id_vars=["design", "bases", "units"], value_vars=list(SHOWN), value_name="share"
    )
    null = null.assign(what=null["variable"].map(SHOWN))
    colour = alt.Color(
        "what:N",
        title=None,
        sort=list(SHOWN.values()),
        scale=alt.Scale(domain=list(SHOWN.values()), range=["#999999", *PALETTE[:3]]),
        legend=alt.Legend(orient="top", labelLimit=260),
    )
    x = alt.X("units:Q", title="embeddings", scale=alt.Scale(zero=False, padding=8))
    y = alt.Y("share:Q", title="share of studies", axis=alt.Axis(format="%"))
    points = alt.Chart(null).mark_point(filled=True, size=45, opacity=0.8)
    points = points.encode(x=x, y=y, color=colour, shape=alt.Shape("bases:N", title="bases"))
    return _facets(points, 0.05, "Claims where nothing is: 5% is what may be")


def draw_coverage(table: pd.DataFrame) -> alt.FacetChart:
    """How often the interval within bases holds the truth, where a verdict is given."""
    told = table[table["free"] >= FEWEST_FREE]
    x = alt.X("units:Q", title="embeddings", scale=alt.Scale(zero=False, padding=8))
    y = alt.Y("coverage:Q", title="hold r", axis=alt.Axis(format="%"))
    y = y.scale(zero=False)
    points = alt.Chart(told).mark_point(filled=True, size=45, opacity=0.8)
    colour = alt.Color(
        "r:N",
        title="r within bases",
        scale=alt.Scale(range=list(PALETTE[:3])),
        legend=alt.Legend(orient="top"),
    )
    points = points.encode(x=x, y=y, color=colour, shape=alt.Shape("bases:N", title="bases"))
    return _facets(points, 0.95, "95% intervals of r within bases")


def draw_power(table: pd.DataFrame) -> alt.LayerChart:
    """Power against r, and what is called detectable."""
    colour = alt.Color("units:N", title="embeddings", scale=alt.Scale(range=list(PALETTE)))
    x = alt.X("r:Q", title="r within bases", scale=alt.Scale(domain=[0.2, 1]))
    y = alt.Y("alone:Q", title="supported, in a family of 6", axis=alt.Axis(format="%"))
    base = alt.Chart(table).encode(x=x, y=y, color=colour)
    line = base.mark_line(opacity=0.6)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape(
            "is_detectable:N",
            title="called detectable",
            scale=alt.Scale(domain=[False, True], range=["circle", "diamond"]),
        )
    )
    rule = base.mark_rule(color="#888888", strokeDash=[3, 3]).encode(
        x=alt.X(), y=alt.YDatum(0.8), color=alt.value("#888888")
    )
    chart: alt.LayerChart = (rule + line + points).properties(
        width=360, height=240, title="How often an association is supported"
    )
    return chart


def _facets(points: alt.Chart, level: float, title: str) -> alt.FacetChart:
    rule = alt.Chart().mark_rule(color="#888888", strokeDash=[3, 3]).encode(y=alt.YDatum(level))
    layers = alt.layer(rule, points, data=points.data).properties(width=WIDTH, height=HEIGHT)
    facet = alt.Facet("design:N", title=None, sort=list(KINDS))
    facets: alt.FacetChart = layers.facet(facet, columns=4).properties(title=title)
    return facets


def main() -> None:
    """Simulate, write and draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.simulate", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=2_000, help="of each design")
    given = parser.parse_args()
    out: Path = given.out
    count: int = given.studies
    tables = {}
    for name, (simulate, studies) in {
        "noise": (noises, count // 4),
        "limits": (limits, count // 2),
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
        print(save_chart(chart.to_dict(), out / f"inference_{name}.svg"))


if __name__ == "__main__":
    main()
