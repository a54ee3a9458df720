"""Queries from plain lists of words, and vectors in which two groups of words lean to either side
of a direction of gender.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from biasbridge.intrinsic.words import ROLES, Query, WordSet


def make_query(name: str, *words: Sequence[str]) -> Query:
    """A query whose X, Y, A and B are these words."""
    sets = {
        role: WordSet(f"{name}.{role}", tuple(item), "en", "made up")
        for role, item in zip("XYAB", words, strict=True)
    }
    return Query(name, sets, "en")


def query_of(**roles: str) -> Query:
    """A query of these roles, the words of each in one text; pairs are two words in turn."""
    sets = {
        role: WordSet(f"made.{role}", tuple(words.split()), "en", "made up", width=ROLES[role])
        for role, words in roles.items()
    }
    return Query("made", sets, "en")


DIM, WORDS, REST = 20, 12, 100


MEN, WOMEN, CAREER, FAMILY = ([f"{each}{n}" for n in range(WORDS)] for each in "mfch")
OTHERS = [f"o{number}" for number in range(REST)]
PAIRS = [word for pair in zip(MEN[:6], WOMEN[:6], strict=True) for word in pair]
EQUAL = [word for pair in zip(MEN[6:9], WOMEN[6:9], strict=True) for word in pair]
QUERY = query_of(
    X=" ".join(MEN),
    Y=" ".join(WOMEN),
    A=" ".join(CAREER),
    B=" ".join(FAMILY),
    pairs=" ".join(PAIRS),
    equalise=" ".join(EQUAL),
    specific=" ".join(MEN + WOMEN),
)


def planted_vectors() -> KeyedVectors:
    """Men and women are pairs about a word of no gender; career leans to men, family to women; the
    other words are of either end of a topic.
    """
    draw = np.random.default_rng(0)
    axis, about, topic = np.linalg.qr(draw.standard_normal((DIM, 3)))[0].T
    people = np.tile(draw.standard_normal((WORDS, DIM)) * 0.2, (2, 1))
    leaning = np.repeat([1, -1, 0.5, -0.5], WORDS)[:, None] * axis
    leaning[: 2 * WORDS] += people
    leaning[2 * WORDS :] += np.repeat([0.8, -0.8], WORDS)[:, None] * about
    rows = np.concatenate([leaning, draw.choice([-2, 2], size=(REST, 1)) * topic])
    rows += draw.standard_normal(rows.shape) * 0.15
    sizes = draw.uniform(0.5, 3, size=(len(rows), 1))
    return vectors_of(MEN + WOMEN + CAREER + FAMILY + OTHERS, rows * sizes)


def vectors_of(words: list[str], rows: NDArray[np.float64]) -> KeyedVectors:
    """Vectors of these words, in single precision."""
    output = KeyedVectors(rows.shape[1])
    output.add_vectors(words, rows.astype(np.float32))
    return output
