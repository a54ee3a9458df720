"""The quick convolution is torch's, forward and backward."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from biasbridge.extrinsic.convolution import pooled_convolution


def problem(
    windows: tuple[int, ...], *, double: bool = False, maps: int = 7, dim: int = 20
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    dtype = torch.float64 if double else torch.float32
    filters = torch.randn(sum(windows), maps, dim, generator=generator, dtype=dtype)
    vectors = torch.randn(30, dim, generator=generator, dtype=dtype)
    vectors[0] = 0
    lengths = torch.randint(max(windows), 13, (9,), generator=generator)
    tokens = torch.randint(1, 30, (9, 12), generator=generator) * (
        torch.arange(12) < lengths[:, None]
    )
    return filters.requires_grad_(), vectors, tokens, lengths


def literal(
    filters: Tensor, vectors: Tensor, tokens: Tensor, lengths: Tensor, windows: tuple[int, ...]
) -> Tensor:
    """One post and one width at a time, by ``conv1d``."""
    posts = []
    for row, length in zip(tokens.unbind(), lengths.tolist(), strict=True):
        words = vectors[row[:length]].T[None]
        parts = torch.split(filters, list(windows))
        posts.append(
            torch.cat(
                [functional.conv1d(words, part.permute(1, 2, 0)).amax(2)[0] for part in parts]
            )
        )
    return torch.stack(posts)


@pytest.mark.parametrize("windows", [(3, 4, 5), (1,), (2, 2), (5, 3)])
def test_forward_and_gradient_are_those_of_conv1d(windows: tuple[int, ...]) -> None:
    filters, vectors, tokens, lengths = problem(windows)
    ours = pooled_convolution(filters, vectors, tokens, lengths, windows)
    theirs = literal(filters, vectors, tokens, lengths, windows)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    upstream = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        torch.autograd.grad(ours, filters, upstream)[0],
        torch.autograd.grad(theirs, filters, upstream)[0],
        atol=1e-5,
        rtol=1e-5,
    )
