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
from biasbridge.files import InputError
from biasbridge.files.choice import FieldError
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
from biasbridge.intrinsic.permutation import (
    PValue,
    estimated_p,
    exact_p,
    permutation_p,
)
from biasbridge.intrinsic.registry import METRICS
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.intrinsic.score import percentiles
from biasbridge.intrinsic.terminal import print_headlines, print_ranks
from biasbridge.intrinsic.tsne import _project_to_plane
from biasbridge.intrinsic.words import load_query, read_wordsets
from tests.intrinsic.models.tables import GivenVectors

RNG = np.random.default_rng(0)
NO_ITEMS = GivenVectors(())


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (["x"] * 184 + ["auf"] * 16, "de"),
        (["x"] * 184 + ["auf"] * 16 + ["x"], "de"),  # the 201st is not looked at
        (["x"] * 185 + ["auf"] * 16, "en"),  # nor is this, which would be enough
    ],
)
def test_a_language_is_told_from_200_frequent_words(words: list[str], language: str) -> None:
    assert assume_language("a.vec", words)[0] == language


@pytest.mark.parametrize(("length", "is_direction"), [(1.1e-12, True), (0.9e-12, False)])
def test_base_pairs_are_apart_by_more_than_1e_12(length: float, is_direction: bool) -> None:
    pairs = np.array([[[length, 0.0], [0.0, 0.0]]])
    ways: list[Callable[[], object]] = [
        lambda: pair_differences(pairs),
        *(partial(direction, pairs, kind, unit=False) for kind in ("pca", "mean", "first")),
    ]
    for way in ways:
        if is_direction:
            way()
        else:
            with pytest.raises(InputError, match="span no direction"):
                way()


def test_frequent_words_have_under_20_characters() -> None:
    words = ["a" * 19, "b" * 20, "c", "d"]
    vectors = keyed(words, np.eye(4, dtype=np.float32))
    assert most_frequent(vectors, 4) == ["a" * 19, "c", "d"]
    assert frequent_words(vectors, 4).words == ["a" * 19, "c", "d"]


@pytest.mark.parametrize(
    ("difference", "preference"), [(0.9e-6, 0.5), (1.1e-6, 1.0), (-0.9e-6, 0.5), (-1.1e-6, 0.0)]
)
def test_likelihoods_within_a_millionth_tie(difference: float, preference: float) -> None:
    assert _preferences(np.array([difference]), np.zeros(1), "half") == preference


def test_planted_log_odds_are_held_against_9999_permutations() -> None:
    terms = [f"t{number}" for number in range(10)]
    values = np.repeat(np.arange(10.0)[:, None], 2, axis=1)
    p = PlantedBias.test(
        _of_class(PlantedBias), ItemObservations(values, terms, {"term": terms}, ["g"] * 10)
    )
    assert {p_value.n for p_value in p.values()} == {9_999}


def _of_class(kind: type[Any]) -> Any:
    return object.__new__(kind)


@pytest.mark.parametrize(
    ("make", "field", "most"),
    [
        (partial(Weat.by_convention, queries=("weat7",)), "resamples", 1_000_000),
        (partial(Ceat.by_convention, items=NO_ITEMS), "draws", 100_000),
    ],
)
def test_resamples_and_draws_have_a_bound(make: Any, field: str, most: int) -> None:
    assert vars(make(**{field: most}))[field] == most
    with pytest.raises(FieldError, match=f"{field}={most + 1}"):
        make(**{field: most + 1})


@pytest.mark.parametrize(("number", "method"), [(8, "exact"), (9, "t")])
def test_orders_of_at_most_8_attributes_are_counted(
    number: int, method: str, tmp_path: Path
) -> None:
    x, y, a = (
        np.random.default_rng(seed).normal(size=(n, 5)) for seed, n in ((0, 3), (1, 3), (2, number))
    )
    rho, p = coherence(x, y, a)
    t = PValue.of_t(coherence(x, y, a, exact_limit=0)[1], number)
    assert (p == pytest.approx(t.p, abs=1e-12)) == (method == "t")
    words = [f"w{n}" for n in range(6 + number)]
    vectors = keyed(words, np.concatenate([x, y, a]).astype(np.float32))
    query = {"X": words[:3], "Y": words[3:6], "A": words[6:]}
    [score] = EmbeddingCoherence.by_convention(
        words=write_words(tmp_path, query), queries=("mine",)
    ).score(vectors, seed=0)
    assert score.p_method == method
    assert abs(rho) <= 1


