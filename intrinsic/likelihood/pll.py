"""The difference of the (pseudo-)log-likelihoods of paired sentences: the metric ``pll``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import doc

from files import choice
from intrinsic.conventions import Convention
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.likelihood.pairs import mean_of_groups, no_pairs, observed, read_pairs, t_test
from intrinsic.likelihood.reading import require_kind
from intrinsic.likelihood.sentences import likelihoods
from intrinsic.permutation import PValue  # noqa: TC001 (as above)
from intrinsic.score import About


@choice
class PseudoLogLikelihood(ItemMetric):
    """The mean over pairs of PLL(stereo) - PLL(anti), in nats."""

    about: ClassVar[About] = About(
        name="pll",
        title="Difference of pseudo-log-likelihoods (causal models: log-likelihoods)",
        formula=(
            "mean over pairs of PLL(stereo) - PLL(anti),  PLL(x) = sum_t log p(x_t | x without t);"
            " causal: sum_t log p(x_t | x before t)"
        ),
        sign="> 0: the stereotype is the likelier sentence; nats",
        range=(-math.inf, math.inf),
        source="Salazar et al. (2020)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        default="Every token masked alone. A causal model's first token counts if one stands before"
        " the text.",
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "within_word_l2r",
            "Kauf & Ivanova (2023): the later tokens of a word are masked with each, for they give"
            " it away.",
            {"within_word_l2r": True},
        ),
        Convention(
            "bos",
            "Causal models: the tokenizer's bos stands before the text, so that its first token"
            " counts.",
            {"first_token": "bos"},
        ),
    )

    within_word_l2r: Annotated[
        bool, doc("whether the later tokens of a word are masked with each of its tokens")
    ] = False
    first_token: Annotated[str, doc("what stands before the text of a causal model")] = "own"

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Pairs of sentences."""
        return no_pairs(items)

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """The difference of each pair."""
        if self.within_word_l2r:
            require_kind(given, "masked", "a causal model has no masks")
        pairs, lost, settings = read_pairs(given, items, first_token=self.first_token)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = likelihoods(given, texts, within_word_l2r=self.within_word_l2r)
        sums = np.array([sum(each) for each in logs])
        scored: dict[str, str | int] = {"tokens scored": sum(map(len, logs))}
        if given.kind == "masked":
            masks = "the token and the rest of its word" if self.within_word_l2r else "one token"
            scored = {"masked at a time": masks, **scored}
        return observed(pairs, sums[::2] - sums[1::2], {**settings, **scored}, lost)

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The mean, and that of each group of pairs."""
        return mean_of_groups(seen, weights)

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """Student's p over clusters."""
        return t_test(seen)
