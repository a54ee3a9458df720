"""Whose variance the gap's is, where embeddings meet doses of labels, in worlds that are known."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.crossed import Crossing, components, cross, crossed_table


class World(NamedTuple):
    """Standard deviations of what embeddings, levels and neither of them do to the gap, and the
    correlation of score and what the embedding does.
    """

    embedding: float
    labels: float
    rest: float
    follows: float = 0.6
    parents: int = 4
    models: int = 5
    levels: int = 3

    @property
    def shares(self) -> tuple[float, float, float]:
        every = self.embedding**2, self.labels**2, self.rest**2
        return every[0] / sum(every), every[1] / sum(every), every[2] / sum(every)


def drawn(world: World, seed: int) -> Crossing:
    rng = np.random.default_rng(seed)
    models = world.parents * world.models
    parent = np.repeat(np.arange(world.parents), world.models)
    dose = np.arange(world.levels) / (world.levels - 1)
    by_label = world.labels * (dose - dose.mean()) / dose.std(ddof=1)
    own = rng.normal(size=models)
    score = world.follows * own + sqrt(1 - world.follows**2) * rng.normal(size=models)
    gap = (
        world.embedding * own[:, None] + by_label + rng.normal(size=world.parents)[parent][:, None]
    )
    gap += world.rest * rng.normal(size=gap.shape)
    return Crossing(gap, score + rng.normal(size=world.parents)[parent], parent, dose)


@pytest.mark.parametrize(
    "world",
    [
        World(1, 1, 1),
        World(0.3, 2, 1),
        World(1, 0.3, 1, parents=6, models=4, levels=5),
        World(1, 1, 0.3, parents=2, models=10),
    ],
)
def test_shares_are_those_of_the_world_and_intervals_hold_them(world: World) -> None:
    found = [cross(drawn(world, seed)) for seed in range(80)]
    shares = np.array([(each.embedding.value, each.labels.value, each.rest) for each in found])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares.mean(axis=0), world.shares, atol=0.05)
    r = world.follows * world.embedding / sqrt(world.embedding**2 + world.rest**2 / world.levels)
    for truth, estimates in (
        (world.shares[0], [each.embedding for each in found]),
        (world.shares[1], [each.labels for each in found]),
        (r, [each.score.interval for each in found]),
    ):
        held = [low <= truth <= high for _, low, high in estimates]
        assert np.mean(held) >= 0.88


def test_where_nothing_is_planted_nothing_is_found() -> None:
    found = [cross(drawn(World(0, 0, 1, follows=0), seed)) for seed in range(80)]
    assert np.mean([each.embedding.low > 0 for each in found]) < 0.1
    assert np.mean([each.labels.low > 0 for each in found]) < 0.1
    for of in ([each.score for each in found], [each.dose for each in found]):
        assert np.mean([each.low > 0 or each.high < 0 for each in of]) < 0.1


def test_gaps_that_never_vary_have_no_shares() -> None:
    drawn_gaps = drawn(World(0, 0, 1), 0)
    result = cross(drawn_gaps._replace(gap=np.zeros_like(drawn_gaps.gap)))
    assert np.isnan([result.embedding.value, result.labels.value, result.rest]).all()


def test_an_estimate_below_0_is_no_certainty() -> None:
    """The interval of no width that both ends cut at 0 would have."""
    found = [
        cross(drawn(World(0, 1, 1, parents=8, models=5), seed)).embedding for seed in range(150)
    ]
    assert sum(each.value == 0 for each in found) > 40
    assert min(each.high - each.low for each in found) > 0.005


def test_components_are_those_of_the_analysis_of_variance() -> None:
    """Mean squares by pandas; that of the rest by least squares on an indicator of each."""
    of = drawn(World(1, 0.7, 0.5), 3)
    models, levels = of.gap.shape
    table = pd.DataFrame(
        {
            "y": of.gap.ravel(),
            "parent": np.repeat(of.parent, levels),
            "model": np.repeat(np.arange(models), levels),
            "level": np.tile(np.arange(levels), models),
        }
    )
    cells = (table["model"], 10 * table["parent"] + table["level"])
    design = np.hstack([pd.get_dummies(each).to_numpy(dtype=float) for each in cells])
    left = of.gap.ravel() - design @ np.linalg.lstsq(design, of.gap.ravel())[0]
    rest = float(left @ left) / (4 * 4 * 2)
    of_models = table.groupby(["parent", "model"])["y"].mean()
    between = of_models.groupby("parent").var(ddof=1).mean() * 3
    of_levels = table.groupby(["parent", "level"])["y"].mean().groupby("parent").var(ddof=1).mean()
    found = components(of)
    assert found.rest == pytest.approx(rest)
    assert found.embedding == pytest.approx((between - rest) / 3)
    assert found.labels == pytest.approx(of_levels - rest / 5)


def test_correlations_are_those_of_regression_residuals() -> None:
    """Of score and mean gap, each less its parent; of dose and gap, each less its embedding."""
    of = drawn(World(1, 0.7, 0.5), 4)
    models, levels = of.gap.shape
    dose = np.tile(of.dose, models)
    found = cross(of)
    for each, sides, names, df in (
        (found.score, (of.score, of.gap.mean(axis=1)), of.parent, 20 - 4 - 1),
        (found.dose, (dose, of.gap.ravel()), np.repeat(np.arange(models), levels), 60 - 20 - 1),
    ):
        design = pd.get_dummies(names).to_numpy(dtype=float)
        u, v = (side - design @ np.linalg.lstsq(design, side)[0] for side in sides)
        assert each.r == pytest.approx(np.corrcoef(u, v)[0, 1])
        assert each.df == df


def joined(of: Crossing, *, method: str = "relabel") -> pd.DataFrame:
    """The rows of a study with two queries, of which the second has the score reversed."""
    rows = [
        {
            "task": "t",
            "measure": "precision",
            "metric": "weat",
            "query": query,
            "model": f"e{model}",
            "parent": f"b{of.parent[model]}",
            "label_method": method if dose else "none",
            "label_direction": "overbias" if dose else "",
            "label_dose": dose,
            "x": sign * of.score[model],
            "y": of.gap[model, level],
        }
        for query, sign in (("weat6b", 1), ("weat7", -1))
        for model in range(len(of.gap))
        for level, dose in enumerate(of.dose)
    ]
    return pd.DataFrame(rows)


def test_one_row_a_gap_a_method_and_a_score() -> None:
    of = drawn(World(1, 1, 1), 0)
    table = crossed_table(joined(of))
    assert table is not None
    found = cross(of)
    assert table["query"].tolist() == ["weat6b", "weat7"]
    assert table["share_labels"].tolist() == pytest.approx([found.labels.value] * 2)
    r, dose = found.score, found.dose
    assert table["r_score"].tolist() == pytest.approx([r.r, -r.r])
    first, mirrored = table[["r_score_low", "r_score_high"]].to_numpy().tolist()
    assert mirrored == pytest.approx([-first[1], -first[0]])
    assert first == pytest.approx([r.low, r.high], abs=0.03), "other permutations, in other order"
    assert table["r_labels"].tolist() == pytest.approx([dose.r] * 2)
    counts = table[["n", "n_parents", "n_levels", "n_left_out"]].drop_duplicates()
    assert counts.to_numpy().tolist() == [[20, 4, 3, 0]]


def test_an_embedding_without_a_level_is_left_out_and_counted() -> None:
    rows = joined(drawn(World(1, 1, 1), 0))
    rows.loc[(rows["model"] == "e3") & (rows["label_dose"] == 1), "y"] = np.nan
    table = crossed_table(rows)
    assert table is not None
    assert table["n"].tolist() == [19, 19]
    assert table["n_left_out"].tolist() == [1, 1]


def test_nothing_crossed_is_no_table() -> None:
    rows = joined(drawn(World(1, 1, 1), 0))
    assert crossed_table(rows[rows["label_dose"] == 0]) is None
    assert crossed_table(rows.drop(columns="label_method")) is None
    assert crossed_table(rows.assign(parent=rows["model"])) is None
