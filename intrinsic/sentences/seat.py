"""The Sentence Encoder Association Test (May et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from files import choice
from files.models.encoder import Pooling
from intrinsic.conventions import Convention
from intrinsic.metrics.weat import weighted_associations, weighted_effect_sizes
from intrinsic.permutation import PValue, Tail, permutation_p
from intrinsic.score import About
from intrinsic.sentences.encoded import (
    ROLES,
    EncodedItems,
    Floats,
    Group,
    groups_of,
    times_of,
    word_counts,
)

if TYPE_CHECKING:
    from files.models.encoder import Encoder
    from intrinsic.item_metric import Observed, Settings
    from intrinsic.items.item import Item

SHUFFLES = 99_999
TARGETS = ("X", "Y")


@choice
class Seat(EncodedItems):
    """WEAT over the encodings of sentences; p over words, not over sentences."""

    about: ClassVar[About] = About(
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
    others: ClassVar[tuple[Convention, ...]] = (
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
            "Delobelle et al. (2022) by their code: targets and attributes change places; the first"
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

    pooling: Annotated[
        Pooling | None, doc("what becomes one vector of a sentence; null: as the encoder does")
    ] = None
    unit: Annotated[
        Literal["sentence", "word", "vector"],
        doc("d is over sentences; words, by the mean of s; or words, by the mean of their vectors"),
    ] = "sentence"
    permuted: Annotated[Literal["words", "sentences", "nothing"], doc("what is permuted for p")] = (
        "words"
    )
    tail: Annotated[Tail, doc("which partitions of the targets count as extreme")] = "greater"
    swapped: Annotated[bool, doc("whether targets and attributes change places")] = False

    def encode(self, given: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """The encodings of the sentences."""
        texts = [each.sentence for each in items]
        return given.encode(texts, layer=self.layer, pooling=self.pooling)

    def averaged(self, given: Encoder) -> Settings:
        """The pooling, and whether special tokens are part of it."""
        pooling = self.pooling or given.pooling
        special = "left out" if pooling == "words" else "included"
        return {"pooling": pooling, "special tokens": special if given.special_tokens else "none"}

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The effect size."""
        groups = self._groups(seen)
        with np.errstate(divide="ignore", invalid="ignore"):
            s, times = associations_of(groups, times_of(groups, weights), self.unit)
            return {"": weighted_effect_sizes(s, *times, ddof=self.ddof)}

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """p of the difference of means, over permutations of words or of sentences."""
        if self.permuted == "nothing":
            return {}
        by_sentence = self.permuted == "sentences"
        s, size = self._single(seen, "sentence" if by_sentence else "word")
        of_x, of_y, samples = s[:size], s[size:], SHUFFLES if by_sentence else 0
        p = permutation_p(of_x, of_y, tail=self.tail, samples=samples, seed=seen.seed)
        return {"": p}

    def singles(self, seen: Observed) -> Mapping[str, float]:
        """s of each target word."""
        s, _ = self._single(seen, "word")
        groups = self._groups(seen)
        words = [word for role in TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _groups(self, seen: Observed) -> dict[str, Group]:
        return groups_of(seen, "ABXY" if self.swapped else ROLES)

    def _single(self, seen: Observed, over: str) -> tuple[Floats, int]:
        """s of each target, and how many are of X; over words by their vectors if d is."""
        groups = self._groups(seen)
        once = times_of(groups, np.ones((len(seen.names), 1)))
        by_vector = over == "word" and self.unit == "vector"
        s, (of_x, _) = associations_of(groups, once, "vector" if by_vector else over)
        return s[0], len(of_x)


def associations_of(
    groups: Mapping[str, Group], times: Mapping[str, Floats], unit: str
) -> tuple[Floats, tuple[Floats, Floats]]:
    """s of every target, (R, targets), and how often each counts in X and in Y, (targets, R).

    ``times``: how often each sentence counts, by group (sentences, R). unit: the targets are the
    sentences; the words, with the mean of s over their sentences; or, ``vector``, the words with
    the mean of their sentences' vectors, attributes likewise.
    """
    if unit == "vector":
        return _of_mean_vectors(groups, times)
    x, y, a, b = (groups[role] for role in ROLES)
    targets = np.concatenate([x.rows, y.rows])
    s = weighted_associations(targets, a.rows, b.rows, times["A"], times["B"])
    if unit == "sentence":
        return s, (times["X"], times["Y"])
    split = {"X": s[:, : len(x.rows)], "Y": s[:, len(x.rows) :]}
    by_word = [_weighted_means(groups[role], times[role], split[role]) for role in TARGETS]
    return np.concatenate(by_word, axis=1), _counts(groups, times)


def _counts(groups: Mapping[str, Group], times: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    return word_counts(groups["X"], times["X"]), word_counts(groups["Y"], times["Y"])


def _weighted_means(group: Group, times: Floats, s: Floats) -> Floats:
    """The mean of s (R, n) over the sentences of each word, (R, words); 0 for one not drawn."""
    total = times.T @ group.member.T
    return np.where(total > 0, (s * times.T) @ group.member.T / total, 0.0)


def _of_mean_vectors(
    groups: Mapping[str, Group], times: Mapping[str, Floats]
) -> tuple[Floats, tuple[Floats, Floats]]:
    axis = _mean_direction(groups["A"], times["A"]) - _mean_direction(groups["B"], times["B"])
    s = [
        np.einsum("rd,rd->r", vectors, axis)
        for role in TARGETS
        for vectors in _directions(groups[role], times[role])
    ]
    return np.stack(s, axis=1), _counts(groups, times)


def _directions(group: Group, times: Floats) -> Sequence[Floats]:
    """Of each word the direction of the mean of its vectors, (R, dim); 0 for one not drawn."""
    found = []
    for member in group.member.astype(bool):
        total = times[member].T @ group.vectors[member]
        length = np.linalg.norm(total, axis=1, keepdims=True)
        found.append(np.where(length > 0, total / length, 0.0))
    return found


def _mean_direction(group: Group, times: Floats) -> Floats:
    """The mean of the words' directions, each counted as often as its word, (R, dim)."""
    counts = word_counts(group, times)
    summed = sum(
        count[:, None] * each for count, each in zip(counts, _directions(group, times), strict=True)
    )
    return np.asarray(summed / counts.sum(axis=0)[:, None])
