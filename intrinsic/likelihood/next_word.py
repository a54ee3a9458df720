"""Log odds of the next word of causal models: the metric ``next_word``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import doc

from biasbridge.files import choice
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.slots import item_observations, log_odds
from biasbridge.intrinsic.likelihood.terms import TermMetric
from biasbridge.intrinsic.likelihood.tokenised_text import require_kind
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.intrinsic.item_metric import Observations


@choice
class NextWord(TermMetric):
    """How much likelier the first filler is after terms of the first group than of the second."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="next_word",
        title="Log odds of the next word",
        formula=(
            "mean_{t in first group} b(t) - mean_{t in second} b(t),  "
            "b(t) = log p(he | text before the slot) - log p(she | text before the slot);"
            "  of one group the mean of b"
        ),
        sign="> 0: terms of the first group go with the first fillers",
        range=(-math.inf, math.inf),
        source="Vig et al. (2020), with the logarithm",
        roles={"terms": "words", "fillers": "pairs of words"},
        asks=("next_word_professions",),
        default="In nats; text after the slot is omitted.",
    )
    version: ClassVar[int] = 3
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "sentence",
            "Log-likelihoods of the whole sentences with either filler: text after the slot counts,"
            " which may contain the term.",
            {"sentence": True},
        ),
        Convention("bos", "The tokenizer's bos precedes the text.", {"first_token": "bos"}),
    )
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["next_word_professions"],
        }
    }

    sentence: Annotated[bool, doc("score the whole sentence")] = False
    first_token: Annotated[str, doc("token before the text")] = "own"

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return b(t) of each term in each template."""
        require_kind(model, "causal", "use lpbs for masked models")
        scored_items, values, lost, settings = log_odds(
            model, items, sentence=self.sentence, first_token=self.first_token
        )
        return item_observations(scored_items, values, settings, lost)
