"""Peer libraries as oracles: WEFE 1.0.1 on random queries over real vectors, scikit-learn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from gensim.models import KeyedVectors
from sklearn.linear_model import LogisticRegression

from biasbridge.intrinsic import METRICS, negative_sentiment

QUERIES = 50
SOLVERS: tuple[Literal["lbfgs", "liblinear"], ...] = ("lbfgs", "liblinear")
# WEFE leaves liblinear's tolerance at 1e-4, which moves RNSB by up to 1e-3; made to go on, it comes
# to our value.
EXACT = {"solver": "liblinear", "max_iter": 100_000, "tol": 1e-10}


@pytest.fixture(scope="module")
def vectors(realdata: Path) -> KeyedVectors:
    return KeyedVectors.load_word2vec_format(
        str(realdata / "vectors" / "googlenews_13k.bin"), binary=True
    )


@pytest.fixture(scope="module")
def queries(vectors: KeyedVectors) -> dict[str, dict[str, list[str]]]:
    """Random words in random numbers; targets X and Y of the same number, for WEFE's RIPA pairs
    them off.
    """
    rng = np.random.default_rng(0)
    words = [word for word in vectors.index_to_key if ":" not in word]
    made = {}
    for number in range(QUERIES):
        size = int(rng.integers(4, 12))
        picked = [words[i] for i in rng.choice(len(words), size=2 * size + 20, replace=False).flat]
        made[f"q{number}"] = {
            "X": picked[:size],
            "Y": picked[size : 2 * size],
            "A": picked[2 * size : -10],
            "B": picked[-10:],
        }
    return made


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("peer", "key", "settings", "ours", "own_settings", "attributes"),
    [
        ("WEAT", "weat", {}, "weat", {"convention": "wefe"}, 2),
        ("WEAT", "effect_size", {}, "weat", {"convention": "wefe"}, 2),
        ("RND", "rnd", {}, "rnd", {"convention": "wefe"}, 1),
        ("RND", "rnd", {"normalize": True}, "rnd", {"convention": "wefe", "normalize": True}, 1),
        ("RND", "rnd", {"distance": "cos"}, "rnd", {"convention": "wefe", "distance": "cos"}, 1),
        ("MAC", "mac", {}, "mac", {"convention": "wefe"}, 2),
        ("ECT", "ect", {}, "ect", {"convention": "wefe"}, 1),
        ("RIPA", "ripa", {}, "ripa", {"convention": "wefe"}, 1),
        (
            "RNSB",
            "rnsb",
            {"holdout": False, "estimator_params": EXACT},
            "rnsb",
            {"penalise_intercept": True},
            2,
        ),
    ],
)
def test_wefe(
    peer: str,
    key: str,
    settings: dict[str, Any],
    ours: str,
    own_settings: dict[str, Any],
    attributes: int,
    vectors: KeyedVectors,
    queries: dict[str, dict[str, list[str]]],
    tmp_path: Path,
) -> None:
    pytest.importorskip("wefe")
    from wefe import metrics
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    model = WordEmbeddingModel(vectors, "googlenews")
    asked: dict[str, Any] = dict(queries)
    if ours == "ripa":
        asked = {
            name: {"words": sets["A"], "pairs": list(zip(sets["X"], sets["Y"], strict=True))}
            for name, sets in queries.items()
        }
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(asked), encoding="utf-8")
    rows = (
        METRICS[ours]
        .by_convention(queries=tuple(asked), words=str(path), **own_settings)
        .score(vectors, seed=0)
    )
    for row, sets in zip(rows, queries.values(), strict=True):
        query = Query([sets["X"], sets["Y"]], [sets["A"], sets["B"]][:attributes])
        found = getattr(metrics, peer)().run_query(query, model, **settings)[key]
        value = row.value
        if key == "weat":
            # WEFE's statistic is a sum over each target set; with sets of one size it is ours.
            value = row.statistic
        assert value == pytest.approx(found, abs=1e-5), (row.query, found)


@pytest.mark.parametrize("dim", [5, 40])
def test_the_classifier_of_rnsb_is_that_of_scikit_learn(dim: int) -> None:
    rng = np.random.default_rng(0)
    positive, negative, targets = (
        rng.normal(size=(12, dim)) + 0.3,
        rng.normal(size=(9, dim)),
        rng.normal(size=(6, dim)),
    )
    rows, labels = np.concatenate([positive, negative]), np.repeat([0, 1], [12, 9])
    free, penalised = (
        LogisticRegression(solver=solver, max_iter=100_000, tol=1e-12)
        .fit(rows, labels)
        .predict_proba(targets)[:, 1]
        for solver in SOLVERS
    )
    assert negative_sentiment(positive, negative, targets) == pytest.approx(free, abs=1e-6)
    assert negative_sentiment(
        positive, negative, targets, penalise_intercept=True
    ) == pytest.approx(penalised, abs=1e-6)
