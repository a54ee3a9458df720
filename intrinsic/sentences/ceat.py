"""The Contextualized Embedding Association Test (Guo & Caliskan, 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Le, doc
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.files.models.encoder import Context, WordPooling
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.likelihood.tokenised_text import find_words
from biasbridge.intrinsic.metrics.weat import NO_SPREAD, weighted_differences
from biasbridge.intrinsic.permutation import PValue, permutation_p
from biasbridge.intrinsic.score import MetricInfo
from biasbridge.intrinsic.sentences.effects import combine_effects
from biasbridge.intrinsic.sentences.encoded import (
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

MOST_DRAWS = 100_000
CELLS = 4_000_000  # in an array of associations: 32 megabytes
TARGETS, ATTRIBUTES = ("X", "Y"), ("A", "B")


class DrawnAssociations(NamedTuple):
    """Associations of target words in draws of contexts: s (draws, R, words), differences of means
    and spreads (draws, R).
    """

    s: Floats
    difference: Floats
    spread: Floats


@choice
class Ceat(EncodedItems):
    """WEAT over words in context, combined over random draws of one context per word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="ceat",
        title="Contextualized Embedding Association Test, combined effect size",
        formula=(
            "sum_i v_i e_i / sum_i v_i,  v_i = 1 / (variance_i + tau^2);  e_i: WEAT's effect size"
            " with every word in one context, drawn anew"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        range=(-2, 2),
        source="Guo & Caliskan (2021)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=("seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"),
        default=(
            "Ours: draws weighted by the variance of d; interval over words; p over exact"
            " permutations of words, the weights of the draws kept."
        ),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "guo_caliskan",
            "Guo & Caliskan (2021): the last piece of the word; draws weighted by the variance of s"
            " rather than of d; 10,000 draws; one-sided p of the combined effect over its"
            " standard error, which shrinks with the number of draws. Theirs gives BERT no special"
            " tokens.",
            {
                "pooling": "last",
                "layer": -1,
                "draws": 10_000,
                "variance": "associations",
                "permuted": "nothing",
            },
        ),
    )
    shared: ClassVar[tuple[str, ...]] = ("term",)
    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"],
        }
    }

    pooling: Annotated[
        WordPooling, doc("tokens averaged into the vector of the word in its context")
    ] = "mean"
    draws: Annotated[Count, Le(MOST_DRAWS), doc("number of draws of a context of every word")] = (
        1000
    )
    variance: Annotated[
        Literal["effect", "associations"],
        doc("variance that weights a draw: that of d, or that of s over all targets"),
    ] = "effect"
    permuted: Annotated[
        Literal["words", "nothing"],
        doc("units permuted for p; nothing: one-sided p of the normal distribution"),
    ] = "words"

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Return the vector of each item's word in its sentence."""
        layer = encoder.layer if self.layer is None else self.layer
        return encoder.vectors(
            [context_of(item) for item in items], layer=layer, pooling=self.pooling
        )

    def averaged(self, encoder: Encoder) -> Settings:
        """Return pooling, number of draws and use of special tokens."""
        special = "in the text" if encoder.special_tokens else "none"
        return {"pooling": self.pooling, "draws": self.draws, "special tokens": special}

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the combined effect size."""
        effects, variances = self._effects(observed, weights)
        return {"": combine_effects(effects, variances).value}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return p over permutations of words, or p as published."""
        if self.permuted == "nothing":
            return {"": self._published_p(observed)}
        s, size = self._standardised(observed)
        return {"": permutation_p(s[:size], s[size:], seed=observed.seed)}

    def singles(self, observed: Observations) -> Mapping[str, float]:
        """Return s of each target word, standardised within draws and averaged over them."""
        s, _ = self._standardised(observed)
        groups = groups_of(observed)
        words = [word for role in TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _published_p(self, observed: Observations) -> PValue:
        effects, variances = self._effects(observed, np.ones((len(observed.names), 1)))
        combined = combine_effects(effects, variances)
        from scipy.stats import norm

        p = float(norm.sf(combined.value[0] / combined.error[0]))
        return PValue(p, "normal", 0, self.draws, "greater", False, p, p)

    def _standardised(self, observed: Observations) -> tuple[Floats, int]:
        """Return (s - mean) / spread of each target word, averaged with the weights of the draws,
        and the number of words in X. The difference of its means is the combined effect size.
        """
        unweighted = np.ones((len(observed.names), 1))
        weights = combine_effects(*self._effects(observed, unweighted)).weights[:, 0]
        if not np.isfinite(weights).all():
            raise InputError("all targets have the same association in a draw; use other words")
        batches = list(self._draw(observed, unweighted))
        s: Floats = np.concatenate([batch.s[:, 0] for batch in batches])
        spread: Floats = np.concatenate([batch.spread for batch in batches])
        z: Floats = (s - s.mean(axis=1, keepdims=True)) / spread
        return weights @ z / weights.sum(), len(groups_of(observed)["X"].words)

    def _effects(self, observed: Observations, weights: Floats) -> tuple[Floats, Floats]:
        """Return the effect size of each draw and its variance, (draws, R)."""
        groups = groups_of(observed)
        item_weights = group_weights(groups, weights)
        nx, ny = (word_weights(groups[role], item_weights[role]).sum(axis=0) for role in TARGETS)
        with np.errstate(divide="ignore", invalid="ignore"):
            batches = [(batch.difference, batch.spread) for batch in self._draw(observed, weights)]
            difference, spread = (np.concatenate(x) for x in zip(*batches, strict=True))
            spread = np.where(spread > NO_SPREAD, spread, np.nan)
            effects: Floats = difference / spread
            if self.variance == "associations":
                return effects, spread**2
            return effects, (nx + ny) / (nx * ny) + effects**2 / (2 * (nx + ny))

    def _draw(self, observed: Observations, weights: Floats) -> Iterator[DrawnAssociations]:
        """Yield batches of draws of one context per word, the same for all weights."""
        groups = groups_of(observed)
        item_weights = group_weights(groups, weights)
        counts = {role: word_weights(group, item_weights[role]) for role, group in groups.items()}
        rng = np.random.default_rng(observed.seed)
        contexts = {role: draw_contexts(group, self.draws, rng) for role, group in groups.items()}
        for s in associations_in(groups, contexts, counts):
            yield DrawnAssociations(
                s, *weighted_differences(s, counts["X"], counts["Y"], ddof=self.ddof)
            )


def draw_contexts(group: Group, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one sentence of each word, as indices in the group, (draws, words)."""
    sentences_of = [np.flatnonzero(member) for member in group.member]
    return np.stack([rng.choice(sentences, draws) for sentences in sentences_of], axis=1)


def associations_in(
    groups: Mapping[str, Group],
    contexts: Mapping[str, NDArray[np.intp]],
    weights: Mapping[str, Floats],
) -> Iterator[Floats]:
    """Yield s of the target words in [-2, 2], (batch of draws, R, words); above 0: nearer A."""
    targets = np.concatenate([groups[role].rows for role in TARGETS])
    sentences = np.concatenate([contexts["X"], contexts["Y"] + len(groups["X"].rows)], axis=1)
    cosines = {role: groups[role].rows @ targets.T for role in ATTRIBUTES}
    shares = {role: weights[role].T / weights[role].sum(axis=0)[:, None] for role in ATTRIBUTES}
    widest = max(len(weights["X"].T), *(len(weights[role]) for role in ATTRIBUTES))
    step = max(1, CELLS // (widest * sentences.shape[1]))
    for start in range(0, len(sentences), step):
        batch = slice(start, start + step)
        means = [
            shares[role] @ cosines[role][contexts[role][batch, :, None], sentences[batch, None, :]]
            for role in ATTRIBUTES
        ]
        yield means[0] - means[1]


def context_of(item: Item) -> Context:
    """Return the sentence of an item with the span of its word, or of all of it."""
    text = item.sentence
    spans = find_words(text, item.word)
    exact = [(start, end) for start, end in spans if text[start:end] == item.word]
    start, end = next(iter([*exact, *spans]), (0, len(text)))
    return Context(text, start, end)
