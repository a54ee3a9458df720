"""The permutation p-value against enumeration and SciPy, and resamples that embeddings share."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from biasbridge.files import InputError
from biasbridge.intrinsic import Metric, Weat, effect_size
from biasbridge.intrinsic.permutation import exact_p, permutation_p, sampled_p
from biasbridge.intrinsic.resampling import RESAMPLES, times_drawn
from tests.intrinsic.metric_world import make_vectors, write_words

SIZES: dict[str, Callable[[Fraction], Fraction]] = {
    "greater": lambda difference: difference,
    "less": lambda difference: -difference,
    "two-sided": abs,
}
TAILS = list(SIZES)


def enumerate_partitions(x: list[int], y: list[int], tail: str, strict: bool) -> tuple[int, int]:
    """Count by the definition, in exact arithmetic: (extreme, all) partitions of x and y."""
    pooled = [Fraction(value) for value in [*x, *y]]

    def difference(chosen: tuple[int, ...]) -> Fraction:
        inside = [pooled[i] for i in chosen]
        outside = [pooled[i] for i in range(len(pooled)) if i not in chosen]
        return Fraction(sum(inside)) / len(inside) - Fraction(sum(outside)) / len(outside)

    size = SIZES[tail]
    observed = size(difference(tuple(range(len(x)))))
    sizes = [
        size(difference(chosen)) for chosen in itertools.combinations(range(len(pooled)), len(x))
    ]
    return sum(d > observed if strict else d >= observed for d in sizes), len(sizes)


values = st.lists(st.integers(-6, 6), min_size=1, max_size=5)


@given(
    x=values,
    y=values,
    tail=st.sampled_from(TAILS),
    strict=st.booleans(),
    step=st.sampled_from([1.0, 0.1, 1 / 3, 1e-7]),
)
@settings(max_examples=150, deadline=None)
def test_counts_are_those_of_enumeration(
    x: list[int], y: list[int], tail: str, strict: bool, step: float
) -> None:
    """Few different values make many ties, which steps like 0.1 hide behind rounding."""
    p = exact_p(np.array(x) * step, np.array(y) * step, tail=tail, strict=strict)
    assert (p.count, p.n) == enumerate_partitions(x, y, tail, strict)
    assert p.p == p.count / p.n


# SciPy's two-sided p doubles the smaller tail, another definition
@pytest.mark.parametrize("tail", ["greater", "less"])
@pytest.mark.parametrize(("nx", "ny"), [(5, 5), (4, 7)])
def test_agrees_with_scipy(nx: int, ny: int, tail: Literal["greater", "less"]) -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(0.3, 1, nx), rng.normal(0, 1, ny)
    peer = permutation_test(
        (x, y), lambda a, b: np.mean(a) - np.mean(b), n_resamples=10_000, alternative=tail
    )
    assert exact_p(x, y, tail=tail).p == pytest.approx(peer.pvalue, abs=1e-12)


def test_never_zero_even_where_no_sample_is_as_extreme() -> None:
    assert sampled_p(np.arange(30) + 100.0, np.arange(30), samples=99, seed=0).p == 0.01


@pytest.mark.parametrize(
    ("x", "y", "tail", "message"),
    [
        ([], [1.0], "less", "two non-empty vectors"),
        ([1.0], [[1.0]], "less", "two non-empty vectors"),
        ([1.0, np.nan], [1.0], "less", "NaN or infinity"),
        ([1.0], [2.0], "right", "unknown tail 'right'; choose from greater, less, two-sided"),
    ],
)
def test_bad_input(x: list[float], y: list[float], tail: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        exact_p(x, y, tail=tail)


def test_the_interval_of_a_sampled_p_is_that_of_clopper_and_pearson() -> None:
    # 0 of 100: high = 1 - (0.005)^(1/100).
    result = sampled_p(np.arange(100, 130), np.arange(30), samples=100, seed=0)
    assert (result.count, result.low) == (0, 0)
    assert result.high == pytest.approx(1 - 0.005 ** (1 / 100))


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("x", [[1, 2, 2], [9, 8, 8, 9]])
def test_only_a_side_that_is_not_covered_has_a_two_sided_p(x: list[int], tail: str) -> None:
    y = [4, 5, 6, 3, 7]
    test = permutation_p(x, y, tail=tail, seed=0)
    count, n = enumerate_partitions(x, y, "two-sided", strict=False)
    is_beyond = tail != "two-sided" and (tail == "greater") == (np.mean(x) < np.mean(y))
    expected = count / n if is_beyond else math.nan
    assert test.two_sided == pytest.approx(expected, nan_ok=True)


def test_a_limit_and_samples_decide_the_method() -> None:
    x = np.arange(4.0)
    assert permutation_p(x, x, exact_limit=8, seed=0) == exact_p(x, x)
    sampled = permutation_p(x, x, exact_limit=7, samples=50, seed=0)
    assert sampled == sampled_p(x, x, samples=50, seed=0)
    with pytest.raises(InputError, match="samples is 0"):
        sampled_p(x, x, samples=0, seed=0)


# Resamples of the words that are the same for every embedding.

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
    draws = times_drawn([f"X w{i}" for i in range(500)])
    assert draws.shape == (500, RESAMPLES)
    for times in range(4):
        share = math.exp(-1) / math.factorial(times)
        assert (draws == times).mean() == pytest.approx(share, abs=0.006)
    correlations = np.asarray(np.corrcoef(draws))[np.triu_indices(500, 1)]
    assert correlations.mean() == pytest.approx(0, abs=0.001)
    assert (draws[[7]] == times_drawn(["X w7"])).all()
    assert (draws[7] != times_drawn(["Y w7"])[0]).any()


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
