"""Published and independently computed numbers on real vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from gensim.models import KeyedVectors

from biasbridge.intrinsic import Score, Weat, associations, exact_p, find
from biasbridge.intrinsic.wordsets import load_query

Scores = Callable[[str, str], Score]
pytestmark = pytest.mark.realdata

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


@pytest.mark.parametrize("query", TABLE)
def test_the_ten_tests(score: Scores, query: str) -> None:
    digits, *expected = TABLE[query]
    found = (
        score(query, "default").statistic,
        score(query, "caliskan").value,
        score(query, "default").value,
    )
    assert [round(number, digits) for number in found] == expected


@pytest.mark.parametrize("query", PUBLISHED)
def test_published_effect_sizes(score: Scores, query: str) -> None:
    assert round(score(query, "caliskan").value, 2) == PUBLISHED[query]


def test_one_word_is_lost(score: Scores) -> None:
    assert [score(query, "default").oov for query in TABLE] == ["", "axe", *[""] * 8]
    assert score("weat2", "goldfarb_tarrant").truncated == "violin"


@pytest.mark.parametrize("query", COUNTS)
def test_exact_p_values(vectors: KeyedVectors, score: Scores, query: str) -> None:
    sets = load_query(query)
    x, y, a, b = (
        find(vectors, each.words).matrix for each in (sets["X"], sets["Y"], sets["A"], sets["B"])
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
