"""What a resolver says of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from files.documents import Document, Span


@dataclass(frozen=True)
class Resolution:
    """A document with the clusters predicted in place of its own, and the ``mentions`` kept after
    pruning, with their scores: a true mention that is not among them cannot be found.
    """

    document: Document
    mentions: Mapping[Span, float]


class Epoch(TypedDict):
    """``loss``: the mean over training documents. ``dev_f1``: CoNLL F1 on the dev documents."""

    loss: float
    dev_f1: float
    learning_rate: float


class History(TypedDict):
    """A training: ``best`` counts epochs from 0; ``coverage`` is the share of tokens of all
    documents that have a vector.
    """

    epochs: list[Epoch]
    best: int
    coverage: float
    parameters: int


@dataclass(frozen=True)
class Resolved:
    """Documents by split, in their order, and how the model that resolved them was trained."""

    splits: Mapping[str, Sequence[Resolution]]
    history: History


def mention_recall(pairs: Sequence[tuple[Document, Resolution]]) -> float:
    """The share of true mentions that pruning kept; NaN where there is no true mention."""
    kept = [span in found.mentions for key, found in pairs for span in key.mentions]
    return sum(kept) / len(kept) if kept else float("nan")
