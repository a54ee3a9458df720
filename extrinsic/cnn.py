"""Kim's (2014) convolutional network on frozen vectors ("CNN-static")."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from extrinsic.convolution import PooledConvolution
from extrinsic.crossval import Fold, cross_predict, read_posts
from extrinsic.encode import Encoded, encode
from files import InputError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset
    from gensim.models import KeyedVectors

EVALUATION_BATCH = 256


@dataclass(frozen=True)
class CNN:
    """CNN-static of Kim (2014, EMNLP): the downstream model of Goldfarb-Tarrant et al. (2021,
    section 3.3).

    Frozen vectors; ``maps`` filters for each width in ``windows``, ReLU, maximum over time;
    dropout; softmax over two classes, whose weight vectors are cut back to l2 norm ``max_norm``
    after each step; cross-entropy by Adadelta (rho 0.95, ``learning_rate`` 1). These values are
    Kim's. His paper stops early on the dev set without saying how, his code keeps the best of 25
    epochs by dev accuracy; here the epoch of the highest dev F1 is kept (on a tie, of the lower dev
    loss), and training ends ``patience`` epochs after it or after ``epochs``. F1, since the classes
    are uneven and the gaps are made of precision and recall: the dev loss picks visibly worse
    epochs.

    Posts are cut after ``max_length`` tokens and those shorter than the widest window padded with
    zeros; longer posts in the same batch do not pad shorter ones. A batch holds posts of similar
    length. ``device`` is any torch device; on the CPU a seed gives the same predictions each time
    for the same number of threads.
    """

    windows: tuple[int, ...] = (3, 4, 5)
    maps: int = 100
    dropout: float = 0.5
    max_norm: float = 3.0
    batch_size: int = 50
    epochs: int = 25
    patience: int = 3
    learning_rate: float = 1.0
    max_length: int = 128
    folds: int = 5
    device: str = "cpu"
    name: ClassVar[str] = "cnn"
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("device",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", tuple(self.windows))
        if not self.windows or min(self.windows) < 1:
            raise InputError(
                f"windows={self.windows} must be widths of at least 1, such as (3, 4, 5)"
            )
        widest = max(self.windows)
        for name, least in {
            "maps": 1,
            "batch_size": 1,
            "epochs": 1,
            "patience": 1,
            "max_length": widest,
            "folds": 2,
        }.items():
            if getattr(self, name) < least:
                raise InputError(f"{name}={getattr(self, name)} must be at least {least}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout={self.dropout} must be in [0, 1)")
        if not (self.max_norm > 0 and self.learning_rate > 0):
            raise InputError(
                f"max_norm={self.max_norm} and learning_rate={self.learning_rate} must be positive"
            )

    def predict(self, posts: Dataset, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        """Predictions for the test posts, or for all of them by cross-validation (see
        ``crossval.cross_predict``).

        Raises ``InputError`` for posts or vectors that cannot be used and ``FloatingPointError``
        when the loss is no longer finite.
        """
        table = read_posts(posts)
        encoded, labels = encode(table["text"], vectors), table["label"].to_numpy()

        def score(fold: Fold) -> np.ndarray:
            network = Network(self, encoded, torch.Generator().manual_seed(fold.seed))
            fit(network, labels, fold.train, fold.dev)
            return network.logits(fold.test).softmax(1)[:, 1].cpu().numpy()

        return cross_predict(table, score, folds=self.folds, seed=seed)


class Network(nn.Module):
    """The network over posts encoded once, so that a batch is just their row numbers. ``generator``
    draws weights, batches and dropout.
    """

    vectors: Tensor

    def __init__(self, choice: CNN, posts: Encoded, generator: torch.Generator) -> None:
        super().__init__()
        self.choice, self.posts, self.generator = choice, posts, generator
        self.register_buffer("vectors", torch.from_numpy(posts.matrix), persistent=False)
        features = len(choice.windows) * choice.maps
        self.filters = nn.Parameter(
            torch.empty(sum(choice.windows), choice.maps, posts.matrix.shape[1])
        )
        self.filter_bias = nn.Parameter(torch.zeros(features))
        self.output = nn.Parameter(torch.empty(2, features))
        self.output_bias = nn.Parameter(torch.zeros(2))
        self._initialise()
        self.to(choice.device)

    def _initialise(self) -> None:
        """Uniform in +-1 / sqrt(inputs), as in torch's own layers; biases zero."""
        with torch.no_grad():
            for slabs in self.filters.split(self.choice.windows):
                nn.init.uniform_(
                    slabs,
                    -(bound := 1 / math.sqrt(slabs[:, 0].numel())),
                    bound,
                    generator=self.generator,
                )
            nn.init.uniform_(
                self.output,
                -(bound := 1 / math.sqrt(self.output.shape[1])),
                bound,
                generator=self.generator,
            )

    def forward(self, rows: np.ndarray) -> Tensor:
        """Logits (len(rows), 2) of the posts ``rows``."""
        shortest, longest = max(self.choice.windows), self.choice.max_length
        tokens = torch.from_numpy(self.posts.padded(rows, shortest=shortest, longest=longest))
        lengths = torch.from_numpy(self.posts.lengths[rows].clip(shortest, longest))
        device = self.vectors.device
        pooled = PooledConvolution.apply(
            self.filters, self.vectors, tokens.to(device), lengths.to(device), self.choice.windows
        )
        features = (pooled + self.filter_bias).relu()
        if self.training and self.choice.dropout:
            kept = torch.rand(features.shape, generator=self.generator) >= self.choice.dropout
            features = features * kept.to(device) / (1 - self.choice.dropout)
        return functional.linear(features, self.output, self.output_bias)

    @torch.no_grad()
    def logits(self, rows: np.ndarray) -> Tensor:
        """Logits (len(rows), 2) without dropout, in the order of ``rows``."""
        self.eval()
        order = np.argsort(self.posts.lengths[rows], kind="stable")
        out = torch.empty(len(rows), 2, device=self.vectors.device)
        for batch in np.split(order, range(EVALUATION_BATCH, len(rows), EVALUATION_BATCH)):
            out[batch] = self(rows[batch])
        return out


