"""What each modification did to scores, gaps and the utility."""

from __future__ import annotations

import json
from itertools import product
from math import isnan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import scipy

from biasbridge.analysis.condition_effects import mean_change
from biasbridge.analysis.effects import (
    Effect,
    compare_methods,
    comparison_document,
    condition_table,
    effect_table,
    effects,
    effects_document,
)
from biasbridge.analysis.result_folder import write_csv_tables
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


def test_parents_are_averaged_over_their_corpora_by_hand() -> None:
    """Three corpora of two algorithms each; of one algorithm corpora are the units."""
    experiment = Experiment()
    changes = {"word2vec": [0.1, 0.2, 0.4], "fasttext": [0.2, 0.2, 0.3]}
    for embedding, item in changes.items():
        for seed, change in enumerate(item):
            experiment.add(seed, PLAIN, 1.0, -0.1, embedding=embedding)
            experiment.add(seed, DOWN, 0.0, -0.1 + change, embedding=embedding)
    of = effects_by_name(experiment)
    whole = of["gap", "debias", "unmodified", "all"]
    assert (whole.n, whole.n_parents, whole.n_units) == (6, 6, 6)
    assert whole.reference == pytest.approx(-0.1)
    parts = np.array([np.var(pair, ddof=1) for pair in zip(*changes.values(), strict=True)]) / 2 / 9
    df = parts.sum() ** 2 / (parts**2).sum()
    reach = scipy.stats.t.ppf(0.975, df) * sqrt(parts.sum())
    mean = 1.4 / 6
    expected = (mean, mean - reach, mean + reach)
    assert (whole.effect, whole.effect_low, whole.effect_high) == pytest.approx(expected)
    part = of["gap", "debias", "unmodified", "word2vec"]
    assert (part.effect_low, part.effect_high) == pytest.approx(t_interval((0.1, 0.2, 0.4)))
    assert (whole.verdict, of["score", "debias", "unmodified", "all"].verdict) == ("moved", "")
    assert of["score", "debias", "unmodified", "all"].effect == pytest.approx(-1)
    assert of["utility", "debias", "unmodified", "all"].effect == 0


def test_overbiasing_is_set_against_debiasing_too() -> None:
    experiment = Experiment()
    for seed, noise in enumerate((0.0, 0.01, -0.02)):
        experiment.add(seed, PLAIN, 0, 0)
        experiment.add(seed, DOWN, -1, -0.1)
        experiment.add(seed, UP, 1, 0.2 + noise)
    of = effects_by_name(experiment)
    assert of["gap", "overbias", "debias", "all"].effect == pytest.approx(0.3 - 0.01 / 3)
    assert of["gap", "overbias", "unmodified", "all"].effect == pytest.approx(0.2 - 0.01 / 3)
    assert ("gap", "debias", "debias", "all") not in of


def test_replicates_are_one_value_and_labels_are_kept_apart() -> None:
    experiment = Experiment()
    for replicate, gap in enumerate((0.1, 0.3)):
        experiment.add(0, PLAIN, 0, 0, replicate=replicate)
        experiment.add(0, DOWN, -1, gap, replicate=replicate)
    for condition in (PLAIN, DOWN):
        experiment.add(0, condition, 0, 0.5, label_dose=1)
    rows = [item for item in effects(experiment.tables()) if item.names["side"] == "gap"]
    assert {item.names["label_dose"]: item.effect for item in rows} == pytest.approx(
        {"0": 0.2, "1": 0.0}
    )
    assert [item.n for item in rows] == [1, 1]
    scores = [item for item in effects(experiment.tables()) if item.names["side"] == "score"]
    assert [item.effect for item in scores] == [-1]


