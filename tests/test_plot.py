"""Charts for notebooks show every number of the tables that they are given."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from biasbridge import audit, gaps, plot
from files import InputError


def numbers_in(chart: object) -> set[float]:
    """All numbers in the data of a chart, to six digits."""
    spec = json.loads(chart.to_json())  # type: ignore[attr-defined]
    rows = [row for rows in spec["datasets"].values() for row in rows]
    return {round(v, 6) for row in rows for v in row.values() if isinstance(v, float)}


def test_gaps_shows_every_value_of_every_group() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.integers(2, size=600) for name in ("label", "prediction")})
    table = gaps(data.assign(group=rng.choice(["a", "b", "c"], 600)))
    shown = numbers_in(plot.gaps(table))
    values = table[(table["kind"] == "value") & (table["group"] != "all")]
    for name in ("value", "low", "high"):
        assert {round(v, 6) for v in values[name]} <= shown


def test_audit_shows_every_score() -> None:
    rng = np.random.default_rng(0)
    words = {"X": ["a", "b"], "Y": ["c", "d"], "A": ["e", "f"], "B": ["g", "h"]}
    vectors = {word: rng.normal(size=5) for each in words.values() for word in each}
    table = audit(vectors, words, metrics=["weat", "rnd", "mac"])
    assert {round(v, 6) for v in table["value"]} <= numbers_in(plot.audit(table))


def test_scatter_shows_every_row() -> None:
    table = pd.DataFrame({"x": [0.125, 0.25, 0.5], "y": [1.5, 2.5, 3.75]})
    assert {0.125, 0.25, 0.5, 1.5, 2.5, 3.75} <= numbers_in(plot.scatter(table, "x", "y"))


def test_another_table_is_refused_in_a_line() -> None:
    message = r"no column 'kind'; give one that biasbridge\.gaps returned"
    with pytest.raises(InputError, match=message):
        plot.gaps(pd.DataFrame({"a": [1]}))