def write_words(folder: Path, query: Mapping[str, object]) -> str:
    path = folder / "words.json"
    path.write_text(json.dumps({"mine": query}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("spread", "is_score"), [(0.9e-12, False), (1.1e-12, True)])
def test_associations_vary_by_more_than_1e_12(spread: float, is_score: bool) -> None:
    """The standard deviation of 0 and 2 s is s."""
    s, once = np.array([[2 * spread, 0.0]]), np.ones((1, 1), dtype=np.intp)
    [effect] = weighted_effect_sizes(s, once, once, ddof=0)
    assert math.isfinite(effect) == is_score
    if is_score:
        assert standardised_difference([2 * spread], [0.0]) == pytest.approx(2)
    else:
        with pytest.raises(InputError, match="the same association"):
            standardised_difference([2 * spread], [0.0])


def test_words_are_scored_under_at_least_two_base_pairs(tmp_path: Path) -> None:
    metric = METRICS["ripa"]()
    words = ["he", "she", "man", "woman", "nurse"]
    vectors = keyed(words, RNG.normal(size=(5, 4)).astype(np.float32))
    two = {"words": ["nurse"], "pairs": [["he", "she"], ["man", "woman"]]}
    [query] = read_wordsets(write_words(tmp_path, two)).queries.values()
    assert PairScores.resolve(metric, vectors, query).pairs == [("he", "she"), ("man", "woman")]
    one = {"words": ["nurse"], "pairs": [["he", "she"]]}
    [query] = read_wordsets(write_words(tmp_path, one)).queries.values()
    with pytest.raises(InputError, match="needs at least 2"):
        PairScores.resolve(metric, vectors, query)


def test_partitions_of_at_most_50_values_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permutation, "_count_sums", lambda *_: 1)  # takes a gigabyte
    assert exact_p(np.arange(25.0), np.arange(25.0)).method == "exact"
    with pytest.raises(InputError, match="51 values have too many partitions"):
        exact_p(np.arange(25.0), np.arange(26.0))


@pytest.mark.parametrize(("size", "method"), [(20, "exact"), (21, "sampled")])
def test_p_is_exact_to_40_values(size: int, method: str) -> None:
    x, y = np.arange(size * 1.0), np.arange(size + 0.0)
    p = permutation_p(x, y, seed=0)
    assert (p.method, p.n == 100_000) == (method, method == "sampled")


def test_sampled_p_has_a_99_percent_interval() -> None:
    """Clopper and Pearson's, in closed form where none or all are extreme."""
    assert estimated_p(0, 99, tail="greater", strict=False).high == pytest.approx(
        1 - 0.005 ** (1 / 99)
    )
    assert estimated_p(99, 99, tail="greater", strict=False).low == pytest.approx(0.005 ** (1 / 99))


@pytest.mark.parametrize(("share", "p"), [(0.9e-12, 0.0), (1.1e-12, 0.5)])
def test_sums_within_1e_12_of_the_total_tie(share: float, p: float) -> None:
    """Of 1 and 1 + 2 s, whose total is 2: the other partition is more extreme, or ties."""
    assert exact_p([1.0], [1 + 2 * share], strict=True).p == p


def test_words_are_resampled_200_times() -> None:
    assert times_drawn(["he", "she"]).shape == (2, 200)


@pytest.mark.parametrize(("labels", "folds"), [(4, 4), (5, 5), (6, 5)])
def test_a_probe_has_at_most_five_folds(labels: int, folds: int) -> None:
    names = [f"{group}{number}" for group in "ab" for number in range(labels)]
    assert len({*_assign_folds([name[0] for name in names], names).values()}) == folds


@pytest.mark.parametrize(("share", "is_taught"), [(0.9e-12, False), (1.1e-12, True)])
def test_a_probe_learns_where_vectors_vary_by_more_than_1e_12(
    share: float, is_taught: bool
) -> None:
    """The variance of 1 - d and 1 + d is d^2, their mean square 1 + d^2."""
    d = math.sqrt(share)
    vectors = np.array([[1 - d], [1 + d]] * 4)
    learn = partial(_is_correct, vectors, ["a", "b"] * 4, [0, 0, 1, 1] * 2)
    if is_taught:
        assert learn().tolist() == [1.0] * 8
    else:
        with pytest.raises(InputError, match="all sentences have the same vector"):
            learn()


