"""How often the inference is right, in simulated studies: python -m tests.analysis.simulate
docs/figures
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import product
from math import isfinite, sqrt
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import CONFIG, PALETTE
from analysis.verdict import FEWEST_DF
from files import atomic_path
from files.charts import save_chart
from tests.analysis.designs import (
    AVERAGED,
    GIVEN,
    IGNORED,
    KINDS,
    LOST,
    OVER,
    PRINTED,
    UTILITY,
    WITHIN,
    Outcome,
    Study,
    Sweep,
    clusters,
    conditions,
    damaged,
    errors,
    lossy,
    on_items,
    outcomes,
)

# Models of each parent: 8 to 60 models of 2 to 13 parents
SIZES = (
    (4,) * 2,
    (3,) * 3,
    (4,) * 3,
    (8,) * 3,
    (3,) * 8,
    (3,) * 12,
    (30, *(2,) * 12),
    (5,) * 12,
)
LARGE = (5,) * 12
Spec: TypeAlias = dict[str, Any]

GREY = "#aaaaaa"
PALE = ("#a6cbe3", "#f2c3a0")  # of the first two colours
SHARES = dict(
    zip(
        Outcome._fields,
        (
            *("p_below_05", "rm_corr_p_below_05", "verdict_claims", "verdict_negligible"),
            *("coverage", "mean_width", "clusters_exclude_0"),
        ),
        strict=True,
    )
)
COLUMNS = (
    *("family", "design", "models", "parents", "conditions", "clusters", "r", "scope", "studies"),
    *("p_below_05", "p_low", "p_high", *list(SHARES.values())[1:]),
)


class Design(NamedTuple):
    """A cell, or several that are asked of the same studies."""

    family: str
    name: str
    draw: partial[Study]


def designs() -> Iterator[Design]:
    """Every design of the figure."""
    for kind, sizes, r in product(KINDS, SIZES, (0, 0.5, 0.8)):
        yield Design("errors", kind, partial(errors, kind, sizes, r))
    for (parents, number), effect, slope in product(
        ((8, 24), (10, 5), (8, 12)), (0, 0.5, 1), (0, 0.5, 1)
    ):
        sweep = Sweep(parents, number, effect=effect, slope=slope)
        name = f"condition effect {effect:g}, slope {slope:g}"
        yield Design("conditions", name, partial(conditions, sweep))
    yield from clustered()
    for strength in (0.5, 1, 2):
        name = f"damage of strength {strength:g} drives both"
        yield Design("utility", name, partial(damaged, LARGE, strength))
    for share, lost in product((0.1, 0.25), LOST):
        yield Design("missing", f"{share:.0%} lost at {lost}", partial(lossy, LARGE, lost, share))
    for sizes, r, spread in product(
        ((9,) * 2, (6,) * 6, (5,) * 12, (20,) * 10), (0, 0.5), (0.1, 0.3)
    ):
        name = f"shared items, slopes differ by {spread:g}"
        yield Design("items", name, partial(on_items, sizes, r, spread))
    for each, r in product((2, 5, 10, 20), (0, 0.2, 0.3)):
        name = "smallest correlation of interest .3"
        yield Design("equivalence", name, partial(errors, "normal", (each,) * 12, r))


def clustered() -> Iterator[Design]:
    """Seeds that share a corpus or a language, with condition effects or slopes of its own."""
    for (level, number), slope in product((("corpus", 4), ("corpus", 6), ("language", 2)), (0, 1)):
        sweep = Sweep(12, 5, number, effect=1, slope=slope)
        name = f"condition effects by {level}, slope {slope}"
        yield Design("clusters", name, partial(clusters, sweep))
    for level, number in (("corpus", 4), ("corpus", 6), ("seed", 12), ("language", 2)):
        sweep = Sweep(12, 5, number, spread=1)
        yield Design("clusters", f"slopes differ by {level}", partial(clusters, sweep))


def rates(design: Design, count: int) -> list[dict[str, Any]]:
    """The rows of a design: one for each scope."""
    seed = zlib.crc32(repr((design.family, design.draw.args)).encode())
    rng = np.random.default_rng(seed)
    first, true, found = None, [], []
    for _ in range(count):
        study = design.draw(rng)
        first = first or study
        true.append(study.true)
        found.append(outcomes(study))
    assert first is not None
    return [
        described(design, first, scope)
        | {"r": np.mean([each[scope] for each in true]), "studies": count}
        | shares([each[scope] for each in found])
        for scope in found[0]
    ]


def described(design: Design, study: Study, scope: str) -> dict[str, Any]:
    """What stands before the shares."""
    of = study.of
    parents, clusters, conditions = (
        len(set(each.tolist())) for each in (of.parent, of.cluster, of.condition)
    )
    return {
        "family": design.family,
        "design": design.name,
        "models": study.planned,
        "parents": parents,
        "conditions": conditions if conditions > 1 else 0,
        "clusters": clusters,
        "scope": scope,
    }


def shares(found: list[Outcome]) -> dict[str, Any]:
    """Shares of studies, with Wilson's 95% bounds of that of p: as printed, of that of claims."""
    means = dict(zip(SHARES.values(), np.mean(np.array(found, dtype=float), axis=0), strict=True))
    share = means["p_below_05"]
    low, high = wilson(share if isfinite(share) else means["verdict_claims"], len(found))
    return means | {"p_low": low, "p_high": high}


