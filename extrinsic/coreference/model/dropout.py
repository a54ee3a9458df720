"""Dropout with masks from a given generator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def dropout(inputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Set values to 0 with probability ``share`` and divide the others by 1 - ``share``."""
    return inputs * _keep_mask(inputs, share, generator).div_(1 - share) if share else inputs


def relu_dropout_(inputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Apply ReLU and dropout in place. Only the result is stored for the gradient, which passes
    where the result is above 0.
    """
    result: Tensor = _ReluDropout.apply(inputs, share, generator)  # type: ignore[no-untyped-call]
    return result


def _keep_mask(like: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Draw 1 with probability 1 - ``share``, else 0. Uniform numbers are three times as fast as
    Bernoulli ones.
    """
    drawn = torch.empty_like(like, requires_grad=False).uniform_(generator=generator)
    return drawn.ge_(share)


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
        ctx.scale = 1 / (1 - share)
        inputs.clamp_(min=0)
        if share:
            inputs.mul_(_keep_mask(inputs, share, generator).mul_(ctx.scale))
        ctx.mark_dirty(inputs)
        ctx.save_for_backward(inputs)
        return inputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (result,) = ctx.saved_tensors
        return (result > 0) * (gradients[0] * ctx.scale), None, None
