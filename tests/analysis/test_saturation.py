"""Which doses drive scores to the end of their scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.analysis.effects_table import saturation
from biasbridge.analysis.results import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "No method drives more than a quarter of its scores to the end of their scale."


def study(values: Sequence[float], method: str = "attract_repel", **scale: float) -> Tables:
    points = [f"p{i}" for i in range(len(values))]
    made = pd.DataFrame({"point": points, "method": method, "direction": "debias", "dose": 0.5})
    scores = pd.DataFrame({"point": points, "metric": "weat", "convention": "d", "value": values})
    scores = scores.assign(**({"scale_min": -2.0, "scale_max": 2.0, "unbiased": 0.0} | scale))
    return Tables(made, scores, pd.DataFrame())


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            study([1.9, -1.95, 1.89, 0]),
            "2 of 4 scores of weat after attract_repel, debias, dose 0.5",
        ),
        (study([1.9, 1.89, 0, 0]), NOTHING),
        (study([1.9, 2], method="none"), ""),
        (study([0.99, 0.98, 0.5], scale_min=0.0, scale_max=1.0), "2 of 3 scores of weat"),
        # Where one end is the value without bias, to come near it is what debiasing is for
        (study([0, 0.01, 0.02, 0.5], scale_min=0.0, scale_max=1.0), NOTHING),
        (study([1.9, 2], scale_max=float("inf")), ""),
        (study([1.9, 2], unbiased=float("nan")), ""),
        (study([float("nan"), 2.0]), "1 of 1 scores"),
    ],
)
def test_scores_at_the_biased_ends_are_counted(tables: Tables, said: str) -> None:
    found = saturation(tables)
    assert said in found
    assert bool(said) == bool(found)


def test_tables_without_a_scale_say_nothing() -> None:
    tables = study([2.0, 2.0])
    without = tables.intrinsic.drop(columns=["scale_min", "scale_max"])
    assert saturation(tables._replace(intrinsic=without)) == ""