def wilson(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's (1927) interval of a share."""
    centre = share + z * z / (2 * count)
    reach = z * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    whole = 1 + z * z / count
    return (centre - reach) / whole, (centre + reach) / whole


def simulate(count: int, jobs: int = 1) -> pd.DataFrame:
    """The table of all designs."""
    asked = list(designs())
    one = partial(rates, count=count)
    rows: list[dict[str, Any]] = []
    with Pool(jobs) if jobs > 1 else nullcontext() as pool:
        found = map(one, asked) if pool is None else pool.imap(one, asked)
        for place, (design, each) in enumerate(zip(asked, found, strict=True), 1):
            print(f"{place} of {len(asked)}: {design.family}, {design.name}", flush=True)
            rows += each
    return pd.DataFrame(rows, columns=list(COLUMNS))


def draw(table: pd.DataFrame) -> Spec:
    """The figure: a panel for each question."""
    count = int(table["studies"].max())
    subtitle = [
        f"{count:,} studies a cell. A dot is a cell: in the upper four panels one of eight sizes,"
        " from 8 models of 2 parents to 60 of 12.",
        "Dashed: what p, intervals and negligible should be, .05 or .95; a power of .8.",
    ]
    return {
        "config": CONFIG | {"axisY": {"labelLimit": 260}},
        "title": {"text": "How often the inference is right", "subtitle": subtitle},
        "columns": 2,
        "spacing": {"row": 36, "column": 36},
        "concat": [
            *(false_claims(table), coverage(table), power(table), given_up(table)),
            *(of_conditions(table, 0), of_conditions(table, 1), of_clusters(table)),
            *(of_items(table), of_equivalence(table), of_limits(table)),
        ],
        "resolve": {"scale": {"color": "independent"}},
    }


def false_claims(table: pd.DataFrame) -> Spec:
    """p < .05 where there is no relation."""
    rows = table[(table["family"] == "errors") & (table["r"] == 0)]
    shown = {"permutation p": "p_below_05", "p of rm_corr (Student's t)": "rm_corr_p_below_05"}
    parts = [dots(rows, rows["design"], label, column) for label, column in shown.items()]
    return panel("r = 0: studies with p < .05", parts, (PALETTE[0], GREY), 0.05)


def coverage(table: pd.DataFrame) -> Spec:
    """Whether the interval holds r."""
    rows = by_rank_of_r(table[table["family"] == "errors"])
    labels = {1: "r = 0", 2: "r = .5", 3: "r = .8 (before the outlier)"}
    parts = [
        dots(rows[rows["rank"] == rank], rows["design"], label, "coverage")
        for rank, label in labels.items()
    ]
    return panel("The 95% interval holds r", parts, PALETTE, 0.95, domain=(0.7, 1))


def by_rank_of_r(rows: pd.DataFrame) -> pd.DataFrame:
    """With the ``rank`` of r among the cells that differ by it alone: an outlier makes r less."""
    cells = rows.groupby(["design", "models", "parents"])
    return rows.assign(rank=cells["r"].rank().astype(int))


def power(table: pd.DataFrame) -> Spec:
    """Verdicts that claim r where there is one, by size."""
    rows = table[(table["family"] == "errors") & (table["design"] == "normal")]
    size = rows["models"].astype(str) + " in " + rows["parents"].astype(str)
    parts = [
        dots(rows[(rows["r"] - r).abs() < 0.1], size, label, column)
        for r, name in ((0.5, "r = .5"), (0.8, "r = .8"))
        for column, label in (
            ("p_below_05", f"{name}: p < .05"),
            ("verdict_claims", f"{name}: verdict"),
        )
    ]
    colours = (PALE[0], PALETTE[0], PALE[1], PALETTE[1])
    title = "Power, normal errors, by models and parents"
    return panel(title, parts, colours, 0.8, domain=(0, 1))


def given_up(table: pd.DataFrame) -> Spec:
    """How much less often a verdict claims something than p does, where there is a verdict."""
    rows = by_rank_of_r(table[table["family"] == "errors"])
    rows = rows[rows["models"] - rows["parents"] - 1 >= FEWEST_DF]
    rows = rows.assign(less=rows["verdict_claims"] - rows["p_below_05"])
    parts = [
        dots(rows[rows["rank"] == rank], rows["design"], label, "less")
        for rank, label in ((2, "r = .5"), (3, "r = .8 (before the outlier)"))
    ]
    least = float(rows.loc[rows["rank"] > 1, "less"].min())
    title = f"Power that the verdict gives up ({FEWEST_DF} df or more)"
    return panel(
        title, parts, PALETTE[1:], 0, domain=(least, 0.02), axis="verdict claims, less p < .05"
    )


def of_conditions(table: pd.DataFrame, slope: int) -> Spec:
    """p by scope, where conditions have effects of their own."""
    rows = table[table["family"] == "conditions"]
    rows = rows[rows["design"].str.endswith(f"slope {slope}")]
    effect = rows["design"].str.extract(r"effect ([\d.]+)")[0]
    name = rows["parents"].astype(str) + " x " + rows["conditions"].astype(str)
    name = name + ", effect " + effect
    shown = {"these conditions": WITHIN, "other conditions": OVER, "given the condition": GIVEN}
    parts = [
        dots(rows[rows["scope"] == scope], name, label, "p_below_05")
        for label, scope in shown.items()
    ]
    title = f"Condition effects, slope {slope}: p < .05 by scope"
    if slope == 0:
        printed = rows[rows["scope"] == PRINTED]
        parts.append(dots(printed, name, "verdict, too wide a scope", "verdict_claims"))
    colours = (GREY, PALETTE[0], PALETTE[2], PALETTE[1])
    return panel(title, parts, colours, 0.8 if slope else 0.05, domain=(0, 1) if slope else None)


def of_clusters(table: pd.DataFrame) -> Spec:
    """p where seeds share a corpus or a language."""
    rows = table[table["family"] == "clusters"]
    name = rows["design"] + " (" + rows["clusters"].astype(str) + ")"
    averaged, each = rows[rows["scope"] == AVERAGED], rows[rows["scope"] == WITHIN]
    parts = [
        dots(each, name, "seeds as they are", "p_below_05"),
        dots(averaged, name, "averaged by cluster", "p_below_05"),
        dots(averaged, name, "and interval over clusters", "clusters_exclude_0"),
    ]
    return panel("12 seeds in clusters: p < .05", parts, (GREY, *PALETTE), 0.05)


def of_items(table: pd.DataFrame) -> Spec:
    """Coverage on items that all models share."""
    rows = table[table["family"] == "items"]
    name = (
        rows["models"].astype(str)
        + " models, r = "
        + rows["r"].map(lambda r: "0" if r == 0 else ".5")
    )
    name = name + ", slopes " + rows["design"].str.extract(r"by 0(.+)")[0]
    parts = [
        dots(rows[rows["scope"] == IGNORED], name, "items ignored", "coverage"),
        dots(rows[rows["scope"] == WITHIN], name, "items sampled", "coverage"),
    ]
    title = "200 shared items: the interval holds r"
    return panel(title, parts, (GREY, PALETTE[0]), 0.95, domain=(0.4, 1))


def of_equivalence(table: pd.DataFrame) -> Spec:
    """How often a verdict is negligible."""
    rows = table[table["family"] == "equivalence"]
    name = rows["models"].astype(str) + " in " + rows["parents"].astype(str)
    parts = [
        dots(rows[(rows["r"] - r).abs() < 0.05], name, label, "verdict_negligible")
        for r, label in ((0, "r = 0"), (0.2, "r = .2"), (0.3, "r = .3"))
    ]
    title = "Negligible, smallest correlation of interest .3"
    return panel(title, parts, (PALETTE[0], PALETTE[2], PALETTE[1]), 0.05, domain=(0, 1))


def of_limits(table: pd.DataFrame) -> Spec:
    """What r within parents cannot see: damage that drives both sides, and lost models."""
    rows = table[table["family"].isin(["utility", "missing"])]
    within = rows[rows["scope"] == WITHIN]
    utility, printed = (rows[rows["scope"] == scope] for scope in (UTILITY, PRINTED))
    parts = [
        dots(within, rows["design"], "p < .05", "p_below_05"),
        dots(within, rows["design"], "verdict", "verdict_claims"),
        dots(utility, rows["design"], "p given utility < .05", "p_below_05"),
        dots(printed, rows["design"], "verdict without its proviso", "verdict_claims"),
    ]
    title = "No relation but damage, or models lost (60 in 12)"
    return panel(title, parts, (GREY, PALETTE[1], PALETTE[0], PALETTE[2]), 0.05, domain=(0, 1))


def dots(rows: pd.DataFrame, names: pd.Series[str], label: str, column: str) -> pd.DataFrame:
    """Dots of one colour: a line of the panel, and a share."""
    found = pd.DataFrame({"name": names[rows.index], "label": label, "share": rows[column]})
    return found.dropna()


def panel(
    title: str,
    parts: list[pd.DataFrame],
    colours: Sequence[str],
    level: float,
    *,
    domain: tuple[float, float] | None = None,
    axis: str = "share of studies",
) -> Spec:
    """Lines of dots in the order of the table, coloured by label."""
    values = pd.concat(parts)
    low, high = domain or (0, 0.1)
    reach = [min(low, float(values["share"].min())), max(high, float(values["share"].max()))]
    scale = {"domain": reach, "zero": False, "padding": 6}
    share = {"title": axis, "axis": {"format": ".0%", "tickCount": 6}, "scale": scale}
    rule = {"type": "rule", "color": "#888888", "strokeDash": [4, 3]}
    points = {"type": "point", "filled": True, "size": 36, "opacity": 0.75}
    layers = [
        {
            "data": {"values": part.to_dict("records")},
            "mark": points | {"yOffset": 5 * (place - (len(parts) - 1) / 2)},
            "encoding": encoding(parts, colours, share),
        }
        for place, part in enumerate(parts)
    ]
    return {
        "title": {"text": title, "fontSize": 12, "offset": 6, "frame": "group"},
        "width": 300,
        "height": {"step": 8 + 5 * len(parts)},
        "data": {"values": [{}]},
        "layer": [{"mark": rule, "encoding": {"x": {"datum": level} | share}}, *layers],
    }


def encoding(parts: list[pd.DataFrame], colours: Sequence[str], share: Spec) -> Spec:
    """Names on y, in the order of the table, shares on x, labels as colours."""
    names = list(dict.fromkeys(pd.concat(parts).sort_index()["name"]))
    labels = [str(part["label"].iloc[0]) for part in parts]
    colour = {"domain": labels, "range": list(colours[: len(labels)])}
    legend = {"orient": "top", "title": None, "columns": 2}
    return {
        "y": {"field": "name", "type": "nominal", "title": None, "sort": names},
        "x": {"field": "share", "type": "quantitative"} | share,
        "color": {"field": "label", "type": "nominal", "scale": colour, "legend": legend},
    }


def main() -> None:
    """Simulate, write and draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.simulate", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=1_000, help="of each cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    out: Path = given.out
    table = simulate(given.studies, given.jobs)
    with atomic_path(out / "inference_rates.csv") as path:
        table.round(4).to_csv(path, index=False)
    print(save_chart(alt.Chart.from_dict(draw(table)), out / "inference_rates.svg"))


if __name__ == "__main__":
    main()
