"""Two groups held against attributes: distance of norms, mean cosine, coherence, analogies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cache
from typing import Annotated, ClassVar, Literal

import numpy as np
import scipy
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import InputError, choice
from intrinsic.lookup import Floats, UnitLength, means, unit_means, unit_rows
from intrinsic.metric import WEFE, About, Convention, FoundQuery, Metric
from intrinsic.permutation import PValue
from intrinsic.score import Measured, by_name, mean_score

GENDER_TESTS = ("weat6b", "weat7", "weat8")
BATCH = 4_000_000  # numbers in memory at a time
EXACT_RANKS = 8  # 40,320 orders


def relative_norm_distances(
    x: ArrayLike, y: ArrayLike, a: ArrayLike, *, distance: str = "norm"
) -> Floats:
    r"""The relative norm distance of every attribute word (Garg et al., 2018).

    rnd(a) = |mean(X) - a| - |mean(Y) - a|,   or cos(mean(X), a) - cos(mean(Y), a) for
    ``distance="cos"``

    ``norm``: > 0: a lies nearer Y. ``cos``: > 0: a lies nearer X. 0: equally near both. Rows are
    used as they are. Shapes: x (nx, dim), y (ny, dim), a (na, dim) -> (na,). Raises ``InputError``
    for another distance and, for ``cos``, for a zero vector.
    """
    centres, attributes = means((x, y)), np.asarray(a, dtype=np.float64)
    if distance == "norm":
        to: Floats = np.linalg.norm(attributes - centres[:, None], axis=2)
    elif distance == "cos":
        to = unit_rows(centres) @ unit_rows(attributes).T
    else:
        raise InputError(f"unknown distance {distance!r}; choose norm or cos")
    return np.asarray(to[0] - to[1])


def mean_cosines(targets: Sequence[ArrayLike], attributes: Sequence[ArrayLike]) -> Floats:
    r"""s(t, A) = mean_{a in A} cos(t, a), every target with every set (MAC; Manzini et al., 2019).

    Range [-1, 1]. Shapes: matrices (words, dim) -> (all target words, attribute sets). Raises
    ``InputError`` for a zero row.
    """
    words = np.concatenate([unit_rows(x) for x in targets])
    return np.asarray(words @ unit_means(attributes).T)


def coherence(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    *,
    p_value: bool = True,
    exact_limit: int = EXACT_RANKS,
) -> tuple[float, float]:
    r"""ECT (Dev & Phillips, 2019): Spearman's rho over a of cos(mean(X), a) and cos(mean(Y), a).

    1: both groups order the attributes alike (unbiased); -1: in reverse. The second number is its
    two-sided p-value: exact, over all orders, up to ``exact_limit`` attributes, by Student's t
    beyond; NaN without ``p_value``. Rows of x and y enter the means as they are. Shapes: x (nx,
    dim), y (ny, dim), a (na, dim). Raises ``InputError`` for a zero vector, for fewer than two
    attributes, and where all cosines of a group are equal.
    """
    attributes = unit_rows(a)
    if len(attributes) < 2:
        raise InputError("a ranking needs at least two attribute words")
    cosines: Floats = unit_rows(means((x, y))) @ attributes.T
    first, second = (ranks(cosines[group]) - (len(attributes) + 1) / 2 for group in (0, 1))
    spread = math.sqrt((first @ first) * (second @ second))
    if not spread:
        raise InputError(
            "a group has the same cosine with every attribute, so its ranking is 0 / 0"
        )
    rho = min(1.0, max(-1.0, float(first @ second) / spread))
    if not p_value:
        return rho, math.nan
    if len(attributes) <= exact_limit:
        return rho, _share_as_extreme(first, second)
    free = len(attributes) - 2
    t = math.inf if abs(rho) == 1 else abs(rho) * math.sqrt(free / (1 - rho * rho))
    return rho, float(2 * scipy.special.stdtr(free, -t))


def _share_as_extreme(first: Floats, second: Floats) -> float:
    """The share of all orders of ``second`` whose product with ``first`` is at least as large, both
    centred ranks; multiples of a quarter, so that sums are exact.
    """
    sums = np.abs(second[_orders(len(second))] @ first)
    return float(np.mean(sums >= abs(float(first @ second))))


@cache
def _orders(n: int) -> NDArray[np.intp]:
    """All orders of n things, (n!, n)."""
    orders = np.zeros((1, 0), dtype=np.intp)
    for new in range(n):
        orders = np.concatenate([np.insert(orders, place, new, axis=1) for place in range(new + 1)])
    return orders


def ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing their mean rank."""
    order = values.argsort()
    if (np.diff(values[order]) == 0).any():
        from scipy.stats import rankdata  # slow to import, and ties are rare

        return np.asarray(rankdata(values))
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1.0, len(values) + 1)
    return ranks