def test_what_the_conditions_of_one_parent_differ_in_is_part_of_the_row() -> None:
    experiment = Experiment()
    for seed in range(3):
        experiment.add(seed, PLAIN, 0, 0)
        for epochs, gap in ((1, 0.1), (5, 0.3)):
            experiment.add(seed, DOWN, -epochs, gap, epochs=epochs)
            experiment.add(seed, UP, epochs, 3 * gap, epochs=epochs)
    rows = [item for item in effects(experiment.tables()) if item.names["side"] == "gap"]
    assert {
        (item.names["direction"], item.names["method_options"], item.against): item.effect
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
        (item.names["side"], item.names["task_options"], item.embedding): item.effect
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
    assert of.effect == pytest.approx(0.2)


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
        assert (actual["score"].effect_low, actual["score"].effect_high) == pytest.approx(cut)
        low, high = t_interval(gaps)
        assert high > 0.1
        assert (actual["gap"].effect_low, actual["gap"].effect_high) == pytest.approx((low, 0.1))


def test_an_interval_of_log_odds_has_no_end() -> None:
    experiment, changes = Experiment(), (-0.9, -0.1, -0.5)
    for seed, change in enumerate(changes):
        experiment.add(seed, PLAIN, 0, 1.2)
        experiment.add(seed, DOWN, -1, 1.2 + change)
    tables = experiment.tables()
    tables = tables._replace(extrinsic=tables.extrinsic.assign(measure="log_odds"))
    [gap] = [item for item in effects(tables) if item.names["side"] == "gap"]
    assert (gap.effect_low, gap.effect_high) == pytest.approx(t_interval(changes))
    assert gap.effect_high > 0


def test_what_is_not_known_is_left_out() -> None:
    experiment = Experiment()
    for seed in range(4):
        experiment.add(seed, PLAIN, 0, float("nan") if seed == 0 else 0)
        if seed < 3:
            experiment.add(seed, DOWN, -1, 0.1 * seed)
    of = effects_by_name(experiment)["gap", "debias", "unmodified", "all"]
    assert of.n_parents == 2
    assert of.effect == pytest.approx(0.15)
    assert isnan(of.effect_low)
    table = effect_table(effects(experiment.tables()))
    assert list(table["n_parents"]) == [3, 2, 3]
    assert effect_table([]).empty


def two_methods() -> tuple[Experiment, dict[tuple[int, str, float], tuple[float, float, Floats]]]:
    """Four parents; the score of ``a`` falls and turns, that of ``b`` falls further; ``a`` has a
    list of its own beside the one that both have.
    """
    rng, experiment = np.random.default_rng(0), Experiment()
    scores = {("a", 0.5): -0.8, ("a", 1.0): -0.4, ("b", 0.25): -0.3, ("b", 1.0): -1.5}
    values = {}
    for seed in range(4):
        for name, dose in [("none", 0.0), *scores]:
            score = scores.get((name, dose), 0.0) + rng.normal(0, 0.05)
            gap, resampled = rng.normal(0, 0.1), rng.normal(0, 0.02, RESAMPLES)
            condition = (name, "debias" if dose else "", dose)
            experiment.add(seed, condition, score, gap, resampled=gap + resampled)
            values[seed, name, dose] = score, gap, gap + resampled
        experiment.add(seed, ("a", "debias", 1.0), -9, 5, resampled=resampled)
        experiment.rows[-1]["wordset"] = "other"
    return experiment, values


def test_two_methods_at_full_dose_and_at_equal_score_by_a_literal_loop() -> None:
    experiment, values = two_methods()
    rows = compare_methods(experiment.tables(), ("a", "b"), ("recall",))
    full, equal = (row for row in rows if row.names["side"] == "gap")
    assert [full.names[name] for name in ("dose", "wordset", "query")] == ["full", "weat7", ""]
    assert [equal.names[name] for name in ("dose", "query")] == ["equal score", "weat7"]
    assert {row.effect for row in rows if row.names["side"] == "utility"} == {0}

    def mean_score(name: str, dose: float) -> float:
        changes = [values[i, name, dose][0] - values[i, "none", 0.0][0] for i in range(4)]
        return sum(changes) / 4

    reached = max(mean_score("a", 0.5), mean_score("b", 1.0))
    assert reached == mean_score("a", 0.5)  # b goes further
    assert float(equal.names["score_change"]) == pytest.approx(reached)
    near, far = mean_score("b", 0.25), mean_score("b", 1.0)
    share = (reached - near) / (far - near)
    at_full = [(values[i, "a", 1.0], values[i, "b", 1.0]) for i in range(4)]
    at_equal = [(values[i, "a", 0.5], values[i, "b", 0.25], values[i, "b", 1.0]) for i in range(4)]
    by_row = {
        "full": [[a[side] - b[side] for a, b in at_full] for side in (1, 2)],
        "equal score": [
            [a[side] - (1 - share) * b[side] - share * c[side] for a, b, c in at_equal]
            for side in (1, 2)
        ],
    }
    for row in (full, equal):
        differences, resampled = map(np.array, by_row[row.names["dose"]])
        expected = mean_change(differences, None, resampled)
        actual = row.effect, row.effect_low, row.effect_high
        assert actual == pytest.approx(expected.interval)
        assert (row.n_parents, row.against) == (4, "b")


def test_scores_that_go_apart_are_equal_nowhere() -> None:
    experiment = Experiment()
    for seed in range(3):
        experiment.add(seed, PLAIN, 0, 0)
        experiment.add(seed, ("a", "debias", 1.0), -1, 0.1)
        experiment.add(seed, ("b", "debias", 1.0), 1, 0.3)
    [gap, utility] = compare_methods(experiment.tables(), ("b", "a"), ("recall",))
    assert (gap.names["dose"], utility.effect) == ("full", 0)
    assert gap.effect == pytest.approx(0.2)


def test_two_methods_are_a_table_of_differences() -> None:
    experiment, _ = two_methods()
    compared = compare_methods(experiment.tables(), ("a", "b"), ("recall",))
    [table] = comparison_document(compared, ("recall",)).tables
    assert table.heading == "a less b, debias: difference of effects, mean over parents"
    assert table.head == ["outcome", "at", "difference [95%]", "parents"]
    assert [row[0] for row in table.rows] == ["recall gap", "recall gap", "F1", "F1"]
    assert table.rows[1][1].startswith("WEAT 7 -0.8")
    unknown = r"^no method 'aa'; did you mean 'a'\?; give two of a, b$"
    with pytest.raises(InputError, match=unknown):
        compare_methods(experiment.tables(), ("aa", "b"), ("recall",))


def test_the_largest_doses_are_shown_and_all_are_written(tmp_path: Path) -> None:
    experiment = Experiment()
    for seed in range(3):
        experiment.add(seed, PLAIN, 1, 0)
        experiment.add(seed, PLAIN, 1, 4, label_dose=1)
        for dose in (0.5, 1.0):
            experiment.add(seed, (*DOWN[:2], dose), 1 - dose, 0.1 * seed * dose)
            experiment.add(seed, (*DOWN[:2], dose), 1 - dose, 5, label_dose=1)
    results = effects(experiment.tables())
    [path] = write_csv_tables(tmp_path, {"effects": effect_table(results)})
    [table] = effects_document(results, ("recall",)).tables
    [row] = table.rows
    cells = dict(zip(table.head, row, strict=True))
    assert row[:4] == ["attract_repel", "debias", "1", "3"]
    assert {cells["recall gap"], cells["WEAT 7"][:5]} == {".100 [-.148,.348]", "-1.00"}
    assert "F1" in cells
    assert len(read_table(path)) == len(results) == 2 + 4 + 4


def coverage(
    corpora: int, parents: int, spread: float, items: float, own: float, times: int
) -> float:
    """How often the interval holds the effect 1: ``spread`` between corpora, which are these;
    ``items`` that all embeddings share, ``own`` of each with the items; noise of trainings is 1.
    """
    rng, held = np.random.default_rng(0), 0
    of_corpus = rng.normal(0, spread, (corpora, 1)) if spread else np.zeros((corpora, 1))
    for _ in range(times):
        trained = rng.normal(0, 1, (corpora, parents))
        # Items as drawn (column 0), and drawn again from these
        shared = rng.normal(0, items, RESAMPLES + 1)
        item = rng.normal(0, own, (corpora, parents, RESAMPLES + 1))
        value = 1 + of_corpus - of_corpus.mean() + trained + shared[0] + item[:, :, 0]
        resampled = value[:, :, None] + shared[1:] + item[:, :, 1:]
        change = mean_change(
            value.ravel(),
            np.repeat(np.arange(corpora), parents),
            resampled.reshape(corpora * parents, -1) if items + own else None,
        )
        held += change.interval.low <= 1 <= change.interval.high
    return held / times


DESIGNS = [
    (corpora, parents, *noise)
    for corpora, parents in ((1, 3), (1, 4), (1, 8), (2, 3), (2, 4), (3, 2), (4, 2), (4, 5))
    for noise in ((0, 0, 0), (2, 0, 0), (1, 1, 0), (1, 1, 2), (0, 3, 1), (3, 1, 1))
]


@pytest.mark.parametrize("design", [DESIGNS[3], DESIGNS[15], DESIGNS[28], DESIGNS[46]], ids=str)
def test_the_interval_holds_the_effect(design: tuple[int, int, float, float, float]) -> None:
    assert coverage(*design, times=500) >= 0.92


@stress
def test_the_interval_holds_the_effect_in_every_design() -> None:
    shares = {design: coverage(*design, times=2_000) for design in DESIGNS}
    print(sorted(shares.items(), key=lambda each: each[1]))
    assert min(shares.values()) >= 0.92
