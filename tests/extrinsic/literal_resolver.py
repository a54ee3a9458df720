"""Lee et al. (2017) span by span and pair by pair, as the paper has it: what the model must equal.

The network's weights are read, its functions are not called but for the layers of torch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.model import ResolverNetwork

Span = tuple[int, int]
"""First and last token."""


def token_vectors(network: ResolverNetwork, tokens: list[str], row: dict[str, int]) -> Tensor:
    """Each token's frozen vector beside the maximum over its letters, token by token."""
    vectors = []
    for token in tokens:
        letters = [byte + 1 for byte in token.encode()]
        letters += [0] * (network.choice.letter_window - len(letters))
        embedded = network.spell.embedding(torch.tensor([letters])).transpose(1, 2)
        spelled = network.spell.convolution(embedded).relu().amax(2)[0]
        vectors.append(torch.cat([network.matrix[row[token]], spelled]))
    return torch.stack(vectors)


def states(network: ResolverNetwork, words: Tensor, lengths: list[int]) -> Tensor:
    """The LSTM on one sentence at a time, onward and back."""
    read = []
    for sentence in words.split(lengths):
        onward = network.context.onward(sentence)[0]
        back = network.context.back(sentence.flip(0))[0].flip(0)
        read.append(torch.cat([onward, back], dim=1))
    return torch.cat(read)


def candidates(lengths: list[int], reach: int) -> list[Span]:
    """All spans of up to ``reach`` tokens of a sentence, by first and by last token."""
    spans, start = [], 0
    for length in lengths:
        end = start + length
        spans += [(i, j) for i in range(start, end) for j in range(i, min(i + reach, end))]
        start = end
    return spans


def representation(network: ResolverNetwork, words: Tensor, states: Tensor, span: Span) -> Tensor:
    """g = [h_start, h_end, width, sum_t a_t x_t]."""
    first, last = span
    inside = slice(first, last + 1)
    weights = network.spans.head_scorer(states[inside]).squeeze(1).softmax(0)
    width = network.spans.width.weight[last - first]
    return torch.cat([states[first], states[last], width, weights @ words[inside]])


def mention_score(network: ResolverNetwork, g: Tensor) -> Tensor:
    layers = network.spans
    score: Tensor = layers.scorer(layers.second(layers.first(g).relu()).relu())[0]
    return score


def pair_score(network: ResolverNetwork, i: Tensor, j: Tensor, distance: int) -> Tensor:
    """FFNN([g_i, g_j, g_i * g_j, distance])."""
    layers = network.antecedents
    bucket = distance if distance <= 4 else min(int(math.log2(distance)) + 3, 9)
    pair = torch.cat([i, j, i * j, layers.distance.weight[bucket]])
    score: Tensor = layers.scorer(layers.second(layers.first(pair).relu()).relu())[0]
    return score
