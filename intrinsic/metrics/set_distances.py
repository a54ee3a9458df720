"""Two groups compared by attributes: norm distance, mean cosine, coherence, analogies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import scipy
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.lookup import UnitLength, means, unit_means, unit_rows
from biasbridge.intrinsic.metric import WEFE, Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.permutation import PValue
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_GENDER_TESTS = ("weat6b", "weat7", "weat8")
_COMPARISONS = 4_000_000  # comparisons in memory at a time
_EXACT_RANKS = 8  # 40,320 orders


def relative_norm_distances(
    x: ArrayLike, y: ArrayLike, a: ArrayLike, *, distance: str = "norm"
) -> Floats:
    r"""Compute the relative norm distance of every attribute word (Garg et al., 2018).

    rnd(a) = |mean(X) - a| - |mean(Y) - a|,   or cos(mean(X), a) - cos(mean(Y), a) for
    ``distance="cos"``

    Parameters
    ----------
    x, y : array of shape (n_x, dim), (n_y, dim)
        Vectors of the target words, used as they are.
    a : array of shape (n_a, dim)
        Vectors of the attribute words.
    distance : {"norm", "cos"}, default="norm"

    Returns
    -------
    array of shape (n_a,)
        Above 0: a lies nearer Y (``norm``) or nearer X (``cos``); 0: equally near both.

    Raises
    ------
    InputError
        Another distance and, for ``cos``, a zero vector.

    Examples
    --------
    >>> relative_norm_distances([[3, 0]], [[1, 0]], [[0, 0]]).tolist()
    [2.0]
    """
    centres, attributes = means((x, y)), np.asarray(a, dtype=np.float64)
    if distance == "norm":
        measures: Floats = np.linalg.norm(attributes - centres[:, None], axis=2)
    elif distance == "cos":
        measures = unit_rows(centres) @ unit_rows(attributes).T
    else:
        raise InputError(f"unknown distance {distance!r}; choose norm or cos")
    return np.asarray(measures[0] - measures[1])


def mean_cosines(targets: Sequence[ArrayLike], attributes: Sequence[ArrayLike]) -> Floats:
    r"""Compute the mean cosines of target words with attribute sets (MAC; Manzini et al., 2019).

    s(t, A) = mean_{a in A} cos(t, a)

    Parameters
    ----------
    targets, attributes : sequence of arrays of shape (n_words, dim)
        Vectors of each target group and each attribute set. Rows need not have unit length.

    Returns
    -------
    array of shape (all target words, attribute sets)
        s in [-1, 1]; its mean is 1 - MAC.

    Raises
    ------
    InputError
        A zero row.

    Examples
    --------
    >>> mean_cosines([[[1, 0]]], [[[1, 0], [0, 1]]]).tolist()
    [[0.5]]
    """
    words = np.concatenate([unit_rows(x) for x in targets])
    return np.asarray(words @ unit_means(attributes).T)


def coherence(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    *,
    p_value: bool = True,
    exact_limit: int = _EXACT_RANKS,
) -> tuple[float, float]:
    r"""Compute the Embedding Coherence Test (Dev & Phillips, 2019).

    ECT = Spearman's rho over a in A of cos(mean(X), a) and cos(mean(Y), a)

    Parameters
    ----------
    x, y : array of shape (n_x, dim), (n_y, dim)
        Vectors of the target words, which enter the means as they are.
    a : array of shape (n_a, dim)
        Vectors of the attribute words.
    p_value : bool, default=True
        Whether to compute p.
    exact_limit : int, default=8
        Largest n_a for which p is exact, over all orders; beyond by Student's t.

    Returns
    -------
    tuple of float
        rho in [-1, 1] (1: both groups order the attributes alike, unbiased; -1: in reverse), and
        its two-sided p, NaN without ``p_value``.

    Raises
    ------
    InputError
        A zero vector, fewer than two attributes, or equal cosines of a group.

    Examples
    --------
    >>> coherence([[1, 0]], [[0, 1]], [[1, 0], [0, 1]], p_value=False)[0]
    -1.0
    """
    attributes = unit_rows(a)
    if len(attributes) < 2:
        raise InputError("a ranking needs at least two attribute words")
    cosines: Floats = unit_rows(means((x, y))) @ attributes.T
    first, second = (_mean_ranks(cosines[group]) - (len(attributes) + 1) / 2 for group in (0, 1))
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
    df = len(attributes) - 2
    t = math.inf if abs(rho) == 1 else abs(rho) * math.sqrt(df / (1 - rho * rho))
    return rho, float(2 * scipy.special.stdtr(df, -t))


def _share_as_extreme(first: Floats, second: Floats) -> float:
    """Return the share of orders of centred ranks whose product is at least as large; exact."""
    sums = np.abs(second[_orders(len(second))] @ first)
    return float(np.mean(sums >= abs(float(first @ second))))


@cache
def _orders(n: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(n))), dtype=np.intp)


def _mean_ranks(values: Floats) -> Floats:
    """Rank values from 1; equal values share their mean rank."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last: Floats = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[index])