def test_sentences_are_permuted_99999_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more than 40."""
    seat = Seat.by_convention("may", items=NO_ITEMS)
    monkeypatch.setattr(Seat, "_unweighted", lambda *_: (np.arange(42.0), 21))
    names = ["a"] * 42
    [p] = seat.test(ItemObservations(np.zeros(42), names, {"term": names})).values()
    assert (p.method, p.n) == ("sampled", 99_999)


@pytest.mark.parametrize(("files", "has_correlations"), [(2, False), (3, True)])
def test_metrics_are_correlated_over_at_least_three_files(
    files: int, has_correlations: bool
) -> None:
    rows = [
        (metric, "default", "q", "", f"f{file}", float(RNG.normal()), 0.0)
        for metric in ("weat", "rnd")
        for file in range(files)
    ]
    columns = ["metric", "convention", "query", "part", "vectors", "value", "unbiased"]
    out = StringIO()
    print_ranks(pd.DataFrame(rows, columns=columns), Console(file=out, width=120))
    assert ("Spearman's correlation" in out.getvalue()) == has_correlations
    assert ("need 3 files" in out.getvalue()) != has_correlations


@pytest.mark.parametrize(("p", "found"), [(0.0499, 1), (0.05, 0)])
def test_an_association_is_found_below_05(p: float, found: int) -> None:
    words = [word for role in "XYAB" for word in load_query("weat7")[role].words]
    vectors = keyed(words, RNG.normal(size=(len(words), 4)).astype(np.float32))
    [score] = Weat(queries=("weat7",)).score(vectors, seed=0)
    score = score._replace(value=1.0, p_value=p)
    out = StringIO()
    print_headlines([AuditedScore("a.vec", score, {})], Console(file=out, width=200))
    assert f"(p < .05) in {found} of 1 test of social bias" in out.getvalue()


@pytest.mark.parametrize(("size", "perplexity"), [(40, 40 / 3), (44, 40.0)])
def test_more_than_40_words_have_a_perplexity_of_40(
    size: int, perplexity: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    class Recording:
        def __init__(self, *, perplexity: float, **_: object) -> None:
            seen.append(perplexity)

        def fit_transform(self, rows: object) -> object:
            return rows

    monkeypatch.setattr("sklearn.manifold.TSNE", Recording)
    words = [f"w{number}" for number in range(size)]
    vectors = keyed(words, RNG.normal(size=(size, 4)).astype(np.float32))
    roles = {role: find(vectors, words[n::4]) for n, role in enumerate("XYAB")}
    _project_to_plane(roles, iterations=250, seed=0)  # type: ignore[arg-type]
    assert seen == [pytest.approx(perplexity)]


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_word_sets_hold_at_most_500000_words(more: int, is_read: bool, tmp_path: Path) -> None:
    sets: dict[str, object] = {"a": [f"w{number}" for number in range(50_000)]}
    sets |= {f"u{number}": {"union": ["a"]} for number in range(9)}
    sets |= {"last": [f"v{number}" for number in range(more)]} if more else {}
    (tmp_path / "a.json").write_text(json.dumps({"sets": sets}), encoding="utf-8")
    if is_read:
        assert len(read_wordsets(str(tmp_path / "a.json")).sets) >= 10
    else:
        with pytest.raises(InputError, match="have more than 500,000 words in all"):
            read_wordsets(str(tmp_path / "a.json"))


@pytest.mark.parametrize(("finite", "has_interval"), [(180, True), (179, False)])
def test_an_interval_takes_nine_tenths_of_the_resamples(finite: int, has_interval: bool) -> None:
    """And is that from their 2.5% to their 97.5% quantile, linearly interpolated."""
    values = [*map(float, range(finite)), *[math.nan] * (200 - finite)]
    low, high = percentiles(values, 200)
    assert math.isfinite(low) == math.isfinite(high) == has_interval
    if has_interval:
        assert (low, high) == pytest.approx((0.025 * 179, 0.975 * 179))


@pytest.mark.parametrize(
    ("convention", "found", "is_defined"),
    [("wefe", 4, True), ("wefe", 3, False), ("sneyd", 4, True), ("sneyd", 1, True)],
)
def test_the_words_of_a_set_that_a_convention_wants(
    convention: str, found: int, is_defined: bool
) -> None:
    """Of five words, WEFE wants four; Sneyd takes any."""
    words = [*"abcde"[:found], *"xy"]
    vectors = keyed(words, RNG.normal(size=(len(words), 3)).astype(np.float32))
    roles = {"words": [*"abcde"], "pairs": [("x", "y")]}
    (value,) = audit(vectors, roles, metrics="ripa", convention=convention)["value"]
    assert np.isfinite(value) == is_defined
