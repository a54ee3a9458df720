"""How many embeddings and test items a study takes to see a correlation, or to exclude it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atanh, ceil, hypot, inf, isfinite, nan, sqrt
from statistics import median
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
import scipy
from annotated_types import Gt, Lt

from analysis.naming import SMALLEST
from analysis.reliability import RELIABLE
from analysis.verdict import LEVEL, ROLE_PRIMARY
from analysis.within import (
    FEWEST_FREE,
    Residuals,
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
        of the gaps' variance

        1 = reliability + share of trainings + share of items
        """
        of_items = max(0.0, 1 - self.reliability_y - self.training_share) / times
        whole = self.reliability_y + self.training_share + of_items
        return self._replace(
            reliability_y=self.reliability_y / whole,
            training_share=self.training_share / whole,
            items_error=self.items_error / sqrt(times),
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


class Seen(NamedTuple):
    """A simulated study, what its r within bases is said to be, and without each unit (n,)."""

    of: Residuals
    r: float
    left_out: Floats


def sees(design: Design, embeddings: int, studies: int, seed: int = 0) -> float:
    """In which share of studies r of ``smallest``, attenuated by noise, is supported: interval
    above 0 and p below .05 / family, which Holm's procedure asks of the first of a family.
    """

    def seen(study: Seen) -> bool:
        free, error = study.of.free, unit_error(study.of, study.left_out)
        t = abs(atanh(study.r)) / hypot(1 / sqrt(free), design.shared)
        p = 2 * float(scipy.special.stdtr(free, -t))
        found = z_interval(study.r, error, shared=design.shared)
        return found.low > 0 and p < LEVEL / design.family

    return _share(design, embeddings, design.smallest * design.ceiling, seen, studies, seed)


def excludes(design: Design, embeddings: int, studies: int, seed: int = 0) -> float:
    """In which share of studies r = 0 is called negligible: the 90% interval of r, corrected for
    noise, lies within ``smallest`` of 0. 0 where the noise is too much for a correction.
    """

    def excluded(study: Seen) -> bool:
        r, left_out = study.r / design.ceiling, study.left_out / design.ceiling
        shared = design.shared / design.ceiling
        error = unit_error(study.of, left_out)
        low, high = z_interval(r, error, 1 - 2 * LEVEL, shared)[1:]
        return -design.smallest < low and high < design.smallest

    if not design.excludable:
        return 0.0
    return _share(design, embeddings, 0, excluded, studies, seed)


def _share(
    design: Design,
    embeddings: int,
    r: float,
    holds: Callable[[Seen], bool],
    studies: int,
    seed: int,
) -> float:
    """In which share of simulated studies with correlation r within bases something holds."""
    bases = design.bases(embeddings)
    units = ceil(embeddings / bases)
    if bases * (units - 1) - 1 < FEWEST_FREE:
        return 0.0
    n = bases * units
    strata, leverage = np.repeat(np.arange(bases), units), np.full(n, 1 / units)
    told, free = np.arange(n), n - bases - 1
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(studies):
        drawn = rng.normal(size=(2, bases, units))
        drawn[1] = r * drawn[0] + sqrt(1 - r * r) * drawn[1]
        u, v = (drawn - drawn.mean(axis=2, keepdims=True)).reshape(2, n)
        of = Residuals(u, v, strata, leverage, told, free, np.zeros((n, 0)))
        off = design.shared * float(rng.normal())
        count += holds(Seen(of, float(_moved(np.array(of.r), off)), _moved(without_each(of), off)))
    return count / studies


def _moved(r: Floats, off: float) -> Floats:
    """Correlations whose r / sqrt(1 - r^2) are so far off."""
    slope = r / np.sqrt(1 - r * r) + off
    moved: Floats = slope / np.sqrt(1 + slope * slope)
    return moved


Power = Callable[[Design, int, int, int], float]


def needed(design: Design, power: float, of: Power, studies: int) -> int | None:
    """How many embeddings, in whole bases, it takes until ``of`` (``sees`` or ``excludes``) is
    ``power``; None where no number up to 20,000 does.

    The first guess is the normal limit of z, which beyond some 2,000 embeddings is the answer.
    Studies are simulated at five sizes about it; power grows as Phi(a + b sqrt(free)), which is
    fitted, and what it says is the next guess.
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
    """Where a fitted power curve reaches ``power``; None where it does not rise."""
    share = np.clip(shares, 0.5 / studies, 1 - 0.5 / studies)
    probit = scipy.special.ndtri(share)
    root = np.sqrt([design.free(size) for size in sizes])
    density = np.exp(-(probit**2) / 2) / sqrt(2 * np.pi)
    weight = density / np.sqrt(share * (1 - share))  # 1 / the standard error of the probit
    slope, start = np.polyfit(root, probit, 1, w=weight).tolist()
    if slope <= 0:
        return None
    free: float = max((float(scipy.special.ndtri(power)) - start) / slope, sqrt(FEWEST_FREE)) ** 2
    return (free + 1) / (1 - 1 / design.units) if design.units > 1 else free + 2
