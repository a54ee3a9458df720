"""Resamples of the words that are the same for every embedding."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.intrinsic import Metric, Weat, effect_size
from biasbridge.intrinsic.resampling import RESAMPLES, times_drawn
from tests.intrinsic.metric_world import make_vectors, write_words

SETS = {role: [f"{role.lower()}{i}" for i in range(9)] for role in "XYAB"}


def embed(seed: int, *, lost: frozenset[str] = frozenset()) -> KeyedVectors:
    words = [word for names in SETS.values() for word in names if word not in lost]
    vectors = KeyedVectors(5)
    rows = np.random.default_rng(seed).normal(size=(len(words), 5))
    vectors.add_vectors(words, rows.astype(np.float32))
    return vectors


@pytest.fixture
def weat(tmp_path: Path) -> Weat:
    (tmp_path / "mine.json").write_text(json.dumps({"mine": SETS}), encoding="utf-8")
    return Weat(words=str(tmp_path / "mine.json"), resamples=10, p_value=False)


def test_words_are_drawn_as_often_as_poisson_says_each_for_itself() -> None:
    drawn = times_drawn([f"X w{i}" for i in range(500)])
    assert drawn.shape == (500, RESAMPLES)
    for times in range(4):
        share = math.exp(-1) / math.factorial(times)
        assert (drawn == times).mean() == pytest.approx(share, abs=0.006)
    correlations = np.asarray(np.corrcoef(drawn))[np.triu_indices(500, 1)]
    assert correlations.mean() == pytest.approx(0, abs=0.001)
    assert (drawn[[7]] == times_drawn(["X w7"])).all()
    assert (drawn[7] != times_drawn(["Y w7"])[0]).any()


def test_a_lost_word_shifts_no_other_and_no_seed_matters(weat: Weat) -> None:
    """Literally: a word drawn n times stands n times in its set."""
    vectors = embed(0, lost=frozenset({"x0", "a5"}))
    (row,), (other,) = (weat.score(vectors, seed=seed) for seed in (0, 1))
    assert row.resampled == other.resampled
    assert len(row.resampled) == RESAMPLES
    for i in range(0, RESAMPLES, 10):
        sets = [
            [
                vectors[word]
                for word in SETS[role]
                if word in vectors
                for _ in range(int(times_drawn([f"{role} {word}"])[0, i]))
            ]
            for role in "XYAB"
        ]
        expected = effect_size(*sets) if all(sets) else math.nan
        assert row.resampled[i] == pytest.approx(expected, nan_ok=True)


def test_weat_at_once_is_weat_one_by_one(tmp_path: Path) -> None:
    words, vectors = write_words(tmp_path), make_vectors()

    class Slow(Weat):
        resampled = Metric.resampled

    settings: dict[str, Any] = {"words": words, "resamples": 2, "p_value": False}
    (fast,), (slow,) = (
        kind.by_convention(**settings, ddof=1).score(vectors, seed=0) for kind in (Weat, Slow)
    )
    assert fast.resampled == pytest.approx(slow.resampled, nan_ok=True)
