"""The measurement of a slice: from its rows to r_rm and what bears on a verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.correlation import PERMUTATIONS, slope_estimate
from biasbridge.analysis.frame import group_indices
from biasbridge.analysis.linearity import find_nonlinearity
from biasbridge.analysis.naming import CONTROL, ORIGINAL
from biasbridge.analysis.observations import observations
from biasbridge.analysis.reliability import NoiseShares, noise_shares
from biasbridge.analysis.sampling import slope_sampling_error
from biasbridge.analysis.scopes import DOSES, RUNS, measure_scopes
from biasbridge.analysis.slice_results import SliceResult
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.analysis.rows import Rows
    from biasbridge.stats.arrays import Floats, Labels
    from biasbridge.stats.intervals import Estimate

MAX_EQUAL_SHARE = 0.5  # share of models with the same score, or gap: more is saturation
MIN_PEARSON = 3  # points
MAX_MODEL_SHARE = 2 / 3  # share of the variance within parents that one model may carry


def measure(
    rows: Rows,
    names: dict[str, str],
    *,
    full: bool,
    permutations: int = PERMUTATIONS,
) -> SliceResult:
    """Measure the rows of a slice, without a verdict."""
    comparable = rows.comparable()
    planned, retained_models = set(rows.model.tolist()), set(comparable.model.tolist())
    models = observations(comparable, trained=full)
    with_siblings, independent = models.with_siblings(), models.average_over_clusters()
    scopes = measure_scopes(models, permutations, full=full)
    within = scopes[RUNS]
    if not full:
        scopes = {RUNS: within._replace(null=None)}
    result = SliceResult(
        names,
        scopes,
        n=len(with_siblings.x),
        n_parents=_count(with_siblings.parent),
        n_conditions=n if (n := _count(with_siblings.condition)) > 1 else 0,
        n_clusters=_count(with_siblings.cluster),
        lost=len(planned - retained_models),
        planned=len(planned),
        lost_models=lost_models(rows, comparable),
        line=models.line(),
        r_pearson=pearson(comparable.x, comparable.y),
    )
    if not isfinite(within.r):
        return result
    result = _add_range(result, models, independent)
    if not full:
        return result
    sizes = comparable.x_resampled.size, comparable.y_resampled.size
    result = result._replace(saturated=saturation_reason(with_siblings, independent))
    return _add_noise_and_utility(result, independent, sizes, permutations)


def pearson(x: Floats, y: Floats) -> float:
    """Compute Pearson's r over the points of a slice, as the papers have it; NaN where a side is
    constant.
    """
    if len(x) < MIN_PEARSON or not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return nan
    return float(np.corrcoef(x, y)[0, 1])


def _add_range(result: SliceResult, models: Observations, independent: Observations) -> SliceResult:
    """Add the gap of the unmodified models, and between which scores conditions moved them."""
    controls = models.method == CONTROL
    moved = independent.condition_means() if result.n_conditions else independent
    u = moved.residuals().u
    middle = float(models.x[controls].mean() if controls.any() else models.x.mean())
    if controls.any() and result.n_conditions:
        origin = moved.residuals().u[moved.method[moved.residuals().indices] == CONTROL]
        middle -= float(origin.mean()) if len(origin) else 0.0
    return result._replace(
        gap_unmodified=float(models.y[controls].mean()) if controls.any() else nan,
        score_low=middle + float(u.min()),
        score_high=middle + float(u.max()),
    )


def _add_noise_and_utility(
    result: SliceResult,
    independent: Observations,
    sizes: tuple[float, float],
    permutations: int,
) -> SliceResult:
    """Add what bears on r_rm of models; ``sizes``: numbers of words and items."""
    residuals, noise = independent.residuals(), independent.noise
    x, x_resampled = independent.x, independent.x_resampled
    y, y_resampled = independent.y, independent.y_resampled
    noise_x = noise_shares(residuals, x, x_resampled, sizes[0], 0 * noise)
    # Without the JSON of its options
    name = re.sub(r" \{.*\}", "", str(independent.model[result.within.influential]))
    claimed, noise_claimed = independent, noise_x
    if result.claimed == DOSES:
        claimed = independent.condition_means()
        parts = claimed.x, claimed.x_resampled, sizes[0], 0 * claimed.noise
        noise_claimed = noise_shares(claimed.residuals(), *parts)
    return result._replace(
        influential=f"{name} (without: {format_number(result.within.r_without_influential)})",
        nonlinear=find_nonlinearity(independent, result.score_high - result.score_low),
        given_utility=independent.given_utility(permutations),
        noise_x=noise_x,
        noise_y=noise_shares(residuals, y, y_resampled, sizes[1], noise),
        slope_without_noise=_slope_without_noise(claimed, noise_claimed),
    )


def _slope_without_noise(models: Observations, noise: NoiseShares) -> Estimate:
    residuals = models.residuals()
    sampling = slope_sampling_error(residuals, models.x_resampled, models.y_resampled)
    # Reliability is at least r^2; NaN stays
    reliability = max(noise.reliability, residuals.r**2)
    return slope_estimate(residuals, sampling.variance, reliability)


def _count(labels: Labels) -> int:
    return len(set(labels.tolist()) - {""})


def saturation_reason(models: Observations, independent: Observations) -> str:
    """Return why a side varies too little for a verdict; empty where it does not.

    A side is saturated if its value is exactly equal in most models, or if one model carries most
    of its variance within parents. ``independent``: the same models as r_rm uses them.
    """
    residuals = independent.residuals()
    for name, raw, side in (("score", models.x, residuals.u), ("gap", models.y, residuals.v)):
        values, counts = np.unique(raw, return_counts=True)
        top = int(counts.argmax())
        if counts[top] > MAX_EQUAL_SHARE * len(raw):
            count = f"{counts[top]} of {len(raw)} models"
            return f"the {name} is exactly {values[top]:.3g} in {count}"
        shares = side**2 / float(side @ side)
        if shares.max() > MAX_MODEL_SHARE:
            model_name = independent.model[residuals.indices[int(shares.argmax())]]
            share = f"{shares.max():.0%} of the variance of the {name}"
            return f"one model ({model_name}) carries {share}"
    return ""


def lost_models(rows: Rows, comparable: Rows) -> str:
    """Return the lost models by method, and the kinds of rows left out, with the models that lack
    them: ``1 of 32 balance; cnn left out (8 of 32 balance lack it)``.
    """
    methods = dict(zip(rows.model.tolist(), rows.method.tolist(), strict=True))
    n_by_method = Counter(methods.values())

    def without(present_models: Iterable[str]) -> str:
        n_lost = Counter(methods[model] for model in methods.keys() - set(present_models))
        names = [ORIGINAL if method == CONTROL else method for method in n_by_method]
        lost = zip(names, n_by_method.items(), strict=True)
        return ", ".join(
            f"{n_lost[method]} of {n} {name}" for name, (method, n) in lost if n_lost[method]
        )

    parts = [without(comparable.model.tolist())]
    if len(comparable.model):
        complete = rows.at(np.flatnonzero(rows.is_complete))
        rows_by_kind = group_indices(_kinds(complete))
        used_kinds = set(_kinds(comparable))
        words = {kind: " ".join(kind).split() for kind in rows_by_kind}
        shared = set.intersection(*map(set, words.values()))
        for kind, places in rows_by_kind.items():
            if kind not in used_kinds:
                name = " ".join(w for w in words[kind] if w not in shared) or "the rest"
                lost = without(complete.model[places].tolist())
                parts.append(f"{name} left out ({lost} lack it)")
    return "; ".join(filter(None, parts))


def _kinds(rows: Rows) -> list[tuple[str, str]]:
    return list(zip(rows.setting.tolist(), rows.score_gap.tolist(), strict=True))
