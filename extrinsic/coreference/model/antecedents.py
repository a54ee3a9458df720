"""How likely an earlier span is a span's antecedent, and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from extrinsic.coreference.model.dropout import relu_dropout_
from extrinsic.coreference.model.pair_products import pair_products, preceding

if TYPE_CHECKING:
    from extrinsic.coreference.settings import ResolverSettings

BUCKETS = 10


class Kept(NamedTuple):
    """The k spans of a document that are left, in order.

    ``representations`` g (k, d), ``mention_scores`` (k,).
    """

    representations: Tensor
    mention_scores: Tensor


class AntecedentNetwork(nn.Module):
    """s(i, j) = s_m(i) + s_m(j) + FFNN([g_i, g_j, g_i * g_j, distance]).

    Distance counts kept spans, in buckets.
    """

    def __init__(self, choice: ResolverSettings, span: int) -> None:
        super().__init__()
        self.choice = choice
        size = choice.feature_size
        self.distance = nn.Embedding(BUCKETS, size)
        self.sizes = [span, span, span, size]
        self.first = nn.Linear(sum(self.sizes), choice.hidden)
        self.second = nn.Linear(choice.hidden, choice.hidden)
        self.scorer = nn.Linear(choice.hidden, 1)

    def forward(self, kept: Kept, generator: torch.Generator) -> Tensor:
        """Scores (k, 1 + r): of no antecedent, 0, then of the spans i - r ... i - 1 before each,
        -infinity where there is none.

        The first layer, W [g_i, g_j, ...] + b, is W_1 g_i + W_2 g_j + W_3 (g_i * g_j) + W_4
        distance + b, where only the product is computed for every pair.
        """
        count, share = len(kept.mention_scores), self.choice.dropout if self.training else 0.0
        reach = max(1, min(self.choice.max_antecedents, count - 1))
        spans = kept.representations
        own, other, product, distance = self.first.weight.split(self.sizes, dim=1)
        hidden = pair_products(spans, product, reach)
        hidden += functional.linear(spans, own, self.first.bias)[:, None]
        hidden += preceding(functional.linear(spans, other), reach)
        hidden += functional.linear(self.distance(buckets(reach, spans.device)), distance)
        hidden = relu_dropout_(hidden, share, generator).flatten(0, 1)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = self.scorer(hidden).view(count, reach)
        scores = scores + kept.mention_scores[:, None] + preceding(kept.mention_scores, reach)
        scores = scores.masked_fill(antecedents(count, reach, spans.device) < 0, -torch.inf)
        return functional.pad(scores, (1, 0))


def antecedents(count: int, reach: int, device: torch.device) -> Tensor:
    """(count, reach): i - reach + c of span i in column c; below 0 where there is no such span."""
    columns = torch.arange(-reach, 0, device=device)
    return torch.arange(count, device=device)[:, None] + columns


def buckets(reach: int, device: torch.device) -> Tensor:
    """The bucket of the distance reach - c of each column c: 1, 2, 3, 4, then 5-7, 8-15, 16-31,
    32-63 and 64 or more; bucket 0 is for no distance here.
    """
    distances = torch.arange(reach, 0, -1, device=device)
    logarithmic = distances.float().log2().floor().long() + 3
    return torch.where(distances <= 4, distances, logarithmic).clamp(max=BUCKETS - 1)


def marginal_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """- sum_i log sum_{j in gold(i)} P(j | i), with P the softmax over a row of ``scores``.

    gold(i) are the spans before i of its cluster that are left, or no antecedent where there are
    none. ``scores`` (k, 1 + r) as ``AntecedentNetwork`` gives them; ``labels`` (k,) are clusters,
    -1 of spans that are in none.
    """
    reach = scores.shape[1] - 1
    gold = (labels[:, None] == preceding(labels + 1, reach) - 1) & (labels[:, None] >= 0)
    gold = torch.cat([~gold.any(1, keepdim=True), gold], dim=1)
    likely = scores.masked_fill(~gold, -torch.inf).logsumexp(1)
    return (scores.logsumexp(1) - likely).sum()
