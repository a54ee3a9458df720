"""What each modification did to scores, gaps and the utility."""

from __future__ import annotations

import json
from io import StringIO
from itertools import product
from math import isnan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy
from rich.console import Console

from biasbridge.analysis.effects import (
    Crossing,
    Effect,
    _components,
    _cross,
    _mean_change,
    condition_table,
    crossed_table,
    effect_table,
    effects,
    write_effects,
)
from biasbridge.analysis.schemas import Crossed, columns
from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from biasbridge.files.tables import read_table
from biasbridge.stats.formatting import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from biasbridge.stats.arrays import Floats


RESAMPLES = 200
stress = pytest.mark.stress


class Experiment:
    """Tables of points, each with one score, one gap and its F1."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(
        self,
        seed: int,
        condition: tuple[str, str, float],
        score: float,
        gap: float,
        *,
        embedding: str = "word2vec",
        label_dose: float = 0,
        replicate: int = 0,
        resampled: Floats | None = None,
        epochs: int = 5,
        dim: int = 300,
        regularisation: float = 1.0,
        drawn: int = 0,
        known: bool = True,
    ) -> None:
        method, direction, dose = condition
        parent = f"{embedding} {seed} {dim}"
        own = f"{epochs} {drawn}" if dose else ""
        options = {
            "parent_options": json.dumps({"vectors.dim": dim}),
            "method_options": json.dumps({"modified.epochs": epochs} if dose else {}),
            "task_options": json.dumps({"predictions.C": regularisation}),
        }
        self.rows.append(
            {
                "point": str(len(self.rows)),
                "embedding": embedding,
                "method": method,
                "wordset": "weat7",
                "direction": direction,
                "dose": dose,
                "replicate": replicate,
                "label_method": "resample" if label_dose else "none",
                "label_dose": label_dose,
                "status": "done",
                "generated": False,
                "seed": drawn,
                **(options if known else {}),
                "unit_key": f"{parent} {condition} {own}",
                "parent_key": parent,
                "corpus_key": str(seed),
                "extrinsic_key": str(len(self.rows)),
                "score": score,
                "gap": gap,
                "resampled": [] if resampled is None else [float(item) for item in resampled],
            }
        )

    def tables(self) -> Tables:
        every = pd.DataFrame(self.rows)
        score = pd.DataFrame(
            {"point": every["point"], "metric": "weat", "query": "weat7", "value": every["score"]}
        )
        gap = pd.DataFrame(
            {
                "point": every["point"],
                "task": "t",
                "kind": "gap",
                "measure": "recall",
                "group": "",
                "value": every["gap"],
                "resampled": every["resampled"],
            }
        )
        whole = gap.assign(kind="value", measure="f1", group="all", value=0.7, resampled=None)
        points = every.drop(columns=["score", "gap", "resampled"])
        return Tables(points, score, pd.concat([gap, whole], ignore_index=True))


PLAIN = ("none", "", 0.0)
DOWN, UP = ("attract_repel", "debias", 1.0), ("attract_repel", "overbias", 1.0)


def effects_by_name(experiment: Experiment) -> dict[tuple[str, str, str, str], Effect]:
    return {
        (item.names["side"], item.names["direction"], item.against, item.embedding): item
        for item in effects(experiment.tables())
    }


def t_interval(changes: Sequence[float]) -> tuple[float, float]:
    """Student's interval of their mean."""
    n, mean = len(changes), float(np.mean(changes))
    reach = float(scipy.stats.t.ppf(0.975, n - 1)) * float(np.std(changes, ddof=1)) / sqrt(n)
    return mean - reach, mean + reach


