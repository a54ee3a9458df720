"""How often does the interval of the largest difference hold the truth? Simulated tables.

Shares of 400 tables by how the groups lie: all alike; evenly apart (``line``); one apart from the
others (``one``); two camps (``half``); one at either end and the others between (``between``), at
differences of .1 to .4 below .5 and .9, of 100 and 300 items a group: mean, lowest, highest over
them. See ``test_over_every_shape``, which prints the table.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from extrinsic.measures import MEASURES
from extrinsic.spread import DIFFERENCE, RATIO, Block, Spread, estimate_spread

Floats = NDArray[np.float64]
LEVEL = 0.95
TABLES = 400


def shape(name: str, k: int) -> Floats:
    """Where k groups lie between the lowest (0) and the highest (1)."""
    line = np.linspace(0, 1, k)
    shapes: dict[str, Floats] = {
        "alike": np.zeros(k),
        "line": line,
        "one": (line == 1).astype(float),
        "half": (line >= 0.5).astype(float),
        "between": np.where((line > 0) & (line < 1), 0.5, line),
    }
    return shapes[name]


def coverage(rates: Floats, n: int, tables: int, spread: Spread = DIFFERENCE) -> float:
    rng = np.random.default_rng(0)
    truth = float(spread.of(rates))
    held = 0
    for _ in range(tables):
        values = rng.binomial(n, rates) / n
        found = estimate_spread([Block(values, np.full(len(rates), float(n)))], spread, LEVEL)
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    return held / tables


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extrinsic.spread.DRAWS", 1000)


@pytest.mark.parametrize("name", ["alike", "line", "half"])
@pytest.mark.parametrize("k", [3, 6])
def test_it_holds_the_truth_among_three_and_six_groups(k: int, name: str) -> None:
    """Of 200 tables; the standard error is .015."""
    assert 0.93 - 0.03 <= coverage(0.7 - 0.3 * shape(name, k), 100, 200) <= 0.97 + 0.024


def test_an_interval_that_forgets_the_maximum_does_not() -> None:
    """Newcombe's, of the two groups that come out furthest apart, among six that are alike."""
    from extrinsic.measures import difference

    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        right = np.sort(rng.binomial(100, 0.7, 6))[[-1, 0]]
        best, worst = (
            MEASURES["recall"].estimate(np.array([0, 0, 100 - k, k]), LEVEL) for k in right
        )
        held += difference(best, worst).low <= 0
    assert held / 300 < 0.8


@pytest.mark.stress
@pytest.mark.parametrize("k", [3, 6])
@pytest.mark.parametrize("spread", [DIFFERENCE, RATIO], ids=["difference", "ratio"])
def test_over_every_shape(k: int, spread: Spread) -> None:
    found = {("alike", base, n, 0.0): 0.0 for base, n in product((0.5, 0.9), (100, 300))}
    shapes = ("line", "one", "half", "between")[: 3 if k == 3 else 4]
    found |= dict.fromkeys(product(shapes, (0.5, 0.9), (100, 300), (0.1, 0.2, 0.4)), 0.0)
    for name, base, n, apart in found:
        rates = base - apart * shape(name, k)
        found[name, base, n, apart] = coverage(rates, n, TABLES, spread)
        print(k, spread.kind, name, base, n, apart, found[name, base, n, apart])
    every = np.array([*found.values()])
    print(k, spread.kind, f"{every.mean():.3f} {every.min():.3f} {every.max():.3f}")
    assert 0.93 <= every.mean() <= 0.97
    assert every.min() >= 0.90
