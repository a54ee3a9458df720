"""WEAT: literal loops, published numbers on real vectors, conventions, and rows without score."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from biasbridge import intrinsic
from biasbridge.files import InputError
from biasbridge.intrinsic import Score, Weat, associations, effect_size, exact_p, find, statistic
from biasbridge.intrinsic.words import load_query
from tests.intrinsic.metric_world import Vector, cos

Arrays = tuple[Vector, ...]


def association(w: Vector, a: Vector, b: Vector) -> float:
    to_a, to_b = ([cos(w, vector) for vector in [*rows]] for rows in (a, b))
    return sum(to_a) / len(to_a) - sum(to_b) / len(to_b)


def normal(seed: int, words: int, dim: int) -> Arrays:
    """Random X, Y, A, B."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=(words, dim)) for _ in range(4))


@st.composite
def queries(draw: st.DrawFn, *, equal: bool = False) -> Arrays:
    """Random X, Y, A, B of 1 to 6 words (X and Y at least 2), 2 to 5 dimensions, rows of very
    different lengths.
    """
    nx, ny = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    na, nb = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dim = draw(st.integers(2, 5))
    sizes = (nx, nx if equal else ny, na, nb)
    return tuple(rng.normal(size=(n, dim)) * 10 ** rng.uniform(-3, 3, size=(n, 1)) for n in sizes)


checked = settings(max_examples=60, deadline=None)


@given(queries(), st.sampled_from([0, 1]))
@checked
def test_equals_the_literal_equations(query: Arrays, ddof: int) -> None:
    x, y, a, b = query
    of_x, of_y = [association(w, a, b) for w in x], [association(w, a, b) for w in y]
    pooled = of_x + of_y
    mean = sum(pooled) / len(pooled)
    deviation = math.sqrt(sum((s - mean) ** 2 for s in pooled) / (len(pooled) - ddof))
    np.testing.assert_allclose(associations(x, a, b), of_x, atol=1e-12)
    assert statistic(x, y, a, b) == pytest.approx(sum(of_x) - sum(of_y), abs=1e-11)
    expected = (sum(of_x) / len(of_x) - sum(of_y) / len(of_y)) / deviation
    assert effect_size(x, y, a, b, ddof=ddof) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n", [1, 3])
def test_the_bounds_are_reached_where_each_target_set_is_uniform(n: int) -> None:
    a, b = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])
    assert effect_size(np.tile(a, (n, 1)), np.tile(b, (n, 1)), a, b) == pytest.approx(2)
    assert effect_size(np.tile(b, (n, 1)), np.tile(a, (n, 1)), a, b) == pytest.approx(-2)
    np.testing.assert_allclose(associations(a, a, b), [2])


def test_single_precision_input_is_computed_in_double() -> None:
    single = [rows.astype(np.float32) for rows in normal(0, 8, 300)]
    assert effect_size(*single) == effect_size(*(rows.astype(np.float64) for rows in single))


GOOD = np.random.default_rng(1).normal(size=(4, 3, 4))


@pytest.mark.parametrize("seed", range(5))
def test_no_spread_is_not_a_number_to_report(seed: int) -> None:
    """Equal attribute sets in another order leave only rounding in the associations: that must not
    become an effect.
    """
    x, y, a, _ = normal(seed, 6, 50)
    with pytest.raises(InputError, match="0 / 0"):
        effect_size(x, y, a, a[::-1])
    with pytest.raises(InputError, match="0 / 0"):
        effect_size(x[:1], x[:1], a, y)


def test_ddof_is_0_or_1() -> None:
    with pytest.raises(InputError, match="ddof is 2; choose 0"):
        effect_size(*GOOD, ddof=2)


def test_every_public_name_is_there() -> None:
    assert all(hasattr(intrinsic, name) for name in dir(intrinsic))
    with pytest.raises(AttributeError, match=r"No biasbridge\.intrinsic attribute waet"):
        getattr(intrinsic, "waet")  # noqa: B009


# Published and independently computed numbers on real vectors.

Scores = Callable[[str, str], Score]

