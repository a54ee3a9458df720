"""Output of a coreference resolver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from biasbridge.files.documents import Document, Span


@dataclass(frozen=True)
class Resolution:
    """Document with predicted clusters in place of its own, and the scores of the ``mentions`` kept
    after pruning: a true mention that is not among them cannot be linked.
    """

    document: Document
    mentions: Mapping[Span, float]


class Epoch(TypedDict):
    """Scores of an epoch. ``loss``: mean over training documents. ``dev_f1``: dev CoNLL F1."""

    loss: float
    dev_f1: float
    learning_rate: float


class History(TypedDict):
    """History of a training: ``best`` is the number of the best epoch, from 0; ``coverage`` the
    share of tokens of all documents that have a vector.
    """

    epochs: list[Epoch]
    best: int
    coverage: float
    parameters: int


@dataclass(frozen=True)
class ResolverOutput:
    """Resolved documents by split, in order, and the training history of the resolver."""

    splits: Mapping[str, Sequence[Resolution]]
    history: History


def mention_recall(pairs: Sequence[tuple[Document, Resolution]]) -> float:
    """Compute the share of true mentions kept after pruning; NaN without true mentions."""
    is_kept = [span in resolution.mentions for key, resolution in pairs for span in key.mentions]
    return sum(is_kept) / len(is_kept) if is_kept else float("nan")
