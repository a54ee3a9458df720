"""Does the 95% interval hold the truth? Simulated clustered studies, 8, 16 and 40 units; the
figures stand in ``clusters.COVERAGE``.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.clusters import COVERAGE, Pairs, pearson_interval, resample

STUDIES = 1_000
RHO = 0.6
SPREAD_OF_QUERIES = np.array([0, 0.5, -0.5])


def study(kind: str, k: int, rng: np.random.Generator) -> tuple[Pairs, float]:
    """A study and the correlation of the population its rows come from."""
    unit = rng.multivariate_normal([0, 0], [[1, RHO], [RHO, 1]], size=k)
    if kind == "a row a unit":
        return Pairs(unit[:, 0], unit[:, 1], np.arange(k)), RHO
    if kind == "a gap beside three scores":
        x = unit[:, :1] + SPREAD_OF_QUERIES + 0.7 * rng.normal(size=(k, 3))
        return Pairs(
            x.ravel(), np.repeat(unit[:, 1], 3), np.repeat(np.arange(k), 3)
        ), RHO / np.sqrt(1 + 0.49 + SPREAD_OF_QUERIES.var())
    y = np.repeat(unit[:, 1], 2) + 0.8 * rng.normal(size=2 * k)
    return Pairs(np.repeat(unit[:, 0], 2), y, np.repeat(np.arange(k), 2)), RHO / np.sqrt(1 + 0.64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a row a unit", "a gap beside three scores", "two noisy gaps"])
@pytest.mark.parametrize("k", [8, 16, 40])
def test_coverage(kind: str, k: int) -> None:
    rng = np.random.default_rng(k)
    held = 0
    for number in range(STUDIES):
        pairs, truth = study(kind, k, rng)
        found = pearson_interval(pairs, resample(k, 500, number % 20))
        held += found.low <= truth <= found.high
    low, high = COVERAGE[k]
    print(kind, k, held / STUDIES)
    assert low - 0.005 <= held / STUDIES <= high + 0.005
    assert 0.93 - 0.005 <= held / STUDIES <= 0.97 + 0.005