class DevScore(NamedTuple):
    """How an epoch did on the dev posts; the highest tuple is kept."""

    f1: float
    negative_loss: float


def fit(network: Network, labels: np.ndarray, train: np.ndarray, dev: np.ndarray) -> list[DevScore]:
    """Train on the posts ``train`` and leave the network with the weights of its best epoch on
    ``dev``; the scores of the epochs run.

    Raises ``FloatingPointError`` when a loss is not finite.
    """
    choice = network.choice
    targets = torch.tensor(labels, device=network.vectors.device)
    optimiser = torch.optim.Adadelta(network.parameters(), lr=choice.learning_rate, rho=0.95)
    scores: list[DevScore] = []
    for epoch in range(choice.epochs):
        network.train()
        total = sum(
            step(network, optimiser, rows, targets[rows]) for rows in batches(network, train)
        )
        scores.append(evaluate(network.logits(dev), targets[dev]))
        if not math.isfinite(total + scores[-1].negative_loss):
            raise FloatingPointError(
                f"the loss is not finite in epoch {epoch + 1}; lower"
                f" learning_rate={choice.learning_rate}"
            )
        best = scores.index(max(scores))
        if best == epoch:
            weights = {name: value.clone() for name, value in network.state_dict().items()}
        elif epoch - best >= choice.patience:
            break
    network.load_state_dict(weights)
    return scores


def step(
    network: Network, optimiser: torch.optim.Optimizer, rows: np.ndarray, targets: Tensor
) -> float:
    """One gradient step on a batch, and Kim's constraint on the norm of the output weights; the
    loss before the step.
    """
    optimiser.zero_grad()
    loss = functional.cross_entropy(network(rows), targets)
    loss.backward()
    optimiser.step()
    with torch.no_grad():
        network.output.copy_(torch.renorm(network.output, 2, 0, network.choice.max_norm))
    return loss.item()


def evaluate(logits: Tensor, targets: Tensor) -> DevScore:
    """F1 of label 1 (0 where it is undefined) and the mean cross-entropy, negated."""
    predicted = logits.argmax(1)
    f1 = 2 * (predicted * targets).sum() / (predicted + targets).sum().clamp(min=1)
    return DevScore(f1.item(), -functional.cross_entropy(logits, targets).item())


def batches(network: Network, rows: np.ndarray) -> Iterator[np.ndarray]:
    """``rows`` in shuffled batches of posts of similar length, so that little of a batch is
    padding.
    """
    size, lengths = network.choice.batch_size, network.posts.lengths
    shuffled = rows[torch.randperm(len(rows), generator=network.generator).numpy()]
    ordered = shuffled[np.argsort(lengths[shuffled], kind="stable")]
    parts = np.split(ordered, range(size, len(rows), size))
    for number in torch.randperm(len(parts), generator=network.generator):
        yield parts[number]
