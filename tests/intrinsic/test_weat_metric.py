"""The metric: its rows, what each convention sets, and what it says where there is no score."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from numpy.typing import ArrayLike

from biasbridge.intrinsic import Score, Weat, effect_size, exact_p, statistic
from biasbridge.intrinsic.metrics.weat import associations

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
    assert all(name == each.name and each.source for name, each in Weat.conventions().items())


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
