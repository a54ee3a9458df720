"""Count verdicts of studies with a planted link: ``python docs/studies/control.py RESULTS``.

Writes control.csv (the whole study), control_studies.csv (smaller ones) and their figures into
``RESULTS``, the folder of ``positive_control`` or ``coreference_link``. Smaller studies are 100
draws of seeds; with sizes after the folder (``1 2 4``) those without a common seed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import GREY, Drawing, finish, intervals, rule_at, shades
from biasbridge.analysis.joined import join_points, observations_of, origins
from biasbridge.analysis.naming import CONTROL, STAMP, query_title
from biasbridge.analysis.slices import SliceResult, measure_slice
from biasbridge.analysis.tables import Tables, read_tables
from biasbridge.analysis.verdicts import AT_MOST, FALLS, RISES, VERDICTS, judge
from biasbridge.files.charts import save_chart
from biasbridge.files.columns import as_float, as_text, text_rows
from biasbridge.files.tables import write_csv
from biasbridge.stats.proportions import proportion_estimate

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.stats.arrays import Floats

PLANTED = "planted stereotype"
MEASURES = {"posts": "precision", "documents": "recall"}  # whose gap the link opens, by its texts
SIZES, DRAWS = (2, 3, 4, 6, 10), 100
WRONG = {True: (FALLS, AT_MOST), False: (RISES, FALLS)}  # with a link, without one
WORDS = {False: "words of the link", True: "unrelated words"}


class Slice(NamedTuple):
    """Rows and seeds of a query at one transmission; ``names``: the columns that name it."""

    names: dict[str, Any]
    rows: Observations
    seeds: Floats


def designs(tables: Tables) -> Iterator[list[Slice]]:
    """Yield the slices of every transmission, number of texts and way in which embeddings differ:
    planted stereotypes, or a method.
    """
    joined = join_points(tables)
    unit = next(name for name in MEASURES if name in joined)
    joined = joined[joined["measure"] == MEASURES[unit]]
    for (transmission, n_texts), group in joined.groupby(["transmission", unit], sort=False):
        method = np.array(as_text(group, "method"))
        for difference in (PLANTED, *dict.fromkeys(method[method != CONTROL].tolist())):
            rows = group[(method == CONTROL) | (method == difference)]
            if difference != PLANTED:
                parents = rows.loc[rows["method"] == difference, "parent"]
                rows = rows[rows["parent"].isin(parents)]
            names = {"difference": difference, "transmission": transmission, unit: n_texts}
            yield [
                Slice(
                    names
                    | {"measure": MEASURES[unit], "query": query, "control": is_control}
                    | {"is_linked": transmission > 0 and not is_control},
                    slice_rows(part, difference),
                    as_float(part, "seed"),
                )
                for query, part in rows.groupby("query", sort=False)
                for is_control in [str(query).startswith("control_")]
            ]


def slice_rows(part: pd.DataFrame, difference: str) -> Observations:
    """Return a slice's rows, without conditions: what the models of a seed show is asked, not what
    other doses would. Where stereotypes are planted, a seed counts as a parent, for its embeddings
    share the biases of the unplanted corpus and the training texts.
    """
    rows = observations_of(part)
    rows = rows._replace(condition=np.full(len(rows.x), ""))
    if difference != PLANTED:
        return rows
    return rows._replace(
        model=np.array(origins(part)["model"], dtype=str),
        parent=np.array([" ".join(row) for row in text_rows(part, ("embedding", "seed"))]),
        cluster=np.array(as_text(part, "seed"), dtype=str),
    )


def verdicts(
    slices: Sequence[Slice], seeds: Floats | None = None, permutations: int = 1_999
) -> list[SliceResult]:
    """Judge slices, of some seeds alone; unrelated queries are adjusted among themselves."""
    results = []
    for i, part in enumerate(slices):
        rows = part.rows if seeds is None else part.rows.select(np.isin(part.seeds, seeds))
        result = measure_slice(rows, {"slice": str(i)}, full=True, permutations=permutations)
        results.append(result._replace(confirmatory=True))
    for family in (False, True):
        members = [i for i, part in enumerate(slices) if part.names["control"] == family]
        for i, result in zip(members, judge([results[i] for i in members]), strict=True):
            results[i] = result
    return results


def whole_study(slices: Sequence[Slice]) -> list[dict[str, Any]]:
    """Return one row per slice: r_rm, its interval, p and verdict of all embeddings."""
    return [
        part.names
        | {"embeddings": result.n, "seeds": len(np.unique(part.seeds)), "r_rm": result.within.r}
        | {"low": result.within.low, "high": result.within.high, "change": result.change.value}
        | {"p_holm": result.p_holm, "verdict": result.verdict}
        for part, result in zip(slices, verdicts(slices, permutations=9_999), strict=True)
    ]


def smaller_studies(slices: Sequence[Slice], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Estimate how often smaller studies reach each verdict, and a wrong one, per slice and size.

    Studies of m of n seeds share seeds, but the share over all of them varies no more than that
    over the n / m, rounded down, studies without a common seed (Hoeffding, 1963): intervals are
    Wilson's for this number.
    """
    seeds = np.unique(np.concatenate([part.seeds for part in slices]))
    rng = np.random.default_rng(0)
    for size in sizes or SIZES:
        n_disjoint = len(seeds) // size
        if n_disjoint < 2:
            continue
        if sizes:
            samples = rng.permutation(seeds)[: n_disjoint * size].reshape(n_disjoint, size)
        else:
            samples = np.array([rng.permutation(seeds)[:size] for _ in range(DRAWS)])
        studies = [verdicts(slices, sample) for sample in samples]
        n_embeddings = max(result.n for result in studies[0])
        for part, results in zip(slices, zip(*studies, strict=True), strict=True):
            row = part.names | {"seeds": size, "embeddings": n_embeddings}
            row |= {"studies": len(samples), "n_disjoint": n_disjoint}
            counted = {name: (name,) for name in VERDICTS} | {"wrong": WRONG[row["is_linked"]]}
            for name, among in counted.items():
                share = float(np.mean([result.verdict in among for result in results]))
                ends = proportion_estimate(share * n_disjoint, n_disjoint)
                row |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
            yield row


