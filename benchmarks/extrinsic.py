"""Systems and gaps: why the CNN looks its words up once, and each group is counted once."""

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
from extrinsic.cnn import CNN
from extrinsic.coreference.resolver import EndToEnd
from extrinsic.coreference.scorer import counts
from files.documents import Cluster, Document
from files.vectors import keyed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

POSTS, TOKENS, DIM, TYPES = 20_000, 20, 300, 20_000
DOCUMENTS, MENTIONS = 348, 20_000


def vectors(words: int) -> KeyedVectors:
    """Normal vectors of so many words."""
    matrix = np.random.default_rng(1).standard_normal((words, DIM)).astype(np.float32)
    return keyed([f"w{i}" for i in range(words)], matrix)


def cnn(folder: Path) -> Work:
    """An epoch over posts whose words follow Zipf's law, as in text: the time depends on the
    distinct words of a batch. On one thread, as in a run.
    """
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
    """Random predictions of random labels."""
    labels, predicted = np.random.default_rng(0).integers(0, 2, (2, size))
    who = [f"{i % groups:04}" for i in range(size)]
    return pd.DataFrame({"label": labels, "prediction": predicted, "group": who})


def gaps_of_two(folder: Path) -> Work:
    """The gaps of two groups."""
    return partial(gaps, predictions(20_000, 2))


def gaps_of_many(folder: Path) -> Work:
    """The gaps of one group with each of 1,499 others."""
    return partial(gaps, predictions(150_000, 1500), privileged="0000", compare="each")


def document(tokens: int, name: str) -> Document:
    """Words at random in sentences of 25; entities of four mentions, one in eight tokens a
    mention.
    """
    rng = np.random.default_rng(0)
    words = tuple(f"w{number}" for number in rng.integers(0, 700, tokens))
    starts = rng.permutation(tokens)[: tokens // 32 * 4].reshape(-1, 4)
    clusters = tuple(tuple((int(at), int(at) + 1) for at in cluster) for cluster in starts)
    cut = tuple(words[first : first + 25] for first in range(0, tokens, 25))
    return Document(name, cut, clusters)


def coreference(tokens: int, folder: Path) -> Work:
    """A step of training on a document of so many tokens, and a short one resolved, on one
    thread.
    """
    torch.set_num_threads(1)
    documents = {"train": [document(tokens, "a")], "dev": [document(50, "b")]}
    model, own = EndToEnd(epochs=1), Path(mkdtemp(dir=folder))
    return partial(model.resolve, documents, vectors(700), seed=0, folder=own)


def clusters(owners: np.ndarray, mentions: np.ndarray) -> tuple[Cluster, ...]:
    """The mentions by owner."""
    by_owner: dict[int, list[tuple[int, int]]] = {}
    for owner, mention in zip(owners.tolist(), mentions.tolist(), strict=True):
        by_owner.setdefault(owner, []).append((mention, mention + 1))
    return tuple(map(tuple, by_owner.values()))


def scores(folder: Path) -> Work:
    """All scores of a test set of OntoNotes' size; one mention in five is missed, one invented,
    one put into another cluster.
    """
    rng = np.random.default_rng(0)
    size = MENTIONS // DOCUMENTS
    pairs = []
    for _ in range(DOCUMENTS):
        key = rng.integers(0, size // 4, size)
        response = np.where(rng.random(size) < 0.2, rng.integers(0, size // 4, size), key)
        there = rng.choice(2 * size, size, replace=False)
        found = np.where(rng.random(size) < 0.2, there + 2 * size, there)
        pairs.append((clusters(key, there), clusters(response, found)))
    return lambda: [counts(*pair) for pair in pairs]


ROWS = [
    Row("CNN, an epoch, 20,000 posts of 20 tokens, 1 thread", cnn, 12),
    Row("gaps of two groups, 20,000 predictions", gaps_of_two, 1, repeat=3),
    Row("gaps of 1,500 groups, 150,000 predictions", gaps_of_many, 5),
    Row("coreference, a step on 2,100 tokens, 1 thread", partial(coreference, 2_100), 6, 600),
    Row("coreference, a step on 10,000 tokens, 1 thread", partial(coreference, 10_000), 25, 2000),
    Row("coreference scores, 348 documents, 20,000 mentions", scores, 5, repeat=3),
]
