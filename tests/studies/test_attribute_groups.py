"""Attribute differences, associations and bias directions, by literal loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from biasbridge.files import InputError
from biasbridge.files.vectors import keyed
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.wordsets import load_query
from biasbridge.studies.score_properties.attribute_groups import AttributeGroups

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

Vector = NDArray[np.float64]
QUERY = "gender_topics"


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    """Random vectors of the query's words but one, of unequal lengths."""
    query = load_query(QUERY)
    words = [word for role in "XYAB" for word in query[role].words if word != "poetry"]
    words = list(dict.fromkeys([*words, *query["pairs"].words]))
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(len(words), 6)) * rng.uniform(0.5, 3, size=(len(words), 1))
    matrix[: len(query["X"].words), 0] += 2
    return keyed(words, matrix.astype(np.float32))


@pytest.fixture(scope="module")
def rows(vectors: KeyedVectors) -> pd.DataFrame:
    return AttributeGroups(queries=(QUERY,)).rows(vectors, None, seed=0)


def vector(vectors: KeyedVectors, word: str) -> Vector:
    return np.asarray(vectors[word], dtype=np.float64)


def unit(row: Vector) -> Vector:
    return row / math.sqrt(sum(row * row))


def kind(rows: pd.DataFrame, name: str, panel: str = "") -> pd.DataFrame:
    return rows[(rows["kind"] == name) & ((rows["panel"] == panel) | (panel == ""))]


def test_the_difference_is_that_of_the_means(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    query = load_query(QUERY)
    for panel, scale in (("unit", unit), ("raw", np.array)):
        means = [
            np.mean([scale(vector(vectors, word)) for word in query[role].words], axis=0)
            for role in "AB"
        ]
        [found] = kind(rows, "difference", panel).to_dict("records")
        assert found["value"] == pytest.approx(math.sqrt(sum((means[0] - means[1]) ** 2)))
        assert found["low"] < found["high"]
        assert found["n"] == 16
    [chance] = kind(rows, "difference", "chance")["value"]
    assert 0 < chance < 2


def test_no_association_exceeds_the_difference(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    """Theorem 1, on vectors of a vocabulary."""
    query = load_query(QUERY)
    found = kind(rows, "association")
    words = [word for role in "XY" for word in query[role].words if word != "poetry"]
    assert found["first"].tolist() == words
    for word, value in zip(words, found["value"], strict=True):
        sides = [
            sum(unit(vector(vectors, word)) @ unit(vector(vectors, a)) for a in query[role].words)
            / len(query[role].words)
            for role in "AB"
        ]
        assert value == pytest.approx(sides[0] - sides[1])
    [most] = kind(rows, "difference", "unit")["value"]
    assert found["value"].abs().max() <= most


def test_the_effect_size_is_weat_s(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    [score] = Weat(queries=(QUERY,), case="lower").score(vectors, seed=0)
    [found] = kind(rows, "effect").to_dict("records")
    assert (found["value"], found["p_value"]) == pytest.approx((score.value, score.p_value))


def test_directions_are_those_of_the_pairs(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    pairs = load_query(QUERY)["pairs"].items
    apart = {
        f"{a}:{b}": unit(unit(vector(vectors, a)) - unit(vector(vectors, b))) for a, b in pairs
    }
    whole = kind(rows, "correlation", "all")
    for one, other in [("male:female", "he:she"), ("boy:girl", "boy:girl")]:
        [value] = whole[(whole["first"] == one) & (whole["second"] == other)]["value"]
        assert value == pytest.approx(float(apart[one] @ apart[other]))
    halves = np.array([unit(vector(vectors, a)) - unit(vector(vectors, b)) for a, b in pairs])
    first = np.linalg.eigh(halves.T @ halves)[1][:, -1]
    near = {name: abs(float(row @ first)) for name, row in apart.items()}
    to_first = whole[whole["second"] == "first component"].set_index("first")["value"].abs()
    assert to_first.drop("first component").to_dict() == pytest.approx(near)
    # Without the two pairs nearest the component
    less = set(kind(rows, "correlation", "less two")["first"])
    nearest = sorted(near, key=lambda name: -near[name])[:2]
    assert less == {*near, "first component"} - {*nearest}


def test_words_that_are_not_there_are_named(vectors: KeyedVectors) -> None:
    few = keyed(["he", "she", "man"], np.eye(3, dtype=np.float32))
    found = AttributeGroups(queries=(QUERY,)).rows(few, None, seed=0)
    assert len(found) == 1
    assert "has 0 of" in found["reason"][0]
    assert "needs at least 4" in found["reason"][0]
    same = vectors.vectors.copy()
    same[vectors.key_to_index["he"]] = same[vectors.key_to_index["she"]]
    cancelled = keyed(vectors.index_to_key, same)
    found = AttributeGroups(queries=(QUERY,)).rows(cancelled, None, seed=0)
    assert "base pair have the same vector" in found["reason"][0]


def test_a_query_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query 'weat7' has no pairs; attribute_groups needs"):
        AttributeGroups(queries=("weat7",))
