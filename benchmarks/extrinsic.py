"""Downstream systems and gaps: why the CNN looks up words once and groups are counted once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from benchmarks.row import Row, Work
from biasbridge import gaps
from biasbridge.extrinsic.classifiers import CNN
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.extrinsic.coreference.scorer import counts
from biasbridge.files.documents import Cluster, Document
from biasbridge.files.vectors import keyed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

POSTS, TOKENS, DIM, TYPES = 20_000, 20, 300, 20_000
DOCUMENTS, MENTIONS = 348, 20_000


def vectors(words: int) -> KeyedVectors:
    """Return normally distributed vectors of words."""
    matrix = np.random.default_rng(1).standard_normal((words, DIM)).astype(np.float32)
    return keyed([f"w{i}" for i in range(words)], matrix)


def cnn(folder: Path) -> Work:
    """Time an epoch on one thread; words are Zipfian, because time depends on types per batch."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, TYPES + 1)
    ranks = rng.choice(TYPES, size=(POSTS, TOKENS), p=weights / np.sum(weights))
    posts = pd.DataFrame({"text": [" ".join(f"w{i}" for i in row) for row in ranks.tolist()]})
    posts["id"] = np.arange(POSTS).astype(str)
    posts["label"] = rng.integers(0, 2, POSTS)
    posts["group"] = rng.choice(["male", "female"], POSTS)
    posts["split"] = np.where(np.arange(POSTS) < 100, "dev", "train")
    posts.loc[100:200, "split"] = "test"
    return partial(CNN(epochs=1).predict, posts, vectors(TYPES), seed=0)


def predictions(size: int, groups: int) -> pd.DataFrame:
    """Return random labels and predictions."""
    labels, predicted = np.random.default_rng(0).integers(0, 2, (2, size))
    group_names = [f"{i % groups:04}" for i in range(size)]
    return pd.DataFrame({"label": labels, "prediction": predicted, "group": group_names})


def gaps_of_two(folder: Path) -> Work:
    """Time the gaps of two groups."""
    return partial(gaps, predictions(20_000, 2))


def gaps_of_many(folder: Path) -> Work:
    """Time the gaps between one group and each of 1,499 others."""
    return partial(gaps, predictions(150_000, 1500), privileged="0000")


def document(tokens: int, name: str) -> Document:
    """Return random words in sentences of 25; 1 in 8 is a mention, 4 mentions per entity."""
    rng = np.random.default_rng(0)
    words = tuple(f"w{number}" for number in rng.integers(0, 700, tokens))
    starts = rng.permutation(tokens)[: tokens // 32 * 4].reshape(-1, 4)
    clusters = tuple(tuple((int(start), int(start) + 1) for start in row) for row in starts)
    sentences = tuple(words[first : first + 25] for first in range(0, tokens, 25))
    return Document(name, sentences, clusters)


def coreference(tokens: int, folder: Path) -> Work:
    """Time a training step on one document and resolving a short one, on one thread."""
    torch.set_num_threads(1)
    documents = {"train": [document(tokens, "a")], "dev": [document(50, "b")]}
    resolver, model_folder = EndToEnd(epochs=1), Path(mkdtemp(dir=folder))
    return partial(resolver.resolve, documents, vectors(700), seed=0, folder=model_folder)


def clusters(owners: np.ndarray, mentions: np.ndarray) -> tuple[Cluster, ...]:
    """Group mentions by owner."""
    by_owner: dict[int, list[tuple[int, int]]] = {}
    for owner, mention in zip(owners.tolist(), mentions.tolist(), strict=True):
        by_owner.setdefault(owner, []).append((mention, mention + 1))
    return tuple(map(tuple, by_owner.values()))


def scores(folder: Path) -> Work:
    """Time all scores of a test set of OntoNotes' size.

    One mention in five is missed, one is spurious and one is in another cluster.
    """
    rng = np.random.default_rng(0)
    size = MENTIONS // DOCUMENTS
    pairs = []
    for _ in range(DOCUMENTS):
        key = rng.integers(0, size // 4, size)
        response = np.where(rng.random(size) < 0.2, rng.integers(0, size // 4, size), key)
        mentions = rng.choice(2 * size, size, replace=False)
        predicted = np.where(rng.random(size) < 0.2, mentions + 2 * size, mentions)
        pairs.append((clusters(key, mentions), clusters(response, predicted)))
    return lambda: [counts(*pair) for pair in pairs]


ROWS = [
    Row("CNN, an epoch, 20,000 posts of 20 tokens, 1 thread", cnn, 12),
    Row("gaps of two groups, 20,000 predictions", gaps_of_two, 1, repeat=3),
    Row("gaps of 1,500 groups, 150,000 predictions", gaps_of_many, 5),
    Row("coreference, a step on 2,100 tokens, 1 thread", partial(coreference, 2_100), 6, 600),
    Row("coreference, a step on 10,000 tokens, 1 thread", partial(coreference, 10_000), 25, 2000),
    Row("coreference scores, 348 documents, 20,000 mentions", scores, 5, repeat=3),
]
