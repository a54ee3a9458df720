"""Loss of a language model on plain lines, a measure of utility: the metric ``neutral_loss``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.sentences import sentence_log_likelihoods
from biasbridge.intrinsic.likelihood.tokenised_text import describe_reading, tokenise_texts
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.stats.arrays import Floats


@choice
class NeutralLoss(ItemMetric):
    """Nats per token: pseudo-log-likelihood of masked, log-likelihood of causal models."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="neutral_loss",
        title="Loss on neutral lines, nats per token",
        formula=(
            "- sum over lines of sum_t log p(x_t | x without t) / number of tokens;"
            " causal: log p(x_t | x before t)"
        ),
        sign="lower: the model predicts plain text better; utility, not bias",
        range=(0, math.inf),
        source="Cross-entropy; masked models: Salazar et al. (2020)",
        roles={"lines": "sentences"},
        unbiased=None,
        asks=("neutral_sentences",),
        default=(
            "Not comparable between masked and causal models, nor between tokenizers. A causal"
            " model's first token counts if a token precedes it; lines with an unknown token are"
            " not scored."
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["neutral_sentences"],
        }
    }

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no plain lines; empty if they do."""
        return "" if items.lines else f"{items.name} has no plain lines"

    def observe(self, model: LanguageModel, items: ItemSet) -> Observations:
        """Return nats and number of tokens of each line, (lines, 2)."""
        min_tokens = 2 if model.kind == "causal" else 1
        tokenised = dict(zip(items.lines, tokenise_texts(model, items.lines), strict=True))
        scored = {
            line: text
            for line, text in tokenised.items()
            if text and not text.unknown and len(text.ids) >= min_tokens
        }
        if not scored:
            raise InputError(f"every line of {items.name} has a token unknown to {model.name}")
        logs = sentence_log_likelihoods(model, [*scored.values()])
        values = np.array([[-math.fsum(token_logs), len(token_logs)] for token_logs in logs])
        settings = describe_reading(model, scored.values(), lower=False, first_token="own")
        masking = {"masked at a time": "one token"} if model.kind == "masked" else {}
        counts = {"tokens scored": sum(map(len, logs)), "lines": len(scored)}
        return Observations(
            values,
            [*scored],
            {"line": [*scored]},
            settings={**settings, **masking, **counts},
            lost=[line for line in tokenised if line not in scored],
        )

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return total nats / total tokens."""
        nats, tokens = observed.values.T @ weights
        with np.errstate(invalid="ignore"):
            return {"": nats / tokens}

    def singles(self, observed: Observations) -> Mapping[str, float]:
        """Return the loss of each line."""
        nats, tokens = observed.values.T
        return dict(zip(observed.names, (nats / tokens).tolist(), strict=True))
