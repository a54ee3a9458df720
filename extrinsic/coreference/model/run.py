"""Documents and vectors in, documents resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from extrinsic.coreference.model import checkpoint
from extrinsic.coreference.model.encode import read_lexicon, read_text
from extrinsic.coreference.model.network import build
from extrinsic.coreference.model.training import Training, resolve
from extrinsic.coreference.resolution import Resolved

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from extrinsic.coreference.settings import ResolverSettings
    from files.documents import Document


def train_and_resolve(
    choice: ResolverSettings,
    documents: Mapping[str, Sequence[Document]],
    vectors: KeyedVectors,
    seed: int,
    folder: Path,
) -> Resolved:
    """See ``EndToEnd.resolve``."""
    lexicon = read_lexicon([each for split in documents.values() for each in split], vectors)
    genres = sorted({document.genre for document in documents["train"]})
    texts = {
        split: [(each, read_text(each, lexicon, genres)) for each in inside]
        for split, inside in documents.items()
    }
    training = Training(build(choice, lexicon, genres, seed=seed))
    path = folder / "checkpoint.pt"
    name = checkpoint.fingerprint(choice, documents, lexicon, seed)
    if path.exists():
        checkpoint.restore(path, training, name)
    train = [text for _, text in texts["train"] if len(text.places)]
    while not training.ended:
        training.run_epoch(train, texts["dev"])
        checkpoint.save(path, training, name)
    network = training.network
    network.load_state_dict(training.best_weights)
    return Resolved(
        {split: resolve(network, texts[split]) for split in texts if split not in ("train", "dev")},
        {
            "epochs": training.epochs,
            "best": training.best,
            "coverage": lexicon.coverage,
            "parameters": sum(weight.numel() for weight in network.parameters()),
        },
    )
