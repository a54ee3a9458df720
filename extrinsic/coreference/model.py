"""End-to-end coreference (Lee et al., 2017) in torch, with the settings ``ResolverSettings``.

A document is read as integers (``Lexicon``, ``EncodedDocument``). Token vectors are frozen word
vectors with a convolution over letters, then a bidirectional LSTM over the sentence. All spans of
up to W tokens lie on a grid (n, W): first token by width. A span's representation is linear in its
tokens, so the first layer of the mention scorer is computed once per token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from biasbridge.extrinsic.encode import encode_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.extrinsic.coreference.resolution import ResolverSettings
    from biasbridge.files.documents import Document

Integers = NDArray[np.int64]
_LONGEST_WORD = 50
"""Bytes of a word that are read; longer ones, such as URLs, are truncated."""
_BYTES = 256
_LENGTH_RATIO = 1.5
"""Maximum ratio of sentence lengths in a batch."""
_BUCKETS = 10
CACHED, ELSEWHERE = 2**18, 2**26
"""Numbers in a chunk, on a CPU and on other devices."""


@dataclass(frozen=True)
class Lexicon:
    """Distinct words of a collection of documents.

    ``rows`` (words,) are rows of ``matrix`` (types + 1, dim), the vectors; words without one share
    that of ``<UNK>``, or zeros. ``letters`` (words, longest) are the UTF-8 bytes of each word plus
    1, padded with 0. ``coverage``: share of the documents' tokens that have a vector.
    """

    index: Mapping[str, int]
    rows: Integers
    matrix: NDArray[np.float32]
    letters: NDArray[np.int16]
    coverage: float


@dataclass(frozen=True)
class EncodedDocument:
    """Document of n tokens.

    ``words`` (types,) are the lexicon rows of its distinct words, ``word_index`` (n,) the index
    into these of each token. ``lengths`` are those of its sentences and ``tokens_left`` (n,) the
    number of tokens from each to the end of its sentence, itself included. ``mentions`` (m, 3) are
    first token, width and number of cluster.
    """

    words: Integers
    word_index: Integers
    lengths: Integers
    tokens_left: Integers
    mentions: Integers


def read_lexicon(documents: Sequence[Document], vectors: KeyedVectors) -> Lexicon:
    """Read the words of ``documents``, case kept, and their vectors.

    Raises ``InputError`` if no word has a vector and if a vector is not finite.
    """
    tokens = [document.tokens for document in documents]
    encoded = encode_words(tokens, vectors)
    index = {word: 0 for text in tokens for word in text}
    index = {word: number for number, word in enumerate(index)}
    rows = np.zeros(len(index), dtype=np.int64)
    rows[[index[word] for text in tokens for word in text]] = encoded.tokens
    return Lexicon(index, rows, encoded.matrix, _letter_codes(index), encoded.coverage)


def _letter_codes(words: Iterable[str]) -> NDArray[np.int16]:
    """Return UTF-8 bytes plus 1 of each word, padded with 0; shape (words, longest)."""
    encoded = [word.encode("utf-8", "surrogatepass")[:_LONGEST_WORD] for word in words]
    lengths = np.array([len(letters) for letters in encoded], dtype=np.int64)
    inside = np.arange(lengths.max(initial=1)) < lengths[:, None]
    letters = np.zeros(inside.shape, dtype=np.int16)
    letters[inside] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    letters[inside] += 1
    return letters


def read_text(document: Document, lexicon: Lexicon) -> EncodedDocument:
    """Encode a document whose words are all in ``lexicon``."""
    tokens = np.array([lexicon.index[word] for word in document.tokens], dtype=np.int64)
    words, word_index = np.unique(tokens, return_inverse=True)
    lengths = np.array([len(sentence) for sentence in document.sentences if sentence], np.int64)
    ends = np.repeat(lengths.cumsum(), lengths)
    mentions = [
        (first, end - first, number)
        for number, cluster in enumerate(document.clusters)
        for first, end in cluster
    ]
    return EncodedDocument(
        words=words,
        word_index=word_index,
        lengths=lengths,
        tokens_left=ends - np.arange(len(tokens)),
        mentions=np.array(mentions, dtype=np.int64).reshape(-1, 3),
    )


def _apply_dropout(inputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Set values to 0 with probability ``share`` and divide the others by 1 - ``share``."""
    return inputs * _keep_mask(inputs, share, generator).div_(1 - share) if share else inputs


