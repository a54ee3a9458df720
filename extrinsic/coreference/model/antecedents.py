"""How likely an earlier span is a span's antecedent, and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from extrinsic.coreference.model.dropout import relu_dropout_

if TYPE_CHECKING:
    from extrinsic.coreference.settings import ResolverSettings

BUCKETS = 10
CACHED, ELSEWHERE = 2**18, 2**26
"""Numbers held at a time, on a CPU and on other devices."""


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


def pair_products(spans: Tensor, weight: Tensor, reach: int) -> Tensor:
    """out[i, c] = W (g_i * g_j), j = i - reach + c: each span by the ``reach`` spans before it.

    Zero where there is no span j. The products g_i * g_j, ``reach`` times as large as the spans,
    are made in chunks, forward and backward, and never kept.

    Shapes: spans g (k, d), weight W (h, d); result (k, reach, h).
    """
    result: Tensor = _PairProducts.apply(spans, weight, reach)  # type: ignore[no-untyped-call]
    return result


def preceding(rows: Tensor, reach: int) -> Tensor:
    """(k, reach, ...) of rows (k, ...): a view of the ``reach`` rows before each, zeros where there
    is none.
    """
    padded = torch.cat([rows.new_zeros(reach, *rows.shape[1:]), rows])
    return padded.unfold(0, reach, 1)[:-1].movedim(-1, 1)


class _PairProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, spans: Tensor, weight: Tensor, reach: int) -> Tensor:
        ctx.save_for_backward(spans, weight)
        ctx.reach = reach
        others, (count, dim) = preceding(spans, reach), spans.shape
        step = rows_at_once(count, reach * dim, spans.device)
        buffer = spans.new_empty(step, reach, dim)
        out = spans.new_empty(count, reach, len(weight))
        for own, other, rows in zip(
            spans.split(step), others.split(step), out.split(step), strict=True
        ):
            products = torch.mul(own[:, None], other, out=buffer[: len(own)])
            torch.mm(products.view(-1, dim), weight.T, out=rows.view(-1, len(weight)))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """With e_ij the gradient of W (g_i * g_j): dW = sum e_ij (g_i * g_j)^T, and dg_i and dg_j
        are the sums of (W^T e_ij) * g_j and * g_i.
        """
        spans, weight = ctx.saved_tensors
        reach, others, (count, dim) = ctx.reach, preceding(spans, ctx.reach), spans.shape
        step = rows_at_once(count, reach * dim, spans.device)
        buffer, back = spans.new_empty(step, reach, dim), spans.new_empty(step, reach, dim)
        slanted, by_other = slanted_rows(step, reach, spans)
        to_weight, to_own = torch.zeros_like(weight), torch.empty_like(spans)
        to_other = spans.new_zeros(reach + count, dim)
        for first in range(0, count, step):
            own, other = spans[first : first + step, None], others[first : first + step]
            size = len(own)
            errors = gradients[0][first : first + step].reshape(-1, len(weight))
            products = torch.mul(own, other, out=buffer[:size])
            to_weight.addmm_(errors.T, products.view(-1, dim))
            torch.mm(errors, weight, out=back[:size].view(-1, dim))
            torch.mul(back[:size], other, out=products)
            torch.sum(products, 1, out=to_own[first : first + step])
            torch.mul(back[:size], own, out=slanted[:size])
            to_other[first : first + size + reach] += by_other[:size, : size + reach].sum(0)
        return to_own + to_other[reach:], to_weight, None


def rows_at_once(count: int, each: int, device: torch.device) -> int:
    """How many of ``count`` rows of ``each`` numbers to work on at a time."""
    return max(1, min(count, (CACHED if device.type == "cpu" else ELSEWHERE) // each))


def slanted_rows(step: int, reach: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Two views of the same zeros: slanted (step, reach, d), and straight (step, step + reach, d)
    with straight[i, i + c] = slanted[i, c], so that columns of the second are spans by which the
    first has pairs.
    """
    dim = like.shape[1]
    straight = like.new_zeros(step, step + reach, dim)
    strides = ((step + reach + 1) * dim, dim, 1)
    return straight.as_strided((step, reach, dim), strides), straight
