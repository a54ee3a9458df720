"""End-to-end coreference resolver of Lee et al. (2017) on frozen word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.extrinsic.coreference.resolution import ResolverOutput, ResolverSettings
from biasbridge.files import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.documents import Document


class EndToEnd(ResolverSettings):
    """End-to-end coreference resolution (Lee et al., 2017, EMNLP): see ``ResolverSettings``."""

    chosen_as: ClassVar[tuple[str, ...]] = ("resolver/end_to_end",)
    configuration: ClassVar[Mapping[str, object]] = {"device": "${device}"}

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
    ) -> ResolverOutput:
        """Train on ``train``, stop early by ``dev``, and resolve all other splits.

        ``folder`` gets ``checkpoint.pt`` after each epoch, from which an interrupted training
        resumes to the same weights. Raises ``InputError`` if a split is missing, no training
        document has two mentions of one entity, vectors are invalid or the checkpoint is of
        another training; ``FloatingPointError`` if the loss is not finite.
        """
        # torch is slow to import
        from biasbridge.extrinsic.coreference.model import build_network, read_lexicon, read_text
        from biasbridge.extrinsic.coreference.training import (
            Training,
            fingerprint,
            resolve,
            restore_checkpoint,
            save_checkpoint,
        )

        for split in ("train", "dev"):
            if not documents.get(split):
                raise InputError(f"no documents in split {split!r}: give some to train with")
        if not any(len(c) > 1 for document in documents["train"] for c in document.clusters):
            raise InputError("no training document has two mentions of one entity: give others")
        lexicon = read_lexicon([*chain.from_iterable(documents.values())], vectors)
        texts = {
            split: [(document, read_text(document, lexicon)) for document in split_documents]
            for split, split_documents in documents.items()
        }
        training = Training(build_network(self, lexicon, seed=seed))
        path = folder / "checkpoint.pt"
        name = fingerprint(self, documents, lexicon, seed)
        if path.exists():
            restore_checkpoint(path, training, name)
        train = [text for _, text in texts["train"] if len(text.word_index)]
        while not training.ended:
            training.run_epoch(train, texts["dev"])
            save_checkpoint(path, training, name)
        network = training.network
        network.load_state_dict(training.best_weights)
        test_splits = [split for split in texts if split not in ("train", "dev")]
        return ResolverOutput(
            {split: resolve(network, texts[split]) for split in test_splits},
            {
                "epochs": training.epochs,
                "best": training.best,
                "coverage": lexicon.coverage,
                "parameters": sum(weight.numel() for weight in network.parameters()),
            },
        )
