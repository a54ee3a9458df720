"""The Sentence Encoder Association Test (May et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.files import choice
from biasbridge.files.models.encoder import Pooling
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.metrics.weat import weighted_associations, weighted_effect_sizes
from biasbridge.intrinsic.permutation import PValue, Tail, permutation_p
from biasbridge.intrinsic.score import MetricInfo
from biasbridge.intrinsic.sentences.encoded import (
    ROLES,
    EncodedItems,
    Group,
    group_weights,
    groups_of,
    word_weights,
)

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.item_metric import Observations, Settings
    from biasbridge.intrinsic.items.item import Item
    from biasbridge.stats.arrays import Floats

SHUFFLES = 99_999
TARGETS = ("X", "Y")


@choice
class Seat(EncodedItems):
    """WEAT over the encodings of sentences, with p over words rather than sentences."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="seat",
        title="Sentence Encoder Association Test, effect size",
        formula=(
            "(mean_{x in X} s(x) - mean_{y in Y} s(y)) / sd_{w in X u Y} s(w),  "
            "s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b);  w, a, b: sentences"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        range=(-2, 2),
        source="May et al. (2019)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=("seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"),
        default=(
            "Ours: d over sentences as published (ddof=1); p of s averaged by word, over exact"
            " permutations of words."
        ),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "may",
            "May et al. (2019): p over sentences, 99,999 shuffles, as if those of one word were"
            " independent.",
            {"permuted": "sentences"},
        ),
        Convention(
            "sent_debias",
            "Liang et al. (2020), SentDebias: the first token of the last layer, p over sentences;"
            " their unit length changes no cosine.",
            {"pooling": "cls", "layer": -1, "permuted": "sentences"},
        ),
        Convention(
            "bias_bench",
            "Meade et al. (2022), bias-bench: the mean of the last layer, special tokens included,"
            " p over sentences.",
            {"pooling": "mean", "layer": -1, "permuted": "sentences"},
        ),
        Convention(
            "biased_rulers",
            "Delobelle et al. (2022) by their code: targets and attributes are swapped; the first"
            " token, one of their six representations; no p. On their own words daughter and son"
            " are entered twice and count once.",
            {"pooling": "cls", "layer": -1, "swapped": True, "permuted": "nothing"},
        ),
        Convention(
            "fairllms",
            "fairllms 0.2: the mean of the last layer, averaged over the sentences of a word, then"
            " WEAT over words; theirs takes other templates. Exact where they shuffle.",
            {"pooling": "mean", "layer": -1, "unit": "vector"},
        ),
    )

    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"],
        }
    }

    pooling: Annotated[
        Pooling | None, doc("pooling of tokens into a vector; null: the encoder's")
    ] = None
    unit: Annotated[
        Literal["sentence", "word", "vector"],
        doc("unit of d: sentences; words (mean of s); or words by the mean of their vectors"),
    ] = "sentence"
    permuted: Annotated[Literal["words", "sentences", "nothing"], doc("units permuted for p")] = (
        "words"
    )
    tail: Annotated[Tail, doc("which partitions of the targets count as extreme")] = "greater"
    swapped: Annotated[bool, doc("swap targets and attributes")] = False

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Encode the sentences; NaN for one longer than the model allows."""
        texts = [item.sentence for item in items]
        vectors = encoder.encode(texts, layer=self.layer, pooling=self.pooling)
        is_complete = np.array([encoder.fits(text) for text in texts])
        return np.where(is_complete[:, None], vectors, np.float32(np.nan))

    def averaged(self, encoder: Encoder) -> Settings:
        """Return the pooling and whether it includes special tokens."""
        pooling = self.pooling or encoder.pooling
        special = "left out" if pooling == "words" else "included"
        return {"pooling": pooling, "special tokens": special if encoder.special_tokens else "none"}

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the effect size."""
        groups = self._groups(observed)
        with np.errstate(divide="ignore", invalid="ignore"):
            s, targets = associations_of(groups, group_weights(groups, weights), self.unit)
            return {"": weighted_effect_sizes(s, *targets, ddof=self.ddof)}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return p of the difference of means over permutations of words or sentences."""
        if self.permuted == "nothing":
            return {}
        by_sentence = self.permuted == "sentences"
        s, size = self._unweighted(observed, "sentence" if by_sentence else "word")
        of_x, of_y, samples = s[:size], s[size:], SHUFFLES if by_sentence else 0
        p = permutation_p(of_x, of_y, tail=self.tail, samples=samples, seed=observed.seed)
        return {"": p}

    def singles(self, observed: Observations) -> Mapping[str, float]:
        """Return s of each target word."""
        s, _ = self._unweighted(observed, "word")
        groups = self._groups(observed)
        words = [word for role in TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _groups(self, observed: Observations) -> dict[str, Group]:
        return groups_of(observed, "ABXY" if self.swapped else ROLES)

    def _unweighted(self, observed: Observations, over: str) -> tuple[Floats, int]:
        """Return s of each target and the number of targets in X."""
        groups = self._groups(observed)
        weights = group_weights(groups, np.ones((len(observed.names), 1)))
        by_vector = over == "word" and self.unit == "vector"
        s, (x_weights, _) = associations_of(groups, weights, "vector" if by_vector else over)
        return s[0], len(x_weights)


def associations_of(
    groups: Mapping[str, Group], weights: Mapping[str, Floats], unit: str
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Compute the association s of every target with A rather than B (May et al., 2019).

    s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)

    Parameters
    ----------
    groups : mapping of str to Group
        The groups X, Y, A and B.
    weights : mapping of str to array of shape (sentences, R)
        Number of times each sentence of a group counts in each resample.
    unit : {"sentence", "word", "vector"}
        Targets are sentences; words, with the mean of s over their sentences; or words, with the
        mean of their sentences' vectors (attributes likewise).

    Returns
    -------
    s : array of shape (R, targets)
        In [-2, 2]. Above 0: nearer A.
    target_weights : pair of arrays of shape (targets, R)
        Number of times each target counts in X and in Y.
    """
    if unit == "vector":
        return _of_mean_vectors(groups, weights)
    x, y, a, b = (groups[role] for role in ROLES)
    targets = np.concatenate([x.rows, y.rows])
    s = weighted_associations(targets, a.rows, b.rows, weights["A"], weights["B"])
    if unit == "sentence":
        return s, (weights["X"], weights["Y"])
    split = {"X": s[:, : len(x.rows)], "Y": s[:, len(x.rows) :]}
    by_word = [_weighted_means(groups[role], weights[role], split[role]) for role in TARGETS]
    return np.concatenate(by_word, axis=1), _target_weights(groups, weights)


