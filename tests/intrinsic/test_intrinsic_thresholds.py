"""Named numbers of the room, each on either side of what it decides. Numbers are written out here,
so that another value fails.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge import audit
from biasbridge.conclusions import headlines
from biasbridge.files.vectors import keyed
from biasbridge.intrinsic import permutation
from biasbridge.intrinsic.audit import AuditedScore, assume_language
from biasbridge.intrinsic.lookup import (
    direction,
    find,
    frequent_words,
    most_frequent,
    pair_differences,
)
from biasbridge.intrinsic.metric import PairScores
from biasbridge.intrinsic.metrics.set_distances import EmbeddingCoherence, coherence
from biasbridge.intrinsic.metrics.weat import Weat, standardised_difference, weighted_effect_sizes
from biasbridge.intrinsic.models.item_metric import ItemObservations
from biasbridge.intrinsic.models.pairs import _preferences
from biasbridge.intrinsic.models.probe import _assign_folds, _is_correct
from biasbridge.intrinsic.models.sentences import Ceat, Seat
from biasbridge.intrinsic.models.slot_metrics import PlantedBias
from biasbridge.intrinsic.permutation import PValue, estimated_p, exact_p, permutation_p
from biasbridge.intrinsic.registry import METRICS
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.intrinsic.score import percentiles
from biasbridge.intrinsic.terminal import rank_document
from biasbridge.intrinsic.tsne import _project_to_plane
from biasbridge.intrinsic.words import load_query, read_wordsets
from tests.intrinsic.models.tables import GivenVectors
from tests.thresholds import Refused, decides

RNG = np.random.default_rng(0)
NO_ITEMS = GivenVectors(())


def printed(show: Callable[[Console], None]) -> str:
    out = StringIO()
    show(Console(file=out, width=200))
    return out.getvalue()


def random_vectors(words: list[str], dim: int = 4) -> Any:
    return keyed(words, RNG.normal(size=(len(words), dim)).astype(np.float32))


def write_words(folder: Path, query: Mapping[str, object]) -> str:
    path = folder / "words.json"
    path.write_text(json.dumps({"mine": query}), encoding="utf-8")
    return str(path)


@decides(
    (["x"] * 184 + ["auf"] * 16, "de"),
    (["x"] * 184 + ["auf"] * 16 + ["x"], "de"),  # the 201st is not looked at
    (["x"] * 185 + ["auf"] * 16, "en"),  # nor is this, which would be enough
)
def test_a_language_is_told_from_200_frequent_words(words: list[str]) -> object:
    return assume_language("a.vec", words)[0]


WAYS = [
    pair_differences,
    *(partial(direction, kind=k, unit=False) for k in ("pca", "mean", "first")),
]


@decides(
    *(((way, 1.1e-12), True) for way in WAYS),
    *(((way, 0.9e-12), Refused("span no direction")) for way in WAYS),
)
def test_base_pairs_are_apart_by_more_than_1e_12(given: tuple[Any, float]) -> object:
    way, length = given
    return way(np.array([[[length, 0.0], [0.0, 0.0]]])) is not None


def test_frequent_words_have_under_20_characters() -> None:
    words = ["a" * 19, "b" * 20, "c", "d"]
    vectors = keyed(words, np.eye(4, dtype=np.float32))
    assert most_frequent(vectors, 4) == ["a" * 19, "c", "d"]
    assert frequent_words(vectors, 4).words == ["a" * 19, "c", "d"]


@decides((0.9e-6, 0.5), (1.1e-6, 1.0), (-0.9e-6, 0.5), (-1.1e-6, 0.0))
def test_likelihoods_within_a_millionth_tie(difference: float) -> object:
    return _preferences(np.array([difference]), np.zeros(1), "half")


def test_planted_log_odds_are_held_against_9999_permutations() -> None:
    terms = [f"t{number}" for number in range(10)]
    values = np.repeat(np.arange(10.0)[:, None], 2, axis=1)
    observed = ItemObservations(values, terms, {"term": terms}, ["g"] * 10)
    p_values = PlantedBias.test(object.__new__(PlantedBias), observed)
    assert {p_value.n for p_value in p_values.values()} == {9_999}


@decides((1_000_000, 1_000_000), (1_000_001, Refused("resamples=1000001")))
def test_resamples_have_a_bound(resamples: int) -> object:
    return Weat.by_convention(queries=("weat7",), resamples=resamples).resamples


@decides((100_000, 100_000), (100_001, Refused("draws=100001")))
def test_draws_have_a_bound(draws: int) -> object:
    return Ceat.by_convention(items=NO_ITEMS, draws=draws).draws


@decides((8, "exact"), (9, "t"))
def test_orders_of_at_most_8_attributes_are_counted(number: int, tmp_path: Path) -> object:
    x, y, a = (
        np.random.default_rng(seed).normal(size=(n, 5)) for seed, n in ((0, 3), (1, 3), (2, number))
    )
    t = PValue.of_t(coherence(x, y, a, exact_limit=0)[1], number)
    is_t = coherence(x, y, a)[1] == pytest.approx(t.p, abs=1e-12)
    words = [f"w{n}" for n in range(6 + number)]
    vectors = keyed(words, np.concatenate([x, y, a]).astype(np.float32))
    path = write_words(tmp_path, {"X": words[:3], "Y": words[3:6], "A": words[6:]})
    metric = EmbeddingCoherence.by_convention(words=path, queries=("mine",))
    [score] = metric.score(vectors, seed=0)
    assert is_t == (score.p_method == "t")
    return score.p_method


@decides((0.9e-12, False), (1.1e-12, True))
def test_resampled_associations_vary_by_more_than_1e_12(spread: float) -> object:
    """The standard deviation of 0 and 2 s is s."""
    once = np.ones((1, 1), dtype=np.intp)
    [effect] = weighted_effect_sizes(np.array([[2 * spread, 0.0]]), once, once, ddof=0)
    return math.isfinite(effect)


@decides((0.9e-12, Refused("the same association")), (1.1e-12, pytest.approx(2)))
def test_associations_vary_by_more_than_1e_12(spread: float) -> object:
    return standardised_difference([2 * spread], [0.0])


@decides((2, 2), (1, Refused("needs at least 2")))
def test_words_are_scored_under_at_least_two_base_pairs(pairs: int, tmp_path: Path) -> object:
    vectors = random_vectors(["he", "she", "man", "woman", "nurse"])
    query = {"words": ["nurse"], "pairs": [["he", "she"], ["man", "woman"]][:pairs]}
    [loaded] = read_wordsets(write_words(tmp_path, query)).queries.values()
    return len(PairScores.resolve(METRICS["ripa"](), vectors, loaded).pairs)


@decides((25, "exact"), (26, Refused("51 values have too many partitions")))
def test_partitions_of_at_most_50_values_are_counted(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> object:
    monkeypatch.setattr(permutation, "_count_sums", lambda *_: 1)  # takes a gigabyte
    return exact_p(np.arange(25.0), np.arange(size + 0.0)).method


@decides((20, ("exact", 137_846_528_820)), (21, ("sampled", 100_000)))
def test_p_is_exact_to_40_values(size: int) -> object:
    """Of 40 values there are so many halves."""
    p = permutation_p(np.arange(size * 1.0), np.arange(size + 0.0), seed=0)
    return p.method, p.n


def test_sampled_p_has_a_99_percent_interval() -> None:
    """Clopper and Pearson's, in closed form where none or all are extreme."""
    none, every = (estimated_p(count, 99, tail="greater", strict=False) for count in (0, 99))
    assert none.high == pytest.approx(1 - 0.005 ** (1 / 99))
    assert every.low == pytest.approx(0.005 ** (1 / 99))


