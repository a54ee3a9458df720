"""The permutation test of r within strata, of many slices at a time.

Slices whose strata have the same sizes share their orders, and of what an order costs the most: the
values of one side are put in it once, and meet all those of the other side as a product of
matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from analysis.within import NEARLY_1

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints
    from analysis.within import Residuals

Orders = NDArray[np.uint32]
Places = NDArray[np.unsignedinteger]

# On matrices this small several BLAS threads only wait for one another, the longer the more others
# use the machine.
ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")
LEAST_SHARE = 0.6
MOST_PERMUTED = 2_000  # units
CELLS = 200_000  # numbers that permutations are computed on at a time: they stay in the cache


class Exchange(NamedTuple):
    """What is left of x and of y, of length 1 each, stratum by stratum, and how many units each
    stratum has. Shapes: (n,), (n,), (strata,). ``shared``: the standard error that all units share.
    """

    u: Floats
    v: Floats
    sizes: tuple[int, ...]
    shared: float = 0.0

    @classmethod
    def of(cls, left: Residuals, strata: Ints, shared: float = 0.0) -> Exchange | None:
        """None where r is not defined. Shape of strata: (all units,)."""
        if not left.defined:
            return None
        order, sizes = _by_stratum(strata[left.told])
        u, v = (side[order] / sqrt(float(side @ side)) for side in (left.u, left.v))
        return cls(u, v, sizes, shared)


def _by_stratum(strata: Ints) -> tuple[Ints, tuple[int, ...]]:
    """The units stratum by stratum, as the strata first appear, and the sizes of these."""
    _, first, own, counts = np.unique(
        strata, return_index=True, return_inverse=True, return_counts=True
    )
    appearance = np.argsort(first)
    return np.argsort(np.argsort(appearance)[own], kind="stable"), tuple(
        counts[appearance].tolist()
    )


@lru_cache(maxsize=2)
def _places(sizes: tuple[int, ...], resamples: int) -> Places:
    """Random orders of units within strata of these sizes, as places in the stratum: bytes, for
    they may be many. Shape (resamples, units).
    """
    rng = np.random.default_rng(0)
    start = np.cumsum((0, *sizes)).tolist()
    found = np.empty((resamples, start[-1]), dtype=np.min_scalar_type(max(sizes, default=0)))
    for size, at in zip(sizes, start, strict=False):
        own = np.tile(np.arange(size, dtype=found.dtype), (resamples, 1))
        found[:, at : at + size] = rng.permuted(own, axis=1)
    return found


def orders(strata: tuple[int, ...], resamples: int) -> Orders:
    """Random orders of units within their strata, the same for all slices of these units. Shape
    (resamples, n).
    """
    units, sizes = _by_stratum(np.array(strata, dtype=np.intp))
    found = np.empty((resamples, len(strata)), dtype=np.uint32)
    found[:, units] = units[_places(sizes, resamples) + _starts(sizes)]
    return found


def _starts(sizes: Sequence[int]) -> Ints:
    """For each unit where its stratum starts."""
    return np.repeat(np.cumsum((0, *sizes))[:-1], sizes)


def permutation_p(left: Residuals, strata: Ints, resamples: int, shared: float = 0.0) -> float:
    """The two-sided p of r = 0 within strata. Shape of strata: (all units,); NaN where r is.

    T = atanh(r) / sqrt(max(V, 0.6 sum u^2 v^2)),   p = (1 + #{|T_b| >= |T|}) / (1 + resamples)
    V = sum over strata of m / (m - 2) (sum u^2 v^2 - sum u^2 sum v^2 / (m (m - 1)))

    with v changing places within strata, u and v of length 1, m the units of a stratum; of m = 2 it
    is 2 sum u^2 v^2. V estimates the variance of r without bias where r is 0 and every unit has
    noise of its own size. So p is exact where the units of a stratum can be exchanged, and close
    where they only have r = 0: where noise grows with x, say, or few units have most of the weight
    (Janssen, 1997; DiCiccio & Romano, 2017). The bound keeps a small V of few units from deciding.
    Of more than 2,000 units it is T's normal limit, P(|Z| >= |T|). ``shared``: the standard error
    of sinh z that all units share (``analysis.shared_error``), which at r = 0 is that of z; its
    square is added to V of the T that is compared with those of other orders.
    """
    return permutation_ps([Exchange.of(left, strata, shared)], resamples)[0]


def permutation_ps(
    tests: Sequence[Exchange | None], resamples: int, most: int = MOST_PERMUTED
) -> list[float]:
    """The same of many slices; NaN for None. Of more than ``most`` units the normal limit."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, test in enumerate(tests):
        if test is not None:
            alike.setdefault(test.sizes, []).append(place)
    found = [nan] * len(tests)
    for sizes, own in alike.items():
        of = [test for test in (tests[place] for place in own) if test is not None]
        for place, p in zip(own, _of_one_kind(of, sizes, resamples, most), strict=True):
            found[place] = p
    return found


def _of_one_kind(
    tests: Sequence[Exchange], sizes: tuple[int, ...], resamples: int, most: int
) -> list[float]:
    """The p of slices whose strata have the same sizes. The side with fewer different values is
    permuted; equal slices are tested once.
    """
    sides = [(test.u, test.v) for test in tests]
    us, vs = (len({each.tobytes() for each in side}) for side in zip(*sides, strict=True))
    permuted = 0 if us < vs else 1
    together: dict[bytes, dict[tuple[bytes, float], list[int]]] = {}
    for place, (each, test) in enumerate(zip(sides, tests, strict=True)):
        of_permuted = together.setdefault(each[permuted].tobytes(), {})
        of_permuted.setdefault((each[1 - permuted].tobytes(), test.shared), []).append(place)
    found = [nan] * len(tests)
    for alike in together.values():
        firsts = [sides[same[0]] for same in alike.values()]
        shared = np.array([error for _, error in alike])
        whole = Together.of(firsts[0][permuted], [each[1 - permuted] for each in firsts], sizes)
        p_values = whole.p(sizes, resamples, permuted, shared, most)
        for same, p in zip(alike.values(), p_values, strict=True):
            for place in same:
                found[place] = p
    return found


class Together(NamedTuple):
    """Values that change places, (n,), all that they are set against, (n, k), and with the squares
    of these what the variance of r needs: (n, k), (n, k) and (k,).
    """

    moved: Floats
    against: Floats
    squares: Floats
    weighted: Floats
    fixed: Floats

    @classmethod
    def of(cls, moved: Floats, against: Sequence[Floats], sizes: tuple[int, ...]) -> Together:
        """Of values of length 1, stratum by stratum."""
        m = np.array(sizes, dtype=float)
        starts = np.cumsum((0, *sizes))[:-1]
        factor = np.where(m > 2, m / np.maximum(m - 2, 1), 2)
        whole = np.stack(against, axis=1)
        squares = whole * whole
        own, other = (np.add.reduceat(each, starts) for each in (moved * moved, squares))
        product = np.where(m > 2, factor * own / np.maximum(m * (m - 1), 1), 0)
        weighted = np.repeat(factor, sizes)[:, None] * squares
        return cls(moved, whole, squares, weighted, product @ other)

    def statistic(self, values: Floats, shared: Floats | float = 0.0) -> Floats:
        """|T| of the moved values in some orders. Shapes: (orders, n), (k,) -> (orders, k)."""
        r = np.clip(values @ self.against, -NEARLY_1, NEARLY_1)
        moved = values * values
        least = LEAST_SHARE * (moved @ self.squares)
        variance = np.maximum(moved @ self.weighted - self.fixed, least) + shared**2
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.abs(np.arctanh(r)) / np.sqrt(variance)
        return np.nan_to_num(found)

    def p(
        self, sizes: tuple[int, ...], resamples: int, permuted: int, shared: Floats, most: int
    ) -> list[float]:
        """The p-values, shape (k,). ``permuted``: 1 where the moved values are v; those of u take
        the places that v leaves.
        """
        observed: Floats = self.statistic(self.moved[None], shared)[0]
        if len(self.moved) > most:
            normal: list[float] = scipy.special.erfc(observed / sqrt(2)).tolist()
            return normal
        count = np.zeros(len(observed), dtype=np.intp)
        for place in _chunks(sizes, resamples):
            values = self.moved[place]
            if not permuted:
                np.put_along_axis(values, place, self.moved[None], axis=1)
            count += (self.statistic(values) >= observed - 1e-9).sum(axis=0)
        p: list[float] = ((1 + count) / (1 + resamples)).tolist()
        return p


def _chunks(sizes: tuple[int, ...], resamples: int) -> Iterator[Ints]:
    """Some orders at a time."""
    whole, starts = _places(sizes, resamples), _starts(sizes)
    step = max(1, CELLS // len(starts))
    for start in range(0, resamples, step):
        yield whole[start : start + step] + starts
