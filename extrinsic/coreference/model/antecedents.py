"""Scores of earlier spans as antecedents of a span, and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from biasbridge.extrinsic.coreference.model.dropout import relu_dropout_

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.settings import ResolverSettings

BUCKETS = 10
CACHED, ELSEWHERE = 2**18, 2**26
"""Numbers in a chunk, on a CPU and on other devices."""


class KeptSpans(NamedTuple):
    """The k spans of a document left after pruning, in order.

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

    def forward(self, kept_spans: KeptSpans, generator: torch.Generator) -> Tensor:
        """Compute scores (k, 1 + r): 0 for no antecedent, then of the spans i - r ... i - 1,
        -infinity for spans before the first.

        The first layer, W [g_i, g_j, ...] + b, is W_1 g_i + W_2 g_j + W_3 (g_i * g_j) + W_4
        distance + b, of which only the product is computed per pair.
        """
        count, share = len(kept_spans.mention_scores), self.choice.dropout if self.training else 0.0
        reach = max(1, min(self.choice.max_antecedents, count - 1))
        spans = kept_spans.representations
        anaphor, antecedent, product, distance = self.first.weight.split(self.sizes, dim=1)
        hidden = pair_products(spans, product, reach)
        hidden += functional.linear(spans, anaphor, self.first.bias)[:, None]
        hidden += preceding(functional.linear(spans, antecedent), reach)
        hidden += functional.linear(self.distance(buckets(reach, spans.device)), distance)
        hidden = relu_dropout_(hidden, share, generator).flatten(0, 1)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = self.scorer(hidden).view(count, reach)
        mention_scores = kept_spans.mention_scores
        scores = scores + mention_scores[:, None] + preceding(mention_scores, reach)
        scores = scores.masked_fill(antecedents(count, reach, spans.device) < 0, -torch.inf)
        return functional.pad(scores, (1, 0))


def antecedents(count: int, reach: int, device: torch.device) -> Tensor:
    """Return i - reach + c for span i and column c, (count, reach); below 0: no such span."""
    columns = torch.arange(-reach, 0, device=device)
    return torch.arange(count, device=device)[:, None] + columns


def buckets(reach: int, device: torch.device) -> Tensor:
    """Return the bucket of the distance reach - c of each column c: 1, 2, 3, 4, then 5-7, 8-15,
    16-31, 32-63 and 64 or more; bucket 0 is for no distance here.
    """
    distances = torch.arange(reach, 0, -1, device=device)
    logarithmic = distances.float().log2().floor().long() + 3
    return torch.where(distances <= 4, distances, logarithmic).clamp(max=BUCKETS - 1)


def marginal_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute - sum_i log sum_{j in gold(i)} P(j | i), with P the softmax over a row of ``scores``.

    gold(i) are the kept spans before i in its cluster, or no antecedent if there are none.
    ``scores`` (k, 1 + r) as from ``AntecedentNetwork``; ``labels`` (k,) are clusters, -1 for spans
    in none.
    """
    reach = scores.shape[1] - 1
    gold = (labels[:, None] == preceding(labels + 1, reach) - 1) & (labels[:, None] >= 0)
    gold = torch.cat([~gold.any(1, keepdim=True), gold], dim=1)
    gold_score = scores.masked_fill(~gold, -torch.inf).logsumexp(1)
    return (scores.logsumexp(1) - gold_score).sum()


def pair_products(spans: Tensor, weight: Tensor, reach: int) -> Tensor:
    """Compute out[i, c] = W (g_i * g_j), j = i - reach + c, for the ``reach`` spans before each.

    Zero if there is no span j. The products g_i * g_j, ``reach`` times as large as the spans, are
    computed in chunks, forward and backward, and not stored.

    Shapes: spans g (k, d), weight W (h, d); result (k, reach, h).
    """
    result: Tensor = _PairProducts.apply(spans, weight, reach)  # type: ignore[no-untyped-call]
    return result


def preceding(rows: Tensor, reach: int) -> Tensor:
    """Return a view (k, reach, ...) of the ``reach`` rows before each of rows (k, ...), zeros
    before the first.
    """
    padded = torch.cat([rows.new_zeros(reach, *rows.shape[1:]), rows])
    return padded.unfold(0, reach, 1)[:-1].movedim(-1, 1)


class _PairProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, spans: Tensor, weight: Tensor, reach: int) -> Tensor:
        ctx.save_for_backward(spans, weight)
        ctx.reach = reach
        antecedents, (count, dim) = preceding(spans, reach), spans.shape
        step = rows_at_once(count, reach * dim, spans.device)
        buffer = spans.new_empty(step, reach, dim)
        out = spans.new_empty(count, reach, len(weight))
        for anaphor, antecedent, rows in zip(
            spans.split(step), antecedents.split(step), out.split(step), strict=True
        ):
            products = torch.mul(anaphor[:, None], antecedent, out=buffer[: len(anaphor)])
            torch.mm(products.view(-1, dim), weight.T, out=rows.view(-1, len(weight)))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """Compute, from the gradient e_ij of W (g_i * g_j), dW = sum e_ij (g_i * g_j)^T, and dg_i
        and dg_j as sums of (W^T e_ij) * g_j and * g_i.
        """
        spans, weight = ctx.saved_tensors
        reach, antecedents, (count, dim) = ctx.reach, preceding(spans, ctx.reach), spans.shape
        step = rows_at_once(count, reach * dim, spans.device)
        buffer, back = spans.new_empty(step, reach, dim), spans.new_empty(step, reach, dim)
        slanted, by_antecedent = slanted_rows(step, reach, spans)
        d_weight, d_anaphor = torch.zeros_like(weight), torch.empty_like(spans)
        d_antecedent = spans.new_zeros(reach + count, dim)
        for first in range(0, count, step):
            anaphor = spans[first : first + step, None]
            antecedent = antecedents[first : first + step]
            size = len(anaphor)
            errors = gradients[0][first : first + step].reshape(-1, len(weight))
            products = torch.mul(anaphor, antecedent, out=buffer[:size])
            d_weight.addmm_(errors.T, products.view(-1, dim))
            torch.mm(errors, weight, out=back[:size].view(-1, dim))
            torch.mul(back[:size], antecedent, out=products)
            torch.sum(products, 1, out=d_anaphor[first : first + step])
            torch.mul(back[:size], anaphor, out=slanted[:size])
            d_antecedent[first : first + size + reach] += by_antecedent[:size, : size + reach].sum(
                0
            )
        return d_anaphor + d_antecedent[reach:], d_weight, None


def rows_at_once(count: int, row_size: int, device: torch.device) -> int:
    """Return how many of ``count`` rows of ``row_size`` numbers to process at a time."""
    return max(1, min(count, (CACHED if device.type == "cpu" else ELSEWHERE) // row_size))


def slanted_rows(step: int, reach: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return two views of the same zeros: slanted (step, reach, d), and straight (step, step +
    reach, d) with straight[i, i + c] = slanted[i, c], so that columns of the second are the
    antecedents in the pairs of the first.
    """
    dim = like.shape[1]
    straight = like.new_zeros(step, step + reach, dim)
    strides = ((step + reach + 1) * dim, dim, 1)
    return straight.as_strided((step, reach, dim), strides), straight