# GoogleNews word2vec, 300 dimensions. Digits known; statistic, d with ddof=1, d with ddof=0,
# computed from the definitions outside this project.
TABLE = {
    "weat1": (6, 1.407829, 1.539347, 1.554976),
    "weat2": (6, 1.747649, 1.627932, 1.644802),
    "weat3": (3, 0.378, 0.584, 0.588),
    "weat4": (3, 0.418, 1.313, 1.332),
    "weat5": (3, 0.338, 0.723, 0.734),
    "weat6": (9, 1.251609973, 1.889868044, 1.951847323),
    "weat7": (9, 0.225461389, 0.966413821, 0.998107902),
    "weat8": (9, 0.357186619, 1.243855003, 1.284647923),
    "weat9": (9, 0.338591754, 1.296743384, 1.354404292),
    "weat10": (3, -0.049, -0.198, -0.205),
}
# Caliskan et al. (2017), table 2, word2vec. Test 10 is left out: one of its names differs between
# sources.
PUBLISHED = {
    "weat1": 1.54,
    "weat2": 1.63,
    "weat3": 0.58,
    "weat4_deleted": 1.24,
    "weat5": 0.72,
    "weat6": 1.89,
    "weat7": 0.97,
    "weat8": 1.24,
    "weat9": 1.30,
}
# Partitions with a larger statistic, with one at least as large, and all.
COUNTS = {
    "weat6": (0, 1, 12870),
    "weat7": (291, 292, 12870),
    "weat8": (51, 52, 12870),
    "weat9": (6, 7, 924),
}


@pytest.fixture(scope="module")
def vectors(realdata: Path) -> KeyedVectors:
    return KeyedVectors.load_word2vec_format(
        str(realdata / "vectors" / "googlenews_13k.bin"), binary=True
    )


@pytest.fixture(scope="module")
def score(vectors: KeyedVectors) -> Scores:
    @cache
    def row(query: str, convention: str) -> Score:
        return Weat.by_convention(convention, queries=(query,), samples=1000).score(
            vectors, seed=1
        )[0]

    return row


@pytest.mark.realdata
@pytest.mark.parametrize("query", TABLE)
def test_the_ten_tests(score: Scores, query: str) -> None:
    digits, *expected = TABLE[query]
    result = (
        score(query, "default").statistic,
        score(query, "caliskan").value,
        score(query, "default").value,
    )
    assert [round(number, digits) for number in result] == expected


@pytest.mark.realdata
@pytest.mark.parametrize("query", PUBLISHED)
def test_published_effect_sizes(score: Scores, query: str) -> None:
    assert round(score(query, "caliskan").value, 2) == PUBLISHED[query]


@pytest.mark.realdata
def test_one_word_is_lost(score: Scores) -> None:
    assert [score(query, "default").oov for query in TABLE] == ["", "axe", *[""] * 8]
    assert score("weat2", "goldfarb_tarrant").truncated == "violin"


@pytest.mark.realdata
@pytest.mark.parametrize("query", COUNTS)
def test_exact_p_values(vectors: KeyedVectors, score: Scores, query: str) -> None:
    sets = load_query(query)
    x, y, a, b = (
        find(vectors, wordset.words).matrix
        for wordset in (sets["X"], sets["Y"], sets["A"], sets["B"])
    )
    of_x, of_y = associations(x, a, b), associations(y, a, b)
    larger, as_large, total = COUNTS[query]
    strict, default = exact_p(of_x, of_y, strict=True), exact_p(of_x, of_y)
    assert (strict.count, strict.n) == (larger, total)
    assert (default.count, default.n) == (as_large, total)
    assert score(query, "default").p_value == score(query, "wefe").p_value == as_large / total
    assert (
        score(query, "caliskan").p_value
        == score(query, "goldfarb_tarrant").p_value
        == larger / total
    )


# The metric: its rows, what each convention sets, and what it says where there is no score.

MINE = {
    "mine": {"X": ["a", "b", "c", "d"], "Y": ["e", "f", "g"], "A": ["h", "i", "j"], "B": ["k", "l"]}
}


def embed(
    words: Iterable[str], seed: int = 0, change: Mapping[str, ArrayLike] | None = None
) -> KeyedVectors:
    words = list(dict.fromkeys(words))
    rows = np.random.default_rng(seed).normal(size=(len(words), 6))
    for word, row in (change or {}).items():
        rows[words.index(word)] = row
    vectors = KeyedVectors(vector_size=6)
    vectors.add_vectors(words, rows.astype(np.float32))
    return vectors


@pytest.fixture
def words(tmp_path: Path) -> str:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MINE), encoding="utf-8")
    return str(path)


def score_mine(words: str, vectors: KeyedVectors, **settings: Any) -> Score:
    (row,) = Weat.by_convention(queries=("mine",), words=words, **settings).score(vectors, seed=1)
    return row


def rows_of(vectors: KeyedVectors, text: str) -> np.ndarray:
    return np.array([vectors[word] for word in text])


