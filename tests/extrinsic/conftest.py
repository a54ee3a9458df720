"""A small separable problem: a post is hateful when it holds one of five invented insults."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

NEUTRAL = [f"word{number}" for number in range(60)]
INSULTS = [f"zog{number}" for number in range(5)]


@pytest.fixture(scope="session")
def vectors() -> KeyedVectors:
    """65 words x 20, drawn at random but for five dimensions that the insults share."""
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(65, 20)).astype(np.float32)
    matrix[60:, :5] += 5
    keyed = KeyedVectors(20)
    keyed.add_vectors(NEUTRAL + INSULTS, matrix)
    return keyed


@pytest.fixture(scope="session")
def posts() -> pd.DataFrame:
    """300 posts of 2 to 14 words, 40 % hateful, to be cross-validated."""
    rng = np.random.default_rng(2)
    rows = []
    for number in range(300):
        words = list(rng.choice(NEUTRAL, size=rng.integers(2, 15)))
        label = int(rng.random() < 0.4)
        if label:
            words[rng.integers(len(words))] = str(rng.choice(INSULTS))
        group = str(rng.choice(["male", "female", "neither"]))
        rows.append(
            {
                "id": f"p{number}",
                "text": " ".join(words),
                "label": label,
                "group": group,
                "split": "all",
            }
        )
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def divided(posts: pd.DataFrame) -> pd.DataFrame:
    """The same posts as 200 train, 40 dev and 60 test, interleaved."""
    names = (["train"] * 10 + ["dev"] * 2 + ["test"] * 3) * 20
    return posts.assign(split=names)
