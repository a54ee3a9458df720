"""Cost of training tiny language models until they have learned a planted bias."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.row import Row, Work
from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.train.subjects.tiny_model import Architecture, TinyModel


def learn(folder: Path, architecture: Architecture) -> dict[str, object]:
    """Train a model at strength 1 in a folder; return the facts about its training."""
    corpus = PlantedOccupations(stereotype=1.0)
    text = folder / "corpus.txt"
    corpus.write(text, seed=0)
    truths = corpus.truths(seed=0)
    return TinyModel(architecture).train(text, folder, seed=0, truths=truths)


def work(architecture: Architecture, folder: Path) -> Work:
    """Time a training."""
    return partial(learn, folder, architecture)


ROWS = [
    Row("tiny BERT learns what is planted", partial(work, "bert"), 60),
    Row("tiny GPT-2 learns what is planted", partial(work, "gpt2"), 90),
]
