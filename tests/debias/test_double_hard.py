"""Double-hard debiasing: against a loop over words, and where frequency hides gender."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from biasbridge.debias.double_hard import DoubleHard, most_biased
from biasbridge.debias.hard import Hard
from biasbridge.intrinsic.metrics.separability import score_clusters
from tests.debias.make_query import query_of
from tests.debias.planted import QUERY, planted_vectors, vectors_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.stats.arrays import Floats

PEOPLE = [word for place in range(8) for word in (f"man{place}", f"woman{place}")]
JOBS = [f"job{number}" for number in range(80)]
TOPICS = [f"topic{number}" for number in range(300)]


def unit(row: Floats) -> Floats:
    return np.asarray(row / np.sqrt(row @ row))


def first_component(rows: dict[str, Floats]) -> Floats:
    centred = []
    for one, other in QUERY["pairs"].items:
        middle = (unit(rows[one]) + unit(rows[other])) / 2
        centred += [unit(rows[one]) - middle, unit(rows[other]) - middle]
    return np.asarray(PCA(1).fit(centred).components_[0])


def by_hand(vectors: KeyedVectors, candidates: int, biased: int) -> tuple[list[float], Floats]:
    """Wang et al. (2020), algorithm 1: the precision without each component, and the result."""
    rows = {word: vectors[word].astype(float) for word in vectors.index_to_key}
    mean = np.array(list(rows.values())).mean(axis=0)
    spare = {*QUERY["pairs"].words, *QUERY["specific"].words}
    gender = first_component(rows)
    order = sorted(
        (word for word in rows if word not in spare), key=lambda w: unit(rows[w]) @ gender
    )
    words = [word for word in rows if word in order[-biased:] + order[:biased]]
    precisions, results = [], []
    for component in PCA(candidates).fit(np.array(list(rows.values()))).components_:
        left = {
            word: row - mean - ((row - mean) @ component) * component for word, row in rows.items()
        }
        axis = first_component(left)
        hard = {
            word: unit(row if word in spare else row - (row @ axis) * axis)
            for word, row in left.items()
        }
        found = KMeans(2, n_init=10, random_state=0).fit_predict(np.array([hard[w] for w in words]))
        right = np.mean(
            [label == (w in order[:biased]) for w, label in zip(words, found, strict=True)]
        )
        precisions.append(float(max(right, 1 - right)))
        results.append(np.array(list(hard.values())))
    return precisions, results[int(np.argmin(precisions))]


def test_against_a_loop_over_words() -> None:
    before = planted_vectors()
    precisions, expected = by_hand(before, 6, 10)
    method = DoubleHard(candidates=6, biased=10, norms="unit")
    found = method.search(before, QUERY, seed=0)
    np.testing.assert_allclose(found.separation, precisions)
    assert len(set(precisions)) > 2
    assert found.chosen == np.argmin(precisions)
    np.testing.assert_allclose(method.modify(before, QUERY, seed=0).vectors, expected, atol=1e-6)
    kept = DoubleHard(candidates=6, biased=10).modify(before, QUERY, seed=0).vectors
    sizes = np.linalg.norm(before.vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(kept, sizes * expected, atol=3e-6)


def frequency_hides_gender() -> tuple[KeyedVectors, Floats]:
    """Jobs of men are frequent, jobs of women rare, and frequency shows in a direction of its own,
    the second component of the vocabulary; it shows in the pairs too, and so turns their direction.
    """
    draw = np.random.default_rng(1)
    topic, frequency, gender = np.linalg.qr(draw.standard_normal((30, 3)))[0].T
    side = np.repeat([1.0, -1.0], 40)[:, None]
    jobs = side * (0.4 * gender + 1.2 * frequency) + 0.1 * draw.standard_normal((80, 30))
    topics = draw.choice([-3, 3], size=(300, 1)) * topic + draw.standard_normal((300, 30)) * 0.3
    sign = np.tile([1.0, -1.0], 8)[:, None]
    people = np.repeat(draw.standard_normal((8, 30)) * 0.3, 2, axis=0) + sign * gender
    people += np.abs(draw.standard_normal((16, 1))) * sign * 0.2 * frequency
    rows = np.concatenate([people, jobs, topics])
    return vectors_of(PEOPLE + JOBS + TOPICS, rows), frequency


def test_frequency_that_hides_gender_is_found_and_removed() -> None:
    before, frequency = frequency_hides_gender()
    query = query_of(pairs=" ".join(PEOPLE))
    found = DoubleHard(biased=40, candidates=8).search(before, query, seed=0)
    assert found.chosen == 1
    assert abs(found.components[1] @ frequency) > 0.9
    assert found.separation[1] < 0.7
    assert np.delete(found.separation, 1).min() > 0.95
    sides = np.repeat([0, 1], 40)
    apart = {
        method.name: score_clusters(after[JOBS], sides, seed=0)[0]
        for method in (Hard(norms="unit"), DoubleHard(norms="unit", biased=40, candidates=8))
        for after in [method.modify(before, query, seed=0)]
    }
    assert apart["hard"] > 0.95
    assert apart["double_hard"] < 0.7


def test_the_most_biased_words() -> None:
    rows = np.array([[4, 1], [3, -1], [0, 1], [-2, 1], [9, 0], [-9, 0]], dtype=np.float32)
    axis = np.array([1.0, 0.0])
    words, along = most_biased(rows, axis, np.array([4, 5]), 2)
    assert (words.tolist(), along.tolist()) == ([0, 1, 2, 3], [True, True, False, False])
    words, along = most_biased(rows, -axis, np.array([4, 5]), 1)
    assert (words.tolist(), along.tolist()) == ([0, 3], [False, True])
    words, along = most_biased(rows, axis, np.array([4, 5]), 500)
    assert words.tolist() == [0, 1, 2, 3]