def test_the_mean_change_over_clusters_by_hand() -> None:
    """Two algorithms of one corpus are one cluster."""
    experiment = Experiment()
    changes = {"word2vec": [0.1, 0.2, 0.4], "fasttext": [0.3, 0.2, 0.0]}
    for embedding, item in changes.items():
        for seed, change in enumerate(item):
            experiment.add(seed, PLAIN, 1.0, -0.1, embedding=embedding)
            experiment.add(seed, DOWN, 0.0, -0.1 + change, embedding=embedding)
    of = effects_by_name(experiment)
    whole = of["gap", "debias", "unmodified", "all"]
    assert (whole.n, whole.n_parents, whole.n_clusters) == (6, 6, 3)
    assert whole.reference == pytest.approx(-0.1)
    assert whole.change == pytest.approx(0.2)
    assert isnan(whole.low)  # the means of the clusters are all .2: no width is no certainty
    part = of["gap", "debias", "unmodified", "word2vec"]
    assert (part.low, part.high) == pytest.approx(t_interval((0.1, 0.2, 0.4)))
    assert part.generalises_to == "parents"
    assert of["score", "debias", "unmodified", "all"].change == pytest.approx(-1)
    assert of["utility", "debias", "unmodified", "all"].change == 0


def test_overbiasing_is_set_against_debiasing_too() -> None:
    experiment = Experiment()
    for seed, noise in enumerate((0.0, 0.01, -0.02)):
        experiment.add(seed, PLAIN, 0, 0)
        experiment.add(seed, DOWN, -1, -0.1)
        experiment.add(seed, UP, 1, 0.2 + noise)
    of = effects_by_name(experiment)
    assert of["gap", "overbias", "debias", "all"].change == pytest.approx(0.3 - 0.01 / 3)
    assert of["gap", "overbias", "unmodified", "all"].change == pytest.approx(0.2 - 0.01 / 3)
    assert ("gap", "debias", "debias", "all") not in of


def test_replicates_are_one_value_and_labels_are_kept_apart() -> None:
    experiment = Experiment()
    for replicate, gap in enumerate((0.1, 0.3)):
        experiment.add(0, PLAIN, 0, 0, replicate=replicate)
        experiment.add(0, DOWN, -1, gap, replicate=replicate)
    for condition in (PLAIN, DOWN):
        experiment.add(0, condition, 0, 0.5, label_dose=1)
    rows = [item for item in effects(experiment.tables()) if item.names["side"] == "gap"]
    assert {item.names["label_dose"]: item.change for item in rows} == pytest.approx(
        {"0": 0.2, "1": 0.0}
    )
    assert [item.n for item in rows] == [1, 1]
    scores = [item for item in effects(experiment.tables()) if item.names["side"] == "score"]
    assert [item.change for item in scores] == [-1]


def test_what_the_conditions_of_one_parent_differ_in_is_part_of_the_row() -> None:
    experiment = Experiment()
    for seed in range(3):
        experiment.add(seed, PLAIN, 0, 0)
        for epochs, gap in ((1, 0.1), (5, 0.3)):
            experiment.add(seed, DOWN, -epochs, gap, epochs=epochs)
            experiment.add(seed, UP, epochs, 3 * gap, epochs=epochs)
    rows = [item for item in effects(experiment.tables()) if item.names["side"] == "gap"]
    assert {
        (item.names["direction"], item.names["method_options"], item.against): item.change
        for item in rows
    } == pytest.approx(
        {
            ("debias", "modified.epochs=1", "unmodified"): 0.1,
            ("debias", "modified.epochs=5", "unmodified"): 0.3,
            ("overbias", "modified.epochs=1", "unmodified"): 0.3,
            ("overbias", "modified.epochs=5", "unmodified"): 0.9,
            ("overbias", "modified.epochs=1", "debias"): 0.2,
            ("overbias", "modified.epochs=5", "debias"): 0.6,
        }
    )
    assert {item.n for item in rows} == {3}
    shown = condition_table(effects(experiment.tables()), ("recall",))
    assert sorted(shown["method_options"]) == ["modified.epochs=1"] * 2 + ["modified.epochs=5"] * 2


def test_a_score_stands_beside_the_gaps_of_every_task() -> None:
    experiment = Experiment()
    for seed, regularisation in product(range(3), (0.1, 1.0)):
        for condition, score in ((PLAIN, 0), (DOWN, -1)):
            experiment.add(
                seed, condition, score, -score * regularisation, regularisation=regularisation
            )
    shown = condition_table(effects(experiment.tables()), ("recall",))
    assert list(shown["task_options"]) == ["predictions.C=0.1", "predictions.C=1.0"]
    assert NOTHING not in shown.to_numpy()


