"""The difference of the (pseudo-)log-likelihoods of paired sentences: the metric ``pll``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import doc

from biasbridge.files import choice
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.pairs import (
    PairMetric,
    pair_observations,
    read_pairs,
    t_test,
)
from biasbridge.intrinsic.likelihood.sentences import sentence_log_likelihoods
from biasbridge.intrinsic.likelihood.tokenised_text import require_kind
from biasbridge.intrinsic.permutation import PValue  # noqa: TC001 (as above)
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.intrinsic.item_metric import Observations


@choice
class PseudoLogLikelihood(PairMetric):
    """The mean over pairs of PLL(stereo) - PLL(anti), in nats."""

    about: ClassVar[MetricInfo] = MetricInfo(
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
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "within_word_l2r",
            "Kauf & Ivanova (2023): the later tokens of a word are masked with each token, because"
            " they give it away.",
            {"within_word_l2r": True},
        ),
        Convention(
            "bos",
            "Causal models: the tokenizer's bos stands before the text, so that its first token"
            " counts.",
            {"first_token": "bos"},
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {"_target_": "biasbridge.corpora.items.BuiltInItems", "sets": ["occupations"]}
    }

    within_word_l2r: Annotated[
        bool, doc("also mask the later tokens of the word of each token")
    ] = False
    first_token: Annotated[str, doc("token before the text of a causal model")] = "own"

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return PLL(stereo) - PLL(anti) of each pair."""
        if self.within_word_l2r:
            require_kind(model, "masked", "a causal model has no masks")
        pairs, lost, settings = read_pairs(model, items, first_token=self.first_token)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = sentence_log_likelihoods(model, texts, within_word_l2r=self.within_word_l2r)
        sums = np.array([sum(token_logs) for token_logs in logs])
        details: dict[str, str | int] = {"tokens scored": sum(map(len, logs))}
        if model.kind == "masked":
            masks = "the token and the rest of its word" if self.within_word_l2r else "one token"
            details = {"masked at a time": masks, **details}
        return pair_observations(pairs, sums[::2] - sums[1::2], {**settings, **details}, lost)

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return Student's p with cluster-robust errors."""
        return t_test(observed)
