"""Complete network of Lee et al. (2017): words, spans, antecedents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from biasbridge.extrinsic.coreference.model.antecedents import AntecedentNetwork, KeptSpans
from biasbridge.extrinsic.coreference.model.dropout import dropout
from biasbridge.extrinsic.coreference.model.spans import SpanNetwork
from biasbridge.extrinsic.coreference.model.words import LetterNetwork, SentenceLSTM

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.model.encode import Integers, Lexicon, Text
    from biasbridge.extrinsic.coreference.settings import ResolverSettings


class Scores(NamedTuple):
    """Scores of a document.

    ``spans`` (k,) are the positions of the kept spans on the grid of first token by width, in
    order, ``mentions`` (k,) their mention scores, ``antecedents`` (k, 1 + r) the scores of having
    no antecedent and of each of the r spans before.
    """

    spans: Tensor
    mentions: Tensor
    antecedents: Tensor


class Network(nn.Module):
    """Network that scores spans and antecedents of a document whose words are in ``lexicon``.

    ``generator``, on the device of ``choice``, draws the dropout masks.
    """

    matrix: Tensor
    rows: Tensor
    letters: Tensor

    def __init__(
        self, choice: ResolverSettings, lexicon: Lexicon, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.choice, self.generator = choice, generator
        for name, table in (
            ("matrix", lexicon.matrix),
            ("rows", lexicon.rows),
            ("letters", lexicon.letters),
        ):
            self.register_buffer(name, torch.from_numpy(table), persistent=False)
        words = lexicon.matrix.shape[1] + choice.letter_filters
        self.spell = LetterNetwork(choice.letter_dim, choice.letter_filters, choice.letter_window)
        self.context = SentenceLSTM(words, choice.lstm)
        self.spans = SpanNetwork(choice, words, 2 * choice.lstm)
        self.antecedents = AntecedentNetwork(choice, sum(self.spans.sizes))

    def forward(self, text: Text) -> Scores:
        """Compute the scores of one document."""
        words = self.words(text)
        states = self.context(words, text.lengths)
        attention = self.spans.attention(states)
        grid = self.spans.score(words, states, attention, self.generator).flatten()
        spans = self.prune(grid.detach(), text)
        representations = self.spans.represent(words, states, attention, spans)
        kept_spans = KeptSpans(representations, grid[spans])
        return Scores(spans, grid[spans], self.antecedents(kept_spans, self.generator))

    def words(self, text: Text) -> Tensor:
        """Compute (n, d): frozen vector and letter features of each token, with dropout."""
        types = torch.from_numpy(text.words).to(self.matrix.device)
        vectors = torch.cat([self.matrix[self.rows[types]], self.spell(self.letters[types])], dim=1)
        words = vectors[torch.from_numpy(text.word_index).to(types.device)]
        share = self.choice.lexical_dropout if self.training else 0.0
        return dropout(words, share, self.generator)

    def prune(self, grid: Tensor, text: Text) -> Tensor:
        """Return the positions of the kept spans, in order: those with the highest mention scores,
        as many as ``spans_per_word`` and ``least_spans`` allow, or all gold mentions.
        """
        candidates = np.arange(self.choice.max_span_width) < text.tokens_left[:, None]
        if self.choice.mentions == "gold":
            candidates &= clusters_on_grid(text, self.choice.max_span_width) >= 0
            return torch.from_numpy(np.flatnonzero(candidates)).to(grid.device)
        allowed = torch.from_numpy(candidates.ravel()).to(grid.device)
        proposed = int(self.choice.spans_per_word * len(text.word_index))
        count = min(max(proposed, self.choice.least_spans), int(candidates.sum()))
        return grid.masked_fill(~allowed, -torch.inf).topk(count).indices.sort().values


def clusters_on_grid(text: Text, reach: int) -> Integers:
    """Return the cluster of each span of up to ``reach`` tokens, (n, reach); -1: in none."""
    grid = np.full((len(text.word_index), reach), -1, dtype=np.int64)
    first, width, cluster = text.mentions[text.mentions[:, 1] <= reach].T
    grid[first, width - 1] = cluster
    return grid


def build(choice: ResolverSettings, lexicon: Lexicon, *, seed: int) -> Network:
    """Build a network on the device of ``choice``; its initial weights depend on ``seed`` alone.

    Feed-forward layers, scorers, features and the LSTM's input weights are Xavier-normal, its
    recurrent ones orthogonal, as in AllenNLP's configuration, and embeddings of letters
    Xavier-uniform; biases and the convolution are torch's, uniform in +-1 / sqrt(inputs).
    """
    generator = torch.Generator(choice.device).manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(choice, lexicon, generator)
        for name, weight in network.named_parameters():
            if name == "spell.embedding.weight":
                nn.init.xavier_uniform_(weight[1:])
            elif "weight_hh" in name:
                nn.init.orthogonal_(weight)
            elif weight.dim() == 2:
                nn.init.xavier_normal_(weight)
    return network.to(choice.device)
