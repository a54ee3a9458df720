"""A training on disk, to go on with after any epoch as if it had never stopped."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import torch
from torch import Tensor

from files import InputError, atomic_path
from files.source import source_of, source_run

if TYPE_CHECKING:
    from extrinsic.coreference.model.encode import Lexicon
    from extrinsic.coreference.model.training import Training
    from extrinsic.coreference.resolution import Epoch
    from extrinsic.coreference.settings import ResolverSettings
    from files.documents import Document


log = logging.getLogger(__name__)


class _State(TypedDict):
    training: str
    code: str
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
    """A hash of all that decides a training but for the code."""
    alike = replace(choice, device="", label="")
    digest = hashlib.sha256(repr((alike, choice.version, seed)).encode())
    for split in ("train", "dev"):
        digest.update(repr(documents[split]).encode("utf-8", "surrogatepass"))
    digest.update(lexicon.matrix.tobytes())
    return digest.hexdigest()


def code_of(choice: ResolverSettings) -> str:
    """A hash of the source files that train, as this process loaded them."""
    return source_run(source_of((type(choice).__module__, __name__))).digest


def save(path: Path, training: Training, name: str) -> None:
    """Write all of it at once."""
    state: _State = {
        "training": name,
        "code": code_of(training.network.choice),
        "network": training.network.state_dict(),
        "best": training.best_weights,
        "optimiser": training.optimiser.state_dict(),
        "scheduler": training.scheduler.state_dict(),
        "generator": training.network.generator.get_state(),
        "epochs": training.epochs,
    }
    with atomic_path(path) as work:
        torch.save(state, work)


def restore(path: Path, training: Training, name: str) -> None:
    """Bring ``training`` to where the file was written; one that other code began starts anew. Only
    tensors and plain values are read.

    Raises ``InputError`` for the file of another training.
    """
    state: _State = torch.load(path, map_location="cpu", weights_only=True)
    if state["training"] != name:
        raise InputError(
            f"{path} belongs to a training on other documents, vectors, settings or seed: remove"
            " it, or give another folder"
        )
    if state.get("code") != code_of(training.network.choice):
        log.warning("%s was written by other code: the training starts anew", path)
        return
    training.network.load_state_dict(state["network"])
    training.optimiser.load_state_dict(state["optimiser"])
    training.scheduler.load_state_dict(state["scheduler"])
    training.network.generator.set_state(state["generator"])
    training.best_weights = state["best"]
    training.epochs = state["epochs"]
