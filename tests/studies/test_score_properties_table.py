"""The study of score properties: verdicts from searches, table 2, selections, figures, page."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge.studies.score_properties.table import (
    difference_table,
    embedding_names,
    score_table,
    selections,
)

WITNESS = json.dumps({"X": [[1.0, 0.0]], "A": [[0.6, -0.8]], "B": [[0.0, 1.0]]})
Value = str | int | float


def search(name: str, value: float, attributes: str = "", **change: Any) -> dict[str, Value]:
    row: dict[str, Value] = {
        "point": "p1",
        "probe": "score_properties",
        "metric": "toy",
        "convention": "default",
        "items": 1,
        "scale_min": -2.0,
        "scale_max": 2.0,
        "words": 2,
        "dim": 2,
        "part": "",
        "unbiased": 0.0,
        "search": name,
        "attributes": attributes,
        "value": value,
        "bias": 0.5,
        "evaluations": 10,
        "counterexample": WITNESS if math.isfinite(value) else "",
        "reason": "",
    }
    return row | change


def searched(
    high: tuple[float, float] = (2.0, 2.0),
    low: tuple[float, float] = (-2.0, -2.0),
    unbiased: float = 0.3,
    fair: float = 0.0,
    **change: Any,
) -> pd.DataFrame:
    ends = [("max", high), ("min", low)]
    rows = [
        search(end, value, f"near {i + 1}", **change)
        for end, values in ends
        for i, value in enumerate(values)
    ]
    rows += [search("unbiased", unbiased, **change), search("fair", fair, **change)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("probes", "expected"),
    [
        (searched(), ("yes", "yes", "yes")),
        (searched(high=(2.0, 1.93)), ("yes", "yes", "yes")),  # 2% of 4 is .08
        (searched(high=(2.0, 1.91)), ("no", "yes", "yes")),
        (searched(low=(-2.0, -0.5)), ("no", "yes", "yes")),
        (searched(unbiased=1e-7), ("yes", "no", "yes")),
        (searched(fair=-0.4), ("yes", "yes", "no")),
        (searched(fair=math.nan), ("yes", "yes", "undefined")),
        (searched(unbiased=math.nan, high=(2.0, math.nan)), ("undefined", "undefined", "yes")),
    ],
)
def test_verdicts(probes: pd.DataFrame, expected: tuple[str, str, str]) -> None:
    [row] = score_table(probes).to_dict("records")
    assert (row["comparable"], row["trustworthy"], row["fair"]) == expected
    for verdict, counterexample in (
        ("comparable", "counterexample_comparable"),
        ("trustworthy", "counterexample_trustworthy"),
        ("fair", "counterexample_fair"),
    ):
        assert bool(row[counterexample]) == (row[verdict] == "no")
    assert row["evaluations"] == 60
    assert row["sets"] == 2


def test_without_a_bound_the_scale_is_what_was_found_unless_that_is_boundless() -> None:

    def verdict(*high: float) -> object:
        rows = searched((high[0], high[1]), (-1.0, -1.0)).assign(
            scale_min=-math.inf, scale_max=math.inf
        )
        return score_table(rows)["comparable"].tolist()[0]

    assert verdict(1.0, 0.5) == "no"
    assert verdict(1.0, 0.99) == "yes"
    assert verdict(1e4, 2e6) == "unbounded"


def associations(x: dict[str, float], y: dict[str, float]) -> pd.DataFrame:
    rows = [("X", *each) for each in x.items()] + [("Y", *each) for each in y.items()]
    return pd.DataFrame(rows, columns=["panel", "first", "value"])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_selection_is_separated_better_and_has_a_smaller_effect_size(sign: int) -> None:
    """Two words lie amid the others: without them the sets are apart, and d can be smaller."""
    x = {f"x{i}": sign * value for i, value in enumerate([3, 2.9, 3.1, 3, 0.6, 0.4, -0.2])}
    y = {f"y{i}": sign * value for i, value in enumerate([-3, -2.9, -3.1, -3, -0.6, -0.4, 0.2])}
    whole, fewer = selections(associations(x, y))
    assert whole.n == 14
    apart = np.mean([a > b for a in x.values() for b in y.values()])
    assert whole.auc == pytest.approx(apart)
    assert fewer.auc == (1 if sign > 0 else 0)
    assert abs(fewer.effect_size) < abs(whole.effect_size)
    assert len({"x6", "y6"} & fewer.words) <= 1
    both = [[values[name] for name in values if name in fewer.words] for values in (x, y)]
    expected = (np.mean(both[0]) - np.mean(both[1])) / np.std(np.concatenate(both))
    assert fewer.effect_size == pytest.approx(expected)


def group_rows() -> pd.DataFrame:
    base: dict[str, Value] = dict.fromkeys(("reason", "second", "first"), "")
    base |= {"probe": "attribute_groups", "query": "q"}
    rows: list[dict[str, Value]] = []
    rng = np.random.default_rng(0)
    for point, shift in (("p1", 0.2), ("p2", 0.9)):
        about = base | {"point": point}
        for panel, value in (("unit", shift), ("raw", 3 * shift), ("chance", 0.1)):
            row = about | {"kind": "difference", "panel": panel, "n": 16, "value": value}
            rows.append(row | {"low": value - 0.05, "high": value + 0.05})
        for role, sign in (("X", 1), ("Y", -1)):
            for i in range(8):
                value = sign * shift + float(rng.normal())
                row = about | {"kind": "association", "panel": role, "value": value}
                rows.append(row | {"first": f"{role}{i}"})
        rows.append(about | {"kind": "effect", "value": 1.2, "p_value": 0.03, "n": 16, "panel": ""})
        names = ["man:woman", "he:she", "king:queen", "first component"]
        for panel in ("all", "less two"):
            for one in names:
                for other in names:
                    row = about | {"kind": "correlation", "panel": panel, "n": 3, "first": one}
                    rows.append(row | {"second": other, "value": float(one == other)})
    return pd.DataFrame(rows)


POINTS = pd.DataFrame(
    {
        "point": ["p1", "p2"],
        "status": "done",
        "embedding": "bert",
        "layer": [0, 6],
        "pooling": "mean",
        "generated": False,
    }
)


def test_embeddings_are_named_by_what_differs() -> None:
    assert embedding_names(POINTS) == ["bert, layer 0", "bert, layer 6"]
    assert embedding_names(POINTS.assign(embedding=["a", "b"])) == ["a", "b"]


def test_table_2_has_a_row_for_each_embedding_and_query() -> None:
    table = difference_table(POINTS, group_rows())
    assert table["embedding"].tolist() == ["bert, layer 0", "bert, layer 6"]
    row = table.iloc[1]
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((0.9, 0.85, 0.95))
    assert (row["raw"], row["chance"], row["n"]) == pytest.approx((2.7, 0.1, 16))
    assert (row["effect_size"], row["p_value"], row["targets"]) == pytest.approx((1.2, 0.03, 16))
