"""Fine-tuning of a language model with a linear layer on its pooled states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from biasbridge.extrinsic.crossval import Fold, Rows
    from biasbridge.extrinsic.network_settings import FinetunedSettings
    from biasbridge.files.models.language_model import LanguageModel

WARM_UP = 0.1  # of all steps
LARGEST_NORM = 1.0  # of the gradients
Tokens = Sequence[Sequence[int]]


def tokenise(texts: Sequence[str], model: LanguageModel, max_tokens: int) -> Tokens:
    """Return the tokens of each text, truncated; an empty text is one token 0."""
    max_length = min(max_tokens, model.longest)
    encoding = model.tokenizer(list(texts), truncation=True, max_length=max_length)
    return [row or [0] for row in encoding["input_ids"]]


def predict_probabilities(
    choice: FinetunedSettings, model: LanguageModel, tokens: Tokens, labels: Rows, fold: Fold
) -> NDArray[np.float32]:
    """Fine-tune a copy of the model on a fold and return P(label 1) of its test posts."""
    cuda = torch.device(choice.device).type == "cuda"
    with torch.random.fork_rng(devices=[choice.device] if cuda else []):
        torch.manual_seed(fold.seed)
        network = FinetunedNetwork(choice, model, tokens)
        fit(network, labels, fold.train, fold.dev)
        return network.logits(fold.test).softmax(1)[:, 1].cpu().numpy()


class FinetunedNetwork(nn.Module):
    """Copy of the model with a linear layer, on batches of row numbers of ``tokens``."""

    def __init__(self, choice: FinetunedSettings, model: LanguageModel, tokens: Tokens) -> None:
        super().__init__()
        self.choice, self.tokens, self.pad = choice, tokens, model.pad
        self.lengths = np.array([len(row) for row in tokens])
        self.base = deepcopy(model.base)
        self.dropout = nn.Dropout(choice.dropout)
        self.head = nn.Linear(self.base.config.hidden_size, 2)
        self.to(choice.device)

    def forward(self, rows: Rows) -> Tensor:
        """Compute logits (len(rows), 2) of the posts ``rows``."""
        ids, mask = (
            tensor.to(self.choice.device) for tensor in self.pad([self.tokens[row] for row in rows])
        )
        states = self.base(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        pooled = (states * weights).sum(1) / weights.sum(1)
        logits: Tensor = self.head(self.dropout(pooled))
        return logits

    @torch.no_grad()
    def logits(self, rows: Rows) -> Tensor:
        """Compute logits (len(rows), 2) without dropout, in the order of ``rows``."""
        self.eval()
        out = torch.empty(len(rows), 2, device=self.choice.device)
        for batch in self.by_length(rows):
            out[batch] = self(rows[batch])
        return out

    def by_length(self, rows: Rows) -> list[Rows]:
        """Return positions in ``rows``, in batches of similar length."""
        order = np.argsort(self.lengths[rows], kind="stable")
        return np.split(order, range(self.choice.batch_size, len(rows), self.choice.batch_size))


def fit(network: FinetunedNetwork, labels: Rows, train: Rows, dev: Rows) -> list[float]:
    """Train on ``train``, restore the best epoch, and return the dev loss of each epoch.

    Raises ``FloatingPointError`` if a loss is not finite.
    """
    choice = network.choice
    targets = torch.tensor(labels, device=choice.device)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=choice.learning_rate, weight_decay=choice.weight_decay
    )
    steps = choice.epochs * math.ceil(len(train) / choice.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps))
    losses: list[float] = []
    for epoch in range(choice.epochs):
        network.train()
        total = 0.0
        for rows in _batches(network, train):
            total += _step(network, optimiser, rows, targets[rows])
            schedule.step()
        losses.append(functional.cross_entropy(network.logits(dev), targets[dev]).item())
        if not math.isfinite(total + losses[-1]):
            remedy = f"lower learning_rate={choice.learning_rate}"
            raise FloatingPointError(f"the loss is not finite in epoch {epoch + 1}; {remedy}")
        best = losses.index(min(losses))
        if best == epoch:
            weights = {name: value.clone() for name, value in network.state_dict().items()}
        elif epoch - best >= choice.patience:
            break
    network.load_state_dict(weights)
    return losses


def _rate(step: int, steps: int) -> float:
    """Return the factor of the learning rate at a step, counted from 0."""
    warm = WARM_UP * steps
    return (step + 1) / (warm + 1) if step < warm else (steps - step) / (steps - warm)


def _step(
    network: FinetunedNetwork, optimiser: torch.optim.Optimizer, rows: Rows, targets: Tensor
) -> float:
    optimiser.zero_grad()
    loss = functional.cross_entropy(network(rows), targets)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), LARGEST_NORM)
    optimiser.step()
    return loss.item()


def _batches(network: FinetunedNetwork, rows: Rows) -> Iterator[Rows]:
    """Yield ``rows`` in shuffled batches of posts of similar length."""
    shuffled = rows[torch.randperm(len(rows)).numpy()]
    parts = network.by_length(shuffled)
    for number in torch.randperm(len(parts)):
        yield shuffled[parts[number]]
