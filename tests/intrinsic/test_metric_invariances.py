"""What must hold of each metric on any vectors: rotation, scaling, and the exchange of roles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.intrinsic import METRICS
from biasbridge.intrinsic.audit import audit
from tests.intrinsic.metric_world import (
    DIM,
    PAIRS,
    SETS,
    Items,
    Vector,
    make_metric,
    make_vectors,
    write_words,
)

FEW = settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SEEDS = st.integers(0, 10_000)
# Vectors enter these as they are, so lengths matter: RIPA and the means of ECT, distances of BAT,
# the classifier of RNSB.
BY_LENGTH = {"ripa", "ect", "bat", "rnsb"}
# What comes out when X and Y change places, A and B, or the words of every base pair: -v, v, 1 - v.
SWAPS: dict[str, dict[str, int]] = {
    "weat": {"XY": -1, "AB": -1},
    "association": {"AB": -1},
    "factual_association": {"AB": -1},
    "rnd": {"XY": -1},
    "mac": {"XY": 1, "AB": 1},
    "ect": {"XY": 1},
    "same": {"XY": 1, "AB": 1},
    "pair_bias": {"pairs": -1},
    "ripa": {"pairs": -1},
    "direct_bias": {"pairs": 1},
    "projection": {"pairs": 1},
    "indirect_bias": {"pairs": 1},
    "profession_correlation": {"pairs": 1},
    "prox_bias": {"pairs": 1},
    "gipe": {"pairs": 1},
    "generalised_weat": {"XY and AB": 1},
    "analogies": {"pairs": 1},
}


def value(name: str, words: str, rows: Vector) -> float:
    return make_metric(name, words).score(make_vectors(matrix=rows), seed=0)[0].value


@FEW
@given(seed=SEEDS)
def test_rotation_changes_nothing(seed: int, tmp_path: Path) -> None:
    words, rng = write_words(tmp_path), np.random.default_rng(seed)
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    rotation = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    for name in METRICS:
        assert value(name, words, rows @ rotation) == pytest.approx(
            value(name, words, rows), abs=1e-4, rel=1e-3, nan_ok=True
        ), name


@FEW
@given(seed=SEEDS)
def test_lengths_change_nothing_where_directions_are_asked(seed: int, tmp_path: Path) -> None:
    words, rng = write_words(tmp_path), np.random.default_rng(seed)
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    scaled = rows * rng.uniform(0.2, 5, size=(len(rows), 1))
    for name in METRICS.keys() - BY_LENGTH:
        assert value(name, words, scaled) == pytest.approx(
            value(name, words, rows), abs=1e-4, rel=1e-3, nan_ok=True
        ), name


@FEW
@given(seed=SEEDS)
def test_exchange_of_roles(seed: int, tmp_path: Path) -> None:
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    for name, swaps in SWAPS.items():
        before = value(name, write_words(tmp_path), rows)
        for roles, factor in swaps.items():
            change: dict[str, Items] = {}
            if "XY" in roles:
                change |= {"X": SETS["Y"], "Y": SETS["X"]}
            if "AB" in roles:
                change |= {"A": SETS["B"], "B": SETS["A"]}
            if roles == "pairs":
                change = {"pairs": [pair[::-1] for pair in PAIRS]}
            assert value(name, write_words(tmp_path, **change), rows) == pytest.approx(
                factor * before, abs=1e-5, nan_ok=True
            ), (name, roles)


@FEW
@given(seed=SEEDS)
def test_order_of_words_changes_nothing(seed: int, tmp_path: Path) -> None:
    rows, rng = make_vectors(seed=seed).vectors.astype(np.float64), np.random.default_rng(seed)
    mixed = {role: [words[i] for i in rng.permutation(len(words))] for role, words in SETS.items()}
    for name, kind in METRICS.items():
        if set(kind.about.required) <= {"X", "Y", "A", "B", "words"} and name != "ibt":
            before = value(name, write_words(tmp_path), rows)
            assert value(name, write_words(tmp_path, **mixed), rows) == pytest.approx(
                before, abs=1e-6, nan_ok=True
            ), name


def test_vectors_changed_in_place_are_scored_as_they_are(tmp_path: Path) -> None:
    words = write_words(tmp_path)
    metrics = [make_metric(name, words) for name in METRICS]
    changed, other = make_vectors(), make_vectors(seed=4)
    audit(changed, metrics)
    changed.vectors[:] = other.vectors
    for (after, _), (fresh, _) in zip(audit(changed, metrics), audit(other, metrics), strict=True):
        assert after.value == pytest.approx(fresh.value, nan_ok=True), after.metric
    changed.vectors[:] = make_vectors().vectors
    for metric in metrics:
        (after, *_), (fresh, *_) = (metric.score(v, seed=0) for v in (changed, make_vectors()))
        assert after.value == pytest.approx(fresh.value, nan_ok=True), after.metric


def test_order_of_roles_in_a_file_changes_nothing(tmp_path: Path) -> None:
    """X goes with A and Y with B, wherever in the file they stand."""
    path = Path(write_words(tmp_path))
    vectors = make_vectors()
    content = json.loads(path.read_text(encoding="utf-8"))
    scores = {name: make_metric(name, str(path)).score(vectors, seed=0) for name in METRICS}
    for query, roles in content.items():
        content[query] = dict(reversed(roles.items()))
    path.write_text(json.dumps(content), encoding="utf-8")
    for name, before in scores.items():
        after = make_metric(name, str(path)).score(vectors, seed=0)
        for one, other in zip(before, after, strict=True):
            expected = pytest.approx((one.value, one.statistic, one.p_value), nan_ok=True)
            assert (other.value, other.statistic, other.p_value) == expected, name
