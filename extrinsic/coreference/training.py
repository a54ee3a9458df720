"""Training of the network, one document a step, with early stopping by dev documents; its
application; and checkpoints, from which training resumes to the same weights.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import torch
from torch import Tensor

from biasbridge.extrinsic.coreference.model import clusters_on_grid, marginal_loss
from biasbridge.extrinsic.coreference.resolution import Resolution, join_links
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.files import InputError, atomic_path

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.model import (
        EncodedDocument,
        Lexicon,
        ResolverNetwork,
        ResolverScores,
    )
    from biasbridge.extrinsic.coreference.resolution import Epoch, ResolverSettings
    from biasbridge.files.documents import Document


class Training:
    """Network with the state of its training between epochs."""

    def __init__(self, network: ResolverNetwork) -> None:
        choice = network.choice
        self.network = network
        self.optimiser = torch.optim.Adam(network.parameters(), lr=choice.learning_rate)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimiser, mode="max", factor=choice.decay, patience=choice.decay_patience
        )
        self.epochs: list[Epoch] = []
        self.best_weights: dict[str, Tensor] = {}

    @property
    def best(self) -> int:
        """First epoch with the highest dev F1."""
        f1 = [epoch["dev_f1"] for epoch in self.epochs]
        return f1.index(max(f1))

    @property
    def ended(self) -> bool:
        """Whether all epochs are done, or the dev F1 has not risen for ``patience`` of them since
        it was first above 0.
        """
        choice, n_epochs = self.network.choice, len(self.epochs)
        if not self.has_positive_f1:
            return n_epochs >= choice.epochs
        return n_epochs >= choice.epochs or n_epochs - 1 - self.best >= choice.patience

    @property
    def has_positive_f1(self) -> bool:
        """Whether the dev F1 of any epoch was above 0."""
        return any(epoch["dev_f1"] > 0 for epoch in self.epochs)

    def run_epoch(
        self, train: Sequence[EncodedDocument], dev: Sequence[tuple[Document, EncodedDocument]]
    ) -> None:
        """Train on every document once, in random order, then score the dev documents.

        Raises ``FloatingPointError`` if a loss is not finite.
        """
        network, rate = self.network, self.optimiser.param_groups[0]["lr"]
        network.train()
        generator = network.generator
        order = torch.randperm(len(train), generator=generator, device=generator.device)
        loss = sum(self.step(train[number]) for number in order.tolist()) / len(train)
        if not math.isfinite(loss):
            remedy = f"lower learning_rate={network.choice.learning_rate}"
            number = len(self.epochs) + 1
            raise FloatingPointError(f"the loss is not finite in epoch {number}; {remedy}")
        resolutions = resolve(network, dev)
        pairs = zip(dev, resolutions, strict=True)
        f1 = score((key, resolution.document) for (key, _), resolution in pairs)["conll"].f1
        self.epochs.append({"loss": loss, "dev_f1": f1, "learning_rate": rate})
        if self.has_positive_f1:
            self.scheduler.step(f1)
        if self.best == len(self.epochs) - 1:
            weights = network.state_dict()
            self.best_weights = {name: value.clone() for name, value in weights.items()}

    def step(self, text: EncodedDocument) -> float:
        """Take a gradient step on one document and return the loss before it."""
        choice = self.network.choice
        self.optimiser.zero_grad()
        scores = self.network(text)
        labels = torch.from_numpy(clusters_on_grid(text, choice.max_span_width).ravel())
        loss = marginal_loss(scores.antecedents, labels.to(scores.spans.device)[scores.spans])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), choice.max_norm)
        self.optimiser.step()
        return loss.item()


@torch.no_grad()
def resolve(
    network: ResolverNetwork, documents: Sequence[tuple[Document, EncodedDocument]]
) -> list[Resolution]:
    """Predict the clusters of every document; none in one without tokens."""
    network.eval()
    reach = network.choice.max_span_width
    return [
        _decode(document, network(text), reach)
        if len(text.word_index)
        else Resolution(document, {})
        for document, text in documents
    ]


def _decode(document: Document, scores: ResolverScores, reach: int) -> Resolution:
    """Join spans with their most likely antecedents, unless no antecedent is more likely."""
    positions = scores.spans.cpu().numpy()
    first, width = np.divmod(positions, reach)
    spans = list(zip(first.tolist(), (first + width + 1).tolist(), strict=True))
    choice = scores.antecedents.argmax(1).cpu().numpy()
    linked = np.flatnonzero(choice)
    antecedents = linked - scores.antecedents.shape[1] + choice[linked]
    links = [(spans[i], spans[j]) for i, j in zip(linked, antecedents, strict=True)]
    mentions = dict(zip(spans, scores.mentions.tolist(), strict=True))
    return Resolution(replace(document, clusters=join_links(spans, links)), mentions)


class _State(TypedDict):
    training: str
    network: dict[str, Tensor]
    best: dict[str, Tensor]
    optimiser: dict[str, object]
    scheduler: dict[str, object]
    generator: Tensor
    epochs: list[Epoch]


def fingerprint(
    choice: ResolverSettings,
    documents: Mapping[str, Sequence[Document]],
    lexicon: Lexicon,
    seed: int,
) -> str:
    """Return a hash of all inputs of a training, without its code."""
    settings = replace(choice, device="", label="")
    digest = hashlib.sha256(repr((settings, choice.version, seed)).encode())
    for split in ("train", "dev"):
        digest.update(repr(documents[split]).encode("utf-8", "surrogatepass"))
    digest.update(lexicon.matrix.tobytes())
    return digest.hexdigest()


class OtherTrainingError(InputError):
    """The checkpoint is of a training on other inputs."""


def save_checkpoint(path: Path, training: Training, name: str) -> None:
    """Write a checkpoint atomically."""
    state: _State = {
        "training": name,
        "network": training.network.state_dict(),
        "best": training.best_weights,
        "optimiser": training.optimiser.state_dict(),
        "scheduler": training.scheduler.state_dict(),
        "generator": training.network.generator.get_state(),
        "epochs": training.epochs,
    }
    with atomic_path(path) as work:
        torch.save(state, work)


def restore_checkpoint(path: Path, training: Training, name: str) -> None:
    """Restore ``training`` from a checkpoint. Only tensors and plain values are read.

    Raises ``OtherTrainingError`` for the checkpoint of another training, and a damaged one.
    """
    try:
        state: _State = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:  # of the disk, not of the checkpoint
        raise
    except Exception as error:  # torch has no class of its own
        raise OtherTrainingError(f"{path} is damaged: remove it ({error})") from error
    if state["training"] != name:
        raise OtherTrainingError(
            f"{path} belongs to a training on other documents, vectors, settings or seed: remove"
            " it, or give another folder"
        )
    training.network.load_state_dict(state["network"])
    training.optimiser.load_state_dict(state["optimiser"])
    training.scheduler.load_state_dict(state["scheduler"])
    training.network.generator.set_state(state["generator"])
    training.best_weights = state["best"]
    training.epochs = state["epochs"]
