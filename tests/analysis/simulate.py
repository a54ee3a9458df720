"""How often the inference is right, in simulated studies: python -m tests.analysis.simulate
docs/figures
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from itertools import product
from math import nan
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import GREY, PALETTE, Drawing, finish
from biasbridge.files import atomic_path
from biasbridge.files.charts import save_chart
from biasbridge.stats.proportions import wilson
from tests.analysis.designs import (
    KINDS,
    LOST,
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
SIZES = ((4,) * 2, (3,) * 3, (4,) * 3, (8,) * 3, (3,) * 8, (3,) * 12, (30, *(2,) * 12), (5,) * 12)
LARGE = (5,) * 12
SHARES = dict(
    zip(
        Outcome._fields, ("p_below_05", "rm_corr_p_below_05", "coverage", "mean_width"), strict=True
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
        ((9,) * 2, (6,) * 6, (5,) * 12, (20,) * 10), (0, 0.5, 0.95), (0.1, 0.3, 1)
    ):
        name = f"shared items, slopes differ by {spread:g}"
        yield Design("items", name, partial(on_items, sizes, r, spread))
    for sizes, r in product(((9,) * 2, (6,) * 6, (5,) * 12), (0, 0.95)):
        draw = partial(on_items, sizes, r, 1, trait="other")
        yield Design("items", "shared items that follow another trait", draw)


def clustered() -> Iterator[Design]:
    """Seeds that share a corpus or a language, with condition effects or slopes of its own."""
    for (level, number), slope in product((("corpus", 4), ("corpus", 6), ("language", 2)), (0, 1)):
        sweep = Sweep(12, 5, number, effect=1, slope=slope)
        name = f"condition effects by {level}, slope {slope}"
        yield Design("clusters", name, partial(clusters, sweep))


def rates(design: Design, count: int) -> list[dict[str, Any]]:
    """The rows of a design: one for each scope."""
    seed = zlib.crc32(repr((design.family, design.draw.args)).encode())
    rng = np.random.default_rng(seed)
    first, true, actual = None, [], []
    for _ in range(count):
        study = design.draw(rng)
        first = first or study
        true.append(study.true)
        actual.append(outcomes(study))
    assert first is not None
    return [
        described(design, first, scope)
        | {"r": np.mean([item.get(scope, nan) for item in true]), "studies": count}
        | shares([item[scope] for item in actual])
        for scope in actual[0]
    ]


def described(design: Design, study: Study, scope: str) -> dict[str, Any]:
    """What stands before the shares."""
    of = study.of
    parents, clusters, conditions = (
        len(set(item.tolist())) for item in (of.parent, of.cluster, of.condition)
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
    """Shares of studies, with Wilson's 95% bounds of that of p."""
    means = dict(zip(SHARES.values(), np.mean(np.array(found, dtype=float), axis=0), strict=True))
    share = means["p_below_05"]
    low, high = wilson(share * len(found), len(found), 0.95).tolist()
    return means | {"p_low": low, "p_high": high}


def simulate(count: int, jobs: int = 1) -> pd.DataFrame:
    """The table of all designs."""
    asked = list(designs())
    one = partial(rates, count=count)
    rows: list[dict[str, Any]] = []
    with Pool(jobs) if jobs > 1 else nullcontext() as pool:
        actual = map(one, asked) if pool is None else pool.imap(one, asked)
        for place, (design, item) in enumerate(zip(asked, actual, strict=True), 1):
            print(f"{place} of {len(asked)}: {design.family}, {design.name}", flush=True)
            rows += item
    return pd.DataFrame(rows, columns=list(COLUMNS))


def draw(table: pd.DataFrame) -> Drawing:
    """A row a design, a dot a cell: on the left p below .05 where r_rm is 0, on the right coverage;
    lines where both should be. What is only printed has neither.
    """
    names = table["design"] + ", " + table["scope"]
    none = table["r"].abs() < 0.05
    sides = {
        "p below .05 where r_rm is 0": table["p_below_05"].where(none),
        "coverage of the 95% interval": table["coverage"],
    }
    rows = pd.concat(
        table[["family"]].assign(design=names, what=what, share=share, right=right)
        for (what, share), right in zip(sides.items(), (0.05, 0.95), strict=True)
    ).dropna()
    families = list(dict.fromkeys(rows["family"]))
    panels = [
        _family(rows[rows["family"] == name], name, list(sides), last=name == families[-1])
        for name in families
    ]
    chart = alt.vconcat(*panels, spacing=12)
    title = f"How often the inference is right, {table['studies'].max():,} studies a cell"
    notes = ["Dashed: .05 and .95, where a test and an interval should be."]
    return finish(chart, title, notes)


def _family(rows: pd.DataFrame, family: str, sides: list[str], *, last: bool) -> Any:
    title = "share of studies" if last else None
    x = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]))
    axis = alt.Axis(labelLimit=0, minExtent=330)
    y = alt.Y("design:N", title=None, sort=list(dict.fromkeys(rows["design"])), axis=axis)
    rule = alt.Chart().mark_rule(color=GREY, strokeDash=[3, 3]).encode(alt.X("right:Q"))
    dots = alt.Chart().mark_point(filled=True, size=30, opacity=0.6, color=PALETTE[0]).encode(x, y)
    header = alt.Header(labelFontSize=11, labelPadding=2)
    column = alt.Column("what:N", title=None, sort=sides, header=header)
    panel = alt.layer(rule, dots).properties(width=230, height=alt.Step(13))
    heading = alt.TitleParams(family, anchor="start", fontSize=12, offset=4)
    return panel.facet(column=column, data=rows, title=heading, spacing=12)


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
    print(save_chart(draw(table), out / "inference_rates.svg"))


if __name__ == "__main__":
    main()
