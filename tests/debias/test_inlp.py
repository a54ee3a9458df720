"""INLP: allennlp's vectors, what a classifier finds afterwards, and doses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from biasbridge.debias.examples import Examples
from biasbridge.debias.inlp import Inlp

MALE = "man he his boy grandpa uncle jack"
FEMALE = "woman she hers girl grandma aunt jill"


@pytest.mark.realdata
def test_the_allennlp_fixture(realdata: Path) -> None:
    """Of 35 rounds two are needed. The published vectors depend on the solver's tolerance."""
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )
    first, second = (np.array([table[word] for word in each.split()]) for each in (MALE, FEMALE))
    eraser = Inlp(rounds=35).fit(Examples(first, second, np.empty((0, 2, 50)), ""), seed=0)
    words = ("engineer", "homemaker")
    made = eraser.apply(np.array([table[word] for word in words]))
    assert eraser.rank == 2
    np.testing.assert_allclose(made, [table[f"inlp_{w}"] for w in words], rtol=0, atol=3.1e-5)


def test_nothing_is_left_for_a_linear_classifier() -> None:
    """Two directions hold the groups: after two rounds a classifier has chance, after one not."""
    draw = np.random.default_rng(0)
    side = np.repeat([1.0, -1.0], 200)
    rows = draw.standard_normal((400, 10))
    rows[:, 0] += 6 * side
    rows[:, 1] = 6 * side * (draw.random(400) < 0.7) + draw.standard_normal(400)
    found = Examples(rows[:200], rows[200:], np.empty((0, 2, 10)), "")
    fresh = rows + 0.1 * draw.standard_normal(rows.shape)

    def accuracy(rounds: int) -> float:
        eraser = Inlp(rounds=rounds).fit(found, seed=0)
        assert eraser.rank == rounds
        assert eraser.norm == pytest.approx(1)
        return SVC(kernel="linear").fit(eraser.apply(rows), side).score(eraser.apply(fresh), side)

    assert accuracy(1) > 0.75
    assert accuracy(8) < 0.65
