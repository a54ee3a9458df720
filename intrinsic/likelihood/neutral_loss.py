"""Utility of a language model: its loss on plain lines. The metric ``neutral_loss``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from files import InputError, choice
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.likelihood.reading import describe_reading, read_texts
from intrinsic.likelihood.sentences import likelihoods
from intrinsic.score import About

if TYPE_CHECKING:
    from files.models.language_model import LanguageModel


@choice
class NeutralLoss(ItemMetric):
    """Nats a token: of masked models by pseudo-log-likelihoods, of causal ones by likelihoods."""

    about: ClassVar[About] = About(
        name="neutral_loss",
        title="Loss on neutral lines, nats a token",
        formula=(
            "- sum over lines of sum_t log p(x_t | x without t) / number of tokens;"
            " causal: log p(x_t | x before t)"
        ),
        sign="lower: the model expects plain text better; utility, not bias",
        range=(0, math.inf),
        source="Cross-entropy; masked models: Salazar et al. (2020)",
        roles={"lines": "sentences"},
        unbiased=None,
        asks=("neutral_sentences",),
        default=(
            "Not comparable between masked and causal models, nor between tokenizers. A causal"
            " model's first token counts if one stands before the text; lines with an unknown token"
            " are lost."
        ),
    )

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Plain lines."""
        return "" if items.lines else f"{items.name} has no plain lines"

    def observe(self, given: LanguageModel, items: ItemSet) -> Observed:
        """The nats of each line, and how many tokens these are of, (lines, 2)."""
        shortest = 2 if given.kind == "causal" else 1
        read = dict(zip(items.lines, read_texts(given, items.lines), strict=True))
        known = {
            line: text
            for line, text in read.items()
            if text and not text.unknown and len(text.ids) >= shortest
        }
        if not known:
            raise InputError(f"every line of {items.name} has a token unknown to {given.name}")
        logs = likelihoods(given, [*known.values()])
        values = np.array([[-math.fsum(each), len(each)] for each in logs])
        settings = describe_reading(given, known.values(), lower=False, first_token="own")
        one = {"masked at a time": "one token"} if given.kind == "masked" else {}
        scored = {"tokens scored": sum(map(len, logs)), "lines": len(known)}
        return Observed(
            values,
            [*known],
            {"line": [*known]},
            settings={**settings, **one, **scored},
            lost=[line for line in read if line not in known],
        )

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The sum of nats over that of tokens."""
        nats, tokens = seen.values.T @ weights
        with np.errstate(invalid="ignore"):
            return {"": nats / tokens}

    def singles(self, seen: Observed) -> Mapping[str, float]:
        """The loss of each line."""
        nats, tokens = seen.values.T
        return dict(zip(seen.names, (nats / tokens).tolist(), strict=True))