def test_parents_and_tasks_that_differ_in_an_option_have_rows_of_their_own() -> None:
    experiment = Experiment()
    for seed, dim, regularisation in product(range(3), (50, 300), (0.1, 1.0)):
        for condition, score in ((PLAIN, 0), (DOWN, -dim)):
            gap = -score * regularisation
            experiment.add(seed, condition, score, gap, dim=dim, regularisation=regularisation)
    results = effects(experiment.tables())
    changes = {
        (item.names["side"], item.names["task_options"], item.embedding): item.change
        for item in results
        if item.names["side"] != "utility"
    }
    small, large = (f"word2vec vectors.dim={dim}" for dim in (50, 300))
    assert changes == pytest.approx(
        {
            ("score", "", "all"): -175,
            ("score", "", small): -50,
            ("score", "", large): -300,
            ("gap", "predictions.C=0.1", "all"): 17.5,
            ("gap", "predictions.C=0.1", small): 5,
            ("gap", "predictions.C=0.1", large): 30,
            ("gap", "predictions.C=1.0", "all"): 175,
            ("gap", "predictions.C=1.0", small): 50,
            ("gap", "predictions.C=1.0", large): 300,
        }
    )


def test_results_that_differ_in_no_column_are_refused() -> None:
    experiment = Experiment()
    experiment.add(0, PLAIN, 0, 0, known=False)
    for epochs in (1, 5):
        experiment.add(0, DOWN, -1, 0.1, epochs=epochs, known=False)
    with pytest.raises(InputError, match=r"several results of one .* attract_repel weat7 debias 1"):
        effects(experiment.tables())


def test_embeddings_modified_with_another_seed_are_one_value_of_their_parent() -> None:
    experiment = Experiment()
    experiment.add(0, PLAIN, 0, 0)
    for drawn, gap in enumerate((0.1, 0.3)):
        experiment.add(0, DOWN, -1, gap, drawn=drawn)
    of = effects_by_name(experiment)["gap", "debias", "unmodified", "all"]
    assert (of.n, of.n_parents) == (2, 1)
    assert of.change == pytest.approx(0.2)


