"""Candidate spans of a document: mention scores and representations.

All spans of up to W tokens lie on a grid (n, W): first token by width. A span's representation is
linear in its tokens, so the first layer of the mention scorer is computed once per token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from biasbridge.extrinsic.coreference.model.dropout import relu_dropout_

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.settings import ResolverSettings


class SpanNetwork(nn.Module):
    """Representation g = [h_start, h_end, width, sum_t a_t x_t] of a span, and its mention score.

    ``words`` x (n, d) are the tokens' vectors, ``states`` h (n, s) their LSTM states.
    """

    def __init__(self, choice: ResolverSettings, words: int, states: int) -> None:
        super().__init__()
        self.choice = choice
        self.sizes = (states, states, choice.feature_size, words)
        self.width = nn.Embedding(choice.max_span_width, choice.feature_size)
        self.head_scorer = nn.Linear(states, 1)
        self.first = nn.Linear(sum(self.sizes), choice.hidden)
        self.second = nn.Linear(choice.hidden, choice.hidden)
        self.scorer = nn.Linear(choice.hidden, 1)

    def attention(self, states: Tensor) -> Tensor:
        """Compute weights a (n, W, W) of a span's tokens, by first token, width and position in the
        span: softmax over the span of w . h_t + b.
        """
        reach = self.choice.max_span_width
        scores = windows(self.head_scorer(states), reach).transpose(1, 2)
        beyond = torch.ones(reach, reach, dtype=torch.bool, device=states.device).triu(1)
        return scores.masked_fill(beyond, -torch.inf).softmax(2)

    def score(
        self, words: Tensor, states: Tensor, attention: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Compute mention scores (n, W), also of spans across sentences.

        The first layer, W g + b, is the sum W_s h_start + W_e h_end + W_w width + sum_t a_t W_x x_t
        + b, whose products are those of tokens.
        """
        reach, share = self.choice.max_span_width, self.choice.dropout if self.training else 0.0
        start, end, width, head = self.first.weight.split(self.sizes, dim=1)
        starts = functional.linear(states, start, self.first.bias)[:, None]
        ends = windows(functional.linear(states, end), reach)
        widths = functional.linear(self.width.weight, width)
        heads = torch.bmm(attention, windows(functional.linear(words, head), reach))
        hidden = relu_dropout_(heads + ends + (starts + widths), share, generator).flatten(0, 1)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores: Tensor = self.scorer(hidden)
        return scores.view(-1, reach)

    def represent(self, words: Tensor, states: Tensor, attention: Tensor, spans: Tensor) -> Tensor:
        """Compute g (k, 2 s + feature_size + d) of ``spans`` (k,), positions on the grid."""
        reach = self.choice.max_span_width
        first, width = spans // reach, spans % reach
        tokens = first[:, None] + torch.arange(reach, device=spans.device)
        inside = functional.embedding(tokens.clamp(max=len(words) - 1), words)
        head = torch.bmm(attention.flatten(0, 1)[spans, None], inside).squeeze(1)
        return torch.cat([states[first], states[first + width], self.width(width), head], dim=1)


def windows(rows: Tensor, reach: int) -> Tensor:
    """Return (n, reach, d) of rows (n, d): each row and the next ones, zeros past the end."""
    return functional.pad(rows, (0, 0, 0, reach - 1)).unfold(0, reach, 1).transpose(1, 2)
