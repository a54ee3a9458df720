"""The part of the antecedent scorer's first layer that is not linear in single spans."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CACHED, ELSEWHERE = 2**18, 2**26
"""Numbers held at a time, on a CPU and on other devices."""


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


class _Context(Protocol):
    """What torch keeps between ``forward`` and ``backward``."""

    saved_tensors: tuple[Tensor, ...]
    reach: int

    def save_for_backward(self, *tensors: Tensor) -> None: ...


class _PairProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: _Context, spans: Tensor, weight: Tensor, reach: int) -> Tensor:
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
    def backward(ctx: _Context, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
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
