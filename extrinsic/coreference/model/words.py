"""Token vectors: frozen word vectors with a convolution over letters, then a bidirectional LSTM
over the sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.model.encode import Integers

BYTES = 256
WIDTH = 1.5
"""Maximum ratio of sentence lengths in a batch."""


class LetterNetwork(nn.Module):
    """Letter features max_p ReLU(W [e(c_p) ... e(c_{p + window - 1})] + b) over the bytes c of a
    word.

    Bytes are those of UTF-8, which cover all languages. Words shorter than the window are padded
    with zero vectors; no other window extends beyond the word's end.
    """

    def __init__(self, dim: int, filters: int, window: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(BYTES + 1, dim, padding_idx=0)
        self.convolution = nn.Conv1d(dim, filters, window)

    def forward(self, letters: Tensor) -> Tensor:
        """Compute (words, filters) from bytes plus 1, padded with 0, (words, longest)."""
        (window,) = self.convolution.kernel_size
        lengths = (letters > 0).sum(1)
        width = max(window, int(lengths.max()))
        letters = nn.functional.pad(letters, (0, width))[:, :width].long()
        maps: Tensor = self.convolution(self.embedding(letters).transpose(1, 2)).relu()
        last = lengths.clamp(min=window) - window
        inside = torch.arange(maps.shape[2], device=letters.device) <= last[:, None]
        return (maps * inside[:, None]).amax(2)  # 0 is the minimum of ReLU


class SentenceLSTM(nn.Module):
    """Bidirectional LSTM over each sentence of a document.

    Both directions process sentences of similar length together, with padding at the end: on a CPU
    in a third of the time of packed sequences of all lengths.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.onward, self.back = nn.LSTM(inputs, hidden), nn.LSTM(inputs, hidden)

    def forward(self, tokens: Tensor, lengths: Integers) -> Tensor:
        """Compute (n, 2 * hidden) of tokens (n, inputs) in sentences of ``lengths``."""
        starts, steps = lengths.cumsum() - lengths, np.arange(lengths.max())[:, None]
        onward, back = [], []
        for sentences in buckets(lengths):
            first, length = starts[sentences], lengths[sentences]
            inside = steps[: length.max()] < length
            onward.append(np.where(inside, first + steps[: length.max()], -1))
            back.append(np.where(inside, first + length - 1 - steps[: length.max()], -1))
        return torch.cat(
            [_states(self.onward, tokens, onward), _states(self.back, tokens, back)], 1
        )


def _states(lstm: nn.LSTM, tokens: Tensor, batches: list[Integers]) -> Tensor:
    """Compute states (n, hidden) at tokens, whose positions are in batches (longest, sentences), -1
    past the end of a sentence.
    """
    states = []
    for batch in batches:
        padded = torch.from_numpy(batch.clip(min=0)).to(tokens.device)
        output: Tensor = lstm(tokens[padded])[0]
        inside = torch.from_numpy(np.flatnonzero(batch >= 0)).to(tokens.device)
        states.append(output.flatten(0, 1)[inside])
    order = torch.from_numpy(np.concatenate([batch[batch >= 0] for batch in batches]))
    together = torch.cat(states)
    return torch.empty_like(together).index_copy(0, order.to(tokens.device), together)


def buckets(lengths: Integers) -> list[Integers]:
    """Group sentences whose lengths lie between the same powers of ``WIDTH``."""
    powers = np.floor(np.log(lengths) / np.log(WIDTH))
    return [np.flatnonzero(powers == power) for power in np.unique(powers)]