def r_chart(whole: pd.DataFrame) -> Drawing:
    """Draw r and its interval by query, one panel for each way in which embeddings differ."""
    base = alt.Chart().encode(alt.Y("query:N", title=None, sort=None), **link(whole, alt.YOffset))
    axis = {"title": "r_rm, 95% interval", "scale": alt.Scale(domain=[-1, 1])}
    chart = alt.layer(rule_at(0), *intervals(base, "r_rm", size=40, **axis))
    chart = chart.properties(width=240, height=alt.Step(9)).facet(
        column=alt.Column("difference:N", title=None, sort=None),
        data=whole.assign(link=labels(whole), query=list(map(query_title, whole["query"]))),
    )
    return finish(chart, "r_rm with words of the planted link and with unrelated ones", [STAMP])


def power_chart(smaller: pd.DataFrame) -> Drawing:
    """Draw how often studies find a link, by number of embeddings, one line per query."""
    x = alt.X("embeddings:O", title="embeddings").axis(labelAngle=0, grid=False)
    base = alt.Chart().encode(x, **link(smaller, alt.XOffset))

    def share(field: str) -> alt.Y:
        y = alt.Y(f"{field}:Q", title="studies that find the link", scale=alt.Scale(domain=[0, 1]))
        return y.axis(format="%", tickCount=3)

    layers = [
        base.mark_rule(opacity=0.25).encode(share(f"{RISES}_low"), alt.Y2(f"{RISES}_high")),
        base.mark_line(point={"size": 25}, strokeWidth=1).encode(
            share(RISES), alt.Detail("query:N")
        ),
    ]
    chart = alt.layer(*layers).properties(width=alt.Step(34, **{"for": "position"}), height=120)
    facets = chart.facet(
        row=alt.Row("words:N", title=None, sort=[*WORDS.values()]),
        column=alt.Column("difference:N", title=None, sort=None),
        data=smaller.assign(link=labels(smaller), words=smaller["control"].map(WORDS)),
    ).resolve_scale(x="independent", xOffset="independent")
    title = "Share of studies that find the link, by embeddings and strength"
    return finish(facets, title, [STAMP])


def labels(table: pd.DataFrame) -> list[str]:
    """Label each row by transmission, ``0.25``, and the number of texts if below the maximum."""
    unit = next(name for name in MEASURES if name in table)
    return [
        f"{transmission:g}" + (f" ({n} {unit})" if n < table[unit].max() else "")
        for transmission, n in zip(table["transmission"], table[unit], strict=True)
    ]


def link(table: pd.DataFrame, channel: type[alt.XOffset | alt.YOffset]) -> dict[str, Any]:
    """Encode the link by position and colour: grey for none, darker the stronger it is."""
    unit = next(name for name in MEASURES if name in table)
    names = list(dict.fromkeys(labels(table.sort_values(["transmission", unit]))))
    linked = [name for name in names if name != "0"]
    colours = dict(zip(linked, shades(len(linked)), strict=True))
    scale = alt.Scale(domain=names, range=[colours.get(name, GREY) for name in names])
    offset = "xOffset" if channel is alt.XOffset else "yOffset"
    color = alt.Color("link:N", scale=scale, title="transmission", sort=names)
    return {offset: channel("link:N", sort=names), "color": color}


def main(results: Path, sizes: Sequence[int] = ()) -> None:
    """Write both tables and their figures."""
    planned = list(designs(read_tables(results)))
    whole = pd.DataFrame([row for slices in planned for row in whole_study(slices)])
    smaller = pd.DataFrame([row for slices in planned for row in smaller_studies(slices, sizes)])
    write_csv(whole, results / "control.csv")
    write_csv(smaller, results / "control_studies.csv")
    save_chart(r_chart(whole), results / "control_r.svg")
    save_chart(power_chart(smaller), results / "control_power.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]])