def test_a_row_holds_the_score_and_its_account(words: str) -> None:
    vectors = embed("abcdefghijk")
    (row,) = pd.DataFrame([score_mine(words, vectors)]).to_dict("records")
    x, y, a, b = (rows_of(vectors, text) for text in ("abcd", "efg", "hij", "k"))
    p = exact_p(associations(x, a, b), associations(y, a, b)).p
    expected = {
        "metric": "weat",
        "convention": "default",
        "query": "mine",
        "part": "",
        "value": pytest.approx(effect_size(x, y, a, b)),
        "low": pytest.approx(math.nan, nan_ok=True),
        "high": pytest.approx(math.nan, nan_ok=True),
        "unbiased": 0,
        "scale_min": -2,
        "scale_max": 2,
        "statistic": pytest.approx(statistic(x, y, a, b)),
        "p_value": p,
        "p_low": p,
        "p_high": p,
        "p_method": "exact",
        "tail": "greater",
        "strict": False,
        "n_found": 11,
        "n_oov": 1,
        "oov": "l",
        "truncated": "",
        "language": "und",
        "dim": 6,
        "reason": "",
        "resampled": (),
        "settings": "",
        "p_two_sided": pytest.approx(math.nan, nan_ok=True),
    }
    assert row == expected
    assert list(row) == list(expected)


# One setting a convention differs in a row: (name, ddof, strict, found share needed).
SETTINGS = {
    "default": (0, False, 0.5),
    "caliskan": (1, True, 0.5),
    "goldfarb_tarrant": (0, True, 0.0),
    "wefe": (0, False, 0.8),
    "bsa": (0, None, 0.0),
    "schroeder": (0, False, 0.5),
}


def test_every_convention_is_listed_here() -> None:
    assert set(SETTINGS) == set(Weat.conventions())
    assert all(
        name == convention.name and convention.source
        for name, convention in Weat.conventions().items()
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_conventions(words: str, name: str) -> None:
    """On all words: the standard deviation and the p-value. With half of a set gone: whether a
    score is given.
    """
    ddof, strict, share = SETTINGS[name]
    vectors = embed("abcdefghijkl")
    cut = name == "goldfarb_tarrant"
    x, y, a, b = (
        rows_of(vectors, text)
        for text in (("abc", "efg", "hi", "kl") if cut else ("abcd", "efg", "hij", "kl"))
    )
    row = score_mine(words, vectors, convention=name)
    assert row.convention == name
    assert row.value == pytest.approx(effect_size(x, y, a, b, ddof=ddof))
    assert row.truncated == ("d,j" if cut else "")
    if strict is None:
        assert math.isnan(row.p_value)
        assert (row.p_method, row.reason) == ("none", "convention 'bsa' has no p-value")
    else:
        tail = "two-sided" if name == "schroeder" else "greater"
        assert (
            row.p_value
            == exact_p(associations(x, a, b), associations(y, a, b), strict=strict, tail=tail).p
        )
    assert math.isnan(score_mine(words, embed("abefghikl"), convention=name).value) is (share > 0.5)
    assert math.isnan(score_mine(words, embed("aefghikl"), convention=name).value) is (share > 0.25)


def test_own_settings_take_the_place_of_the_conventions_and_are_named(words: str) -> None:
    vectors = embed("abcdefghijkl")
    assert (
        score_mine(words, vectors, convention="wefe", case="exact", min_found=0.8).convention
        == "wefe"
    )
    row = score_mine(
        words, vectors, convention="caliskan", case="lower", tail="two-sided", min_found=0.25
    )
    assert row.convention == "caliskan,case=lower,min_found=0.25,tail=two-sided"
    assert row.tail == "two-sided"
    greater, less = (score_mine(words, vectors, tail=tail).p_value for tail in ("greater", "less"))
    assert greater + less > 1
    assert not math.isnan(score_mine(words, embed("aefghikl"), min_found=0.25).value)


def test_many_words_are_sampled_by_the_seed(words: str) -> None:
    vectors = embed("abcdefghijkl")
    metric = Weat(queries=("mine",), words=words, exact_limit=6, samples=500)
    first, again, other = (metric.score(vectors, seed=seed)[0] for seed in (1, 1, 2))
    assert first == again
    assert first.p_method == "sampled"
    assert first.p_value != other.p_value
    assert first.p_value == pytest.approx(score_mine(words, vectors).p_value, abs=0.1)


def test_the_file_of_words_is_an_input(words: str) -> None:
    assert Weat(queries=("mine",), words=words).files() == [Path(words)]
    assert Weat().files() == []
