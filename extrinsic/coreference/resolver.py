"""The end-to-end coreference resolver of Lee et al. (2017) on frozen word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from extrinsic.coreference.settings import ResolverSettings
from files import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from extrinsic.coreference.resolution import Resolved
    from files.documents import Document


class EndToEnd(ResolverSettings):
    """End-to-end coreference resolution (Lee et al., 2017, EMNLP): see ``ResolverSettings``."""

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
    ) -> Resolved:
        """Learn from ``train``, stop by ``dev``, and resolve all other splits.

        ``folder`` gets ``checkpoint.pt`` after each epoch; a training that finds its own there
        goes on from it to the same weights. Raises ``InputError`` where a split is missing, no
        training document has two mentions of one entity, vectors cannot be used or the checkpoint
        is of another training; ``FloatingPointError`` when the loss is no longer finite.
        """
        from extrinsic.coreference.model.run import train_and_resolve  # torch is slow to import

        for split in ("train", "dev"):
            if not documents.get(split):
                raise InputError(f"no documents in split {split!r}: give some to learn from")
        if not any(len(c) > 1 for document in documents["train"] for c in document.clusters):
            raise InputError("no training document has two mentions of one entity: give others")
        return train_and_resolve(self, documents, vectors, seed, folder)
