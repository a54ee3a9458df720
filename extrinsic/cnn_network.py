"""Kim's (2014) convolutional network in torch, and its training. Vectors are frozen, so each word
type is projected once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from biasbridge.extrinsic.crossval import Fold, Rows
    from biasbridge.extrinsic.encode import Encoded
    from biasbridge.extrinsic.network_settings import CNNSettings

EVALUATION_BATCH = 256


def predict_probabilities(
    choice: CNNSettings, posts: Encoded, labels: Rows, fold: Fold
) -> NDArray[np.float32]:
    """Train on a fold, with early stopping by dev, and return P(label 1) of its test posts."""
    network = ConvolutionalNetwork(choice, posts, torch.Generator().manual_seed(fold.seed))
    fit(network, labels, fold.train, fold.dev)
    return network.logits(fold.test).softmax(1)[:, 1].cpu().numpy()


class ConvolutionalNetwork(nn.Module):
    """Network on batches of row numbers of ``posts``; ``generator`` is its only randomness."""

    vectors: Tensor

    def __init__(self, choice: CNNSettings, posts: Encoded, generator: torch.Generator) -> None:
        super().__init__()
        self.choice, self.posts, self.generator = choice, posts, generator
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

    def forward(self, rows: Rows) -> Tensor:
        """Compute logits (len(rows), 2) of the posts ``rows``."""
        shortest, longest = max(self.choice.windows), self.choice.max_length
        tokens = torch.from_numpy(self.posts.padded(rows, shortest=shortest, longest=longest))
        lengths = torch.from_numpy(self.posts.lengths[rows].clip(shortest, longest))
        device = self.vectors.device
        pooled = pooled_convolution(
            self.filters, self.vectors, tokens.to(device), lengths.to(device), self.choice.windows
        )
        features = (pooled + self.filter_bias).relu()
        if self.training and self.choice.dropout:
            mask = torch.rand(features.shape, generator=self.generator) >= self.choice.dropout
            features = features * mask.to(device) / (1 - self.choice.dropout)
        return functional.linear(features, self.output, self.output_bias)

    @torch.no_grad()
    def logits(self, rows: Rows) -> Tensor:
        """Compute logits (len(rows), 2) without dropout, in the order of ``rows``."""
        self.eval()
        order = np.argsort(self.posts.lengths[rows], kind="stable")
        out = torch.empty(len(rows), 2, device=self.vectors.device)
        for batch in np.split(order, range(EVALUATION_BATCH, len(rows), EVALUATION_BATCH)):
            out[batch] = self(rows[batch])
        return out


class DevScore(NamedTuple):
    """Scores of an epoch on the dev posts; the highest tuple is the best epoch."""

    f1: float
    negative_loss: float


def fit(network: ConvolutionalNetwork, labels: Rows, train: Rows, dev: Rows) -> list[DevScore]:
    """Train on ``train``, restore the best epoch on ``dev``, and return the scores of all epochs.

    Raises ``FloatingPointError`` if a loss is not finite.
    """
    choice = network.choice
    targets = torch.tensor(labels, device=network.vectors.device)
    optimiser = torch.optim.Adadelta(network.parameters(), lr=choice.learning_rate, rho=0.95)
    scores: list[DevScore] = []
    for epoch in range(choice.epochs):
        network.train()
        steps = (step(network, optimiser, rows, targets[rows]) for rows in batches(network, train))
        total = sum(steps)
        scores.append(evaluate(network.logits(dev), targets[dev]))
        if not math.isfinite(total + scores[-1].negative_loss):
            remedy = f"lower learning_rate={choice.learning_rate}"
            raise FloatingPointError(f"the loss is not finite in epoch {epoch + 1}; {remedy}")
        best = scores.index(max(scores))
        if best == epoch:
            weights = {name: value.clone() for name, value in network.state_dict().items()}
        elif epoch - best >= choice.patience:
            break
    network.load_state_dict(weights)
    return scores


def step(
    network: ConvolutionalNetwork, optimiser: torch.optim.Optimizer, rows: Rows, targets: Tensor
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


def evaluate(logits: Tensor, targets: Tensor) -> DevScore:
    """Compute F1 of label 1 (0 if undefined) and the negated mean cross-entropy."""
    predicted = logits.argmax(1)
    f1 = 2 * (predicted * targets).sum() / (predicted + targets).sum().clamp(min=1)
    return DevScore(f1.item(), -functional.cross_entropy(logits, targets).item())


def batches(network: ConvolutionalNetwork, rows: Rows) -> Iterator[Rows]:
    """Yield ``rows`` in shuffled batches of posts of similar length, to minimise padding."""
    size, lengths = network.choice.batch_size, network.posts.lengths
    shuffled = rows[torch.randperm(len(rows), generator=network.generator).numpy()]
    ordered = shuffled[np.argsort(lengths[shuffled], kind="stable")]
    parts = np.split(ordered, range(size, len(rows), size))
    for number in torch.randperm(len(parts), generator=network.generator):
        yield parts[number]


def pooled_convolution(
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
