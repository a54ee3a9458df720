"""The coreference model with its first layers as they are usually written: all spans and pairs
concatenated, then multiplied.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from extrinsic.coreference.model.antecedents import (
    AntecedentNetwork,
    Kept,
    antecedents,
    buckets,
    same_speaker,
)
from extrinsic.coreference.model.dropout import relu_dropout_
from extrinsic.coreference.model.spans import SpanNetwork

if TYPE_CHECKING:
    from extrinsic.coreference.model.network import Network


class PlainSpans(SpanNetwork):
    """Mention scores of all candidates' representations, one row each."""

    def score(
        self, words: Tensor, states: Tensor, attention: Tensor, generator: torch.Generator
    ) -> Tensor:
        """As the factorised one."""
        reach, share = self.choice.max_span_width, self.choice.dropout if self.training else 0.0
        places = torch.arange(len(words) * reach, device=words.device)
        places = places[places // reach + places % reach < len(words)]
        spans = self.represent(words, states, attention, places)
        hidden = relu_dropout_(self.first(spans), share, generator)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = words.new_zeros(len(words) * reach)
        return scores.index_copy(0, places, self.scorer(hidden).squeeze(1)).view(-1, reach)


class PlainAntecedents(AntecedentNetwork):
    """Antecedent scores of all pairs' representations, one row each."""

    def forward(self, kept: Kept, genre: int, generator: torch.Generator) -> Tensor:
        """As the factorised one."""
        count, share = len(kept.mention_scores), self.choice.dropout if self.training else 0.0
        reach = max(1, min(self.choice.max_antecedents, count - 1))
        spans, device = kept.representations, kept.representations.device
        others = antecedents(count, reach, device)
        one, other = spans[:, None].expand(-1, reach, -1), spans[others.clamp(min=0)]
        distance = self.distance(buckets(reach, device)).expand(count, -1, -1)
        parts = [one, other, one * other, distance]
        if self.speaker:
            parts.append(self.speaker(same_speaker(kept.speakers, reach)))
        if self.genre:
            parts.append(self.genre.weight[genre].expand(count, reach, -1))
        hidden = relu_dropout_(self.first(torch.cat(parts, 2).flatten(0, 1)), share, generator)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = self.scorer(hidden).view(count, reach) + kept.mention_scores[:, None]
        scores = scores + kept.mention_scores[others.clamp(min=0)]
        return functional.pad(scores.masked_fill(others < 0, -torch.inf), (1, 0))


def plainly(network: Network) -> Network:
    """A copy of the same weights, whose first layers are not factorised."""
    made = copy.deepcopy(network)
    made.spans.__class__, made.antecedents.__class__ = PlainSpans, PlainAntecedents
    return made
