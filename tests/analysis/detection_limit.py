"""The smallest planted link of score and gap that a study would detect: python -m
tests.analysis.detection_limit results/answer_en_link docs/runs/answer_en_link

A sweep over ``labels=linked labels.transmission=0,...,1`` repeats a study with links of known
strength t. For each confirmatory slice of the link's query, with z = atanh(r_rm), its errors over
models and over parents, and its sign s at the largest t,

    m(t) = min(s z / error - q - .84,  s z / error_parents - t_.975 - t_.8)

is 0 where four of five such studies claim the link (q: the quantile of Holm's smallest level; the
second term from five parents on). The limit is the t from which on m stays above 0, interpolated
linearly, and the slope b there. Its interval holds 95% of the limits of resampled parents (within
clusters, where these are averaged) and conditions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
import scipy

from analysis.charts import finish, intervals, rule_at
from analysis.correlate import correlate_slices
from analysis.correlation import NEARLY_1
from analysis.declaration import Declaration
from analysis.frame import as_float, as_text
from analysis.joined import join_points, rows_of
from analysis.naming import CONTROL
from analysis.observations import observations
from analysis.results import read_tables
from files import InputError, atomic_path
from files.charts import save_charts
from stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    from analysis.charts import Drawing
    from analysis.observations import Observations
    from analysis.slice_results import SliceResult
    from stats.arrays import Floats

LINK = "linked_"  # prefix of the label method that plants a link with a query
POWER = 0.8
PERMUTATIONS = 19  # of resampled studies, whose p is not used
SLICE = ("metric", "convention", "query", "part", "measure", "subset")


def detection_limits(
    joined: pd.DataFrame, declared: Declaration, resamples: int = 200
) -> pd.DataFrame:
    """Return a row per confirmatory slice of the link's query and transmission.

    r_rm, slope, p and verdict as in correlations.csv (p is adjusted within a transmission);
    ``verdict``: as if the utility were far above the majority baseline; ``utility``: its mean;
    ``transmitted``: the slope less that at the smallest transmission; ``score_range``: the largest
    range of the score within a parent, ``gap_change``: the slope times that; ``limit_*``: alike in
    all rows of a slice, infinite where no transmission reaches the limit.

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
    sign, tests = float(np.sign(results[-1].within.r)), results[-1].tests
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
    value = _limit(transmissions, models, sign, tests)
    drawn = [
        _limit(transmissions, [resample(observed, seed) for observed in models], sign, tests)
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
    transmissions: Sequence[float], models: Sequence[Observations], sign: float, tests: int
) -> tuple[float, float]:
    """Return the transmission and the slope from which on the link is detected."""
    independent = [observed.independent() for observed in models]
    margins = np.array([_margin(observed, sign, tests) for observed in independent])
    limit = crossing(np.array(transmissions), margins)
    slopes = [observed.residuals().slope for observed in independent]
    return limit, float(np.interp(limit, transmissions, slopes)) if isfinite(limit) else sign * inf


def _margin(models: Observations, sign: float, tests: int) -> float:
    """Compute m; minus q and .84 where r_rm is undefined."""
    over_models, over_parents = models.within_models(PERMUTATIONS), models.over_parents()
    r = np.nan_to_num(over_models.r)
    z = sign * float(np.arctanh(np.clip(r, -NEARLY_1, NEARLY_1)))
    reach = scipy.special.ndtri([1 - LEVEL / (2 * tests), POWER]).sum()
    margins = [z / np.nan_to_num(over_models.error, nan=1.0) - reach]
    if isfinite(over_parents.r):
        reach = scipy.special.stdtrit(over_parents.df, [1 - LEVEL / 2, POWER]).sum()
        margins.append(z / over_parents.error - reach)
    return float(min(margins))


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
