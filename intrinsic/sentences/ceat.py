"""The Contextualized Embedding Association Test (Guo & Caliskan, 2021)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Le, doc
from numpy.typing import NDArray

from files import InputError, choice
from files.choice import Count
from files.models.encoder import Context, WordPooling
from intrinsic.conventions import Convention
from intrinsic.metrics.weat import NO_SPREAD, weighted_differences
from intrinsic.permutation import PValue, permutation_p
from intrinsic.score import About
from intrinsic.sentences.effects import combine_effects
from intrinsic.sentences.encoded import (
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

MOST_DRAWS = 100_000
CELLS = 4_000_000  # of an array of associations: 32 megabytes
TARGETS, ATTRIBUTES = ("X", "Y"), ("A", "B")


class Drawn(NamedTuple):
    """Associations of the target words in draws of contexts: s (draws, R, words), the differences
    of means and the spreads (draws, R).
    """

    s: Floats
    difference: Floats
    spread: Floats


@choice
class Ceat(EncodedItems):
    """WEAT over words, each in one of its contexts, combined over draws of contexts."""

    about: ClassVar[About] = About(
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
            "Ours: draws weighed by the variance of d; interval over words; p over exact"
            " permutations of words, the weights of the draws kept."
        ),
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "guo_caliskan",
            "Guo & Caliskan (2021): the last piece of the word; draws weighed by the variance of s"
            " in the place of that of d; 10,000 draws; one-sided p of the combined effect over its"
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

    pooling: Annotated[
        WordPooling, doc("which tokens make up the vector of the word in its context")
    ] = "mean"
    draws: Annotated[Count, Le(MOST_DRAWS), doc("how often a context of every word is drawn")] = (
        1000
    )
    variance: Annotated[
        Literal["effect", "associations"],
        doc("what weighs a draw: the variance of d, or that of s over all targets"),
    ] = "effect"
    permuted: Annotated[
        Literal["words", "nothing"],
        doc("what is permuted for p; nothing: p of the normal distribution, one-sided"),
    ] = "words"

    def encode(self, given: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """The vector of each item's word in its sentence."""
        layer = given.layer if self.layer is None else self.layer
        return given.vectors(
            [context_of(each) for each in items], layer=layer, pooling=self.pooling
        )

    def averaged(self, given: Encoder) -> Settings:
        """The pooling, the draws, and whether texts have special tokens."""
        special = "in the text" if given.special_tokens else "none"
        return {"pooling": self.pooling, "draws": self.draws, "special tokens": special}

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The combined effect size."""
        effects, variances = self._effects(seen, weights)
        return {"": combine_effects(effects, variances).value}

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """p over permutations of words, or the published one."""
        if self.permuted == "nothing":
            return {"": self._published(seen)}
        s, size = self._standardised(seen)
        return {"": permutation_p(s[:size], s[size:], seed=seen.seed)}

    def singles(self, seen: Observed) -> Mapping[str, float]:
        """s of each target word over all draws, less its mean and over its spread in each."""
        s, _ = self._standardised(seen)
        groups = groups_of(seen)
        words = [word for role in TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _published(self, seen: Observed) -> PValue:
        effects, variances = self._effects(seen, np.ones((len(seen.names), 1)))
        combined = combine_effects(effects, variances)
        from scipy.stats import norm

        p = float(norm.sf(combined.value[0] / combined.error[0]))
        return PValue(p, "normal", 0, self.draws, "greater", False, p, p)

    def _standardised(self, seen: Observed) -> tuple[Floats, int]:
        """(s - mean) / spread of each target word, averaged over draws by their weights, and how
        many are of X: the difference of its means is the combined effect size.
        """
        once = np.ones((len(seen.names), 1))
        weights = combine_effects(*self._effects(seen, once)).weights[:, 0]
        if not np.isfinite(weights).all():
            raise InputError("all targets have the same association in a draw; use other words")
        drawn = list(self._draw(seen, once))
        s: Floats = np.concatenate([each.s[:, 0] for each in drawn])
        spread: Floats = np.concatenate([each.spread for each in drawn])
        z: Floats = (s - s.mean(axis=1, keepdims=True)) / spread
        return weights @ z / weights.sum(), len(groups_of(seen)["X"].words)

    def _effects(self, seen: Observed, weights: Floats) -> tuple[Floats, Floats]:
        """The effect size of each draw and its variance, (draws, R)."""
        groups = groups_of(seen)
        times = times_of(groups, weights)
        nx, ny = (word_counts(groups[role], times[role]).sum(axis=0) for role in TARGETS)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [(each.difference, each.spread) for each in self._draw(seen, weights)]
            difference, spread = (np.concatenate(each) for each in zip(*found, strict=True))
            spread = np.where(spread > NO_SPREAD, spread, np.nan)
            effects: Floats = difference / spread
            if self.variance == "associations":
                return effects, spread**2
            return effects, (nx + ny) / (nx * ny) + effects**2 / (2 * (nx + ny))

    def _draw(self, seen: Observed, weights: Floats) -> Iterator[Drawn]:
        """Draws of one context a word, some at a time; the same for all weights."""
        groups = groups_of(seen)
        times = times_of(groups, weights)
        counts = {role: word_counts(group, times[role]) for role, group in groups.items()}
        rng = np.random.default_rng(seen.seed)
        contexts = {role: draw_contexts(group, self.draws, rng) for role, group in groups.items()}
        for s in associations_in(groups, contexts, counts):
            yield Drawn(s, *weighted_differences(s, counts["X"], counts["Y"], ddof=self.ddof))


def draw_contexts(group: Group, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Of each word one of its sentences, by place in the group, (draws, words)."""
    own = [np.flatnonzero(member) for member in group.member]
    return np.stack([rng.choice(each, draws) for each in own], axis=1)


def associations_in(
    groups: Mapping[str, Group],
    contexts: Mapping[str, NDArray[np.intp]],
    counts: Mapping[str, Floats],
) -> Iterator[Floats]:
    """s of the target words in each draw, some draws at a time, (some, R, words)."""
    targets = np.concatenate([groups[role].rows for role in TARGETS])
    places = np.concatenate([contexts["X"], contexts["Y"] + len(groups["X"].rows)], axis=1)
    cosines = {role: groups[role].rows @ targets.T for role in ATTRIBUTES}
    shares = {role: counts[role].T / counts[role].sum(axis=0)[:, None] for role in ATTRIBUTES}
    widest = max(len(counts["X"].T), *(len(counts[role]) for role in ATTRIBUTES))
    step = max(1, CELLS // (widest * places.shape[1]))
    for begin in range(0, len(places), step):
        some = slice(begin, begin + step)
        nearness = [
            shares[role] @ cosines[role][contexts[role][some, :, None], places[some, None, :]]
            for role in ATTRIBUTES
        ]
        yield nearness[0] - nearness[1]


def context_of(item: Item) -> Context:
    """The sentence of an item and where its word stands in it."""
    text = item.sentence
    found = re.search(rf"(?<!\w){re.escape(item.word)}(?!\w)", text)
    start, end = found.span() if found else (0, len(text))
    return Context(text, start, end)
