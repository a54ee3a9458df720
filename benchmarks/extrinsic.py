"""How long an epoch of the CNN takes on posts the size of a real collection."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from gensim.models import KeyedVectors

from extrinsic.cnn import CNN, Network, fit
from extrinsic.encode import encode

POSTS, TOKENS, DIM, TYPES = 20_000, 20, 300, 20_000


def rows() -> list[dict[str, Any]]:
    """Seconds for one epoch over 20,000 posts of 20 tokens, 300 dimensions, words by Zipf's law, as in text."""
    rng = np.random.default_rng(0)
    vectors = KeyedVectors(DIM)
    vectors.add_vectors([f"w{i}" for i in range(TYPES)], rng.standard_normal((TYPES, DIM)).astype(np.float32))
    ranks = rng.choice(TYPES, size=(POSTS, TOKENS), p=(weights := 1 / np.arange(1, TYPES + 1)) / weights.sum())
    posts = encode([" ".join(f"w{i}" for i in row) for row in ranks], vectors)
    labels = rng.integers(0, 2, POSTS)
    network = Network(CNN(epochs=1), posts, torch.Generator().manual_seed(0))
    start = time.perf_counter()
    fit(network, labels, np.arange(POSTS), np.arange(100))
    seconds = time.perf_counter() - start
    return [{"what": "CNN, one epoch, 20,000 posts of 20 tokens, 300-d", "measured": seconds, "unit": "s", "target": "5"}]
