"""How long an epoch of the CNN takes on posts the size of a real collection, and the gaps of its
predictions.
"""

from __future__ import annotations

import time
import timeit

import numpy as np
import pandas as pd
import torch
from gensim.models import KeyedVectors

from benchmarks.row import Row
from extrinsic.cnn import CNN
from extrinsic.cnn_network import Network, fit
from extrinsic.encode import Encoded, encode
from extrinsic.gap_table import gap_rows, gap_table
from extrinsic.gaps import Gaps

POSTS, TOKENS, DIM, TYPES = 20_000, 20, 300, 20_000


def rows() -> list[Row]:
    """Seconds an epoch over 20,000 posts of 20 tokens and 300 dimensions; milliseconds for all gaps
    of 20,000 predictions.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, POSTS)
    network = Network(CNN(epochs=1), zipfian_posts(rng), torch.Generator().manual_seed(0))
    predictions = pd.DataFrame(
        {
            "id": np.arange(POSTS).astype(str),
            "label": labels,
            "prediction": rng.integers(0, 2, POSTS),
            "group": rng.choice(["male", "female"], POSTS),
        }
    )
    threads = torch.get_num_threads()
    epoch = min(
        timeit.repeat(
            lambda: fit(network, labels, np.arange(POSTS), np.arange(100)), number=1, repeat=2
        )
    )
    # As in a run, which gives each point one thread; processor time, so that a busy machine tells
    # the same
    torch.set_num_threads(1)
    alone = min(
        timeit.repeat(
            lambda: fit(network, labels, np.arange(POSTS), np.arange(100)),
            timer=time.process_time,
            number=1,
            repeat=2,
        )
    )
    torch.set_num_threads(threads)
    gaps = min(timeit.repeat(lambda: gap_table(predictions), number=1, repeat=5))
    return [
        Row(
            f"CNN, one epoch, 20,000 posts of 20 tokens, 300-d, {threads} threads",
            epoch,
            "s",
            "<= 5",
        ),
        Row("the same, one thread", alone, "s of processor", "<= 10"),
        Row("gaps of 1,500 groups, 150,000 predictions", many_groups(rng), "s", "<= 5"),
        Row("gaps of 20,000 predictions, 200 resamples of the posts", 1000 * gaps, "ms", "<= 300"),
    ]


def many_groups(rng: np.random.Generator) -> float:
    """Seconds for the values of 1,500 groups and the gaps of one with each other."""
    labels, predicted = rng.integers(0, 2, (2, 150_000))
    groups = [f"{i % 1500:04}" for i in range(150_000)]
    table = pd.DataFrame({"label": labels, "prediction": predicted, "group": groups})
    start = time.perf_counter()
    gap_rows(table, Gaps(min(groups), compare=("each",)))
    return time.perf_counter() - start


def zipfian_posts(rng: np.random.Generator) -> Encoded:
    """Posts whose words follow Zipf's law, as in text: the time depends on the distinct words of a
    batch.
    """
    vectors = KeyedVectors(DIM)
    words = np.array([f"w{i}" for i in range(TYPES)])
    vectors.add_vectors(list(words), rng.standard_normal((TYPES, DIM)).astype(np.float32))
    weights = 1 / np.arange(1, TYPES + 1)
    ranks = rng.choice(TYPES, size=(POSTS, TOKENS), p=weights / np.sum(weights))
    drawn: list[list[str]] = words[ranks].tolist()
    return encode((" ".join(row) for row in drawn), vectors)