@decides((0.9e-12, 0.0), (1.1e-12, 0.5))
def test_sums_within_1e_12_of_the_total_tie(share: float) -> object:
    """Of 1 and 1 + 2 s, whose total is 2: the other partition is more extreme, or ties."""
    return exact_p([1.0], [1 + 2 * share], strict=True).p


def test_words_are_resampled_200_times() -> None:
    assert times_drawn(["he", "she"]).shape == (2, 200)


@decides((4, 4), (5, 5), (6, 5))
def test_a_probe_has_at_most_five_folds(labels: int) -> object:
    names = [f"{group}{number}" for group in "ab" for number in range(labels)]
    return len({*_assign_folds([name[0] for name in names], names).values()})


@decides((0.9e-12, Refused("all sentences have the same vector")), (1.1e-12, [1.0] * 8))
def test_a_probe_learns_where_vectors_vary_by_more_than_1e_12(share: float) -> object:
    """The variance of 1 - d and 1 + d is d^2, their mean square 1 + d^2."""
    d = math.sqrt(share)
    vectors = np.array([[1 - d], [1 + d]] * 4)
    return _is_correct(vectors, ["a", "b"] * 4, [0, 0, 1, 1] * 2).tolist()


def test_sentences_are_permuted_99999_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more than 40."""
    seat = Seat.by_convention("may", items=NO_ITEMS)
    monkeypatch.setattr(Seat, "_unweighted", lambda *_: (np.arange(42.0), 21))
    names = ["a"] * 42
    [p] = seat.test(ItemObservations(np.zeros(42), names, {"term": names})).values()
    assert (p.method, p.n) == ("sampled", 99_999)


@decides((2, (False, True)), (3, (True, False)))
def test_metrics_are_correlated_over_at_least_three_files(files: int) -> object:
    rows = [
        (metric, "default", "q", "", f"f{file}", float(RNG.normal()), 0.0)
        for metric in ("weat", "rnd")
        for file in range(files)
    ]
    columns = ["metric", "convention", "query", "part", "vectors", "value", "unbiased"]
    document = rank_document(pd.DataFrame(rows, columns=columns))
    return len(document.tables) == 2, any("need 3 files" in note for note in document.notes)


@decides((0.0499, True), (0.05, False))
def test_an_association_and_a_reverse_one_are_found_below_05(p: float) -> object:
    words = [word for role in "XYAB" for word in load_query("weat7")[role].words]
    [score] = Weat(queries=("weat7",)).score(random_vectors(words), seed=0)
    along = AuditedScore("a.vec", score._replace(value=1.0, p_value=p), {})
    reverse = score._replace(value=-1.0, tail="greater", p_value=0.999, p_two_sided=p)
    [said], [turned] = headlines([along]), headlines([AuditedScore("a.vec", reverse, {})])
    assert "of 1 test of social bias" in said
    assert "(p < .05) in 0 of 1 test" in turned
    is_found = "(p < .05) in 1 of" in said
    assert is_found == ("a reverse association (two-sided p) in 1 of 1: weat7 -1.00" in turned)
    return is_found


@decides((40, [pytest.approx(40 / 3)]), (44, [40.0]))
def test_more_than_40_words_have_a_perplexity_of_40(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> object:
    seen: list[float] = []

    class Recording:
        def __init__(self, *, perplexity: float, **_: object) -> None:
            seen.append(perplexity)

        def fit_transform(self, rows: object) -> object:
            return rows

    monkeypatch.setattr("sklearn.manifold.TSNE", Recording)
    words = [f"w{number}" for number in range(size)]
    vectors = random_vectors(words)
    roles: Any = {role: find(vectors, words[n::4]) for n, role in enumerate("XYAB")}
    _project_to_plane(roles, iterations=250, seed=0)
    return seen


@decides((0, 10), (1, Refused("have more than 500,000 words in all")))
def test_word_sets_hold_at_most_500000_words(more: int, tmp_path: Path) -> object:
    sets: dict[str, object] = {"a": [f"w{number}" for number in range(50_000)]}
    sets |= {f"u{number}": {"union": ["a"]} for number in range(9)}
    sets |= {"last": [f"v{number}" for number in range(more)]} if more else {}
    (tmp_path / "a.json").write_text(json.dumps({"sets": sets}), encoding="utf-8")
    return len(read_wordsets(str(tmp_path / "a.json")).sets.keys() & sets.keys())


@decides(
    (180, pytest.approx((0.025 * 179, 0.975 * 179))),
    (179, pytest.approx((math.nan, math.nan), nan_ok=True)),
)
def test_an_interval_takes_nine_tenths_of_the_resamples(finite: int) -> object:
    """And is that from their 2.5% to their 97.5% quantile, linearly interpolated."""
    return percentiles([*map(float, range(finite)), *[math.nan] * (200 - finite)], 200)


@decides((("wefe", 4), True), (("wefe", 3), False), (("sneyd", 4), True), (("sneyd", 1), True))
def test_the_words_of_a_set_that_a_convention_wants(given: tuple[str, int]) -> object:
    """Of five words, WEFE wants four; Sneyd takes any."""
    convention, found = given
    vectors = random_vectors([*"abcde"[:found], *"xy"], 3)
    roles = {"words": [*"abcde"], "pairs": [("x", "y")]}
    (value,) = audit(vectors, roles, metrics="ripa", convention=convention)["value"]
    return bool(np.isfinite(value))
