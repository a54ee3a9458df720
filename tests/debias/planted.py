"""Vectors in which two groups of words lean to either side of a direction of gender."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from intrinsic import find, statistic
from tests.debias.make_query import query_of

if TYPE_CHECKING:
    from intrinsic.wordsets import Query

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


class Modifies(Protocol):
    """A method on vectors by a dose."""

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors: ...


class ByDose(Protocol):
    """A class of such methods."""

    def __call__(self, *, dose: float) -> Modifies: ...


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
    made = KeyedVectors(rows.shape[1])
    made.add_vectors(words, rows.astype(np.float32))
    return made


def require_doses(method: ByDose) -> None:
    """Dose 0 changes no bit, 1/2 is half way, and WEAT's statistic falls from dose -1 to 1."""
    before = planted_vectors()
    by_dose = {
        dose: method(dose=dose).modify(before, QUERY, seed=0) for dose in (-1, -0.5, 0, 0.5, 1)
    }
    assert by_dose[0].vectors.tobytes() == before.vectors.tobytes()
    assert by_dose[0].vectors is not before.vectors
    half = (before.vectors + by_dose[1].vectors) / 2
    np.testing.assert_allclose(by_dose[0.5].vectors, half, atol=1e-6)
    mirrored = 2 * before.vectors - by_dose[1].vectors
    np.testing.assert_allclose(by_dose[-1].vectors, mirrored, atol=1e-6)
    scores = [lean_of(vectors) for vectors in by_dose.values()]
    assert all(later < earlier for earlier, later in pairwise(scores))
    assert abs(scores[-1]) < 0.5 * scores[2] < scores[2] < scores[0]


def lean_of(vectors: KeyedVectors) -> float:
    """WEAT's statistic of the planted words."""
    x, y, a, b = (find(vectors, QUERY[role].words).raw for role in "XYAB")
    return statistic(x, y, a, b)