def biased_analogies(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    r"""The Biased Analogy Test (Lauscher et al., 2020).

    For all x, y, a, b: q1 = x - y + b and q2 = a - x + y. The share of the cases in which a lies
    nearer q1 than b' in B without b does, and b nearer q2 than a' in A without a, in Euclidean
    distance. Ties count as unbiased.

    0.5: analogies are as often stereotypical as not; range [0, 1]. Rows are used as they are.
    Shapes: (nx, dim), (ny, dim), (na, dim), (nb, dim). Raises ``InputError`` for attribute sets of
    one word.
    """
    xs, ys, first, second = (np.asarray(each, dtype=np.float64) for each in (x, y, a, b))
    if len(first) < 2 or len(second) < 2:
        raise InputError(
            "each attribute set needs at least two words, to have another one to be ranked against"
        )
    offsets = (xs[:, None] - ys[None]).reshape(-1, xs.shape[1])
    hits = _stereotypical(offsets, first, second) + _stereotypical(-offsets, second, first)
    na, nb = len(first), len(second)
    return hits / (len(offsets) * na * nb * (na + nb - 2))


def _stereotypical(offsets: Floats, sought: Floats, start: Floats) -> int:
    """How often, from ``start[j]`` + offset, ``sought[i]`` is nearer than ``start[k]``, k != j."""
    own: Floats = (sought**2).sum(axis=1)
    others: Floats = (start**2).sum(axis=1)
    to_sought, to_start = offsets @ sought.T, offsets @ start.T
    step = max(1, BATCH // (len(sought) * max(1, len(start) - 1)))
    count = 0
    for j, origin in enumerate([*start]):
        # Squared distances from origin + offset, less what does not depend on where they lead
        near: Floats = own - 2 * (sought @ origin) - 2 * to_sought
        far: Floats = np.delete(others - 2 * (start @ origin) - 2 * to_start, j, axis=1)
        for part in range(0, len(offsets), step):
            rows = slice(part, part + step)
            count += int(np.count_nonzero(near[rows, :, None] < far[rows, None, :]))
    return count


@choice
class RelativeNormDistance(Metric):
    """How much nearer A lies to one group's mean than to the other's; ``each``: by attribute."""

    about: ClassVar[About] = About(
        name="rnd",
        title="Relative Norm Distance",
        formula="mean_{a in A} (|mean(X) - a| - |mean(Y) - a|)",
        sign="> 0: A lies nearer Y (with distance=cos: nearer X)",
        range=(-math.inf, math.inf),
        source="Garg et al. (2018)",
        roles={"X": "targets", "Y": "targets", "A": "attributes"},
        asks=GENDER_TESTS,
        default="Garg et al. (2018): unit vectors, Euclidean distance; the mean where they sum.",
        falls=True,
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "garg", "Garg et al. (2018): the sum over the attribute words.", {"total": True}
        ),
        Convention(
            "wefe", "WEFE 1.0: vectors as they are.", {"normalize": False, "min_found": 0.8}
        ),
        Convention(
            "sweater",
            "sweater (Chan, 2022): the sum, vectors as they are.",
            {"normalize": False, "total": True},
        ),
    )

    distance: Annotated[Literal["norm", "cos"], doc("Euclidean distance, or the cosine")] = "norm"
    normalize: UnitLength = True
    total: Annotated[bool, doc("whether to sum over the attribute words, not average")] = False

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean or sum over the attribute words."""
        x, y, a = (words[role].rows(self.normalize) for role in "XYA")
        each = relative_norm_distances(x, y, a, distance=self.distance)
        value = float(each.sum() if self.total else each.mean())
        return Measured(value, each=by_name(words["A"].words, each))


@choice
class MeanAverageCosine(Metric):
    """MAC: the mean cosine distance of targets and attribute sets; ``each``: by target word."""

    about: ClassVar[About] = About(
        name="mac",
        title="Mean Average Cosine distance",
        formula="mean_{t in X u Y} mean_{A_j} mean_{a in A_j} (1 - cos(t, a))",
        sign="< 1: targets lie near attributes on average; it does not distinguish groups",
        range=(0, 2),
        unbiased=1,
        source="Manzini et al. (2019)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | dict.fromkeys(("A", "B?", "A3?"), "attributes"),
        asks=GENDER_TESTS,
        default="As WEFE: the cosine distance.",
        falls=True,
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "sweater",
            "sweater (Chan, 2022): the cosine, not the distance; unbiased 0.",
            {"form": "similarity"},
            turned=True,
        ),
        WEFE,
    )

    form: Annotated[Literal["distance", "similarity"], doc("1 - cosine, or cosine")] = "distance"

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """As in WEFE, target words count equally, and so do attribute sets."""
        groups = (words.targets.values(), words.attributes.values())
        cosines = mean_cosines(*([found.matrix for found in sets] for sets in groups))
        names = [word for found in words.targets.values() for word in found.words]
        if self.form == "similarity":
            return dataclasses.replace(mean_score(names, cosines), unbiased=0.0)
        return mean_score(names, 1 - cosines)


@choice
class EmbeddingCoherence(Metric):
    """ECT: whether the two groups order the attribute words alike."""

    about: ClassVar[About] = About(
        name="ect",
        title="Embedding Coherence Test",
        formula="Spearman's rho over a in A of cos(mean(X), a) and cos(mean(Y), a)",
        sign="1: the groups order the attributes alike; lower: they differ",
        range=(-1, 1),
        unbiased=1,
        source="Dev & Phillips (2019)",
        roles={"X": "targets", "Y": "targets", "A": "attributes"},
        fewest={"A": 3},
        asks=("names_professions",),
        default="Dev & Phillips (2019): means of vectors as they are.",
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention("wefe", f"{WEFE.source[:-1]} and p by Student's t.", {**WEFE.options, "p": "t"}),
        Convention(
            "bsa",
            "Spliethöver & Wachsmuth (2021): on whatever words are found.",
            {"min_found": 0.0},
        ),
    )
    version: ClassVar[int] = 4

    normalize: UnitLength = False
    p: Annotated[
        Literal["exact", "t"],
        doc(f"over all orders of the attributes, to {EXACT_RANKS} of them; or by Student's t"),
    ] = "exact"

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Spearman's rho; p is that of rho = 0, which is not the unbiased value."""
        x, y = (words[role].rows(self.normalize) for role in "XY")
        limit = EXACT_RANKS if self.p == "exact" else 0
        attributes = words["A"]
        rho, p = coherence(x, y, attributes.matrix, p_value=not words.drawn, exact_limit=limit)
        if words.drawn:
            return Measured(rho)
        return Measured(rho, test=PValue.of_ranks(p, len(attributes.words), limit))


@choice
class BiasedAnalogies(Metric):
    """BAT: the share of analogies X - Y + B that lead to A and not to B."""

    about: ClassVar[About] = About(
        name="bat",
        title="Biased Analogy Test",
        formula=(
            "share of (x, y, a, b, b') with |x - y + b - a| < |x - y + b - b'|, "
            "and of (x, y, a, b, a') with |a - x + y - b| < |a - x + y - a'|"
        ),
        sign="> 0.5: x is to y as A is to B",
        range=(0, 1),
        unbiased=0.5,
        source="Lauscher et al. (2020)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        fewest={"A": 2, "B": 2},
        asks=GENDER_TESTS,
        default="Lauscher et al. (2020): vectors as they are; unlike in their code no set is cut.",
    )

    normalize: UnitLength = False

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The share over all analogies."""
        x, y, a, b = (words[role].rows(self.normalize) for role in "XYAB")
        return Measured(biased_analogies(x, y, a, b))
