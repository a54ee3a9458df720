"""Mean difference: allennlp's vectors, and doses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from biasbridge.debias.examples import Examples
from biasbridge.debias.mean_difference import MeanDifference
from biasbridge.files import InputError
from tests.debias.planted import QUERY, planted_vectors

NONE = np.empty((0, 2, 50))


@pytest.mark.realdata
def test_the_allennlp_fixture(realdata: Path) -> None:
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )
    prefix = "linear_two_means_"
    expected = {key.removeprefix(prefix): row for key, row in table.items() if prefix in key}
    first, second = (
        np.array([table[word] for word in pair]) for pair in (("he", "him"), ("she", "her"))
    )
    eraser = MeanDifference().fit(Examples(first, second, NONE, ""), seed=0)
    made = eraser.apply(np.array([table[word] for word in expected]))
    assert len(expected) == 8
    np.testing.assert_allclose(made, list(expected.values()), rtol=0, atol=1e-15)


def test_groups_that_are_the_same() -> None:
    rows = np.ones((3, 50))
    with pytest.raises(InputError, match="the two groups have the same mean"):
        MeanDifference().fit(Examples(rows, rows, NONE, ""), seed=0)


def test_the_means_are_equal_afterwards() -> None:
    after = MeanDifference().modify(planted_vectors(), QUERY, seed=0)
    first, second = (after[list(QUERY[role].words)].mean(axis=0) for role in "XY")
    before = planted_vectors()
    axis = before[list(QUERY["X"].words)].mean(axis=0) - before[list(QUERY["Y"].words)].mean(axis=0)
    assert abs((first - second) @ axis) < 1e-5