def test_of_one_parent_the_interval_generalises_to_items() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, RESAMPLES)) / 10
    experiment = Experiment()
    experiment.add(0, PLAIN, 0, 0, resampled=before)
    experiment.add(0, DOWN, -1, 0.5, resampled=after)
    of = effects_by_name(experiment)["gap", "debias", "unmodified", "all"]
    reach = scipy.stats.t.ppf(0.975, RESAMPLES - 1) * np.std(after - before, ddof=1)
    assert of.generalises_to == "items"
    assert (of.low, of.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    assert effects_by_name(experiment)["score", "debias", "unmodified", "all"].generalises_to == ""


def test_an_interval_ends_where_the_value_would_leave_its_scale() -> None:
    """WEAT of 1, in [-2, 2], falls by 3 and rises by 1 at most; a gap of .9 rises by .1."""
    scores, gaps = (-2.9, -0.5, -2.5), (0.05, -0.3, 0.1)
    experiment = Experiment()
    for seed, (score, gap) in enumerate(zip(scores, gaps, strict=True)):
        experiment.add(seed, PLAIN, 1, 0.9)
        experiment.add(seed, DOWN, 1 + score, 0.9 + gap)
    tables = experiment.tables()
    scaled = tables._replace(intrinsic=tables.intrinsic.assign(scale_min=-2.0, scale_max=2.0))
    for of, ends in ((scaled, (-3, 1)), (tables, (-np.inf, np.inf))):
        actual = {item.names["side"]: item for item in effects(of)}
        low, high = t_interval(scores)
        assert low < -3
        assert high > 1
        cut = (max(low, ends[0]), min(high, ends[1]))
        assert (actual["score"].low, actual["score"].high) == pytest.approx(cut)
        low, high = t_interval(gaps)
        assert high > 0.1
        assert (actual["gap"].low, actual["gap"].high) == pytest.approx((low, 0.1))


def test_an_interval_of_log_odds_has_no_end() -> None:
    experiment, changes = Experiment(), (-0.9, -0.1, -0.5)
    for seed, change in enumerate(changes):
        experiment.add(seed, PLAIN, 0, 1.2)
        experiment.add(seed, DOWN, -1, 1.2 + change)
    tables = experiment.tables()
    tables = tables._replace(extrinsic=tables.extrinsic.assign(measure="log_odds"))
    [gap] = [item for item in effects(tables) if item.names["side"] == "gap"]
    assert (gap.low, gap.high) == pytest.approx(t_interval(changes))
    assert gap.high > 0


def test_what_is_not_known_is_left_out() -> None:
    experiment = Experiment()
    for seed in range(4):
        experiment.add(seed, PLAIN, 0, float("nan") if seed == 0 else 0)
        if seed < 3:
            experiment.add(seed, DOWN, -1, 0.1 * seed)
    of = effects_by_name(experiment)["gap", "debias", "unmodified", "all"]
    assert of.n_parents == 2
    assert of.change == pytest.approx(0.15)
    assert isnan(of.low)
    table = effect_table(effects(experiment.tables()))
    assert list(table["n_parents"]) == [3, 2, 3]
    assert effect_table([]).empty


def test_the_largest_doses_are_printed_and_all_are_written(tmp_path: Path) -> None:
    experiment = Experiment()
    for seed in range(3):
        experiment.add(seed, PLAIN, 1, 0)
        experiment.add(seed, PLAIN, 1, 4, label_dose=1)
        for dose in (0.5, 1.0):
            experiment.add(seed, (*DOWN[:2], dose), 1 - dose, 0.1 * seed * dose)
            experiment.add(seed, (*DOWN[:2], dose), 1 - dose, 5, label_dose=1)
    console = Console(file=StringIO(), width=200)
    results = effects(experiment.tables())
    path = write_effects(results, ("recall",), tmp_path / "effects.csv", console)
    assert isinstance(console.file, StringIO)
    _, heads, *lines = console.file.getvalue().splitlines()
    assert heads.split("  ")[0] == "method"
    assert "WEAT 7" in heads
    assert "F1" in heads
    line, note = lines
    assert line.split()[:4] == ["attract_repel", "debias", "1", "3"]
    assert note.startswith("intervals of gaps hold for other trainings, not"), "no resamples"
    assert ".100 [-.148,.348]" in lines[0]
    assert "-1.00" in lines[0]
    assert len(read_table(path)) == len(results) == 2 + 4 + 4


def coverage(
    clusters: int, parents: int, spread: float, items: float, own: float, times: int
) -> float:
    """How often the interval holds the effect 1: ``spread`` between clusters, ``items`` that all
    embeddings share, ``own`` of each with the items; noise of trainings is 1.
    """
    rng, held = np.random.default_rng(0), 0
    for _ in range(times):
        of_cluster = rng.normal(0, spread, clusters)
        trained = rng.normal(0, 1, (clusters, parents)).mean(axis=1)
        # Items as drawn (column 0), and drawn again from these
        shared = rng.normal(0, items, RESAMPLES + 1)
        item = rng.normal(0, own, (clusters, parents, RESAMPLES + 1)).mean(axis=1)
        value = 1 + of_cluster + trained + shared[0] + item[:, 0]
        resampled = value[:, None] + shared[1:] + item[:, 1:]
        change, generalises_to = _mean_change(
            value, resampled if items + own else np.zeros((clusters, 0))
        )
        assert generalises_to
        held += change.low <= 1 <= change.high
    return held / times


DESIGNS = [
    (clusters, parents, *noise)
    for clusters in (3, 4, 8, 20)
    for parents in (1, 2)
    for noise in ((0, 0, 0), (2, 0, 0), (1, 1, 0), (1, 1, 2), (0, 3, 1), (3, 1, 1))
]


@pytest.mark.parametrize("design", [DESIGNS[3], DESIGNS[15], DESIGNS[28], DESIGNS[46]], ids=str)
def test_the_interval_holds_the_effect(design: tuple[int, int, float, float, float]) -> None:
    assert 0.92 <= coverage(*design, times=500) <= 0.99


@stress
def test_the_interval_holds_the_effect_in_every_design() -> None:
    shares = {design: coverage(*design, times=2_000) for design in DESIGNS}
    print(sorted(shares.items(), key=lambda each: each[1]))
    assert min(shares.values()) >= 0.92
    assert max(shares.values()) <= 0.98
    assert 0.94 <= float(np.mean([*shares.values()])) <= 0.96


# Whose variance the gap's is, where embeddings meet doses of labels, in worlds that are known.


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
    actual = [_cross(drawn(world, seed)) for seed in range(80)]
    shares = np.array([(item.embedding.value, item.labels.value, item.rest) for item in actual])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares.mean(axis=0), world.shares, atol=0.05)
    r = world.follows * world.embedding / sqrt(world.embedding**2 + world.rest**2 / world.levels)
    for truth, estimates in (
        (world.shares[0], [item.embedding for item in actual]),
        (world.shares[1], [item.labels for item in actual]),
        (r, [item.score.interval for item in actual]),
    ):
        held = [low <= truth <= high for _, low, high in estimates]
        assert np.mean(held) >= 0.88


