"""The power of a study of a given size: simulated studies, judged by the same statistic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan, sqrt
from statistics import median
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Gt, Lt

from biasbridge.analysis.correlation import ONE_THREAD, Correlation, demeaned
from biasbridge.analysis.observations import Observations
from biasbridge.analysis.scopes import DOSES, MINIMUM, RUNS
from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.stats.arrays import Floats


OpenShare = Annotated[float, Gt(0), Lt(1)]
# Scores on a ladder of doses, or normal; noise of gaps that is normal, or grows with the score
Scenario = Literal["ladder", "normal", "growing noise"]
_SESOI = 0.3  # smallest correlation of interest
_BESIDE_DOSES = 0.4  # standard deviation of scores about the ladder, in units of the ladder's
_RESAMPLES = 100
_FEWEST_PERMUTATIONS = 599


@choice
class Planner(Fileless):
    """The settings of ``power=true``: how often |r| of ``sesoi`` is detected.

    ``reliability_x``, ``reliability_y``: the shares of the variance of scores and gaps within
    parents that are not noise, taken from the points in the results folder where null; ``tests``:
    number of confirmatory slices, from there or from the study. ``studies`` are simulated for each
    size.
    """

    name: ClassVar[str] = "planner"
    version: ClassVar[int] = 2

    sesoi: OpenShare = _SESOI
    reliability_x: OpenShare | None = None
    reliability_y: OpenShare | None = None
    tests: Count | None = None
    studies: Count = 200


class Pilot(NamedTuple):
    """Estimates from existing points: medians over the confirmatory slices of the reliabilities,
    the sampling errors of z and the items behind a gap; numbers of models and slices. NaN where
    unknown.
    """

    reliability_x: float = nan
    reliability_y: float = nan
    words_error: float = nan
    items_error: float = nan
    items: float = nan
    models: int = 0
    tests: int = 0


class PowerDesign(NamedTuple):
    """The size of a study: parents, conditions of each (the control among them), slices that p is
    adjusted over, |r| of interest, reliabilities, and the sampling errors of z by words and items.
    """

    parents: int
    conditions: int
    tests: int = 1
    sesoi: float = _SESOI
    reliability_x: float = 1.0
    reliability_y: float = 1.0
    words_error: float = 0.0
    items_error: float = 0.0

    @property
    def models(self) -> int:
        """Return the number of models."""
        return self.parents * self.conditions

    @property
    def noise_ceiling(self) -> float:
        """Return the largest |r| that noise allows."""
        return sqrt(self.reliability_x * self.reliability_y)

    def with_items(self, times: float) -> PowerDesign:
        """Return the design with k times the items: their noise falls by k (Spearman, 1910; Brown,
        1910), and their error shared by models with its root.
        """
        variance = self.reliability_y + (1 - self.reliability_y) / times
        return self._replace(
            reliability_y=self.reliability_y / variance,
            items_error=self.items_error / sqrt(times * variance),
        )


class Power(NamedTuple):
    """Shares of studies in which |r| of interest is detected in these runs, and over other doses
    too (NaN below ten conditions).
    """

    detected: float
    detected_over_conditions: float


def estimate_pilot(results: Sequence[SliceResult], items: Sequence[float] = ()) -> Pilot:
    """Estimate noise from slice results; ``items``: the number behind each gap."""
    confirmatory = [result for result in results if result.confirmatory]

    def finite_median(values: Sequence[float]) -> float:
        finite = [value for value in values if isfinite(value)]
        return median(finite) if finite else nan

    return Pilot(
        finite_median([result.noise_x.stable for result in confirmatory]),
        finite_median([result.noise_y.stable for result in confirmatory]),
        finite_median([result.within.sampling.words for result in confirmatory]),
        finite_median([result.within.sampling.items for result in confirmatory]),
        finite_median(items),
        max((result.n for result in confirmatory), default=0),
        len(confirmatory),
    )


@ONE_THREAD
def power(design: PowerDesign, studies: int, scenario: Scenario = "ladder", seed: int = 0) -> Power:
    """Return how often such studies detect |r| of interest, attenuated by noise, at p <= .05 /
    tests (with few permutations p can equal that exactly); 0 below 8 degrees of freedom.
    """
    if design.parents * (design.conditions - 1) - 1 < MINIMUM[RUNS]:
        return Power(0.0, nan)
    permutations = max(_FEWEST_PERMUTATIONS, 100 * design.tests - 1)
    level, r = ALPHA / design.tests, design.sesoi * design.noise_ceiling
    detected, detected_over = [], []
    for study in _studies(design, r, studies, scenario, seed):
        detected.append(_beyond(study.within_models(permutations), level))
        if design.conditions >= MINIMUM[DOSES]:
            means = study.condition_means()
            detected_over.append(detected[-1] and _beyond(means.within_models(permutations), level))
    return Power(float(np.mean(detected)), float(np.mean(detected_over)) if detected_over else nan)


def _beyond(result: Correlation, level: float) -> bool:
    return result.p <= level + 1e-9 and result.r > 0


def _studies(
    design: PowerDesign, r: float, studies: int, scenario: Scenario, seed: int
) -> Iterator[Observations]:
    rng = np.random.default_rng(seed)
    parents, conditions = design.parents, design.conditions
    parent, condition = np.divmod(np.arange(design.models), conditions)
    doses = np.linspace(-1, 1, conditions)
    error = sqrt(design.words_error**2 + design.items_error**2)
    for _ in range(studies):
        x, noise = rng.normal(size=(2, parents, conditions))
        if scenario != "normal":
            x = (doses / doses.std() + _BESIDE_DOSES * x) / sqrt(1 + _BESIDE_DOSES**2)
        if scenario == "growing noise":
            heteroscedastic: Floats = noise * (0.3 + np.abs(x) ** 1.5)
            noise = heteroscedastic / heteroscedastic.std()
        score, gap = x.ravel(), (r * x + sqrt(1 - r * r) * noise).ravel()
        slope = demeaned(score, parent) * error
        yield Observations(
            x=score,
            y=gap + slope * rng.normal(),
            model=np.arange(design.models).astype(str),
            parent=parent.astype(str),
            cluster=parent.astype(str),
            condition=condition.astype(str),
            **dict.fromkeys(("method", "family", "word_list"), np.full(design.models, "")),
            pattern=np.full(design.models, ""),
            utility=np.full(design.models, nan),
            x_resampled=np.zeros((design.models, 0)),
            y_resampled=gap[:, None] + np.outer(slope, rng.normal(size=_RESAMPLES)),
            noise=np.zeros(design.models),
        )
