"""What a study of a given size would see: simulated studies, judged by the statistic itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan, sqrt
from statistics import median
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Gt, Lt

from analysis.correlation import LEVEL, ONE_THREAD, Correlation
from analysis.findings import FEWEST_CONDITIONS
from analysis.naming import SESOI
from analysis.observations import Observations
from analysis.residuals import demeaned
from analysis.verdict import FEWEST_DF
from files import choice
from files.choice import Count, Fileless

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.findings import Finding

Share = Annotated[float, Gt(0), Lt(1)]
# Scores on a ladder of doses, or normal ones; noise of gaps that is normal, or grows with the score
Scenario = Literal["ladder", "normal", "growing noise"]
BESIDE_DOSES = 0.4  # standard deviation of scores about the ladder, whose own is 1
RESAMPLES = 100
FEWEST_PERMUTATIONS = 599


@choice
class Planner(Fileless):
    """What ``power=true`` asks: how often |r| of ``sesoi`` (that of the study where null) is seen.

    ``reliability_x``, ``reliability_y``: the shares of the variance of scores and gaps within
    parents that are not noise, taken from the points in the results folder where null; ``tests``:
    confirmatory slices, from there or from the study. ``studies`` are simulated for each size.
    """

    name: ClassVar[str] = "planner"
    version: ClassVar[int] = 2

    sesoi: Share | None = None
    reliability_x: Share | None = None
    reliability_y: Share | None = None
    tests: Count | None = None
    studies: Count = 200


class Pilot(NamedTuple):
    """What the points at hand say: medians over the confirmatory slices of the reliabilities, the
    sampling errors of z and the items behind a gap; how many models and slices. NaN where unknown.
    """

    reliability_x: float = nan
    reliability_y: float = nan
    words_error: float = nan
    items_error: float = nan
    items: float = nan
    models: int = 0
    tests: int = 0


class Design(NamedTuple):
    """A study: parents, conditions of each (the control among them), slices that p is adjusted
    over, |r| of interest, reliabilities, and the sampling errors of z by words and items.
    """

    parents: int
    conditions: int
    tests: int = 1
    sesoi: float = SESOI
    reliability_x: float = 1.0
    reliability_y: float = 1.0
    words_error: float = 0.0
    items_error: float = 0.0

    @property
    def models(self) -> int:
        """How many there are."""
        return self.parents * self.conditions

    @property
    def noise_ceiling(self) -> float:
        """The largest |r| that noise lets through."""
        return sqrt(self.reliability_x * self.reliability_y)

    def with_items(self, times: float) -> Design:
        """The same with k times the items: their noise falls by k (Spearman, 1910; Brown, 1910),
        and the error that models share of them with its root.
        """
        whole = self.reliability_y + (1 - self.reliability_y) / times
        return self._replace(
            reliability_y=self.reliability_y / whole,
            items_error=self.items_error / sqrt(times * whole),
        )


class Power(NamedTuple):
    """Shares of studies: |r| of interest is seen within parents, and over conditions (NaN below
    ten); r = 0 is called negligible.
    """

    seen: float
    seen_over_conditions: float
    excluded: float


def pilot_of(found: Sequence[Finding], items: Sequence[float] = ()) -> Pilot:
    """What findings say about noise; ``items``: those behind each gap."""
    asked = [each for each in found if each.confirmatory]

    def middle(values: Sequence[float]) -> float:
        known = [value for value in values if isfinite(value)]
        return median(known) if known else nan

    return Pilot(
        middle([each.noise_x.stable for each in asked]),
        middle([each.noise_y.stable for each in asked]),
        middle([each.within.sampling.words for each in asked]),
        middle([each.within.sampling.items for each in asked]),
        middle(items),
        max((each.n for each in asked), default=0),
        len(asked),
    )


@ONE_THREAD
def power(design: Design, studies: int, scenario: Scenario = "ladder", seed: int = 0) -> Power:
    """How often such studies see |r| of interest, which noise attenuates, at p <= .05 / tests (of
    few permutations, among which p can be exactly that), and how often they call r = 0
    negligible; nothing below 8 degrees of freedom.
    """
    if design.parents * (design.conditions - 1) - 1 < FEWEST_DF:
        return Power(0.0, nan, 0.0)
    permutations = max(FEWEST_PERMUTATIONS, 100 * design.tests - 1)
    level, bound = LEVEL / design.tests, design.sesoi * design.noise_ceiling
    seen, over = [], []
    for study in _studies(design, bound, studies, scenario, seed):
        seen.append(_beyond(study.within(permutations), level))
        if design.conditions >= FEWEST_CONDITIONS:
            over.append(seen[-1] and _beyond(study.over_conditions(permutations), level))
    none = [each.within(permutations) for each in _studies(design, 0, studies, scenario, seed + 1)]
    excluded = [-bound < each.low_90 and each.high_90 < bound for each in none]
    return Power(
        float(np.mean(seen)), float(np.mean(over)) if over else nan, float(np.mean(excluded))
    )


def _beyond(found: Correlation, level: float) -> bool:
    return found.p <= level + 1e-9 and found.r > 0


def _studies(
    design: Design, r: float, studies: int, scenario: Scenario, seed: int
) -> Iterator[Observations]:
    rng = np.random.default_rng(seed)
    parents, conditions = design.parents, design.conditions
    parent, condition = np.divmod(np.arange(design.models), conditions)
    doses = np.linspace(-1, 1, conditions)
    error = sqrt(design.words_error**2 + design.items_error**2)
    for _ in range(studies):
        x, noise = rng.normal(size=(2, parents, conditions))
        if scenario != "normal":
            x = (doses / doses.std() + BESIDE_DOSES * x) / sqrt(1 + BESIDE_DOSES**2)
        if scenario == "growing noise":
            grown: Floats = noise * (0.3 + np.abs(x) ** 1.5)
            noise = grown / grown.std()
        score, gap = x.ravel(), (r * x + sqrt(1 - r * r) * noise).ravel()
        slope = demeaned(score, parent) * error
        yield Observations(
            x=score,
            y=gap + slope * rng.normal(),
            model=np.arange(design.models).astype(str),
            parent=parent.astype(str),
            cluster=parent.astype(str),
            condition=condition.astype(str),
            utility=np.full(design.models, nan),
            x_resampled=np.zeros((design.models, 0)),
            y_resampled=gap[:, None] + np.outer(slope, rng.normal(size=RESAMPLES)),
            noise=np.zeros(design.models),
        )