def biased_analogies(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    r"""Compute the Biased Analogy Test (Lauscher et al., 2020).

    For all x, y, a, b: q1 = x - y + b and q2 = a - x + y. BAT is the share of cases in which a lies
    nearer q1 than b' in B without b does, or b nearer q2 than a' in A without a, in Euclidean
    distance. Ties count as unbiased.

    Parameters
    ----------
    x, y : array of shape (n_x, dim), (n_y, dim)
        Vectors of the target words, used as they are.
    a, b : array of shape (n_a, dim), (n_b, dim)
        Vectors of the attribute words.

    Returns
    -------
    float
        BAT in [0, 1]; 0.5: analogies are as often stereotypical as not; above: x is to y as A to B.

    Raises
    ------
    InputError
        An attribute set of one word.
    """
    xs, ys, first, second = (np.asarray(rows, dtype=np.float64) for rows in (x, y, a, b))
    if len(first) < 2 or len(second) < 2:
        raise InputError(
            "each attribute set needs at least two words, so that one can be compared with another"
        )
    offsets = (xs[:, None] - ys[None]).reshape(-1, xs.shape[1])
    hits = _stereotypical(offsets, first, second) + _stereotypical(-offsets, second, first)
    na, nb = len(first), len(second)
    return hits / (len(offsets) * na * nb * (na + nb - 2))


def _stereotypical(offsets: Floats, expected: Floats, origins: Floats) -> int:
    """Count i, j, k != j: ``expected[i]`` nearer ``origins[j]`` + offset than ``origins[k]`` is."""
    expected_squares: Floats = (expected**2).sum(axis=1)
    origin_squares: Floats = (origins**2).sum(axis=1)
    expected_products, origin_products = offsets @ expected.T, offsets @ origins.T
    step = max(1, _COMPARISONS // (len(expected) * max(1, len(origins) - 1)))
    count = 0
    for j, origin in enumerate([*origins]):
        # Squared distances from origin + offset, up to a term that all words share
        to_expected: Floats = expected_squares - 2 * (expected @ origin) - 2 * expected_products
        to_origins: Floats = np.delete(
            origin_squares - 2 * (origins @ origin) - 2 * origin_products, j, axis=1
        )
        for start in range(0, len(offsets), step):
            rows = slice(start, start + step)
            nearer = to_expected[rows, :, None] < to_origins[rows, None, :]
            count += int(np.count_nonzero(nearer))
    return count


@choice
class RelativeNormDistance(Metric):
    """RND: distance of A to one group's mean less that to the other's."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="rnd",
        title="Relative Norm Distance",
        formula="mean_{a in A} (|mean(X) - a| - |mean(Y) - a|)",
        sign="> 0: A lies nearer Y (with distance=cos: nearer X)",
        range=(-math.inf, math.inf),
        source="Garg et al. (2018)",
        roles={"X": "targets", "Y": "targets", "A": "attributes"},
        asks=_GENDER_TESTS,
        default="Garg et al. (2018): unit vectors, Euclidean distance; mean instead of their sum.",
        falls=True,
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
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
    total: Annotated[bool, doc("sum over the attribute words, not mean")] = False

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean or sum over the attribute words."""
        x, y, a = (words[role].rows(self.normalize) for role in "XYA")
        distances = relative_norm_distances(x, y, a, distance=self.distance)
        value = float(distances.sum() if self.total else distances.mean())
        return MetricResult(value, single_scores=by_name(words["A"].words, distances))


@choice
class MeanAverageCosine(Metric):
    """MAC: mean cosine distance of targets and attribute sets; single scores by target word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="mac",
        title="Mean Average Cosine distance",
        formula="mean_{t in X u Y} mean_{A_j} mean_{a in A_j} (1 - cos(t, a))",
        sign="< 1: targets lie near attributes on average; it does not distinguish groups",
        range=(0, 2),
        unbiased=1,
        source="Manzini et al. (2019)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | dict.fromkeys(("A", "B?", "A3?"), "attributes"),
        asks=_GENDER_TESTS,
        default="As WEFE: the cosine distance.",
        falls=True,
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "sweater",
            "sweater (Chan, 2022): the cosine, not the distance; unbiased 0.",
            {"form": "similarity"},
            is_reversed=True,
        ),
        WEFE,
    )

    form: Annotated[Literal["distance", "similarity"], doc("1 - cosine, or cosine")] = "distance"

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean, as WEFE: all target words and all attribute sets weigh equally."""
        roles = (words.targets.values(), words.attributes.values())
        cosines = mean_cosines(*([word_set.matrix for word_set in sets] for sets in roles))
        names = [word for group in words.targets.values() for word in group.words]
        if self.form == "similarity":
            return dataclasses.replace(mean_score(names, cosines), unbiased=0.0)
        return mean_score(names, 1 - cosines)


@choice
class EmbeddingCoherence(Metric):
    """ECT: rank correlation of the two groups' cosines with the attribute words."""

    about: ClassVar[MetricInfo] = MetricInfo(
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
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention("wefe", f"{WEFE.source[:-1]} and p by Student's t.", {**WEFE.options, "p": "t"}),
        Convention(
            "bsa",
            "Spliethöver & Wachsmuth (2021): however few words are found.",
            {"min_found": 0.0},
        ),
    )
    version: ClassVar[int] = 4

    normalize: UnitLength = False
    p: Annotated[
        Literal["exact", "t"],
        doc(f"over all orders of up to {_EXACT_RANKS} attributes; or by Student's t"),
    ] = "exact"

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute Spearman's rho; p tests rho = 0, which is not the unbiased value."""
        x, y = (words[role].rows(self.normalize) for role in "XY")
        limit = _EXACT_RANKS if self.p == "exact" else 0
        attributes = words["A"]
        rho, p = coherence(
            x, y, attributes.matrix, p_value=not words.is_resample, exact_limit=limit
        )
        if words.is_resample:
            return MetricResult(rho)
        return MetricResult(rho, test=PValue.from_ranks(p, len(attributes.words), limit))


@choice
class BiasedAnalogies(Metric):
    """BAT: share of analogies X - Y + B that lead to A and not to B."""

    about: ClassVar[MetricInfo] = MetricInfo(
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
        asks=_GENDER_TESTS,
        default="Lauscher et al. (2020): vectors as they are; unlike in their code no set is cut.",
    )

    normalize: UnitLength = False

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the share over all analogies."""
        x, y, a, b = (words[role].rows(self.normalize) for role in "XYAB")
        return MetricResult(biased_analogies(x, y, a, b))
