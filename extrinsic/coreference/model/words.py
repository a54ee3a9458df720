"""Tokens as vectors: frozen word vectors beside a convolution over letters; then, in the context of
their sentence, by a bidirectional LSTM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from extrinsic.coreference.model.encode import Integers

BYTES = 256


class LetterNetwork(nn.Module):
    """max_p ReLU(W [e(c_p) ... e(c_{p + window - 1})] + b) over the bytes c of a word.

    Bytes are those of UTF-8, so that every letter of every language is known. Words shorter than
    the window are filled up with zero vectors; no window otherwise reaches beyond the word's end.
    """

    def __init__(self, dim: int, filters: int, window: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(BYTES + 1, dim, padding_idx=0)
        self.convolution = nn.Conv1d(dim, filters, window)

    def forward(self, letters: Tensor) -> Tensor:
        """(words, filters) of bytes plus 1, filled with 0, (words, longest)."""
        (window,) = self.convolution.kernel_size
        lengths = (letters > 0).sum(1)
        width = max(window, int(lengths.max()))
        letters = nn.functional.pad(letters, (0, width))[:, :width].long()
        maps: Tensor = self.convolution(self.embedding(letters).transpose(1, 2)).relu()
        last = lengths.clamp(min=window) - window
        inside = torch.arange(maps.shape[2], device=letters.device) <= last[:, None]
        return (maps * inside[:, None]).amax(2)  # 0 is the least that a ReLU gives


class SentenceLSTM(nn.Module):
    """A bidirectional LSTM over each sentence of a document, all sentences at once."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, bidirectional=True)

    def forward(self, tokens: Tensor, lengths: Integers) -> Tensor:
        """(n, 2 * hidden) of tokens (n, inputs) in sentences of ``lengths``."""
        places, sizes = by_position(lengths)
        order = torch.from_numpy(places).to(tokens.device)
        states: Tensor = self.lstm(PackedSequence(tokens[order], torch.from_numpy(sizes)))[0].data
        return torch.empty_like(states).index_copy(0, order, states)


def by_position(lengths: Integers) -> tuple[Integers, Integers]:
    """The order of a document's tokens that puts all first tokens of its sentences first, then all
    second ones and so on, longer sentences ahead; and how many there are of each.

    Nothing is padded, so that sentences of all lengths share a batch without waste.
    """
    position = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
    order = np.lexsort((-np.repeat(lengths, lengths), position))
    return order, np.bincount(position)
