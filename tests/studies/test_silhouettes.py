"""Nested subsets of word lists: how they are drawn, and what metrics read on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.intrinsic import METRICS, effect_size, negative_sentiment
from biasbridge.intrinsic.metrics.sentiment import divergence_from_uniform
from biasbridge.intrinsic.resolved_query import ResolvedQuery, resolve_query
from biasbridge.studies.silhouettes.probe import Silhouettes
from biasbridge.studies.silhouettes.subsets import nested_subsets
from tests.intrinsic.metric_world import ROLES, SMALL, make_vectors

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric

VECTORS = make_vectors()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "mine.json"
    path.write_text(json.dumps({"mine": ROLES}), encoding="utf-8")
    return path


def metric_of(name: str, words: Path, **options: object) -> Metric:
    given: dict[str, Any] = {**SMALL.get(name, {}), **options}
    return METRICS[name].by_convention("default", queries=("mine",), words=str(words), **given)


def found_by(metric: Metric) -> ResolvedQuery:
    return resolve_query(VECTORS, metric.loaded_queries[0], metric.about.takes, case=metric.case)


def test_any_metric_has_silhouettes(words: Path) -> None:
    for name in METRICS:
        lists = METRICS[name].about.roles.keys() & {"X", "words", "partners", "rows"}
        if not lists or name == "sq":  # which asks a file of word similarities
            continue
        metric = metric_of(name, words)
        rows = Silhouettes(runs=2, target_step=2, attribute_step=2).rows(VECTORS, metric, seed=0)
        whole = {score.part: score.value for score in metric.score(VECTORS, seed=0)}
        grown = rows[rows["size"] > 0]  # not lists of a single pair
        last = grown.drop_duplicates(["part", "list_kind"], keep="last")
        assert len(last), name
        for part, values in zip(last["part"], last["values"], strict=True):
            assert values == pytest.approx(whole[part], abs=1e-6), name


def test_weat_ect_and_rnsb_by_their_equations(words: Path) -> None:
    """A literal loop: the words of every subset looked up by name."""
    rng = np.random.default_rng
    lists = {role: list(ROLES[role]) for role in "XYAB"}
    orders = [
        [
            [lists[role][i] for i in rng((5, run, place)).permutation(len(lists[role]))]
            for place, role in enumerate("AB")
        ]
        for run in range(4)
    ]
    sets = {role: np.array([VECTORS[word] for word in lists[role]], float) for role in "XYAB"}
    expected: dict[str, list[float]] = {"weat": [], "rnsb": []}
    for order in orders:
        for step in range(1, 5):
            a, b = (np.array([VECTORS[word] for word in each[:step]], float) for each in order)
            expected["weat"].append(effect_size(sets["X"], sets["Y"], a, b))
            means = np.array([sets["X"].mean(axis=0), sets["Y"].mean(axis=0)])
            likely = negative_sentiment(a, b, means)
            expected["rnsb"].append(divergence_from_uniform(likely))
    for name, options in (("weat", {"p_value": False}), ("rnsb", {"unit": "group"})):
        probe = Silhouettes(runs=4, attribute_step=2)
        rows = probe.rows(VECTORS, metric_of(name, words, **options), seed=5)
        rows = rows[rows["list_kind"] == "attributes"]
        assert rows["size"].tolist() == [2, 4, 6, 7, 8]
        found = np.array([*rows["values"]])[:4]
        assert found.T.ravel() == pytest.approx(expected[name], abs=1e-6), name


def test_lists_grow_together_and_end_whole(words: Path) -> None:
    found = found_by(metric_of("weat", words))
    subsets = nested_subsets({"A": found["A"], "B": found["B"]}, 2, 5, seed=1)
    assert subsets.counts["A"].tolist() == [1, 2, 3, 4, 5]
    assert subsets.counts["B"].tolist() == [1, 2, 3, 3, 3], "the shorter list is whole before"
    assert subsets.sizes.tolist() == [2, 4, 6, 7, 8]
    for role, order in subsets.orders.items():
        assert np.sort(order, axis=1).tolist() == [list(range(len(found[role].items)))] * 5
    more = nested_subsets({"A": found["A"], "B": found["B"]}, 2, 9, seed=1)
    assert (more.orders["A"][:5] == subsets.orders["A"]).all(), "more runs change none"


def test_a_step_has_at_least_one_word_and_a_base_pair_is_two(words: Path) -> None:
    found = found_by(metric_of("ripa", words))
    assert nested_subsets({"pairs": found["pairs"]}, 1, 1, seed=0).sizes.tolist() == [2, 4, 6]
    assert nested_subsets({"pairs": found["pairs"]}, 4, 1, seed=0).sizes.tolist() == [4, 6]


def test_lists_shorter_than_the_step_are_refused(words: Path) -> None:
    metric = metric_of("weat", words)
    with pytest.raises(InputError, match=r"8 words of X and Y .* not more than one step of 20"):
        Silhouettes(target_step=20, attribute_step=20).rows(VECTORS, metric, seed=0)
    rows = Silhouettes(runs=2, target_step=20).rows(VECTORS, metric, seed=0)
    short = rows[rows["size"] == 0]
    assert short["list_kind"].tolist() == ["targets"]
    assert "lower probe.target_step" in short["reason"].iloc[0]
    assert set(rows[rows["size"] > 0]["list_kind"]) == {"attributes"}


def test_words_in_both_lists_are_refused_as_by_the_metric(tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    sets = {**{role: ROLES[role] for role in "XYA"}, "B": ["aa", "ba", "bb"]}
    path.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    with pytest.raises(InputError, match="A and B of query 'mine' share aa"):
        Silhouettes(runs=2).rows(VECTORS, metric_of("weat", path), seed=0)
