"""Networks that classify posts, in torch, and their training: Kim's (2014) convolutional network on
frozen vectors, and a language model with a linear layer on its pooled states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from biasbridge.extrinsic.crossval import Fold, RowNumbers
    from biasbridge.extrinsic.encode import Encoded
    from biasbridge.extrinsic.network_settings import CNNSettings, FinetunedSettings
    from biasbridge.files.models.language_model import LanguageModel

_WARM_UP = 0.1  # of all steps
_MAX_GRADIENT_NORM = 1.0  # of the gradients
Tokens = Sequence[Sequence[int]]


def predict_cnn(
    choice: CNNSettings, posts: Encoded, labels: RowNumbers, fold: Fold
) -> NDArray[np.float32]:
    """Train on a fold, with early stopping by dev, and return P(label 1) of its test posts."""
    network = ConvolutionalNetwork(choice, posts, torch.Generator().manual_seed(fold.seed))
    _fit_cnn(network, labels, fold.train, fold.dev)
    return network.logits(fold.test).softmax(1)[:, 1].cpu().numpy()


class _PostNetwork(nn.Module):
    """Network that classifies batches of posts, given as row numbers; ``lengths`` (n,) of posts."""

    lengths: RowNumbers
    evaluation_batch: int
    choice: CNNSettings | FinetunedSettings
    generator: torch.Generator | None = None

    @torch.no_grad()
    def logits(self, rows: RowNumbers) -> Tensor:
        """Compute logits (len(rows), 2) without dropout, in the order of ``rows``."""
        self.eval()
        out = torch.empty(len(rows), 2, device=self.choice.device)
        for batch in self._by_length(rows, self.evaluation_batch):
            out[batch] = self(rows[batch])
        return out

    def batches(self, rows: RowNumbers) -> Iterator[RowNumbers]:
        """Yield ``rows`` in shuffled batches of posts of similar length, to minimise padding."""
        shuffled = rows[torch.randperm(len(rows), generator=self.generator).numpy()]
        parts = self._by_length(shuffled, self.choice.batch_size)
        for number in torch.randperm(len(parts), generator=self.generator):
            yield shuffled[parts[number]]

    def _by_length(self, rows: RowNumbers, size: int) -> list[RowNumbers]:
        """Return positions in ``rows``, in batches of similar length."""
        order = np.argsort(self.lengths[rows], kind="stable")
        return np.split(order, range(size, len(rows), size))


class ConvolutionalNetwork(_PostNetwork):
    """Network on batches of row numbers of ``posts``; ``generator`` is its only randomness."""

    choice: CNNSettings
    generator: torch.Generator
    vectors: Tensor
    evaluation_batch = 256

    def __init__(self, choice: CNNSettings, posts: Encoded, generator: torch.Generator) -> None:
        super().__init__()
        self.choice, self.posts, self.generator = choice, posts, generator
        self.lengths = posts.lengths
        self.register_buffer("vectors", torch.from_numpy(posts.matrix), persistent=False)
        features, dim = len(choice.windows) * choice.maps, posts.matrix.shape[1]
        self.filters = nn.Parameter(torch.empty(sum(choice.windows), choice.maps, dim))
        self.filter_bias = nn.Parameter(torch.zeros(features))
        self.output = nn.Parameter(torch.empty(2, features))
        self.output_bias = nn.Parameter(torch.zeros(2))
        self._initialise()
        self.to(choice.device)

    def _initialise(self) -> None:
        """Draw weights uniformly in +-1 / sqrt(inputs), as torch does; biases are zero."""
        layers = [(slabs, slabs[:, 0].numel()) for slabs in self.filters.split(self.choice.windows)]
        with torch.no_grad():
            for weights, inputs in [*layers, (self.output, self.output.shape[1])]:
                bound = 1 / math.sqrt(inputs)
                nn.init.uniform_(weights, -bound, bound, generator=self.generator)

    def forward(self, rows: RowNumbers) -> Tensor:
        """Compute logits (len(rows), 2) of the posts ``rows``."""
        shortest, longest = max(self.choice.windows), self.choice.max_length
        tokens = torch.from_numpy(self.posts.padded(rows, shortest=shortest, longest=longest))
        lengths = torch.from_numpy(self.posts.lengths[rows].clip(shortest, longest))
        device = self.vectors.device
        pooled = _pooled_convolution(
            self.filters, self.vectors, tokens.to(device), lengths.to(device), self.choice.windows
        )
        features = (pooled + self.filter_bias).relu()
        if self.training and self.choice.dropout:
            mask = torch.rand(features.shape, generator=self.generator) >= self.choice.dropout
            features = features * mask.to(device) / (1 - self.choice.dropout)
        return functional.linear(features, self.output, self.output_bias)


class DevScore(NamedTuple):
    """Scores of an epoch on the dev posts; the highest tuple is the best epoch."""

    f1: float
    negative_loss: float


def _fit_cnn(
    network: ConvolutionalNetwork, labels: RowNumbers, train: RowNumbers, dev: RowNumbers
) -> list[DevScore]:
    """Train on ``train``, restore the best epoch on ``dev``, and return the scores of all epochs.

    Raises ``FloatingPointError`` if a loss is not finite.
    """
    targets = torch.tensor(labels, device=network.vectors.device)
    rate = network.choice.learning_rate
    optimiser = torch.optim.Adadelta(network.parameters(), lr=rate, rho=0.95)

    def run_epoch() -> float:
        batches = network.batches(train)
        return sum(cnn_step(network, optimiser, rows, targets[rows]) for rows in batches)

    return _fit(network, run_epoch, lambda: _evaluate(network.logits(dev), targets[dev]))


def cnn_step(
    network: ConvolutionalNetwork,
    optimiser: torch.optim.Optimizer,
    rows: RowNumbers,
    targets: Tensor,
) -> float:
    """Take a gradient step with Kim's constraint on output weights; return the loss before it.

    Kim trains weights w, |w| <= ``max_norm``, on a share p = 1 - ``dropout`` of the features, and
    predicts with p w. Here these features are divided by p, so that the trained weights are
    v = p w, also in prediction: |v| <= p ``max_norm``.
    """
    optimiser.zero_grad()
    loss = functional.cross_entropy(network(rows), targets)
    loss.backward()
    optimiser.step()
    with torch.no_grad():
        limit = (1 - network.choice.dropout) * network.choice.max_norm
        network.output.copy_(torch.renorm(network.output, 2, 0, limit))
    return loss.item()


def _evaluate(logits: Tensor, targets: Tensor) -> DevScore:
    """Compute F1 of label 1 (0 if undefined) and the negated mean cross-entropy."""
    predicted = logits.argmax(1)
    f1 = 2 * (predicted * targets).sum() / (predicted + targets).sum().clamp(min=1)
    return DevScore(f1.item(), -functional.cross_entropy(logits, targets).item())


def _pooled_convolution(
    filters: Tensor, vectors: Tensor, tokens: Tensor, lengths: Tensor, windows: tuple[int, ...]
) -> Tensor:
    r"""Return Kim's (2014) feature maps, max-pooled over time, before bias and ReLU (both commute).

    For window width w and map m of a post x_1 ... x_n:   c = max_p  sum_{k < w} filters[slab(w) +
    k, m] . x_{p + k},   p = 1 ... n - w + 1

    Equal to ``conv1d`` followed by a maximum, in about 40 % of its time, because
    - forward, filters are applied once to every distinct word of the batch, and windows are sums of
      rows of that product;
    - backward, only one position per (post, map) has a gradient, and frozen vectors need none.

    Shapes: filters (sum of windows, maps, dim), in which slab(w) is the sum of the windows before
    w; vectors (types, dim), without a gradient; tokens (batch, width), rows of ``vectors``; lengths
    (batch,), from max(windows) to width: later positions are padding and are ignored.
    Result (batch, len(windows) * maps).
    """
    pooled: Tensor = _PooledConvolution.apply(  # type: ignore[no-untyped-call]
        filters, vectors, tokens, lengths, windows
    )
    return pooled


class _PooledConvolution(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        filters: Tensor,
        vectors: Tensor,
        tokens: Tensor,
        lengths: Tensor,
        windows: tuple[int, ...],
    ) -> Tensor:
        slabs, maps, _ = filters.shape
        types, tokens = torch.unique(tokens, return_inverse=True)
        vectors = vectors[types]
        # Row: type * slabs + slab
        projected = functional.linear(vectors, filters.flatten(0, 1)).view(-1, maps)
        pooled, where, slab = [], [], 0
        for width in windows:
            offsets = torch.arange(width, device=tokens.device)
            rows = tokens.unfold(1, width, 1) * slabs + slab + offsets
            summed = functional.embedding_bag(rows.flatten(0, 1), projected, mode="sum")
            maps_over_time = summed.view(len(tokens), -1, maps)
            starts = torch.arange(maps_over_time.shape[1], device=tokens.device)
            padding = starts > (lengths - width)[:, None]
            values, positions = maps_over_time.masked_fill_(padding[:, :, None], -torch.inf).max(1)
            pooled.append(values)
            # (width, batch, maps): the tokens under each map's maximum
            where.append(positions[None] + offsets[:, None, None])
            slab += width
        winners = tokens.expand(slabs, -1, -1).gather(2, torch.cat(where))
        ctx.save_for_backward(vectors, winners)
        ctx.windows = windows
        return torch.cat(pooled, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Compute d filters[slab(w) + k, m] = sum over posts of gradient * k-th word."""
        vectors, winners = ctx.saved_tensors
        slabs, _, maps = winners.shape
        by_window = gradients[0].unflatten(1, (-1, maps)).permute(1, 2, 0)  # (windows, maps, batch)
        weights = by_window.repeat_interleave(torch.tensor(ctx.windows, device=winners.device), 0)
        bags, weights = winners.transpose(1, 2).flatten(0, 1), weights.flatten(0, 1)
        summed = functional.embedding_bag(bags, vectors, per_sample_weights=weights, mode="sum")
        return summed.view(slabs, maps, -1), None, None, None, None