def _relu_dropout_(inputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Apply ReLU and dropout in place. Only the result is stored for the gradient, which passes
    where the result is above 0.
    """
    result: Tensor = _ReluDropout.apply(inputs, share, generator)  # type: ignore[no-untyped-call]
    return result


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


class _LetterNetwork(nn.Module):
    """Letter features max_p ReLU(W [e(c_p) ... e(c_{p + window - 1})] + b) over the bytes c of a
    word.

    Bytes are those of UTF-8, which cover all languages. Words shorter than the window are padded
    with zero vectors; no other window extends beyond the word's end.
    """

    def __init__(self, dim: int, filters: int, window: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(_BYTES + 1, dim, padding_idx=0)
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


class _SentenceLSTM(nn.Module):
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
        for sentences in _length_buckets(lengths):
            first, length = starts[sentences], lengths[sentences]
            inside = steps[: length.max()] < length
            onward.append(np.where(inside, first + steps[: length.max()], -1))
            back.append(np.where(inside, first + length - 1 - steps[: length.max()], -1))
        return torch.cat(
            [_states(self.onward, tokens, onward), _states(self.back, tokens, back)], 1
        )


class _SpanNetwork(nn.Module):
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
        scores = _windows(self.head_scorer(states), reach).transpose(1, 2)
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
        ends = _windows(functional.linear(states, end), reach)
        widths = functional.linear(self.width.weight, width)
        heads = torch.bmm(attention, _windows(functional.linear(words, head), reach))
        hidden = _relu_dropout_(heads + ends + (starts + widths), share, generator).flatten(0, 1)
        hidden = _relu_dropout_(self.second(hidden), share, generator)
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


def _windows(rows: Tensor, reach: int) -> Tensor:
    """Return (n, reach, d) of rows (n, d): each row and the next ones, zeros past the end."""
    return functional.pad(rows, (0, 0, 0, reach - 1)).unfold(0, reach, 1).transpose(1, 2)


class _KeptSpans(NamedTuple):
    """The k spans of a document left after pruning, in order.

    ``representations`` g (k, d), ``mention_scores`` (k,).
    """

    representations: Tensor
    mention_scores: Tensor


class _AntecedentNetwork(nn.Module):
    """s(i, j) = s_m(i) + s_m(j) + FFNN([g_i, g_j, g_i * g_j, distance]).

    Distance counts kept spans, in buckets.
    """

    def __init__(self, choice: ResolverSettings, span: int) -> None:
        super().__init__()
        self.choice = choice
        size = choice.feature_size
        self.distance = nn.Embedding(_BUCKETS, size)
        self.sizes = [span, span, span, size]
        self.first = nn.Linear(sum(self.sizes), choice.hidden)
        self.second = nn.Linear(choice.hidden, choice.hidden)
        self.scorer = nn.Linear(choice.hidden, 1)

    def forward(self, kept_spans: _KeptSpans, generator: torch.Generator) -> Tensor:
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
        hidden += _preceding(functional.linear(spans, antecedent), reach)
        hidden += functional.linear(self.distance(_distance_buckets(reach, spans.device)), distance)
        hidden = _relu_dropout_(hidden, share, generator).flatten(0, 1)
        hidden = _relu_dropout_(self.second(hidden), share, generator)
        scores = self.scorer(hidden).view(count, reach)
        mention_scores = kept_spans.mention_scores
        scores = scores + mention_scores[:, None] + _preceding(mention_scores, reach)
        scores = scores.masked_fill(antecedents(count, reach, spans.device) < 0, -torch.inf)
        return functional.pad(scores, (1, 0))


def antecedents(count: int, reach: int, device: torch.device) -> Tensor:
    """Return i - reach + c for span i and column c, (count, reach); below 0: no such span."""
    columns = torch.arange(-reach, 0, device=device)
    return torch.arange(count, device=device)[:, None] + columns


def _distance_buckets(reach: int, device: torch.device) -> Tensor:
    """Return the bucket of the distance reach - c of each column c: 1, 2, 3, 4, then 5-7, 8-15,
    16-31, 32-63 and 64 or more; bucket 0 is for no distance here.
    """
    distances = torch.arange(reach, 0, -1, device=device)
    logarithmic = distances.float().log2().floor().long() + 3
    return torch.where(distances <= 4, distances, logarithmic).clamp(max=_BUCKETS - 1)


def marginal_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute - sum_i log sum_{j in gold(i)} P(j | i), with P the softmax over a row of ``scores``.

    gold(i) are the kept spans before i in its cluster, or no antecedent if there are none.
    ``scores`` (k, 1 + r) as from ``_AntecedentNetwork``; ``labels`` (k,) are clusters, -1 for spans
    in none.
    """
    reach = scores.shape[1] - 1
    gold = (labels[:, None] == _preceding(labels + 1, reach) - 1) & (labels[:, None] >= 0)
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


def _preceding(rows: Tensor, reach: int) -> Tensor:
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
        antecedents, (count, dim) = _preceding(spans, reach), spans.shape
        step = _rows_at_once(count, reach * dim, spans.device)
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
        reach, antecedents, (count, dim) = ctx.reach, _preceding(spans, ctx.reach), spans.shape
        step = _rows_at_once(count, reach * dim, spans.device)
        buffer, back = spans.new_empty(step, reach, dim), spans.new_empty(step, reach, dim)
        slanted, by_antecedent = _slanted_rows(step, reach, spans)
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


class ResolverScores(NamedTuple):
    """Scores of a document.

    ``spans`` (k,) are the positions of the kept spans on the grid of first token by width, in
    order, ``mentions`` (k,) their mention scores, ``antecedents`` (k, 1 + r) the scores of having
    no antecedent and of each of the r spans before.
    """

    spans: Tensor
    mentions: Tensor
    antecedents: Tensor


class ResolverNetwork(nn.Module):
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
        self.spell = _LetterNetwork(choice.letter_dim, choice.letter_filters, choice.letter_window)
        self.context = _SentenceLSTM(words, choice.lstm)
        self.spans = _SpanNetwork(choice, words, 2 * choice.lstm)
        self.antecedents = _AntecedentNetwork(choice, sum(self.spans.sizes))

    def forward(self, text: EncodedDocument) -> ResolverScores:
        """Compute the scores of one document."""
        words = self.words(text)
        states = self.context(words, text.lengths)
        attention = self.spans.attention(states)
        grid = self.spans.score(words, states, attention, self.generator).flatten()
        spans = self.prune(grid.detach(), text)
        representations = self.spans.represent(words, states, attention, spans)
        kept_spans = _KeptSpans(representations, grid[spans])
        return ResolverScores(spans, grid[spans], self.antecedents(kept_spans, self.generator))

    def words(self, text: EncodedDocument) -> Tensor:
        """Compute (n, d): frozen vector and letter features of each token, with dropout."""
        types = torch.from_numpy(text.words).to(self.matrix.device)
        vectors = torch.cat([self.matrix[self.rows[types]], self.spell(self.letters[types])], dim=1)
        words = vectors[torch.from_numpy(text.word_index).to(types.device)]
        share = self.choice.lexical_dropout if self.training else 0.0
        return _apply_dropout(words, share, self.generator)

    def prune(self, grid: Tensor, text: EncodedDocument) -> Tensor:
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


def clusters_on_grid(text: EncodedDocument, reach: int) -> Integers:
    """Return the cluster of each span of up to ``reach`` tokens, (n, reach); -1: in none."""
    grid = np.full((len(text.word_index), reach), -1, dtype=np.int64)
    first, width, cluster = text.mentions[text.mentions[:, 1] <= reach].T
    grid[first, width - 1] = cluster
    return grid


def build_network(choice: ResolverSettings, lexicon: Lexicon, *, seed: int) -> ResolverNetwork:
    """Build a network on the device of ``choice``; its initial weights depend on ``seed`` alone.

    Feed-forward layers, scorers, features and the LSTM's input weights are Xavier-normal, its
    recurrent ones orthogonal, as in AllenNLP's configuration, and embeddings of letters
    Xavier-uniform; biases and the convolution are torch's, uniform in +-1 / sqrt(inputs).
    """
    generator = torch.Generator(choice.device).manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = ResolverNetwork(choice, lexicon, generator)
        for name, weight in network.named_parameters():
            if name == "spell.embedding.weight":
                nn.init.xavier_uniform_(weight[1:])
            elif "weight_hh" in name:
                nn.init.orthogonal_(weight)
            elif weight.dim() == 2:
                nn.init.xavier_normal_(weight)
    return network.to(choice.device)


def _length_buckets(lengths: Integers) -> list[Integers]:
    """Group sentences whose lengths lie between the same powers of ``WIDTH``."""
    powers = np.floor(np.log(lengths) / np.log(_LENGTH_RATIO))
    return [np.flatnonzero(powers == power) for power in np.unique(powers)]


def _rows_at_once(count: int, row_size: int, device: torch.device) -> int:
    """Return how many of ``count`` rows of ``row_size`` numbers to process at a time."""
    return max(1, min(count, (CACHED if device.type == "cpu" else ELSEWHERE) // row_size))


def _slanted_rows(step: int, reach: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return two views of the same zeros: slanted (step, reach, d), and straight (step, step +
    reach, d) with straight[i, i + c] = slanted[i, c], so that columns of the second are the
    antecedents in the pairs of the first.
    """
    dim = like.shape[1]
    straight = like.new_zeros(step, step + reach, dim)
    strides = ((step + reach + 1) * dim, dim, 1)
    return straight.as_strided((step, reach, dim), strides), straight


def _keep_mask(like: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Draw 1 with probability 1 - ``share``, else 0. Uniform numbers are three times as fast as
    Bernoulli ones.
    """
    uniform = torch.empty_like(like, requires_grad=False).uniform_(generator=generator)
    return uniform.ge_(share)


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
