"""The smallest planted link of score and gap that a study would detect: python -m
tests.analysis.detection_limit results/answer_en_link docs/runs/answer_en_link

A sweep over ``labels=linked labels.transmission=0,...,1`` repeats a study with links of known
strength t. For each confirmatory slice of the link's query, four of five such studies detect an
r_rm of r* (``SliceResult.mde`` at the smallest t, where the noise is that of a study without a
link), and with it the slope

    b* = r* / sqrt(1 - r*^2) |v - b u| / |u|,    u, v: scores and gaps within parents

The limit is b*, and the t from which on the slope has moved that far from that at the smallest t,
interpolated linearly. Its interval holds 95% of the limits of resampled parents (within clusters,
where these are averaged) and conditions, at the same r*.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import finish, intervals, rule_at
from analysis.correlate import correlate_slices
from analysis.declaration import Declaration
from analysis.frame import as_float, as_text
from analysis.joined import join_points, rows_of
from analysis.naming import CONTROL
from analysis.observations import observations
from analysis.results import read_tables
from files import InputError, atomic_path
from files.charts import save_charts

if TYPE_CHECKING:
    from analysis.charts import Drawing
    from analysis.observations import Observations
    from analysis.slice_results import SliceResult
    from stats.arrays import Floats

LINK = "linked_"  # prefix of the label method that plants a link with a query
SLICE = ("metric", "convention", "query", "part", "measure", "subset")


def detection_limits(
    joined: pd.DataFrame, declared: Declaration, resamples: int = 200
) -> pd.DataFrame:
    """Return a row per confirmatory slice of the link's query and transmission.

    r_rm, slope, p and verdict as in correlations.csv (p is adjusted within a transmission);
    ``verdict``: as if the utility were far above the majority baseline; ``utility``: its mean;
    ``transmitted``: the slope less that at the smallest transmission; ``score_range``: the largest
    range of the score within a parent, ``gap_change``: the slope times that; ``limit_*``: alike in
    all rows of a slice, the transmission infinite where none reaches the limit.

    ``joined``: a table of ``join_points`` with several transmissions of one link, each a task of
    its own. Raises ``InputError`` for none or several links.
    """
    transmission, methods = as_float(joined, "label_dose"), set(as_text(joined, "label_method"))
    links = [name.removeprefix(LINK) for name in methods if name.startswith(LINK)]
    if len(links) != 1:
        raise InputError(f"the table has {len(links)} planted links; give a sweep of labels=linked")
    studies: dict[str, list[tuple[float, SliceResult, Observations]]] = {}
    for t in np.unique(transmission).tolist():
        table = joined[transmission == t]
        # Planted labels lower the utility by design: without a baseline no verdict is refused
        for result in correlate_slices(table.drop(columns="majority_baseline"), declared):
            if result.confirmatory and result.names["query"] == links[0]:
                names = [result.names[name] for name in SLICE]
                is_in_slice = table[[*SLICE]].astype(str).eq(names).all(axis=1)
                models = observations(rows_of(table[is_in_slice]).comparable())
                studies.setdefault(" ".join(names), []).append((t, result, models))
    return pd.concat([_rows(study, resamples) for study in studies.values()], ignore_index=True)


def _rows(study: Sequence[tuple[float, SliceResult, Observations]], resamples: int) -> pd.DataFrame:
    """Return the results of a slice at each transmission, beside its limit."""
    transmissions, results, models = zip(*study, strict=True)
    sign = float(np.sign(results[-1].within.r))
    table = pd.DataFrame(
        {
            **{name: result.names[name] for name in ("query", "measure")},
            "transmission": t,
            "n": result.n,
            "n_parents": result.n_parents,
            "n_conditions": result.n_conditions,
            "p_holm": result.p_holm,
            **dict(zip(("r_rm", "low", "high"), result.within.interval, strict=True)),
            **dict(zip(("slope", "slope_low", "slope_high"), result.within.slope, strict=True)),
            "score_range": pd.Series(observed.x).groupby(observed.parent).agg(np.ptp).max(),
            "utility": observed.utility.mean(),
            "verdict": result.verdict,
            "why": result.why,
        }
        for t, result, observed in study
    )
    table["gap_change"] = table["slope"] * table["score_range"]
    table["transmitted"] = table["slope"] - table["slope"].iloc[0]
    r = results[0].mde
    value = _limit(transmissions, models, r, sign)
    drawn = [
        _limit(transmissions, [resample(observed, seed) for observed in models], r, sign)
        for seed in range(resamples)
    ]
    ends = np.sort(np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest"), axis=0)
    for end, numbers in zip(("", "_low", "_high"), (value, *ends.tolist()), strict=True):
        table[f"limit_transmission{end}"], table[f"limit_slope{end}"] = numbers
    return table


def resample(models: Observations, seed: int) -> Observations:
    """Draw parents and conditions with replacement, alike at all transmissions."""
    rng, is_averaged = np.random.default_rng(seed), models.cells() is not None
    place = {pair: i for i, pair in enumerate(zip(models.parent, models.condition, strict=True))}
    cluster = pd.Series(models.cluster if is_averaged else np.zeros(len(models.x)))
    parents = [
        parent
        for _, members in pd.Series(models.parent).groupby(cluster)
        for parent in rng.choice(members.unique(), members.nunique())
    ]
    modified = np.unique(models.condition[models.condition != CONTROL])
    conditions = [CONTROL, *rng.choice(modified, len(modified))]
    pairs = [
        (place[parent, condition], str(i), str(j))
        for i, parent in enumerate(parents)
        for j, condition in enumerate(conditions)
        if (parent, condition) in place
    ]
    places, parent_copy, condition_copy = map(np.array, zip(*pairs, strict=True))
    drawn = models.at(places)._replace(parent=parent_copy, condition=condition_copy)
    return drawn if is_averaged else drawn._replace(cluster=parent_copy)


def _limit(
    transmissions: Sequence[float], models: Sequence[Observations], r: float, sign: float
) -> tuple[float, float]:
    """Return the transmission from which on ``r`` is reached, and the slope that r stands for."""
    residuals = [observed.average_over_clusters().residuals() for observed in models]
    first = residuals[0]
    noise = np.linalg.norm(first.v - first.slope * first.u) / np.linalg.norm(first.u)
    slope = float(r / np.sqrt(1 - r * r) * noise)
    moved = sign * np.array([residual.slope - first.slope for residual in residuals])
    return crossing(np.array(transmissions), moved - slope), sign * slope


def crossing(x: Floats, margins: Floats) -> float:
    """Interpolate the x from which on no margin is below 0; infinity where the last one is."""
    last = int(np.flatnonzero(np.concatenate([[-1.0], margins]) < 0)[-1]) - 1
    if last in (-1, len(x) - 1):
        return inf if last == len(x) - 1 else float(x[0])
    share = margins[last] / (margins[last] - margins[last + 1])
    return float(x[last] + share * (x[last + 1] - x[last]))


def limit_chart(limits: pd.DataFrame) -> Drawing:
    """Draw the slope at each transmission, and the limit as a dashed line, one panel per gap."""
    panel = alt.layer(
        rule_at(0),
        alt.Chart().mark_rule(strokeDash=[4, 3]).encode(x="limit_slope:Q"),
        *intervals(
            alt.Chart().encode(alt.Y("transmission:O"), alt.Color("verdict:N")),
            "slope",
            ends=("slope_low", "slope_high"),
            title="change of the gap per unit of d",
        ),
    ).properties(width=300, height=alt.Step(16))
    chart = panel.facet(column=alt.Column("measure:N", title=None), data=limits)
    return finish(chart, "The smallest planted link that would be detected (dashed)")


def main() -> None:
    """Write ``detection_limit.csv`` and ``detection_limit.svg``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    declared = Declaration.of(args.results)
    limits = detection_limits(join_points(read_tables(args.results), declared.utility), declared)
    args.out.mkdir(parents=True, exist_ok=True)
    with atomic_path(args.out / "detection_limit.csv") as work:
        limits.to_csv(work, index=False, float_format="%.6g")
    save_charts(limit_chart(limits), args.out / "detection_limit", (".svg",))


if __name__ == "__main__":
    main()