def tokenise(texts: Sequence[str], model: LanguageModel, max_tokens: int) -> Tokens:
    """Return the tokens of each text, truncated; an empty text is one token 0."""
    max_length = min(max_tokens, model.longest)
    encoding = model.tokenizer(list(texts), truncation=True, max_length=max_length)
    return [row or [0] for row in encoding["input_ids"]]


def predict_finetuned(
    choice: FinetunedSettings, model: LanguageModel, tokens: Tokens, labels: RowNumbers, fold: Fold
) -> NDArray[np.float32]:
    """Fine-tune a copy of the model on a fold and return P(label 1) of its test posts."""
    cuda = torch.device(choice.device).type == "cuda"
    with torch.random.fork_rng(devices=[choice.device] if cuda else []):
        torch.manual_seed(fold.seed)
        network = FinetunedNetwork(choice, model, tokens)
        _fit_finetuned(network, labels, fold.train, fold.dev)
        return network.logits(fold.test).softmax(1)[:, 1].cpu().numpy()


class FinetunedNetwork(_PostNetwork):
    """Copy of the model with a linear layer, on batches of row numbers of ``tokens``."""

    choice: FinetunedSettings

    def __init__(self, choice: FinetunedSettings, model: LanguageModel, tokens: Tokens) -> None:
        super().__init__()
        self.choice, self.tokens, self.pad = choice, tokens, model.pad
        self.lengths = np.array([len(row) for row in tokens])
        self.evaluation_batch = choice.batch_size
        self.base = deepcopy(model.base)
        self.dropout = nn.Dropout(choice.dropout)
        self.head = nn.Linear(self.base.config.hidden_size, 2)
        self.to(choice.device)

    def forward(self, rows: RowNumbers) -> Tensor:
        """Compute logits (len(rows), 2) of the posts ``rows``."""
        ids, mask = (
            tensor.to(self.choice.device) for tensor in self.pad([self.tokens[row] for row in rows])
        )
        states = self.base(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        pooled = (states * weights).sum(1) / weights.sum(1)
        logits: Tensor = self.head(self.dropout(pooled))
        return logits


def _fit_finetuned(
    network: FinetunedNetwork, labels: RowNumbers, train: RowNumbers, dev: RowNumbers
) -> list[DevScore]:
    """Train on ``train``, restore the epoch with the lowest dev loss, and return the scores of all
    epochs, without F1.

    Raises ``FloatingPointError`` if a loss is not finite.
    """
    choice = network.choice
    targets = torch.tensor(labels, device=choice.device)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=choice.learning_rate, weight_decay=choice.weight_decay
    )
    steps = choice.epochs * math.ceil(len(train) / choice.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps))

    def run_epoch() -> float:
        total = 0.0
        for rows in network.batches(train):
            total += _finetuned_step(network, optimiser, rows, targets[rows])
            schedule.step()
        return total

    def evaluate_loss() -> DevScore:
        loss = functional.cross_entropy(network.logits(dev), targets[dev])
        return DevScore(0.0, -loss.item())

    return _fit(network, run_epoch, evaluate_loss)