def _target_weights(
    groups: Mapping[str, Group], weights: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    return word_weights(groups["X"], weights["X"]), word_weights(groups["Y"], weights["Y"])


def _weighted_means(group: Group, weights: Floats, s: Floats) -> Floats:
    """Average s (R, n) over the sentences of each word, (R, words); 0 for a word not drawn."""
    total = weights.T @ group.member.T
    return np.where(total > 0, (s * weights.T) @ group.member.T / total, 0.0)


def _of_mean_vectors(
    groups: Mapping[str, Group], weights: Mapping[str, Floats]
) -> tuple[Floats, tuple[Floats, Floats]]:
    axis = _mean_direction(groups["A"], weights["A"]) - _mean_direction(groups["B"], weights["B"])
    s = [
        np.einsum("rd,rd->r", vectors, axis)
        for role in TARGETS
        for vectors in _directions(groups[role], weights[role])
    ]
    return np.stack(s, axis=1), _target_weights(groups, weights)


def _directions(group: Group, weights: Floats) -> Sequence[Floats]:
    """Return the direction of each word's mean vector, (R, dim); 0 for a word not drawn."""
    directions = []
    for member in group.member.astype(bool):
        total = weights[member].T @ group.vectors[member]
        length = np.linalg.norm(total, axis=1, keepdims=True)
        directions.append(np.where(length > 0, total / length, 0.0))
    return directions


def _mean_direction(group: Group, weights: Floats) -> Floats:
    """Average the words' directions with the words' weights, (R, dim)."""
    w = word_weights(group, weights)
    total = sum(w_i[:, None] * v_i for w_i, v_i in zip(w, _directions(group, weights), strict=True))
    return np.asarray(total / w.sum(axis=0)[:, None])