def test_where_nothing_is_planted_nothing_is_found() -> None:
    actual = [_cross(drawn(World(0, 0, 1, follows=0), seed)) for seed in range(80)]
    assert np.mean([item.embedding.low > 0 for item in actual]) < 0.1
    assert np.mean([item.labels.low > 0 for item in actual]) < 0.1
    for of in ([item.score for item in actual], [item.dose for item in actual]):
        assert np.mean([item.low > 0 or item.high < 0 for item in of]) < 0.1


def test_gaps_that_never_vary_have_no_shares() -> None:
    drawn_gaps = drawn(World(0, 0, 1), 0)
    result = _cross(drawn_gaps._replace(gap=np.zeros_like(drawn_gaps.gap)))
    assert np.isnan([result.embedding.value, result.labels.value, result.rest]).all()


def test_an_estimate_below_0_is_no_certainty() -> None:
    """The interval of no width that both ends cut at 0 would have."""
    actual = [
        _cross(drawn(World(0, 1, 1, parents=8, models=5), seed)).embedding for seed in range(150)
    ]
    assert sum(item.value == 0 for item in actual) > 40
    assert min(item.high - item.low for item in actual) > 0.005


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
    design = np.hstack([pd.get_dummies(item).to_numpy(dtype=float) for item in cells])
    left = of.gap.ravel() - design @ np.linalg.lstsq(design, of.gap.ravel())[0]
    rest = float(left @ left) / (4 * 4 * 2)
    of_models = table.groupby(["parent", "model"])["y"].mean()
    between = of_models.groupby("parent").var(ddof=1).mean() * 3
    of_levels = table.groupby(["parent", "level"])["y"].mean().groupby("parent").var(ddof=1).mean()
    actual = _components(of)
    assert actual.rest == pytest.approx(rest)
    assert actual.embedding == pytest.approx((between - rest) / 3)
    assert actual.labels == pytest.approx(of_levels - rest / 5)


def test_correlations_are_those_of_regression_residuals() -> None:
    """Of score and mean gap, each less its parent; of dose and gap, each less its embedding."""
    of = drawn(World(1, 0.7, 0.5), 4)
    models, levels = of.gap.shape
    dose = np.tile(of.dose, models)
    actual = _cross(of)
    for item, sides, names, df in (
        (actual.score, (of.score, of.gap.mean(axis=1)), of.parent, 20 - 4 - 1),
        (actual.dose, (dose, of.gap.ravel()), np.repeat(np.arange(models), levels), 60 - 20 - 1),
    ):
        design = pd.get_dummies(names).to_numpy(dtype=float)
        u, v = (side - design @ np.linalg.lstsq(design, side)[0] for side in sides)
        assert item.r == pytest.approx(np.corrcoef(u, v)[0, 1])
        assert item.df == df


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
    assert set(table) == set(columns(Crossed))
    actual = _cross(of)
    assert table["query"].tolist() == ["weat6b", "weat7"]
    assert table["share_labels"].tolist() == pytest.approx([actual.labels.value] * 2)
    r, dose = actual.score, actual.dose
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