def _fit(
    network: _PostNetwork, run_epoch: Callable[[], float], evaluate_epoch: Callable[[], DevScore]
) -> list[DevScore]:
    """Train until ``patience`` epochs after the best, and restore it; ``run_epoch`` returns a loss.

    Raises ``FloatingPointError`` if a loss is not finite.
    """
    choice = network.choice
    scores: list[DevScore] = []
    for epoch in range(choice.epochs):
        network.train()
        loss = run_epoch()
        scores.append(evaluate_epoch())
        if not math.isfinite(loss + scores[-1].negative_loss):
            remedy = f"lower learning_rate={choice.learning_rate}"
            raise FloatingPointError(f"the loss is not finite in epoch {epoch + 1}; {remedy}")
        best = scores.index(max(scores))
        if best == epoch:
            weights = {name: value.clone() for name, value in network.state_dict().items()}
        elif epoch - best >= choice.patience:
            break
    network.load_state_dict(weights)
    return scores


def _rate(step: int, steps: int) -> float:
    """Return the factor of the learning rate at a step, counted from 0."""
    warm = _WARM_UP * steps
    return (step + 1) / (warm + 1) if step < warm else (steps - step) / (steps - warm)


def _finetuned_step(
    network: FinetunedNetwork, optimiser: torch.optim.Optimizer, rows: RowNumbers, targets: Tensor
) -> float:
    optimiser.zero_grad()
    loss = functional.cross_entropy(network(rows), targets)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), _MAX_GRADIENT_NORM)
    optimiser.step()
    return loss.item()
