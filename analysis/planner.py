"""How many embeddings and test items a study takes to see a correlation, or to exclude it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import atanh, ceil, hypot, inf, isfinite, nan, sqrt
from statistics import median
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import scipy
from annotated_types import Gt, Lt

from analysis.naming import SMALLEST
from analysis.permutation import Exchange, permutation_ps
from analysis.reliability import RELIABLE
from analysis.verdict import LEVEL, ROLE_PRIMARY
from analysis.within import (
    FEWEST_FREE,
    Residuals,
    interval,
    unit_error,
    without_each,
    z_interval,
)
from files import choice
from files.choice import Count, Fileless

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from analysis.findings import Finding

MOST = 20_000  # embeddings; beyond, a number is no plan
MOST_SIMULATED = 2_000  # embeddings; beyond, z is as good as normal
# Sizes that are simulated about a first guess, and about what they say
AROUND = ((0.7, 0.85, 1.0, 1.2, 1.45), (0.85, 0.92, 1.0, 1.08, 1.18))
Share = Annotated[float, Gt(0), Lt(1)]
# What studies look like: scores on a ladder of doses, or normal ones; noise of gaps that is normal,
# or grows with the score. Of the first most is seen.
Kind = Literal["ladder", "normal", "growing noise"]
BESIDE_DOSES = 0.4  # standard deviation of scores about the ladder, whose own is 1
BEYOND = 5  # orders that may lie beyond what is claimed
PERMUTED = 300  # embeddings; beyond, the normal limit of p is as good


@choice
class Planner(Fileless):
    """What ``power=true`` asks: |r| of ``smallest`` (that of the study where null) seen, or
    excluded, in ``power`` of studies.

    ``reliability_x``, ``reliability_y``: the share of the variance of scores and gaps within bases
    that is no noise of words and posts, taken from the points in the results folder where null;
    ``family``: the primary slices, from there or from the study. ``studies`` are simulated for each
    size.
    """

    name: ClassVar[str] = "planner"
    version: ClassVar[int] = 1

    power: Share = 0.8
    smallest: Share | None = None
    reliability_x: Share | None = None
    reliability_y: Share | None = None
    family: Count | None = None
    studies: Count = 300


class Pilot(NamedTuple):
    """What the points at hand say: medians over the primary slices of the reliabilities, and of the
    test items behind a gap; how many embeddings, and slices; the median share of the gaps' variance
    that is noise of trainings, and medians of the errors of r that embeddings share. NaN where it
    is not known.
    """

    reliability_x: float = nan
    reliability_y: float = nan
    items: float = nan
    embeddings: int = 0
    family: int = 0
    training_share: float = nan
    words_error: float = nan
    items_error: float = nan


class Design(NamedTuple):
    """Studies of one kind: ``units`` embeddings a base (below 2: nothing is modified, all are of
    one), reliabilities, slices that are judged together, the |r| of interest, the share of the
    gaps' variance that is noise of trainings, and the errors of r that embeddings share
    (``analysis.shared_error``).
    """

    units: int
    reliability_x: float = 1.0
    reliability_y: float = 1.0
    family: int = 1
    smallest: float = SMALLEST
    training_share: float = 0.0
    words_error: float = 0.0
    items_error: float = 0.0

    @property
    def shared(self) -> float:
        """The error that no number of embeddings takes away."""
        return hypot(self.words_error, self.items_error)

    @property
    def ceiling(self) -> float:
        """The largest |r| that noise lets through."""
        return sqrt(self.reliability_x * self.reliability_y)

    @property
    def excludable(self) -> bool:
        """Whether half of the variance of either side is no noise, without which nothing is
        negligible.
        """
        return min(self.reliability_x, self.reliability_y) >= RELIABLE

    def bases(self, embeddings: float) -> int:
        """How many bases so many embeddings take."""
        return ceil(embeddings / self.units) if self.units > 1 else 1

    def free(self, embeddings: float) -> float:
        """Their degrees of freedom."""
        return embeddings * (1 - 1 / self.units) - 1 if self.units > 1 else embeddings - 2

    def with_items(self, times: float) -> Design:
        """The same with k times the test items, which divides their noise by k, and the variance
        that embeddings share of them, and leaves noise of trainings (Spearman, 1910; Brown, 1910):
        of the gaps' variance, which shrinks to ``whole``,

        1 = reliability + share of trainings + share of items

        The error that embeddings share is a slope in units of what gaps vary, so that it is
        divided by sqrt(k whole).
        """
        of_items = max(0.0, 1 - self.reliability_y - self.training_share) / times
        whole = self.reliability_y + self.training_share + of_items
        return self._replace(
            reliability_y=self.reliability_y / whole,
            training_share=self.training_share / whole,
            items_error=self.items_error / sqrt(times * whole),
        )


def pilot_of(found: Sequence[Finding], items: Sequence[float] = ()) -> Pilot:
    """What findings say about the noise of scores and gaps; ``items``: those behind each gap."""
    primary = [each for each in found if each.judgement.role == ROLE_PRIMARY]

    def middle(values: Sequence[float]) -> float:
        known = [value for value in values if isfinite(value)]
        return median(known) if known else nan

    return Pilot(
        middle([each.evidence.reliability_x for each in primary]),
        middle([each.evidence.reliability_y for each in primary]),
        middle(items),
        max((each.evidence.n_units for each in primary), default=0),
        len(primary),
        middle([each.evidence.training_share for each in primary]),
        middle([each.evidence.words_error for each in primary]),
        middle([each.evidence.items_error for each in primary]),
    )


def sees(
    design: Design, embeddings: int, studies: int, seed: int = 0, kind: Kind = "ladder"
) -> float:
    """In which share of studies r of ``smallest``, attenuated by noise, is supported: interval
    above 0, and the permutation p not above .05 / family, which Holm's procedure asks of the first
    of a family.
    """
    r, level = design.smallest * design.ceiling, LEVEL / design.family
    above = [
        Exchange.of(of, of.strata, design.shared)
        for of in _made(design, embeddings, r, studies, seed, kind)
        if interval(of, shared=design.shared).low > 0
    ]
    orders = round(BEYOND / level)  # a multiple of 1 / level, so that p can be the level
    p = permutation_ps(above, orders - 1, PERMUTED)
    return sum(each <= level + 1e-9 for each in p) / studies


def excludes(design: Design, embeddings: int, studies: int, seed: int = 0) -> float:
    """In which share of studies r = 0 is called negligible: the 90% interval of r, corrected for
    noise, lies within ``smallest`` of 0. 0 where the noise is too much for a correction.
    """
    if not design.excludable:
        return 0.0
    excluded = 0
    for of in _made(design, embeddings, 0, studies, seed, "ladder"):
        error = unit_error(of, without_each(of) / design.ceiling)
        shared = design.shared / design.ceiling
        _, low, high = z_interval(of.r / design.ceiling, error, 1 - 2 * LEVEL, shared)
        excluded += -design.smallest < low and high < design.smallest
    return excluded / studies


def _made(
    design: Design, embeddings: int, r: float, studies: int, seed: int, kind: Kind
) -> Iterator[Residuals]:
    """Simulated studies with correlation r within bases; none where there is no verdict."""
    bases = design.bases(embeddings)
    units = ceil(embeddings / bases)
    if bases * (units - 1) - 1 < FEWEST_FREE:
        return
    n, rng = bases * units, np.random.default_rng(seed)
    strata, leverage = np.repeat(np.arange(bases), units), np.full(n, 1 / units)
    told, free, nothing = np.arange(n), n - bases - 1, np.zeros((n, 0))
    spread = _growing_spread()
    doses = np.linspace(-1, 1, units)
    for _ in range(studies):
        x, noise = rng.normal(size=(2, bases, units))
        if kind != "normal" and design.units > 1:
            x = (doses / doses.std() + BESIDE_DOSES * x) / hypot(1, BESIDE_DOSES)
        if kind == "growing noise":
            noise = noise * _growing(x) / spread
        drawn = np.stack([x, r * x + sqrt(1 - r * r) * noise])
        u, v = (drawn - drawn.mean(axis=2, keepdims=True)).reshape(2, n)
        slope = float(u @ v) / float(u @ u)
        left: Floats = v - slope * u
        off = design.shared * float(rng.normal()) * sqrt(float(left @ left) / float(u @ u))
        yield Residuals(u, v + off * u, strata, leverage, told, free, nothing)


def _growing(x: Floats) -> Floats:
    found: Floats = 0.3 + np.abs(x) ** 1.5
    return found


@lru_cache(maxsize=1)
def _growing_spread() -> float:
    """Of noise that grows so with normal scores."""
    return sqrt(float((_growing(np.random.default_rng(0).normal(size=100_000)) ** 2).mean()))


Power = Callable[[Design, int, int, int], float]


def needed(design: Design, power: float, of: Power, studies: int) -> int | None:
    """How many embeddings, in whole bases, it takes until ``of`` (``sees`` or ``excludes``) is
    ``power``; None where no number up to 20,000 does.

    The first guess is the normal limit of z, which beyond some 2,000 embeddings is the answer.
    Studies are simulated at five sizes about it; power grows as Phi(a + b / error), error =
    sqrt(1 / free + ``shared``^2), which is fitted, and what it says is the next guess.
    """
    if of is excludes and not design.excludable:
        return None
    guess = _first_guess(design, power, of)
    if not isfinite(guess):
        return None
    for seed, around in enumerate(AROUND):
        sizes = [_whole(design, guess * times) for times in around]
        if sizes[-1] > MOST_SIMULATED:
            break
        shares = [of(design, size, studies, seed) for size in sizes]
        guess = _solved(design, sizes, shares, studies, power) or guess
        if not isfinite(guess):
            return None
    found = _whole(design, guess)
    return found if found <= MOST else None


def _whole(design: Design, embeddings: float) -> int:
    """So many embeddings, or as few more as make whole bases and a verdict possible."""
    least = ceil(embeddings)
    while design.free(least) < FEWEST_FREE:
        least += 1
    return design.bases(least) * design.units if design.units > 1 else least


def _first_guess(design: Design, power: float, of: Power) -> float:
    """By the normal limit of z; infinity where what embeddings share is error enough."""
    if of is sees:
        reach = atanh(design.smallest * design.ceiling)
        quantiles = 1 - LEVEL / (2 * design.family), power
    else:
        reach = atanh(design.smallest) * design.ceiling
        quantiles = 1 - LEVEL, (1 + power) / 2
    variance = (reach / sum(float(scipy.special.ndtri(each)) for each in quantiles)) ** 2
    if variance <= design.shared**2:
        return inf
    free = 1 / (variance - design.shared**2)
    share = 1 - 1 / design.units if design.units > 1 else 1
    return (max(free, FEWEST_FREE) + 1) / share


def _solved(
    design: Design, sizes: Sequence[int], shares: Sequence[float], studies: int, power: float
) -> float | None:
    """Where a fitted power curve reaches ``power``; infinity where what embeddings share keeps it
    below, None where it does not rise.
    """
    share = np.clip(shares, 0.5 / studies, 1 - 0.5 / studies)
    probit = scipy.special.ndtri(share)
    precision = [1 / hypot(1 / sqrt(design.free(size)), design.shared) for size in sizes]
    density = np.exp(-(probit**2) / 2) / sqrt(2 * np.pi)
    weight = density / np.sqrt(share * (1 - share))  # 1 / the standard error of the probit
    slope, start = np.polyfit(precision, probit, 1, w=weight).tolist()
    if slope <= 0:
        return None
    reached: float = (float(scipy.special.ndtri(power)) - start) / slope
    if reached * design.shared >= 1:
        return inf
    reached = max(reached, 1 / hypot(1 / sqrt(FEWEST_FREE), design.shared))
    free = 1 / (reached**-2 - design.shared**2)
    return (free + 1) / (1 - 1 / design.units) if design.units > 1 else free + 2
